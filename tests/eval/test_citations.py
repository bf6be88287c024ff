"""Quotes and pages are right or wrong, never assumed."""

from __future__ import annotations

import pytest
from tests.eval.made import judged

from gawah.eval import CollectionError, page_right, quote_exact, successes
from gawah.types import CharRange, Citation, PageBoxes, Span


def cited(quote, start, document_id="d"):
    return Citation(
        marker=1,
        document_id=document_id,
        document_name="a.md",
        collection="c",
        label="",
        locator_label="",
        fragment="",
        url="",
        quote=quote,
        prefix="",
        suffix="",
        span=Span(start, start + len(quote)),
        cosine_distance=0.1,
        file_sha256="",
        text_sha256="",
        chunk_id="c",
    )


def test_a_quote_is_exact_when_it_is_what_stands_there():
    citations = [cited("gate", 4), cited("Gate", 4), cited("gate", 5), cited("gate", 40), cited("gate", 4, "gone")]
    found = quote_exact(citations, {"d": "The gate is open."})
    assert (successes(found), found.n) == (1, 5)
    assert quote_exact([], {}).n == 0


@pytest.mark.parametrize(
    ("page", "locator", "right"),
    [
        ("3", PageBoxes(3, 3), True),
        ("3", PageBoxes(3, 4), True),
        ("3", PageBoxes(2, 4), False),
        ("3", PageBoxes(4, 4), False),
        ("3-4", PageBoxes(3, 4), True),
        ("3-4", PageBoxes(3, 3), False),
        ("3", CharRange(0, 3), False),
    ],
)
def test_a_page_is_right_when_the_needle_is_on_it(page, locator, right):
    found = page_right([(judged("x", document="a.pdf", page=page), locator)])
    assert (successes(found), found.n) == (int(right), 1)


def test_a_needle_without_a_page_has_none_to_be_right_about():
    assert page_right([(judged("x"), PageBoxes(1, 1))]).n == 0


@pytest.mark.parametrize("page", ["three", "0", "4-3", "-2", "1-2-3"])
def test_what_names_no_page_is_refused(page):
    with pytest.raises(CollectionError, match=r"q1: .* names no pages"):
        page_right([(judged("x", page=page), PageBoxes(1, 1))])
