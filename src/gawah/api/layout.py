"""A document's places to what a viewer draws: words and boxes of a page, the words of a range, blocks and parts of the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from gawah.extract.html_harmless import occurrences, squeezed
from gawah.extract.showing import Shown
from gawah.fragment import label
from gawah.fragment.place import locate, locate_each
from gawah.types import CharRange, Document, EpubPlace, ImageBox, Locator, MailPart, PageBoxes, Slide, Span, TimeRange

WINDOW_CHARS = 60_000
_BEFORE_CHARS = 15_000  # of a window, in front of what it is to hold
_MOST_WORDS = 20_000  # on a page
_MOST_PARTS = 5_000
_WORD = re.compile(r"\S+")
_KINDS: dict[type, str] = {TimeRange: "time", Slide: "slide", MailPart: "message", EpubPlace: "chapter"}


def page_json(shown: Shown, document: Document, number: int, span: Span | None) -> dict[str, Any]:
    """A page's number, label, proportions, words and the boxes of a range of the text."""
    sides = shown.drawing.shown_pt if shown.drawing else (float(shown.width), float(shown.height))
    located = locate(document.places, document.text, span) if span and len(span) and document.places else None
    return {
        "number": number,
        "n_pages": shown.n_pages,
        "label": shown.label,
        "width": round(sides[0], 2),
        "height": round(sides[1], 2),
        "boxes": [_rounded(box) for box in shown.percents(located, number)] if located else [],
        "words": list(_words(shown, document, number)),
    }


def _words(shown: Shown, document: Document, number: int) -> Iterator[dict[str, Any]]:
    """Each word of the page's canonical text, with its box: a word that goes on in the next line is two."""
    spans = [
        Span(place.span.start + match.start(), place.span.start + match.end())
        for place in document.places
        if _is_on(place.locator, number)
        for match in _WORD.finditer(document.text[place.span.start : place.span.end])
    ][:_MOST_WORDS]
    for span, locator in zip(spans, locate_each(document.places, document.text, spans), strict=True):
        for box in list(shown.percents(locator, number))[:1]:
            yield {"from": span.start, "to": span.end, "text": span.slice(document.text), "box": _rounded(box)}


def _is_on(locator: Locator, number: int) -> bool:
    if isinstance(locator, PageBoxes):
        return any(box.page == number for box in locator.boxes)
    return isinstance(locator, ImageBox) and locator.page == number


def _rounded(box: tuple[float, float, float, float]) -> list[float]:
    return [round(edge, 3) for edge in box]


def words_and_rank(document: Document, span: Span | None) -> tuple[str, int]:
    """The words of a range as an HTML page shows them, and how many times they stand in it before, white space not counted."""
    if span is None or not len(span):
        return "", 0
    places, text = document.places, document.text
    cited, before = locate_each(places, text, [span, Span(0, span.start)])
    words = cited.words if isinstance(cited, CharRange) else span.slice(text)
    wanted = squeezed(words)
    shown = squeezed(before.words if isinstance(before, CharRange) else text[: span.start])
    before_it = takewhile(lambda at: at < len(shown), occurrences(shown + wanted, wanted))
    return words, sum(1 for _ in before_it)


def blocks_json(document: Document, around: int, first: int | None) -> dict[str, Any]:
    """A window of the text, whole blocks as far as they fit, and the parts that it touches."""
    n_chars, starts = len(document.text), [block.span.start for block in document.blocks]
    start = max(0, min(around, n_chars) - _BEFORE_CHARS) if first is None else min(first, n_chars)
    if n_chars <= WINDOW_CHARS:
        start = 0
    elif first is None and start and (at := bisect_right(starts, start) - 1) >= 0:
        block = document.blocks[at].span
        start = block.start if start - block.start < _BEFORE_CHARS else start
    end = min(n_chars, start + WINDOW_CHARS)
    window = Span(start, end)
    blocks = [
        {
            "kind": block.kind.value,
            "level": block.level,
            "from": max(start, block.span.start),
            "to": min(end, block.span.end),
        }
        for block in document.blocks
        if block.span.overlaps(window)
    ]
    kind, parts = _parts(document, window)
    return {
        "from": start,
        "to": end,
        "text": document.text[start:end],
        "blocks": blocks,
        "part_kind": kind,
        "parts": parts,
    }


def _parts(document: Document, window: Span) -> tuple[str, list[dict[str, Any]]]:
    """What a window touches of an original's slides, segments of speech, messages' parts or chapters."""
    kind = next((_KINDS[type(place.locator)] for place in document.places if type(place.locator) in _KINDS), "")
    parts: list[dict[str, Any]] = []
    before: object = None
    for place in document.places if kind else ():
        locator, span = place.locator, place.span
        if not span.overlaps(window) or type(locator) not in _KINDS:
            continue
        own = locator if isinstance(locator, TimeRange | Slide) else label(locator)
        if own == before and parts:
            parts[-1]["to"] = span.end
            continue
        before = own
        part: dict[str, Any] = {
            "from": span.start,
            "to": span.end,
            "label": label(locator),
            "start_s": None,
            "end_s": None,
        }
        if isinstance(locator, TimeRange):
            part.update(start_s=locator.start_s, end_s=locator.end_s)
        parts.append(part)
        if len(parts) == _MOST_PARTS:
            break
    return kind, parts
