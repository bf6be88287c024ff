"""Delimited text to rows and cells with their places in the text, after RFC 4180 as the csv module reads it.

A field that begins with a quote runs to the quote that closes it, newlines and delimiters included; two quotes inside
stand for one. What follows the closing quote up to the delimiter belongs to the field as it is. A quote elsewhere is a
quote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gawah.types import Span

DELIMITERS = (",", ";", "\t", "|")
_SNIFF_CHARS = 1 << 16
_SNIFF_ROWS = 100


@dataclass(frozen=True, slots=True)
class Cell:
    """A field: the span of its own characters (without the quotes around it), and its value."""

    span: Span
    value: str


def scan_rows(text: str, delimiter: str) -> Iterator[Span]:
    """The span of every row, blank ones too, without its newline."""
    start, n_chars = 0, len(text)
    while start < n_chars:
        end = text.find("\n", start)
        end = n_chars if end < 0 else end
        if text.find('"', start, end) >= 0:
            end = _row_end(text, start, delimiter)
        yield Span(start, end)
        start = end + 1


def scan_cells(text: str, row: Span, delimiter: str) -> tuple[Cell, ...]:
    """The cells of a row; a blank row has none."""
    if row.start == row.end:
        return ()
    cells: list[Cell] = []
    start = row.start
    while True:
        if start < row.end and text[start] == '"':
            cell, end = _quoted(text, start, row.end, delimiter)
        else:
            end = _find(text, delimiter, start, row.end)
            cell = Cell(Span(start, end), text[start:end])
        cells.append(cell)
        if end >= row.end:
            return tuple(cells)
        start = end + 1


def count_cells(text: str, row: Span, delimiter: str) -> int:
    if row.start == row.end or text.find('"', row.start, row.end) >= 0:
        return len(scan_cells(text, row, delimiter))
    return text.count(delimiter, row.start, row.end) + 1


def sniff_delimiter(text: str, preferred: str) -> str:
    """The delimiter under which most of the first rows have the same number of columns, more than one.

    `preferred` when several do equally well, or none does.
    """
    head = text[:_SNIFF_CHARS]
    best, best_score = preferred, (0.0, 0)
    for delimiter in (preferred, *(other for other in DELIMITERS if other != preferred)):
        widths = _widths(head, delimiter, is_whole=len(head) == len(text))
        if not widths:
            continue
        width, n_rows = min(Counter(widths).items(), key=lambda item: (-item[1], -item[0]))
        score = (n_rows / len(widths) if width > 1 else 0.0, width)
        if score[0] > best_score[0] + 0.05 or (abs(score[0] - best_score[0]) <= 0.05 and score[1] > 2 * best_score[1]):
            best, best_score = delimiter, score
    return best


def _widths(head: str, delimiter: str, *, is_whole: bool) -> list[int]:
    widths: list[int] = []
    for row in scan_rows(head, delimiter):
        if row.end == len(head) and not is_whole and widths:
            break  # the sample ends inside this row
        if head[row.start : row.end].strip():
            widths.append(count_cells(head, row, delimiter))
        if len(widths) == _SNIFF_ROWS:
            break
    return widths


def _row_end(text: str, start: int, delimiter: str) -> int:
    """The end of the row that begins at `start`: the first newline outside of quotes, or the end of the text."""
    n_chars = len(text)
    while start < n_chars:
        if text[start] == '"':
            start = _closing_quote(text, start + 1, n_chars) + 1
        newline = _find(text, "\n", start, n_chars)
        end = _find(text, delimiter, start, newline)
        if end == newline:
            return newline
        start = end + 1
    return n_chars


def _quoted(text: str, start: int, row_end: int, delimiter: str) -> tuple[Cell, int]:
    close = _closing_quote(text, start + 1, row_end)
    inner = text[start + 1 : close].replace('""', '"')
    end = _find(text, delimiter, min(close + 1, row_end), row_end)
    tail = text[close + 1 : end]
    span = Span(start, end) if tail else Span(start + 1, max(start + 1, close))
    return Cell(span, inner + tail), end


def _closing_quote(text: str, start: int, end: int) -> int:
    """The quote that is not doubled; `end` when there is none."""
    while True:
        quote = text.find('"', start, end)
        if quote < 0:
            return end
        if quote + 1 < end and text[quote + 1] == '"':
            start = quote + 2
            continue
        return quote


def _find(text: str, what: str, start: int, end: int) -> int:
    found = text.find(what, start, end)
    return end if found < 0 else found
