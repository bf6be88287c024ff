"""Rows of a sheet to lines of the canonical text: a block a row, an A1 range a cell, the column names as heading.

Only cells that hold something are kept, so that a sheet with one cell in its last corner is two lines, not a billion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gawah.extract.assembly import Assembly
from gawah.extract.naming import named
from gawah.extract.table import column_names, fits_title, is_numeric
from gawah.types import Block, BlockKind, SheetRange, Span

SHEET_LEVEL = 2
_TITLE_LEVEL = 3
_COLUMNS_LEVEL = 4
_LONGEST_TITLE_CHARS = 200
_MOST_CELL_PLACES = 300_000  # of a workbook; rows after that have one place each, which keeps memory in bounds
_MOST_EMPTY_SHOWN = 8  # empty cells between two, as pipes; more say nothing
_LETTERS = 26


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with something in it: column (1-based), canonical text on one line, and whether a program typed it text.

    `a1` is its address, or the range that is merged into it.
    """

    column: int
    text: str
    is_text: bool
    a1: str


Row = tuple[int, list[Cell]]
"""The number of a row (1-based) and its cells from left to right; at least one."""


def column_letters(column: int) -> str:
    """1 is A, 27 is AA."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, _LETTERS)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = number * _LETTERS + ord(letter) - 64
    return number


def put_sheet(assembly: Assembly, name: str, rows: Iterable[Row]) -> None:
    """Adds a sheet under a heading of its name.

    A row of text cells above others becomes the heading of what follows it; it stays in force over blank rows, until
    another such row, or cells outside of its columns, begin something else. One text cell alone in the first rows is a
    heading above. The rows are read one ahead, never all at once.
    """
    writer = _SheetWriter(assembly, name)
    for row, following in _with_next(rows):
        writer.add(row, following)


class _SheetWriter:
    def __init__(self, assembly: Assembly, name: str) -> None:
        self.assembly = assembly
        self.name = name
        self.last_row = 0
        self.columns: range | None = None  # those that the heading in force names
        self.may_begin = True  # no data row of this region yet: a heading may come
        self.margin = 1  # the first column of the region
        self._open()

    def _open(self) -> None:
        self.assembly.name(self.name, SHEET_LEVEL)
        self.columns, self.may_begin = None, True

    def add(self, row: Row, following: Row | None) -> None:
        number, cells = row
        has_gap = bool(self.last_row) and number > self.last_row + 1
        is_followed = following is not None and following[0] == number + 1
        self.last_row = number
        if has_gap and self.columns is not None:
            first, last = cells[0].column, cells[-1].column
            if first not in self.columns or last not in self.columns:
                self._open()
            elif is_followed and _names_columns(cells) and following is not None and not _is_all_text(following[1]):
                self.may_begin = True
        elif has_gap:
            self.may_begin = True
        if self.may_begin:
            self.margin = min([cells[0].column, *(cell.column for cell in (following[1] if following else ())[:1])])
        if self.may_begin and is_followed and following is not None:
            if len(cells) == 1 and _is_title(cells[0]) and (len(following[1]) > 1 or self.columns is None):
                self._put_heading(number, cells, _TITLE_LEVEL)
                self.may_begin = len(following[1]) > 1
                return
            if _names_columns(cells):
                self._put_heading(number, cells, _COLUMNS_LEVEL)
                self.columns, self.may_begin = range(cells[0].column, cells[-1].column + 1), False
                return
        self.may_begin = False
        self._put_row(number, cells)

    def _put_heading(self, number: int, cells: list[Cell], level: int) -> None:
        words = [cell.text for cell in cells]
        blocks = self.assembly.blocks
        at = len(blocks)
        span = self._put_row(number, cells)
        if fits_title(words):
            blocks[at] = Block(BlockKind.HEADING, span, level, column_names(words))
        else:  # it stays a row as well, or its words would be lost
            blocks.insert(at, Block(BlockKind.HEADING, Span(span.start, span.start), level, column_names(words)))

    def _put_row(self, number: int, cells: list[Cell]) -> Span:
        pieces: list[tuple[int, str]] = []
        before = self.margin - 1
        for cell in cells:
            n_empty = max(0, cell.column - before - 1)
            pieces.append((n_empty if n_empty <= _MOST_EMPTY_SHOWN else 1, cell.text))
            before = cell.column
        many = len(self.assembly.places) > _MOST_CELL_PLACES
        places = _whole_row(self.name, number, cells) if many else [SheetRange(self.name, cell.a1) for cell in cells]
        span = self.assembly.row(pieces, places)
        self.assembly.blocks.append(Block(BlockKind.TABLE, span))
        return span


def _whole_row(name: str, number: int, cells: list[Cell]) -> SheetRange:
    first, last = f"{column_letters(cells[0].column)}{number}", f"{column_letters(cells[-1].column)}{number}"
    return SheetRange(name, first if first == last else f"{first}:{last}")


def _is_all_text(cells: list[Cell]) -> bool:
    return all(cell.is_text and not is_numeric(cell.text) for cell in cells)


def _names_columns(cells: list[Cell]) -> bool:
    return len(cells) > 1 and _is_all_text(cells)


def _is_title(cell: Cell) -> bool:
    return cell.is_text and len(cell.text) <= _LONGEST_TITLE_CHARS and not is_numeric(cell.text)


def _with_next(rows: Iterable[Row]) -> Iterator[tuple[Row, Row | None]]:
    before: Row | None = None
    for row in rows:
        if before is not None:
            yield before, row
        before = row
    if before is not None:
        yield before, None


def said_of_formulas(names: list[str]) -> list[str]:
    """The warning about formulas that the file holds no value of; none when there are none."""
    if not names:
        return []
    if len(names) == 1:
        return [f"1 formula has no value in the file: it stands as written: {names[0]}"]
    return [f"{len(names):,} formulas have no value in the file: they stand as written: {named(names)}"]


# --- numbers


_FRACTION = re.compile(r"-?[0-9]*\.[0-9]+")
_EXACT_DIGITS = 15  # what a double always holds, and the most that a spreadsheet shows


def number_text(raw: str) -> str:
    """A number as the file has it; a fraction of more than 15 digits as a spreadsheet shows it.

    Programs write 1.1 as 1.1000000000000001 and 0.1 + 0.2 as 0.30000000000000004, which nobody sees or would search for.
    Whole numbers and powers of ten stay as they are.
    """
    if len(raw) <= _EXACT_DIGITS or not _FRACTION.fullmatch(raw):
        return raw
    shown = f"{float(raw):.{_EXACT_DIGITS}g}"
    return shown if len(shown) < len(raw) and "e" not in shown else raw
