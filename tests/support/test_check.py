"""Claims are held to the quotes they cite."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.support.made import BlindEmbedder, CountingEmbedder, checked, status

from gawah.support import SUPPORTED_FROM, WEAK_FROM
from gawah.text import quantities, statements

SIM = "A SIM that has not carried data for 60 days is switched off by the operator. Each second SIM sends one small packet."
ROWS = "| Station | Peak (m) | Time |\n|---|---|---|\n| Sitalpur | 4.52 | 05:35 |\n| Kaithwara | 6.57 | 17:15 |"


def missing(answer, *contents):
    (claim,) = checked(answer, *contents)
    return [(one.kind, one.text) for one in claim.missing]


def test_copied_words_are_supported_and_no_encoder_runs():
    embedder = CountingEmbedder()
    (claim,) = checked("Each second SIM sends one small packet [1].", SIM, embedder=embedder)
    assert (claim.status, claim.score, claim.missing) == ("supported", 1.0, ())
    assert embedder.n_read == 0


def test_the_highlight_is_the_narrowest_statement_and_slices_from_the_document():
    document = "# T\n\n" + SIM
    for answer in ("Each second SIM sends one small packet [1].", "One small packet each second SIM sends [1]."):
        (claim,) = checked(answer, SIM)
        (highlight,) = claim.highlights
        assert highlight.span.slice(document) == "Each second SIM sends one small packet."
        assert highlight.marker == 1


def test_copied_words_that_look_like_a_page_number_are_supported():
    quote = "Flash:\n\n```text\nflash      used 11 %, retired pages 3\nqueue      0 frames\n```"
    (claim,) = checked("```text\nflash      used 11 %, retired pages 3\nqueue      0 frames\n```\n[1]", quote)
    assert (claim.status, claim.foreign) == ("supported", ())


UNSUPPORTED = [
    ("A SIM that has not carried data for 90 days is switched off by the operator [1].", ("number", "90 days")),
    ("A SIM that has not carried data for 60 hours is switched off by the operator [1].", ("number", "60 hours")),
    ("A SIM that has not carried data for ninety days is switched off by the operator [1].", ("number", "ninety days")),
    ("A SIM that has not carried data for 60 days is switched off by Imran [1].", ("name", "Imran")),
    ("A SIM that has not carried data for 60 days raises GSM-E19 at the operator [1].", ("identifier", "GSM-E19")),
    ("Each second SIM never sends one small packet [1].", ("negation", "says it is not so")),
]


@pytest.mark.parametrize(("answer", "lacking"), UNSUPPORTED)
def test_what_no_quote_says_is_missing_and_the_claim_unsupported(answer, lacking):
    assert status(answer, SIM) == "unsupported"
    assert lacking in missing(answer, SIM)


def test_a_second_denial_leaves_a_doubt():
    assert status("A SIM that has not carried data for 60 days is not switched off by the operator [1].", SIM) == "weak"


def test_a_claim_that_drops_a_denial_is_unsupported():
    quote = "Nobody climbs a mast alone. The mast is red."
    assert missing("Anybody climbs a mast alone [1].", quote) == [("negation", "says it is so")]


SAME = [
    ("The operator switches off, after sixty days, a SIM that has not carried data [1].", SIM),
    ("The fee is 1340 EUR, or 40 % [1].", "The fee is 1,340 EUR, that is 40 percent. It is due."),
    ("फ़ीस १३ यूरो है [1]।", "फ़ीस 13 यूरो है। देय है।"),
    ("Kaithwara peak 6.57 m [1].", ROWS),
]


@pytest.mark.parametrize(("answer", "quote"), SAME)
def test_the_same_values_in_another_writing_are_found(answer, quote):
    assert missing(answer, quote) == []


def test_a_claim_is_held_to_the_sources_it_cites_and_to_no_other():
    assert status("Each second SIM sends one small packet [1].", "The moon is bright tonight.", SIM) == "unsupported"
    assert status("Each second SIM sends one small packet [2].", "The moon is bright tonight.", SIM) == "supported"
    assert status("Each second SIM sends one small packet [1][2].", "The moon is bright tonight.", SIM) == "supported"


def test_a_claim_about_something_else_is_unsupported_by_its_score():
    (claim,) = checked("whales sing under water [1].", SIM)
    assert claim.status == "unsupported"
    assert claim.missing == ()
    assert claim.score < WEAK_FROM < SUPPORTED_FROM


def test_without_a_marker_a_claim_is_uncited_whatever_it_says():
    (claim,) = checked("A SIM that has not carried data for 60 days is switched off by the operator.", SIM)
    assert (claim.status, claim.score, claim.highlights) == ("uncited", 0.0, ())


def test_rows_of_a_table_are_not_joined():
    assert status("| Kaithwara | 6.57 | 17:15 | [1]", ROWS) == "supported"
    assert status("Kaithwara peak 4.52 m [1].", ROWS) != "supported"


def test_what_a_heading_says_is_said():
    assert missing("GSM-E17 means that the name was refused [1].", "It means that the name was refused.") == [
        ("identifier", "GSM-E17")
    ]
    (claim,) = checked(
        "GSM-E17 means that the name was refused [1].", "It means that the name was refused.", name="GSM-E17.md"
    )
    assert claim.missing == ()


def test_half_a_sentence_may_be_turned_round_by_its_other_half():
    quote = "Never start a siren by machine. It is red."
    assert status("Start a siren by machine [1].", quote) != "supported"
    assert status("a siren by machine [1].", quote) != "supported"


def test_words_that_cut_a_number_are_not_copied():
    assert status("It is 4 [1].", "It is 4.07 m.") == "unsupported"
    assert status("It is 40 [1].", "It is −40 °C.") == "unsupported"


def test_claims_in_words_the_encoder_cannot_read_are_compared_by_letters():
    embedder = BlindEmbedder()
    quote = "तैरना आना ज़रूरी नहीं है। दो पड़ोसी होते हैं।"
    assert status("ज़रूरी नहीं है तैरना आना [1]।", quote, embedder=embedder) == "supported"
    assert status("हर साल नई साइकिल और वर्दी मिलती है [1]।", quote, embedder=embedder) == "unsupported"
    assert embedder.n_read == 0


def test_german_nouns_are_no_names():
    quote = "Die Gebühr für den Platz im Hafen ist im Frühjahr vor der Fahrt zu zahlen."
    assert missing("Die Gebühr ist für den Liegeplatz im Hafen vor der Fahrt zu zahlen [1].", quote) == []


@pytest.mark.parametrize(
    "filler", [" ", "a", "a ", "1 ", "1,", "not ", "n't ", "no. ", "`", "| ", "(", "https://", "seven "]
)
def test_a_very_long_claim_is_judged(filler):
    for claim in checked(f"boats{filler * (20_000 // len(filler))}moor [1].", SIM):
        assert claim.status in {"unsupported", "weak", "uncited"}


# --- properties

plain_words = st.lists(
    st.sampled_from(["boats", "moor", "quay", "lamp", "river", "gauge", "reads", "mark", "water", "stands"]),
    min_size=3,
    max_size=8,
)
numbers = st.integers(2, 10**7).map(str) | st.decimals(min_value=2, max_value=9999, places=2).map(str)


@st.composite
def sentences_with_numbers(draw):
    words, number = draw(plain_words), draw(numbers)
    at = draw(st.integers(1, len(words) - 1))
    unit = draw(st.sampled_from(["", " m", " days", " %", " मीटर"]))
    return " ".join(words[:at]).capitalize() + f" {number}{unit} " + " ".join(words[at:]) + ".", number


@given(st.lists(sentences_with_numbers(), min_size=1, max_size=4), st.data())
def test_a_whole_sentence_of_a_quote_is_always_supported(made, data):
    quote = " ".join(text for text, _ in made)
    sentence = data.draw(st.sampled_from(statements(quote))).slice(quote)
    embedder = CountingEmbedder()
    for claim in checked(f"{sentence} [1]", quote, embedder=embedder):
        assert (claim.status, claim.score) == ("supported", 1.0)
    assert embedder.n_read == 0


@given(st.lists(sentences_with_numbers(), min_size=1, max_size=4), numbers, st.data())
def test_a_number_that_is_nowhere_in_the_quote_is_never_supported(made, other, data):
    quote = " ".join(text for text, _ in made)
    sentence, number = data.draw(st.sampled_from(made))
    value = quantities(other).numbers[0].value
    assume(all(found.value != value for found in quantities(quote).numbers))
    for claim in checked(f"{sentence.replace(f' {number}', f' {other}')} [1]", quote):
        assert claim.status == "unsupported"
        assert [one.kind for one in claim.missing] == ["number"]


pieces = st.sampled_from(
    [
        "[1]",
        "[2]",
        " ",
        ". ",
        "\n",
        "\n\n",
        "- ",
        "| ",
        "```",
        "60 days",
        "not ",
        "never",
        "GSM-E17",
        "Imran",
        "boats moor",
        "नहीं",
        "۴۰",
        "https://x.y/z",
        "page 3",
        "§ 4",
    ]
)


@given(
    st.lists(pieces | st.text(max_size=5), max_size=20).map("".join),
    st.lists(pieces | st.text(max_size=8), min_size=1, max_size=12).map("".join),
)
def test_any_answer_over_any_quote_gets_verdicts_whose_spans_slice(answer, quote):
    document = "# T\n\n" + quote
    for claim in checked(answer, quote, SIM):
        assert claim.status in {"supported", "weak", "unsupported", "uncited"}
        assert 0.0 <= claim.score <= 1.0
        assert (claim.status == "uncited") == (not claim.markers)
        assert not (claim.foreign and claim.status == "supported")
        for highlight in claim.highlights:
            held = document if highlight.marker == 1 else "# T\n\n" + SIM
            assert highlight.span.slice(held).strip()
            assert highlight.marker in claim.markers
