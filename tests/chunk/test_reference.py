"""The reference chunker: the golden files chunk for chunk, and the faults that are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chunk.markdown_blocks import document_of

from gawah.chunk import OVERLAP_CHARS, chunk_reference, reference_chunks
from gawah.errors import UsageError

TEXT = "# Title\n\nLost.\n\n## One\n\nFirst words.\n\nSecond words.\n\n## Two\nThird."


def test_the_golden_files_are_reproduced_chunk_for_chunk(shared_set):
    _, texts, golden, _ = shared_set
    assert len(golden["documents"]) == len(texts)
    for document in golden["documents"]:
        text = texts[document["file"]]
        chunks = [
            {"section": piece.section, "from": piece.span.start, "to": piece.span.end, "text": piece.text,
             "content": piece.span.slice(text)}
            for piece in chunk_reference(text, document["title"], target=golden["target"])
        ]  # fmt: skip
        assert chunks == document["chunks"]


def test_sections_paragraphs_and_headers():
    pieces = chunk_reference(TEXT, "doc")
    assert [(piece.section, piece.text) for piece in pieces] == [
        ("One", "[doc > One]\nFirst words.\n\nSecond words."),
        ("Two", "[doc > Two]\nThird."),
    ]
    assert [piece.span.slice(TEXT) for piece in chunk_reference(TEXT, "doc", target=13)] == [
        "First words.",
        "Second words.",
        "Third.",
    ]


def test_a_text_without_sections_is_one():
    assert [piece.text for piece in chunk_reference("Words.\n\nMore.", "doc")] == ["[doc]\nWords.\n\nMore."]
    assert chunk_reference("", "doc") == []
    assert chunk_reference(" \n\ufeff\n", "doc") == []


def test_a_large_paragraph_is_cut_after_full_stops_of_any_kind():
    pieces = chunk_reference("It is v3.5 now. Really? Yes.", "doc", target=10)
    assert [piece.text.partition("\n")[2] for piece in pieces] == ["It is v3.", "5 now.", "Really?", "Yes."]


def test_white_space_is_javascripts():
    assert [piece.span.start for piece in chunk_reference("\ufeff\u00a0a\u2003", "doc")] == [2]
    assert [piece.text for piece in chunk_reference("\x85a\x1c", "doc")] == ["[doc]\n\x85a\x1c"]


def test_headings_end_at_any_line_end_but_only_lf_is_left_out():
    text = "## A\r\nx\n\u2028## B\u2029y\n## \n## C"
    assert [(piece.section, piece.span.slice(text)) for piece in chunk_reference(text, "d")] == [
        ("A", "## A\r\nx"),
        ("B", "## B\u2029y\n##"),
        ("C", "## C"),
    ]


def test_overlap_is_in_the_text_only():
    text = "a" * 70 + ".\n\n" + "b" * 70 + ".\n\n" + "c" * 10
    plain, header, overlap, both = (chunk_reference(text, "t", strategy=letter, target=80) for letter in "CEDF")
    assert [piece.span for piece in plain] == [piece.span for piece in both]
    assert [piece.span for piece in header] == [piece.span for piece in overlap]
    assert overlap[1].text == text[7:71] + "\n" + plain[1].text
    assert both[1].text == "[t]\n" + overlap[1].text
    assert overlap[0].text == plain[0].text


def test_blind_cuts_take_every_character_and_no_section():
    text = "x" * 500 + "\n## Head\n" + "y" * 600
    pieces = chunk_reference(text, "t", strategy="A")
    assert [len(piece.span) for piece in pieces] == [512, 512, 85]
    assert "".join(piece.text for piece in pieces) == text
    assert {piece.section for piece in pieces} == {""}
    overlapped = chunk_reference(text, "t", strategy="B")
    assert [piece.text for piece in overlapped[1:]] == [
        text[piece.span.start - OVERLAP_CHARS : piece.span.end] for piece in pieces[1:]
    ]


def test_pieces_become_chunks(count_tokens):
    document = document_of(TEXT, title="Title")
    chunks = reference_chunks(document, "doc", count_tokens=count_tokens)
    assert [chunk.n_tokens for chunk in chunks] == count_tokens([chunk.text for chunk in chunks])
    assert [chunk.ordinal for chunk in chunks] == [0, 1]
    assert {chunk.n_tokens for chunk in reference_chunks(document, "doc")} == {0}
    assert {chunk.id for chunk in chunks}.isdisjoint(
        chunk.id for chunk in reference_chunks(document, "doc", strategy="C")
    )


def test_an_unknown_strategy_is_a_usage_error():
    with pytest.raises(UsageError, match="'G'"):
        chunk_reference("a", "t", strategy="G")


@given(st.text(st.sampled_from("a.# \n\r\ufeff\u2028!")), st.sampled_from("ABCDEF"), st.integers(1, 20))
def test_pieces_slice_and_are_in_order(text, strategy, target):
    at = 0
    for piece in chunk_reference(text, "t", strategy=strategy, target=target):
        assert at <= piece.span.start < piece.span.end <= len(text)
        assert piece.text.endswith(piece.span.slice(text))
        at = piece.span.end


def test_large_odd_texts_take_linear_time():
    n = 1 << 20
    for odd in ("a" * n, "." * n, "\n" * n, "## " * (n // 3), " " * n, "a\n" * (n // 2)):
        assert sum(len(piece.span) for piece in chunk_reference(odd, "t")) <= n + 2
