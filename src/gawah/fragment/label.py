"""Locators to the few words that tell a person where to look."""

from __future__ import annotations

import math
import re

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

_PLAIN_SHEET = re.compile(r"[^\W\d]\w*")
_JOINERS = "\u200c\u200d"  # spelling, in Hindi, Urdu and Persian; other characters that do not print are dropped
_NAME_CHARS = 80


def label(locator: Locator) -> str:
    """One line for people: "lines 12–15", "page 6 (iv)", "rows 3–5", "slide 2", "0:02:12–0:02:38", "Sheet1!A1:B2".

    Words that were recognised by a machine that was not sure of them are said to be: "page 3, low confidence (61 %)".
    """
    confidence = getattr(locator, "confidence", 1.0)
    return f"{_where(locator)}, low confidence ({confidence * 100:.0f} %)" if confidence < 1 else _where(locator)


def _where(locator: Locator) -> str:
    match locator:
        case CharRange():
            if locator.first_line:
                return _counted("line", locator.first_line, locator.last_line)
            return f"characters {locator.start}–{locator.end} of the extracted text"
        case CsvCells():
            rows = _counted("row", locator.first_row, locator.last_row)
            columns = _counted("column", locator.first_column, locator.last_column)
            return f"{rows}, {columns}" if locator.first_column else rows
        case PageBoxes():
            return _pages(locator)
        case TimeRange():
            return f"{_clock(math.floor(locator.start_s))}–{_clock(math.ceil(locator.end_s))}"
        case SheetRange():
            sheet = one_line(locator.sheet)
            name = sheet if _PLAIN_SHEET.fullmatch(sheet) else "'" + sheet.replace("'", "''") + "'"
            return f"{name}!{locator.a1}"
        case Slide():
            return _counted("slide", locator.first, locator.last)
        case ImageBox():
            right, bottom = locator.x + locator.width, locator.y + locator.height
            box = f"{locator.x:.0f}–{right:.0f} % from the left, {locator.y:.0f}–{bottom:.0f} % from the top"
            return box if locator.page == 1 else f"page {locator.page}, {box}"
        case MailPart():
            return f"part {one_line(locator.part)}"
        case EpubPlace():
            return one_line(locator.href)


def _counted(unit: str, first: int, last: int) -> str:
    return f"{unit} {first}" if first == last else f"{unit}s {first}–{last}"


def _pages(locator: PageBoxes) -> str:
    """The page's number in the file, which a viewer goes to, and the number printed on it where that is another."""
    pages = _counted("page", locator.first_page, locator.last_page)
    printed = one_line(locator.page_label)
    if not printed or printed == str(locator.first_page):
        return pages
    return f"{pages} ({printed})" if locator.first_page == locator.last_page else f"{pages} (from {printed})"


def _clock(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def one_line(text: str, most_chars: int = _NAME_CHARS) -> str:
    """A document's own words (a name, a heading), harmless in a line of ours: no line breaks, no control or direction
    characters, not endlessly long.
    """
    window = text[: most_chars * 4]  # white space may be most of it
    line = " ".join("".join(c if c.isprintable() or c in _JOINERS else " " for c in window).split())
    return line if len(line) <= most_chars and len(window) == len(text) else line[:most_chars] + "…"
