"""The extractive generator quotes what answers, letter for letter."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gawah.cite import resolve, slices
from gawah.errors import GeneratorError
from gawah.generate import ExtractiveGenerator
from gawah.generate.candidates import pieces_of
from gawah.generate.extractive import BY_WORDS, ENOUGH, Idf, Measured, choose, late_interaction, likeliest
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.generator import GeneratorContract, make_prompt, make_source


def draft(question, *contents, embedder=None):
    return list(ExtractiveGenerator(embedder or FakeEmbedder()).generate(make_prompt(question, *contents)))


def quotes(question, *contents):
    return [part.text for part in draft(question, *contents) if part.verbatim]


class TestExtractiveGenerator(GeneratorContract):
    def make_generator(self):
        return ExtractiveGenerator(FakeEmbedder())


def test_a_worked_example():
    contents = (
        "Boats are moored at the quay. The annual fee is 40 EUR. It is due in May.",
        "Guests are welcome. A late report costs 4 percent a day.",
    )
    assert [(part.text, part.verbatim) for part in draft("what is the annual fee?", *contents)] == [
        ("The annual fee is 40 EUR.", True),
        (" [1]", False),
    ]
    assert quotes("what does a late report cost a day?", *contents) == ["A late report costs 4 percent a day."]


def test_two_sources_are_quoted_when_it_takes_both_and_in_their_order():
    parts = draft(
        "annual fee and report deadline", "Noted. The report deadline is May.", "The annual fee is 40 EUR. Bye."
    )
    assert "".join(part.text for part in parts) == "The report deadline is May. [1] The annual fee is 40 EUR. [2]"


def test_the_same_words_are_not_quoted_twice():
    assert quotes("annual fee", "The annual fee is 40 EUR.", "The annual fee is 40 EUR.") == [
        "The annual fee is 40 EUR."
    ]


def test_at_most_three_are_quoted():
    contents = [f"Alpha{n} is {n}. Beta{n} is {n}. Gamma{n} is {n}." for n in range(4)]
    question = " ".join(f"alpha{n} beta{n} gamma{n}" for n in range(4))
    assert 1 <= len(quotes(question, *contents)) <= 3


def test_a_question_of_foreign_words_quotes_the_first_sources_best():
    assert quotes("zzz qqq", "One. Two.", "Three. Four.")[0] in ("One.", "Two.", "Three.", "Four.")


def test_hindi_and_urdu_questions_find_their_sentences():
    assert quotes("वार्षिक शुल्क कितना है?", "नावें घाट पर हैं। वार्षिक शुल्क ४० यूरो है।") == ["वार्षिक शुल्क ४० यूरो है।"]
    assert quotes("سالانہ فیس کتنی ہے؟", "کشتیاں گھاٹ پر ہیں۔ سالانہ فیس چالیس یورو ہے۔") == [
        "سالانہ فیس چالیس یورو ہے۔"
    ]


def test_an_identifier_is_found_whole():
    contents = ("The option --max-txn-ops limits operations. The option --max-size limits bytes.",)
    assert quotes("max_txn_ops", *contents) == ["The option --max-txn-ops limits operations."]


def test_a_row_and_a_line_of_code_stand_on_lines_of_their_own():
    parts = draft("alpha beta", "| alpha | 1 |", "| beta | 2 |")
    assert "".join(part.text for part in parts) == "| alpha | 1 | [1]\n| beta | 2 | [2]"


def test_a_row_is_found_by_the_names_of_its_columns_and_those_are_not_quoted_for_it():
    table = "| Minutes unanswered | Who is called |\n|---:|---|\n| 4 | second desk |\n| 20 | secretary |"
    assert quotes("who is called after 20 minutes unanswered?", "The bell rings.\n\n" + table)[-1].endswith(
        "| 20 | secretary |"
    )
    assert "| Minutes unanswered | Who is called |" not in quotes("who is called?", table)


def test_words_without_a_full_stop_end_their_line():
    parts = draft("annual fee and report deadline", "* Noted\n\nThe deadline of a report", "The annual fee is 40 EUR.")
    text = "".join(part.text for part in parts)
    assert text == "The deadline of a report [1]\nThe annual fee is 40 EUR. [2]"
    resolved = resolve(
        parts, make_prompt("", "* Noted\n\nThe deadline of a report", "The annual fee is 40 EUR.").sources
    )
    assert [claim.markers for claim in resolved.claims] == [(1,), (2,)]


def test_nothing_stands_behind_a_fence_on_its_line():
    text = "".join(part.text for part in draft("run the demo command", "Run the demo command:\n```\nmake demo\n```\n"))
    assert text == "Run the demo command:\n```\nmake demo\n```\n[1]"


def test_a_source_without_a_sentence_is_quoted_whole():
    assert quotes("fee", "# The fee") == ["# The fee"]


def test_sources_without_words_are_an_error():
    with pytest.raises(GeneratorError, match="no words"):
        draft("fee", " \n ")
    with pytest.raises(GeneratorError, match="no words"):
        draft("fee")


def test_a_piece_over_the_encoders_window_is_cut_for_scoring_and_quoted_whole():
    long = "fee " * 500 + "is 40."
    assert quotes("fee", long) == [long] == [draft("fee", long, embedder=FakeEmbedder(window_tokens=8))[0].text]


def test_few_pieces_are_embedded():
    class Counting(FakeEmbedder):
        n_embedded = 0

        def embed(self, texts):
            self.n_embedded += len(texts)
            return super().embed(texts)

    embedder = Counting()
    draft("fee", *["The fee is this. " * 40] * 4, embedder=embedder)
    assert embedder.n_embedded <= 12


def test_the_best_source_always_takes_part():
    sources = [
        make_source(1, "Unrelated."),
        make_source(2, "fee fine. " * 1 + " ".join(f"Fee fine {n}." for n in range(20))),
    ]
    pieces = [piece for at, source in enumerate(sources) for piece in pieces_of(at, source)]
    weights = Idf([set(piece.text.lower().strip(".").split()) for piece in pieces]).shares(["fee", "fine"])
    assert any(piece.source == 0 for piece in likeliest(pieces, weights))


def test_idf_shares_sum_to_one_and_leave_out_what_nobody_holds():
    shares = Idf([{"a", "b"}, {"a"}, {"a", "c"}]).shares(["a", "b", "zzz", "b"])
    assert list(shares) == ["a", "b"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["b"] > shares["a"]


def test_late_interaction_equals_the_plain_formula():
    embedder = FakeEmbedder()
    query = embedder.embed_query("annual fee of the boats")
    made = embedder.embed(["the fee", "boats of the annual", "", "..."])
    weights = [float(n) for n in range(1, len(query.words) + 1)]
    for embedding, found in zip(made, late_interaction(query, made, weights), strict=True):
        codes = embedding.tokens
        total = 0.0
        for vector, weight in zip(query.token_vectors, weights, strict=True):
            bits = [np.unpackbits(row) for row in codes.signs]
            matches = [float(s) * float(vector @ (2.0 * b - 1.0)) for b, s in zip(bits, codes.scales, strict=True)]
            total += weight * max(matches, default=0.0)
        assert found == pytest.approx(total / sum(weights), abs=1e-6)


contents = st.lists(
    st.lists(
        st.sampled_from(
            [
                "The fee is 40 EUR.",
                "See [1].",
                "* item",
                "so:",
                "# h",
                "| a | b |",
                "```",
                "arr[2]",
                "शुल्क है।",
                "\n",
                "\n\n",
            ]
        )
        | st.text(max_size=8),
        min_size=1,
        max_size=8,
    ).map("\n".join),
    min_size=1,
    max_size=4,
)


@given(st.sampled_from(["fee", "what is arr", "शुल्क", "?", "see item a b"]), contents)
def test_every_quote_is_of_its_source_every_claim_is_cited_and_every_citation_slices(question, found):
    assume(any(map(str.isalnum, "".join(found))))
    prompt = make_prompt(question, *found)
    parts = list(ExtractiveGenerator(FakeEmbedder()).generate(prompt))
    resolved = resolve(parts, prompt.sources)
    assert resolved.text == "".join(part.text for part in parts), "nothing of a quote is taken for a marker"
    assert resolved.unknown_markers == ()
    assert resolved.citations
    assert all(slices(c, prompt.sources[c.marker - 1].passage.chunk.content) for c in resolved.citations)
    verbatim = [part.text for part in parts if part.verbatim]
    assert 1 <= len(verbatim) <= 3
    markers = [mark.number for mark in resolved.marks]
    assert markers == sorted(markers)
    for text, number in zip(verbatim, markers, strict=True):
        assert text in prompt.sources[number - 1].passage.chunk.content
    assert all(claim.status == "cited" for claim in resolved.claims)


@given(contents)
def test_what_is_quoted_holds_enough_of_the_chance_or_is_the_likeliest_passage(found):
    generator, prompt = ExtractiveGenerator(FakeEmbedder()), make_prompt("the fee of arr", *found)
    measured = generator.measure(prompt)
    if not measured:
        return
    weights = generator.weights(prompt.question)
    odds = [math.exp(item.score(weights)) for item in measured]
    chosen = choose(measured, weights, prompt.sources)
    held = math.fsum(
        chance
        for item, chance in zip(measured, odds, strict=True)
        if any(item.piece.text in piece.text for piece in chosen)
    )
    of_source = {}
    for item, chance in zip(measured, odds, strict=True):
        of_source[item.piece.source] = of_source.get(item.piece.source, 0.0) + chance
    assert held >= min(ENOUGH * math.fsum(odds), max(of_source.values())) - 1e-9
    assert len(chosen) <= 3


def a_choice(*scores, texts="One. Two. Three. Four. Five."):
    source = make_source(1, texts)
    pieces = pieces_of(0, source)
    measured = [Measured(piece, 0.0, {"word": score}, 1.0) for piece, score in zip(pieces, scores, strict=False)]
    return [piece.text for piece in choose(measured, BY_WORDS, [source])]


def test_one_sentence_is_enough_when_the_others_are_unlikely():
    assert a_choice(0.1, 1.0, 0.2, 0.1, 0.1) == ["Two."]


def test_two_that_are_equally_likely_are_both_quoted():
    assert sorted(a_choice(0.1, 1.0, 0.1, 1.0, 0.1)) == ["Four.", "Two."]


def test_the_passage_is_quoted_where_nothing_tells_its_sentences_apart():
    assert a_choice(0.5, 0.5, 0.5, 0.5, 0.5) == ["One. Two. Three. Four. Five."]
    assert a_choice(0.5, 0.5, texts="# Numbers\n\nOne. Two.") == ["One.", "Two."]
    heading = "# Numbers\n\n"
    assert a_choice(*[0.5] * 5, texts=f"{heading}One. Two. Three. Four. Five.") == ["One. Two. Three. Four. Five."]


def test_a_long_passage_is_not_quoted_whole():
    sentences = " ".join(f"Sentence {n} {'goes on ' * 12}to its end." for n in range(12))
    assert len(a_choice(*[0.5] * 12, texts=sentences)) == 3


def test_the_row_with_the_identifier_asked_for_is_quoted():
    row = "| A-{0} | radar head of the mast | workshop | due for service in spring |"
    table = "| tag | what | where | note |\n|---|---|---|---|\n" + "\n".join(row.format(n) for n in range(1001, 1007))
    question = "Where is the radar head with asset tag A-1004?"
    assert quotes(question, "The radar head is due for service.", table)[-1] == row.format(1004)
