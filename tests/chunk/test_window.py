"""The window guard's cuts: the best boundary inside, nearest to the middle."""

from __future__ import annotations

import pytest
from tests.chunk.markdown_blocks import document_of, markdown_document

from gawah.chunk import chunk_document


def count_characters(texts):
    return [2 + len(text) for text in texts]


def contents(document, window, **options):
    chunks = chunk_document(document, count_tokens=count_characters, window_tokens=window, **options)
    assert all(one.n_tokens <= window for one in chunks)
    return [one.content for one in chunks]


def test_between_units_first():
    document = markdown_document("First sentence. And another one here.\n\nSecond paragraph.")
    assert contents(document, 50, strategy="C") == ["First sentence. And another one here.", "Second paragraph."]


def test_then_between_sentences_in_prose_and_lines_in_code():
    assert contents(document_of("One is here.\nTwo is\nlonger. Three."), 24, strategy="C") == [
        "One is here.",
        "Two is\nlonger. Three.",
    ]
    code = markdown_document("```\nlet a = 1. Or\nlet b = 2. Or\n```")
    assert contents(code, 22, strategy="C") == ["```\nlet a = 1. Or", "let b = 2. Or\n```"]


def test_then_at_blanks_then_between_clusters():
    assert contents(document_of("abcd efgh ijkl mnop"), 14, strategy="C") == ["abcd efgh", "ijkl mnop"]
    assert contents(document_of("क्षक्षक्षक्ष"), 9, strategy="C") == ["क्षक्ष", "क्षक्ष"]


def test_inside_a_cluster_only_when_nothing_else_is_left():
    assert "".join(contents(document_of("e" + "\u0301" * 40), 12, strategy="C")) == "e" + "\u0301" * 40


def test_a_character_that_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="window is too small"):
        contents(document_of("abc"), 2)


def test_tokens_are_counted_in_few_large_batches(count_tokens):
    sizes = []

    def counting(texts):
        sizes.append(len(texts))
        return count_tokens(texts)

    document = markdown_document(
        "# T\n\n" + "\n\n".join(f"Paragraph {n}. " + "words and more " * 30 for n in range(600))
    )
    chunks = chunk_document(document, count_tokens=counting, window_tokens=60)
    assert len(chunks) > 1000
    assert len(sizes) < 10
