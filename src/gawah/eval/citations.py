"""Citations and passages to two measures: is the quote exact, is the page right?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gawah.eval.collection import CollectionError, JudgedQuery
from gawah.eval.stats import estimate
from gawah.types import Citation, Estimate, Locator, PageBoxes


def quote_exact(citations: Iterable[Citation], texts: Mapping[str, str]) -> Estimate:
    """The share of citations whose quote is what stands in their span of the canonical text, given by document id.

    A citation of a document that is not there, or past its end, is not exact.
    """
    exact = [_is_exact(citation, texts.get(citation.document_id)) for citation in citations]
    return estimate(sum(exact), len(exact))


def page_right(found: Iterable[tuple[JudgedQuery, Locator]]) -> Estimate:
    """The share of passages that hold a needle and name the pages it is on, all of them, and no more than one besides.

    Given are queries with the locator of the passage in which their needle was found; those without a page are left out,
    since they have none to be right about. A passage that names no page of a needle that has one is wrong.
    """
    right = [_names_pages(pages_of(query), locator) for query, locator in found if query.page]
    return estimate(sum(right), len(right))


def pages_of(query: JudgedQuery) -> tuple[int, int]:
    """First and last page of a needle ("3" or "3-4"), 1-based; raises CollectionError for what names no pages."""
    first, _, last = query.page.partition("-")
    try:
        pages = int(first), int(last or first)
    except ValueError:
        pages = (0, 0)
    if not 1 <= pages[0] <= pages[1]:
        raise CollectionError(f"{query.id}: {query.page!r} names no pages; write 3, or 3-4")
    return pages


def _is_exact(citation: Citation, text: str | None) -> bool:
    span = citation.span
    return text is not None and span.end <= len(text) and text[span.start : span.end] == citation.quote


def _names_pages(pages: tuple[int, int], locator: Locator) -> bool:
    """A chunk may run over one page break of its own; naming ten pages to be right about one is not."""
    if not isinstance(locator, PageBoxes):
        return False
    n_besides = (locator.last_page - locator.first_page) - (pages[1] - pages[0])
    return locator.first_page <= pages[0] and pages[1] <= locator.last_page and n_besides <= 1
