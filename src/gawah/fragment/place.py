"""Spans of a canonical text to the part of the original they came from."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from gawah.types import (
    Box,
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
_HEADERS = re.compile(r"(?:^|[./])0$")
_SAME_LINE = 0.4  # of a box's height: how far the middles of two boxes of one line may lie apart
_INSET_PT = 0.15  # at a cut between letters: a box that touches the next letter is read as holding it
_RECENT_BOXES = 8  # a box that several places share is named once; they follow each other
_WORD_GAP = 1.5  # of a box's height: a wider blank parts two columns


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
    if kind is PageBoxes:
        return _join_pages(touched, span)
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


def _join_pages(touched: Sequence[Place], span: Span) -> Locator:
    """All the pages; boxes of characters that follow each other on one line become one."""
    pages = [place.locator for place in touched if isinstance(place.locator, PageBoxes)]
    boxes: list[Box] = []
    last_toward, tallest = "", 0.0
    for place, page in zip(touched, pages, strict=True):
        toward = place.advance.toward if place.advance else ""
        for box in [_narrowed(page.boxes[0], place, span)] if place.advance else page.boxes:
            height = _height(box, toward)
            joined = _around(boxes[-1], box) if boxes and toward and toward == last_toward else None
            highest = (1 + _SAME_LINE) * max(
                tallest, height
            )  # on a line that is not level boxes climb away from the first
            if joined and _on_one_line(boxes[-1], box, toward) and _height(joined, toward) <= highest:
                boxes[-1], tallest = joined, max(tallest, height)
            elif box not in boxes[-_RECENT_BOXES:]:
                boxes.append(box)
                tallest = height
            last_toward = toward
    first = min(pages, key=lambda page: page.first_page)
    last, confidence = max(page.last_page for page in pages), min(page.confidence for page in pages)
    return PageBoxes(first.first_page, last, first.page_label, tuple(boxes), confidence)


def _narrowed(box: Box, place: Place, span: Span) -> Box:
    """The box of only those of the place's characters that the span holds, a hair short where it was cut."""
    assert place.advance is not None
    toward, tenths = place.advance.toward, place.advance.tenths
    first, past = max(0, span.start - place.span.start), min(len(tenths), span.end - place.span.start)
    while first and tenths[first] < 0:
        first -= 1
    while past < len(tenths) and tenths[past] < 0:
        past += 1
    before, behind = (sum(tenth for tenth in part if tenth > 0) / 10 for part in (tenths[:first], tenths[past:]))
    before, behind = (cut + _INSET_PT if cut else 0.0 for cut in (before, behind))
    low, high = (before, behind) if toward in ("right", "up") else (behind, before)
    if toward in ("right", "left"):
        return replace(box, x0=round(box.x0 + low, 2), x1=round(box.x1 - high, 2))
    return replace(box, y0=round(box.y0 + low, 2), y1=round(box.y1 - high, 2))


def _on_one_line(a: Box, b: Box, toward: str) -> bool:
    """Whether two boxes are of one line, and closer than columns are.

    What is compared across the line is the middle: a line of small letters lies within one of tall ones.
    """
    if a.page != b.page:
        return False
    along, across = ((a.x0, a.x1, b.x0, b.x1), (a.y0, a.y1, b.y0, b.y1))
    if toward in ("up", "down"):
        along, across = across, along
    height = max(across[1] - across[0], across[3] - across[2])
    apart = abs(across[0] + across[1] - across[2] - across[3]) / 2
    gap = max(along[0], along[2]) - min(along[1], along[3])
    return apart < _SAME_LINE * height and -_SAME_LINE * height < gap < _WORD_GAP * height


def _height(box: Box, toward: str) -> float:
    """How far a box reaches across the line."""
    return box.x1 - box.x0 if toward in ("up", "down") else box.y1 - box.y0


def _around(a: Box, b: Box) -> Box:
    return Box(a.page, min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1))


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
    """One part. A message's headers ("0", "2.0", in a mailbox "3/0") stand above its body in every reader: what holds both is in the body."""
    names = {part.part for part in parts}
    names = {name for name in names if not _HEADERS.search(name)} or names
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
    TimeRange: _join_times,
    Slide: _join_slides,
    ImageBox: _join_boxes,
    MailPart: _join_parts,
    EpubPlace: _join_spine,
    SheetRange: _join_ranges,
}
