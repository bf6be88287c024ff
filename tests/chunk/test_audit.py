"""The audit without labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chunk.markdown_blocks import document_of, markdown_document

from gawah.chunk import audit, chunk_document, chunk_reference, header_share, sentence_survival
from gawah.text import sentences
from gawah.types import Span


def count_words(texts):
    return [2 + len(text.split()) for text in texts]


def test_a_sentence_survives_when_one_span_holds_it_whole():
    text = "One two. Three four. Five six."
    assert sentence_survival(text, [Span(0, 20), Span(20, 30)]) == (3, 3)
    assert sentence_survival(text, [Span(0, 12), Span(12, 30)]) == (2, 3)
    assert sentence_survival(text, []) == (0, 3)
    assert sentence_survival("", []) == (0, 0)


@given(st.text(st.sampled_from("ab. \n")), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8))
def test_survival_agrees_with_counting_one_by_one(text, pairs):
    spans = [Span(*sorted(pair)) for pair in pairs]
    wanted = sentences(text)
    expected = sum(any(span.holds(one) for span in spans) for one in wanted)
    assert sentence_survival(text, spans) == (expected, len(wanted))


def test_headings_and_code_are_no_sentences_and_table_rows_are():
    document = markdown_document("# A. B\n\nOne. Two.\n\n| x. Y | z |\n|---|---|\n\n```\na. B\n```\n")
    assert sentence_survival(document, [Span(0, len(document.text))]) == (4, 4)


def test_header_share_counts_what_is_not_the_chunks_own():
    document = document_of("a b c d e f", title="T")
    chunks = chunk_document(document, count_tokens=count_words, window_tokens=50)
    assert header_share(chunks, count_words) == pytest.approx(1 / 9)
    assert header_share([], count_words) == 0.0


def test_the_audit_counts_what_the_guard_mended():
    document = document_of("word " * 90, title="T")
    chunks = chunk_document(document, count_tokens=count_words, window_tokens=60)
    result = audit(document, chunks, count_tokens=count_words, window_tokens=60)
    assert (result.n_over_before_guard, result.n_truncated, result.n_chunks) == (1, 0, 2)
    assert (result.n_sentences, result.n_whole) == (1, 0)
    assert result.n_tokens == sum(chunk.n_tokens for chunk in chunks)
    assert result.survival == 0.0


def test_boundaries_keep_sentences_that_blind_cuts_destroy(shared_set, count_tokens):
    _, texts, _, _ = shared_set
    totals = {"blocks": [0, 0], "blind": [0, 0]}
    for name, text in texts.items():
        document = markdown_document(text, name)
        blocks = chunk_document(document, count_tokens=count_tokens, window_tokens=256)
        blind = chunk_reference(text, "", strategy="A")
        for key, spans in (("blocks", [one.span for one in blocks]), ("blind", [one.span for one in blind])):
            whole, total = sentence_survival(document, spans)
            totals[key][0] += whole
            totals[key][1] += total
    assert totals["blocks"][0] / totals["blocks"][1] > 0.99
    assert totals["blind"][0] / totals["blind"][1] < 0.85
