"""The product's chunker: whole units, real headers, nothing lost, nothing over the window."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.chunk.markdown_blocks import document_of, markdown_document

from gawah.chunk import OVERLAP_CHARS, chunk_document, chunker_name
from gawah.errors import UsageError
from gawah.extract.markdown import MarkdownExtractor
from gawah.fingerprint import chunk_id, sha256_text
from gawah.text import collapse_space
from gawah.types import Block, BlockKind, Span


def count_words(texts):
    """A stand-in for a tokenizer: pieces of up to four characters of a word, single characters of anything else."""
    return [2 + len(re.findall(r"[A-Za-z]{1,4}|\S", text)) for text in texts]


def chunk(document, **options):
    return chunk_document(document, **({"count_tokens": count_words, "window_tokens": 256} | options))


def corpus(texts):
    for name, text in texts.items():
        yield MarkdownExtractor().extract(document_of(text, name=name).source, text.encode())


def holds(content, needle):
    return collapse_space(needle) in collapse_space(content)


def test_every_needle_lies_whole_in_a_chunk_and_no_text_is_truncated(shared_set, count_tokens):
    _, texts, _, queries = shared_set
    contents = {}
    for document in corpus(texts):
        chunks = chunk_document(document, count_tokens=count_tokens, window_tokens=256)
        assert max(count_tokens([one.text for one in chunks])) <= 256
        contents[document.source.name] = [one.content for one in chunks]
    destroyed = {
        query["needle"]
        for query in queries
        if not any(holds(content, query["needle"]) for content in contents[query["document"]])
    }
    assert destroyed == set()


def test_text_before_the_first_heading_and_every_level_is_kept():
    document = markdown_document(
        "Intro words.\n\n# Guide\n\nFirst.\n\n## Setup\n\n### Linux\n\nRun it.\n\n# Part two\n\nLast."
    )
    assert [(one.section, one.text) for one in chunk(document)] == [
        ("", "[Guide]\nIntro words."),
        ("", "[Guide]\nFirst."),
        ("Setup > Linux", "[Guide > Setup > Linux]\nRun it."),
        ("Part two", "[Guide > Part two]\nLast."),
    ]


def test_a_heading_that_heads_nothing_is_a_unit_of_its_own():
    document = markdown_document("# Guide\n\nText.\n\n## Empty\n\n## Full\n\nMore.\n\n## Last\n\n### Deep\n")
    assert [(one.section, one.content) for one in chunk(document)] == [
        ("", "Text.\n\n## Empty"),
        ("Full", "More."),
        ("Last", "### Deep"),
    ]
    assert [one.content for one in chunk(markdown_document("# Only a title\n"))] == ["# Only a title"]


def test_units_are_packed_to_the_target_inside_a_section():
    document = markdown_document(
        "# T\n\n" + "\n\n".join(f"Paragraph {n} " + "x" * 200 for n in range(5)) + "\n\n## S\n\nShort."
    )
    assert [len(one.content) for one in chunk(document)] == [426, 426, 212, 6]


def test_a_small_piece_joins_its_neighbour_in_the_same_section_only():
    big, small = "xxxx " * 100, "yyyy " * 24
    assert len(chunk(markdown_document(f"# T\n\n{big}\n\n{small}"))) == 1
    assert len(chunk(markdown_document(f"# T\n\n{small}\n\n{big}"))) == 1
    assert len(chunk(markdown_document(f"# T\n\n{big}\n\n## S\n\n{small}"))) == 2
    assert len(chunk(markdown_document(f"# T\n\n{big}\n\n{'zzzz ' * 40}"))) == 2


def test_code_and_tables_are_cut_at_line_ends():
    rows = "\n".join(f"| row {n} | {'cell ' * 12}|" for n in range(40))
    code = "```\n" + "\n".join(f"let value_{n} = compute({n}). Then;" for n in range(60)) + "\n```"
    document = markdown_document(f"# T\n\n{rows}\n\n{code}\n")
    lines = set(document.text.split("\n"))
    chunks = chunk(document)
    assert len(chunks) > 4
    assert all(line in lines for one in chunks for line in one.content.split("\n"))


def test_prose_is_cut_at_sentence_ends():
    text = " ".join(f"Sentence {n} has v3.{n} and e.g. some words in it." for n in range(40))
    chunks = chunk(markdown_document(text))
    assert all(one.content.startswith("Sentence") and one.content.endswith("in it.") for one in chunks)
    assert all(len(one.content) <= 512 for one in chunks)


def test_a_sentence_over_the_target_stays_whole_while_it_fits():
    sentence = "word " * 150 + "end."
    chunks = chunk(markdown_document(f"Before it. {sentence} After it."))
    assert any(sentence in one.content for one in chunks)


def test_eight_thousand_han_characters_without_blanks_are_never_truncated(count_tokens):
    """Case 13."""
    text = "漢字文章検索" * 1334
    chunks = chunk_document(document_of(text, title="長"), count_tokens=count_tokens, window_tokens=256)
    assert "".join(one.content for one in chunks) == text
    assert max(count_tokens([one.text for one in chunks])) <= 256
    assert min(len(one.content) for one in chunks) >= 60


def test_lower_casing_lengths_move_no_span():
    """Case 11."""
    text = "İ" * 300 + " words. " + "the fee is 40 EUR. " + "İ" * 400
    (holder,) = [one for one in chunk(document_of(text)) if "the fee is 40 EUR" in one.content]
    at = holder.content.index("the fee is 40 EUR") + holder.span.start
    assert text[at : at + 17] == "the fee is 40 EUR"


@pytest.mark.parametrize("strategy", "ABCDEF")
def test_the_span_never_takes_the_overlap_in(strategy):
    """Case 9."""
    document = markdown_document("# T\n\n" + "\n\n".join(f"## S{n}\n\nWords of {n}. " + "abc " * 100 for n in range(9)))
    chunks = chunk(document, strategy=strategy)
    for one in chunks:
        assert document.text[one.span.start : one.span.end] == one.content
    assert all(before.span.end <= after.span.start for before, after in pairwise(chunks))


def test_overlap_stands_between_header_and_content_and_gives_way_to_the_window():
    document = markdown_document("# T\n\n" + "\n\n".join("abcd " * 90 for _ in range(4)))
    plain, tailed = chunk(document), chunk(document, strategy="F")
    assert [one.span for one in plain] == [one.span for one in tailed]
    assert tailed[1].text == f"[T]\n{plain[0].content[-OVERLAP_CHARS:]}\n{plain[1].content}"
    window = max(one.n_tokens for one in plain)
    assert [one.text for one in chunk(document, strategy="F", window_tokens=window)] == [one.text for one in plain]


def test_strategies_differ_in_the_text_only():
    document = markdown_document("# T\n\n" + "\n\n".join("abcd " * 90 for _ in range(4)))
    by_letter = {letter: chunk(document, strategy=letter) for letter in "CDEF"}
    assert len({tuple(one.span for one in chunks) for chunks in by_letter.values()}) == 1
    assert all(one.text == one.content for one in by_letter["C"])
    assert len({one.id for chunks in by_letter.values() for one in chunks}) == 4 * len(by_letter["C"])


def test_ids_come_from_document_version_chunker_and_span():
    document = markdown_document("# T\n\nWords.")
    (one,) = chunk(document)
    expected = chunk_id(document.id, sha256_text(document.text), "blocks-E/1", one.span.start, one.span.end)
    assert one.id == expected
    assert chunker_name("B", target=256) == "blocks-B-256/1"


def test_a_document_without_blocks_is_paragraphs():
    document = document_of("One two.\n\nThree four.\n \n" + "word " * 130, blocks=[])
    assert [one.content[:4] for one in chunk(document)] == ["One ", "word"]
    assert chunk(document)[0].content == "One two.\n\nThree four."
    assert [one.text for one in chunk(document_of("Words.", blocks=[]))] == ["Words."]
    assert chunk(document_of("")) == []
    assert chunk(document_of(" \n\t\n ")) == []


def test_an_unknown_strategy_is_a_usage_error():
    with pytest.raises(UsageError):
        chunk(document_of("a"), strategy="e")


def test_one_line_of_a_megabyte_is_cut():
    for line in ("a" * (1 << 20), "ab cd " * (1 << 17), "।" * 100_000, "e\u0301" * 100_000):
        chunks = chunk(document_of(line))
        assert max(len(one.content) for one in chunks) <= 1024
        assert sum(len(one.content) for one in chunks) + len(chunks) >= len(line)


FRAGMENTS = ["# Head", "## Sub", "### Deep sub", "## Head ##", "Some words here.", "e.g. this, v3.5 too! And more?", "| a | b |",
             "|---|---|", "- item one", "1. item", "```", "x = 1", "यह वाक्य है। दूसरा क्षत्रिय", "漢字文章検索" * 9, "👩‍👩‍👧🇮🇳🇵🇰", "\u0301\u0600 ",
             "", "", "   ", "\t", "word " * 60, "a" * 700, "Sentence one. " * 50, "#", "## ", "İ\r", "\u2028\x0b"]  # fmt: skip
texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=24).map("\n".join)


@st.composite
def documents(draw):
    """Markdown documents, and texts under arbitrary blocks."""
    text = draw(texts)
    if draw(st.booleans()):
        return markdown_document(text)
    blocks = []
    for _ in range(draw(st.integers(0, 6))):
        start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        line_end = text.find("\n", end)
        lines = Span(text.rfind("\n", 0, start) + 1, len(text) if line_end < 0 else line_end)
        kind = draw(st.sampled_from(BlockKind))
        blocks.append(Block(kind, lines, draw(st.integers(1, 4)), draw(st.sampled_from(["Head", "T", "", "x" * 300]))))
    return document_of(text, title=draw(st.sampled_from(["", "T", "A title of some words", "t" * 400])), blocks=blocks)


@settings(deadline=None)
@given(documents(), st.sampled_from("ABCDEF"), st.integers(10, 120), st.sampled_from([40, 512]))
def test_chunks_are_ordered_whole_and_inside_the_window(document, strategy, window, target):
    text = document.text
    chunks = chunk(document, strategy=strategy, window_tokens=window, target=target)
    boundaries = {0} | {match.end() for match in regex.finditer(r"\X", text)}
    assert [one.ordinal for one in chunks] == list(range(len(chunks)))
    assert [one.n_tokens for one in chunks] == count_words([one.text for one in chunks])
    for one in chunks:
        assert one.content == one.span.slice(text)
        assert one.content.strip()
        assert one.n_tokens <= window
        assert {one.span.start, one.span.end} <= boundaries
    assert all(before.span.end <= after.span.start for before, after in pairwise(chunks))


@settings(deadline=None)
@given(documents(), st.sampled_from("ABEF"), st.integers(10, 120))
def test_every_character_lies_in_a_chunk_or_in_a_heading_that_a_header_shows(document, strategy, window):
    chunks = chunk(document, strategy=strategy, window_tokens=window)
    covered = {at for one in chunks for at in range(one.span.start, one.span.end)}
    headers = [one.text.split("]\n")[0][1:].split(" > ") for one in chunks if one.text != one.content]
    for block in document.blocks:
        if block.kind is BlockKind.HEADING and any(collapse_space(block.title) in header for header in headers):
            covered |= set(range(block.span.start, block.span.end))
    lost = [at for at, character in enumerate(document.text) if not character.isspace() and at not in covered]
    assert lost == []
