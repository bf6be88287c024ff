"""Locators to URL fragments and back: the only place that knows how a fragment is spelt.

`parse(build(locator))` is the locator, up to what a fragment cannot carry: the boxes, the label and the last page of
`PageBoxes`; every `confidence`; the line numbers of `CharRange`; digits of a second or a percent beyond the third; and all of an HTML range's
words but the first and last few, when they are many. `build(parse(fragment)) == fragment` for every fragment built here.

| locator | fragment | after |
|---|---|---|
| CharRange | `#char=10,20`, with words `#char=10,20:~:text=…` | RFC 5147; WICG Text Fragments |
| CsvCells | `#row=5-7`, `#cell=4,1-6,3` (row, column) | RFC 7111 |
| PageBoxes | `#page=3` | RFC 8118 |
| TimeRange | `#t=132.4,158.9` | W3C Media Fragments, normal play time |
| ImageBox | `#xywh=percent:10,20,30,40`, after the first page `#page=2&xywh=…` | W3C Media Fragments, which has whole percents only |
| SheetRange, Slide | `#sheet=Costs&range=A1:B2`, `#slide=2`, `#slide=2-4` | our own |
| MailPart, EpubPlace | `#part=1.2&char=10,20`, `#href=ch1.xhtml&char=10,20` | our own |
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote, unquote

from gawah.errors import UsageError
from gawah.types import (
    CharRange,
    CsvCells,
    EpubPlace,
    ImageBox,
    Locator,
    MailPart,
    PageBoxes,
    SheetRange,
    Slide,
    TimeRange,
)

_DIRECTIVE = ":~:"
_WHOLE_WORDS_CHARS = 120  # words up to here travel whole; a browser must find them letter for letter
_EDGE_WORDS = 5  # of longer words, so many from either end
_EDGE_CHARS = 60
_SHOWN_CHARS = 60  # of a bad fragment in an error message

_NUMBER = re.compile(r"([0-9]{1,12})")  # longer ones count nothing that exists
_PAIR = re.compile(r"([0-9]{1,12}),([0-9]{1,12})")
_RANGE = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?")
_CELLS = re.compile(r"([0-9]{1,12}),([0-9]{1,12})(?:-([0-9]{1,12}),([0-9]{1,12}))?")
_DECIMAL = r"[0-9]{1,12}(?:\.[0-9]{1,9})?"
_CLOCK = rf"(?:(?:[0-9]{{1,6}}:)?[0-5]?[0-9]:)?{_DECIMAL}"
_TIMES = re.compile(rf"(?:npt:)?({_CLOCK})?,({_CLOCK})")
_PERCENTS = re.compile(rf"percent:({_DECIMAL}),({_DECIMAL}),({_DECIMAL}),({_DECIMAL})")
_A1 = re.compile(r"[A-Z]{1,3}[1-9][0-9]{0,6}(?::[A-Z]{1,3}[1-9][0-9]{0,6})?")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def build(locator: Locator) -> str:
    """The fragment of a locator, "#" included; ValueError for a locator that points nowhere (a range that ends before it
    begins, a page 0, a time that is not a number).
    """
    match locator:
        case CharRange():
            return "#" + _chars(locator.start, locator.end) + _text_directive(locator.words)
        case CsvCells():
            return "#" + _cells(locator)
        case PageBoxes():
            _require(1 <= locator.first_page <= locator.last_page, locator)
            return f"#page={locator.first_page}"
        case TimeRange():
            _require(0 <= locator.start_s <= locator.end_s < math.inf, locator)
            return f"#t={_decimal(locator.start_s)},{_decimal(locator.end_s)}"
        case SheetRange():
            _require(bool(locator.sheet) and bool(_A1.fullmatch(locator.a1)), locator)
            return f"#sheet={_escape(locator.sheet)}&range={locator.a1}"
        case Slide():
            _require(1 <= locator.first <= locator.last, locator)
            return f"#slide={_range(locator.first, locator.last)}"
        case ImageBox():
            sides = (locator.x, locator.y, locator.width, locator.height)
            _require(all(0 <= side <= 100 for side in sides) and locator.page >= 1, locator)
            page = "" if locator.page == 1 else f"page={locator.page}&"
            return f"#{page}xywh=percent:" + ",".join(_decimal(side) for side in sides)
        case MailPart():
            _require(bool(locator.part), locator)
            return f"#part={_escape(locator.part)}&{_chars(locator.start, locator.end)}"
        case EpubPlace():
            _require(bool(locator.href), locator)
            return f"#href={_escape(locator.href, safe='/')}&{_chars(locator.start, locator.end)}"


def parse(fragment: str) -> Locator:
    """The locator of a fragment, with or without its "#"; raises UsageError for one that is not of ours.

    Also understood: times as clocks (`t=npt:1:02:03,1:02:10`) and from the beginning (`t=,9`); the first and last words
    of a text directive come back as two lines, a prefix and a suffix in it are not kept.
    """
    body, marker, directive = fragment.removeprefix("#").partition(_DIRECTIVE)
    fields: dict[str, str] = {}
    for pair in body.split("&"):
        name, equals, value = pair.partition("=")
        if not equals or name in fields:
            raise _malformed(fragment)
        fields[name] = value
    read = _READERS.get(tuple(sorted(fields)))
    if read is None:
        raise _malformed(fragment)
    try:
        locator = read(fields)
        if marker:
            locator = _with_words(locator, directive)
        build(locator)  # refuses what points nowhere
    except ValueError as error:
        raise _malformed(fragment) from error
    return locator


def _malformed(fragment: str) -> UsageError:
    shown = fragment if len(fragment) <= _SHOWN_CHARS else fragment[:_SHOWN_CHARS] + "…"
    return UsageError(
        f"not a fragment of a document: {shown!r}; expected char=, row=, cell=, page=, t=, sheet= or alike"
    )


def _require(holds: bool, locator: Locator) -> None:  # noqa: FBT001
    if not holds:
        raise ValueError(f"points nowhere: {locator!r}")


# --- parts of fragments


def _chars(start: int, end: int) -> str:
    if not 0 <= start <= end:
        raise ValueError(f"not a range of characters: {start},{end}")
    return f"char={start},{end}"


def _cells(locator: CsvCells) -> str:
    _require(1 <= locator.first_row <= locator.last_row, locator)
    if locator.first_column == locator.last_column == 0:
        return f"row={_range(locator.first_row, locator.last_row)}"
    _require(1 <= locator.first_column <= locator.last_column, locator)
    first = f"{locator.first_row},{locator.first_column}"
    last = f"{locator.last_row},{locator.last_column}"
    return f"cell={first}" if first == last else f"cell={first}-{last}"


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _decimal(value: float) -> str:
    """At most three decimals, never an exponent."""
    written = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if written in ("-0", "") else written


def _escape(name: str, safe: str = "") -> str:
    """All but unreserved characters as percent-encoded UTF-8; the hyphen too, which text directives give a meaning."""
    return quote(name, safe=safe).replace("-", "%2D")


def _unescape(value: str) -> str:
    """ValueError for what `_escape` cannot have written: a lone %, bytes that are not UTF-8."""
    if _BAD_ESCAPE.search(value):
        raise ValueError(value)
    return unquote(value, errors="strict")


def _text_directive(words: str) -> str:
    """`:~:text=words`, or `:~:text=first,last` for many words or several lines: one term may not cross two blocks."""
    lines = [" ".join(line.split()) for line in words.splitlines()]
    lines = [line for line in lines if line]
    if not lines:
        return ""
    if len(lines) == 1 and len(lines[0]) <= _WHOLE_WORDS_CHARS:
        return f"{_DIRECTIVE}text={_escape(lines[0])}"
    return f"{_DIRECTIVE}text={_escape(_first_words(lines[0]))},{_escape(_last_words(lines[-1]))}"


def _first_words(line: str) -> str:
    kept = " ".join(line.split(" ")[:_EDGE_WORDS])
    cut = min(len(kept), _EDGE_CHARS)
    while 0 < cut < len(kept) and _continues(kept[cut]):
        cut += 1
    return kept[:cut].rstrip(" ")


def _last_words(line: str) -> str:
    kept = " ".join(line.split(" ")[-_EDGE_WORDS:])
    cut = max(0, len(kept) - _EDGE_CHARS)
    while cut > 0 and _continues(kept[cut]):
        cut -= 1
    return kept[cut:].lstrip(" ")


def _continues(character: str) -> bool:
    """Whether a cut before the character would tear a letter from its marks."""
    return unicodedata.category(character) in ("Mn", "Mc", "Me") or character in "\u200c\u200d"


# --- readers, by the names of the fields


def _read_char(fields: dict[str, str]) -> Locator:
    return CharRange(*_pair(fields["char"]))


def _read_row(fields: dict[str, str]) -> Locator:
    return CsvCells(*_first_last(fields["row"]))


def _read_cell(fields: dict[str, str]) -> Locator:
    row, column, last_row, last_column = _groups(_CELLS, fields["cell"])
    if int(column) == 0:  # our own sign for whole rows, not the standard's
        raise ValueError(fields["cell"])
    return CsvCells(int(row), int(last_row or row), int(column), int(last_column or column))


def _read_page(fields: dict[str, str]) -> Locator:
    (page,) = _groups(_NUMBER, fields["page"])
    return PageBoxes(int(page), int(page))


def _read_time(fields: dict[str, str]) -> Locator:
    start, end = _groups(_TIMES, fields["t"])
    return TimeRange(_seconds(start or "0"), _seconds(end))


def _read_sheet(fields: dict[str, str]) -> Locator:
    return SheetRange(_unescape(fields["sheet"]), _unescape(fields["range"]))


def _read_slide(fields: dict[str, str]) -> Locator:
    return Slide(*_first_last(fields["slide"]))


def _read_box(fields: dict[str, str]) -> Locator:
    x, y, width, height = (round(float(side), 3) for side in _groups(_PERCENTS, fields["xywh"]))
    return ImageBox(x, y, width, height)


def _read_page_box(fields: dict[str, str]) -> Locator:
    (page,) = _groups(_NUMBER, fields["page"])
    if int(page) < 2:  # the first page is not named
        raise ValueError(page)
    box = _read_box(fields)
    assert isinstance(box, ImageBox)
    return replace(box, page=int(page))


def _read_part(fields: dict[str, str]) -> Locator:
    return MailPart(_unescape(fields["part"]), *_pair(fields["char"]))


def _read_href(fields: dict[str, str]) -> Locator:
    return EpubPlace(_unescape(fields["href"]), *_pair(fields["char"]))


_READERS: dict[tuple[str, ...], Callable[[dict[str, str]], Locator]] = {
    ("char",): _read_char,
    ("row",): _read_row,
    ("cell",): _read_cell,
    ("page",): _read_page,
    ("t",): _read_time,
    ("range", "sheet"): _read_sheet,
    ("slide",): _read_slide,
    ("xywh",): _read_box,
    ("page", "xywh"): _read_page_box,
    ("char", "part"): _read_part,
    ("char", "href"): _read_href,
}


def _with_words(locator: Locator, directive: str) -> Locator:
    name, _, value = directive.partition("=")
    if name != "text" or not isinstance(locator, CharRange):
        raise ValueError(directive)
    terms = value.split(",")
    if terms[0].endswith("-"):  # what must stand before the words
        terms = terms[1:]
    if terms and terms[-1].startswith("-"):  # what must stand behind them
        terms = terms[:-1]
    if not 1 <= len(terms) <= 2 or not all(terms) or any("&" in term or "-" in term for term in terms):
        raise ValueError(directive)
    return CharRange(locator.start, locator.end, words="\n".join(_unescape(term) for term in terms))


def _groups(pattern: re.Pattern[str], value: str) -> tuple[str, ...]:
    match = pattern.fullmatch(value)
    if match is None:
        raise ValueError(value)
    return match.groups()


def _pair(value: str) -> tuple[int, int]:
    start, end = _groups(_PAIR, value)
    return int(start), int(end)


def _first_last(value: str) -> tuple[int, int]:
    first, last = _groups(_RANGE, value)
    return int(first), int(last or first)


def _seconds(clock: str) -> float:
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + float(part)
    return round(total, 3)
