"""A table's lines to rows of cells; and a table that goes on upon the next page put to its beginning."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from gawah.extract.pdf.lines import Line
from gawah.extract.pdf.order import Region
from gawah.extract.pdf.paragraphs import ENDS
from gawah.extract.pdf.runs import Run

Cell = list[Run]
_NUMBERS = re.compile(r"[\d.,%$€£+−-]+(?: [\d.,%$€£+−-]+)+")
_WORD = re.compile(r"\S+")
_SAME_CUT_PT = 12.0  # how far the columns of a continued table may be shifted
_WITHIN_ROW = 0.8  # times the distance of two rows: lines closer than this are of one row
_FEWEST_BESIDE, _WITHIN_ROW_IF_LONE = 3, 0.95  # the same, for a line with one cell below a row with so many
_BETWEEN_LINES = 0.85  # of the letter size: what is lower by less overlaps the line above
_FEWEST_WORDS = 3  # of a line that is a part of a sentence
_VALUES = re.compile(r"\W*\d[\d.,:/\s%-]*")
_MOST_HEAD_ROWS = 4


@dataclass(slots=True, eq=False)
class Table:
    """Rows of cells, each a list of runs in reading order. pages: the first and the last."""

    rows: list[list[Cell]]
    cuts: tuple[float, ...]
    pages: tuple[int, int]


def table_of(region: Region) -> Table:
    """The table of a region that has cuts."""
    page = region.lines[0].runs[0].page
    rows = [[list(cell) for cell in row] for row in _rows(region)]
    return Table(rows, region.cuts, (page, page))


def is_continued(table: Table, after: Table) -> bool:
    """Whether a page begins with the rest of the table that the page before ends with."""
    return (
        after.pages[0] == table.pages[1] + 1
        and len(after.cuts) == len(table.cuts)
        and all(abs(a - b) <= _SAME_CUT_PT for a, b in zip(table.cuts, after.cuts, strict=True))
    )


def n_repeated_head_rows(table: Table, after: Table) -> int:
    """How many rows at the beginning of the rest repeat the table's head."""
    n = 0
    for first, again in zip(table.rows[:_MOST_HEAD_ROWS], after.rows, strict=False):
        if _words(first) != _words(again):
            break
        n += 1
    return n if n < len(after.rows) else 0


def is_rest_of_row(row: list[Cell], cells: list[Cell]) -> bool:
    """Whether the first row of a page is the rest of the row that the page before ends with: it begins no row, and goes on
    in lower case with cells that the row has.
    """
    filled = [number for number, cell in enumerate(cells) if cell]
    return bool(filled) and filled[0] > 0 and all(row[n] and cells[n][0].text[:1].islower() for n in filled)


def _words(row: list[Cell]) -> list[str]:
    return [" ".join(run.text for run in cell) for cell in row]


def _rows(region: Region) -> list[list[Cell]]:
    """Lines are rows, unless one holds further lines of cells of the row above it."""
    lines = region.lines
    drops = [a.middle - b.middle for a, b in pairwise(lines)]
    cells = [_cells(line, region.cuts) for line in lines]
    # Rows begin in the first column: how far they lie apart does not depend on how many lines their cells have.
    starts = [drop for drop, line in zip(drops, cells[1:], strict=True) if line[0]]
    usual = median(starts if len(starts) > 1 else drops) if drops else 0.0
    rows: list[list[Cell]] = []
    for index, line in enumerate(cells):
        drop = drops[index - 1] if index else 0.0
        following = drops[index] if index < len(drops) else usual
        if rows and _goes_on(rows[-1], line, drop, max(usual, following)):
            for cell, more in zip(rows[-1], line, strict=True):
                cell.extend(more)
        else:
            rows.append(line)
    return rows


def _cells(line: Line, cuts: tuple[float, ...]) -> list[Cell]:
    cells: list[Cell] = [[] for _ in range(len(cuts) + 1)]
    for run in line.runs:
        for part in _parted(run, cuts):
            # What stands over several columns is read where it begins.
            middle = part.x0 if _spans(part, cuts) else (part.x0 + part.x1) / 2
            cells[sum(cut <= middle for cut in cuts)].append(part)
    return cells


def _spans(run: Run, cuts: tuple[float, ...]) -> bool:
    return any(run.x0 < cut < run.x1 for cut in cuts)


def _parted(run: Run, cuts: tuple[float, ...]) -> list[Run]:
    """Numbers of neighbouring columns that stand so close that they became one run, each by itself."""
    if not _spans(run, cuts) or _NUMBERS.fullmatch(run.text) is None:
        return [run]
    parts: list[Run] = []
    for match in _WORD.finditer(run.text):
        first, past = match.span()
        lefts, rights = run.lefts[first:past], run.rights[first:past]
        part = replace(run, text=match.group(), lefts=lefts, rights=rights, x0=lefts[0], x1=rights[-1])
        parts.append(part)
    return parts


def _goes_on(row: list[Cell], cells: list[Cell], drop: float, usual: float) -> bool:
    """Whether a line belongs to the row above it.

    It does when it continues some of its cells, closely, or in the middle of a sentence, with words, or with a number in
    one cell alone; and when it stands between two lines, in columns where the row has nothing, as a cell over several
    rows does.
    """
    filled = {number for number, cell in enumerate(cells) if cell}
    above = {number for number, cell in enumerate(row) if cell}
    runs = [run for cell in cells for run in cell]
    if not filled or len(filled) >= len(above):
        return False
    if not filled & above:
        return drop < _BETWEEN_LINES * max(run.size for run in runs)
    if min(filled) == 0 or not filled <= above:
        return False
    is_lone = len(filled) == 1 and len(above) >= _FEWEST_BESIDE and drop < _WITHIN_ROW_IF_LONE * usual
    is_close = is_lone or drop < _WITHIN_ROW * usual
    if any(run.text[:1].isdigit() for run in runs):
        return is_close and len(runs) == 1 and not _VALUES.fullmatch(row[min(filled)][-1].text)
    return is_close or all(_is_mid_sentence(row[number], cells[number]) for number in filled)


def _is_mid_sentence(cell: Cell, more: Cell) -> bool:
    """Whether a cell's last line is words without an end, and the next one begins in lower case."""
    if not more[0].text[:1].islower():
        return False
    last = [run.text for run in cell if abs(run.middle - cell[-1].middle) < _BETWEEN_LINES * run.size]
    return len(" ".join(last).split()) >= _FEWEST_WORDS and ENDS.search(last[-1]) is None
