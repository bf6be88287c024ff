"""Spans of a canonical text to the part of the original they came from."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from gawah.types import (
    CharRange,
    CsvCells,
    EpubPlace,
    ImageBox,
    Locator,
    MailPart,
    PageBoxes,
    Place,
    SheetRange,
    Slide,
    Span,
    TimeRange,
)

_A1 = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})(?::([A-Z]{1,3})([1-9][0-9]{0,6}))?")
_CELL = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")


def locate(places: Sequence[Place], text: str, span: Span) -> Locator:
    """The locator of one span; `locate_each` is the way for many spans of one text, it counts lines only once."""
    return locate_each(places, text, [span])[0]


def locate_each(places: Sequence[Place], text: str, spans: Iterable[Span]) -> list[Locator]:
    """The locator of each span of a document's text.

    Without places the text is the file's own: a CharRange with lines. Else the places that a span touches are joined: to
    the rows or cells from first to last, all pages with their boxes, the whole time, a sheet's smallest range around
    them, … A span that touches no place, or places that no single locator covers (two sheets, two message parts), gives
    the bare CharRange.
    """
    if not places:
        breaks = [match.start() for match in re.finditer("\n", text)]
        return [_lines(breaks, span) for span in spans]
    starts = [place.span.start for place in places]
    ends = list(accumulate((place.span.end for place in places), max))  # never falling, so that it can be bisected
    located: list[Locator] = []
    for span in spans:
        near = places[bisect_right(ends, span.start) : bisect_left(starts, span.end)]
        touched = [place for place in near if place.span.overlaps(span)]
        located.append(_join(touched, text, span) or CharRange(span.start, span.end))
    return located


def _lines(breaks: Sequence[int], span: Span) -> CharRange:
    """A line break belongs to the line it ends."""
    first = bisect_left(breaks, span.start) + 1
    last = bisect_left(breaks, max(span.start, span.end - 1)) + 1
    return CharRange(span.start, span.end, first, last)


def _join(touched: Sequence[Place], text: str, span: Span) -> Locator | None:
    kinds = {type(place.locator) for place in touched}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind is CharRange:
        return CharRange(span.start, span.end, words=_visible_words(touched, text, span))
    return _JOINS[kind]([place.locator for place in touched], span)


def _visible_words(touched: Sequence[Place], text: str, span: Span) -> str:
    """The words of the span that stand in the original; a gap (marks of lists and tables) keeps its line break."""
    pieces: list[str] = []
    at = -1
    for place in touched:
        start, end = max(place.span.start, span.start, at), min(place.span.end, span.end)
        if start >= end:
            continue
        if pieces and start > at:
            pieces.append("\n" if "\n" in text[at:start] else " ")
        pieces.append(text[start:end])
        at = end
    return "".join(pieces).strip()


def _join_cells(cells: Sequence[CsvCells], _: Span) -> Locator:
    first, last = min(cell.first_row for cell in cells), max(cell.last_row for cell in cells)
    if any(cell.first_column == 0 for cell in cells):
        return CsvCells(first, last)
    return CsvCells(first, last, min(cell.first_column for cell in cells), max(cell.last_column for cell in cells))


def _join_pages(pages: Sequence[PageBoxes], _: Span) -> Locator:
    first = min(pages, key=lambda page: page.first_page)
    boxes = dict.fromkeys(box for page in pages for box in page.boxes)
    last, confidence = max(page.last_page for page in pages), min(page.confidence for page in pages)
    return PageBoxes(first.first_page, last, first.page_label, tuple(boxes), confidence)


def _join_times(times: Sequence[TimeRange], _: Span) -> Locator:
    start, end = min(time.start_s for time in times), max(time.end_s for time in times)
    return TimeRange(start, end, min(time.confidence for time in times))


def _join_slides(slides: Sequence[Slide], _: Span) -> Locator:
    return Slide(min(slide.first for slide in slides), max(slide.last for slide in slides))


def _join_boxes(boxes: Sequence[ImageBox], _: Span) -> Locator:
    """The smallest box around those of the first page; what follows on the next page is found from there."""
    confidence = min(box.confidence for box in boxes)
    page = min(box.page for box in boxes)
    boxes = [box for box in boxes if box.page == page]
    x, y = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.width for box in boxes), max(box.y + box.height for box in boxes)
    return ImageBox(x, y, right - x, bottom - y, page, confidence)


def _join_parts(parts: Sequence[MailPart], span: Span) -> Locator | None:
    names = {part.part for part in parts}
    return MailPart(names.pop(), span.start, span.end) if len(names) == 1 else None


def _join_spine(items: Sequence[EpubPlace], span: Span) -> Locator | None:
    names = {item.href for item in items}
    return EpubPlace(names.pop(), span.start, span.end) if len(names) == 1 else None


def _join_ranges(ranges: Sequence[SheetRange], _: Span) -> Locator | None:
    """The smallest A1 range around all of them, in one sheet."""
    matches = [_A1.fullmatch(item.a1) for item in ranges]
    if len({item.sheet for item in ranges}) != 1 or None in matches:
        return None
    cells = [cell for item in ranges for cell in _CELL.findall(item.a1)]
    columns = sorted((column for column, _ in cells), key=lambda column: (len(column), column))
    rows = sorted(int(row) for _, row in cells)
    first, last = f"{columns[0]}{rows[0]}", f"{columns[-1]}{rows[-1]}"
    return SheetRange(ranges[0].sheet, first if first == last else f"{first}:{last}")


_JOINS: dict[type, Callable[[Sequence[Any], Span], Locator | None]] = {
    CsvCells: _join_cells,
    PageBoxes: _join_pages,
    TimeRange: _join_times,
    Slide: _join_slides,
    ImageBox: _join_boxes,
    MailPart: _join_parts,
    EpubPlace: _join_spine,
    SheetRange: _join_ranges,
}
