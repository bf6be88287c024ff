"""Which lines are the rows of a table, and where its columns part."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from gawah.extract.pdf.gutters import Band
from gawah.extract.pdf.lines import Line
from gawah.extract.pdf.runs import Run

_CELL_GAP = 0.35  # of the letter size, between the columns of a table
_CROSSING_SHARE = 0.06  # of a table's rows may cross a gap between its columns
_NUMERIC_SHARE = 0.35  # of a table's cells
_PROSE_WORDS, _PROSE_FILL = 4, 0.7  # of a line: so many words, over so much of the column's width
_SHARED_ROWS = 0.4  # of a table's lines have several cells; the others are second lines of one cell
_FAR_ROW = 2.2  # times the usual distance of two rows: what is farther away is no row of the table
_FEWEST_CELLS, _FEWEST_ROWS = 3, 3  # of a table that a gutter of text runs through
_MOST_LINES_OF_CELL = 4
_SAME_EDGE_PT = 3.0
_ALIGNED_SHARE = 0.6  # of a row's cells
_SECOND_LINE = 1.6  # of the letter size: how far below a row the next line of one of its cells stands
_NUMERIC = re.compile(r"[\d.,%$€£()+\-–—−/:*×·†‡<>=~\s]+")


def with_tables_apart(bands: list[Band]) -> list[Band]:
    """Parts tables from the columns of text directly above or below them, which the same gutter runs through.

    `bands` alternate: not parted, parted, not parted, …, and so do those that come back.
    """
    found: list[Band] = []
    grids = _grids([line for band in bands for line in band.lines])
    first = 0
    for band in bands:
        past = first + len(band.lines)
        within = [
            (max(start, first) - first, min(end, past) - first) for start, end in grids if start < past and end > first
        ]
        found += _parted_by(band, within) if band.is_parted and within and not table_cuts(band.lines) else [band]
        first = past
    return found


def _parted_by(band: Band, stretches: list[tuple[int, int]]) -> list[Band]:
    """The pieces of a parted band before, in and after each stretch, with an empty band between any two."""
    cuts = sorted({0, len(band.lines), *(edge for stretch in stretches for edge in stretch)})
    found: list[Band] = []
    for start, end in pairwise(cuts):
        found += [Band(band.lines[start:end], is_parted=True), Band([], is_parted=False)]
    return found[:-1]


def _grids(lines: list[Line]) -> list[tuple[int, int]]:
    """(first, past the last line) of each stretch of lines with three cells and more that stand below each other."""
    wide = [line for line in lines if len(line.runs) >= _FEWEST_CELLS]
    edges = Counter(edge for line in wide for edge in {e for run in line.runs for e in _edges(run)})
    rows = [number for number, line in enumerate(lines) if _is_aligned(line, edges)]
    stretches: list[list[int]] = []
    for row in rows:
        if stretches and row - stretches[-1][-1] <= _MOST_LINES_OF_CELL:
            stretches[-1].append(row)
        else:
            stretches.append([row])
    found: list[tuple[int, int]] = []
    for stretch in stretches:
        start, end = stretch[0], stretch[-1] + 1
        if len(stretch) < _FEWEST_ROWS or not _is_grid(lines[start:end]):
            continue
        while end < len(lines) and _goes_on_below(lines[end - 1], lines[end]):
            end += 1
        found.append((start, end))
    return found


def _edges(run: Run) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("left", round(run.x0 / _SAME_EDGE_PT)), ("right", round(run.x1 / _SAME_EDGE_PT))


def _is_aligned(line: Line, edges: Counter[tuple[str, int]]) -> bool:
    """Whether most cells of a line begin or end where a cell of another line does."""
    if len(line.runs) < _FEWEST_CELLS:
        return False
    near = [
        max(edges[side, place + step] - (step == 0) for side, place in _edges(run) for step in (-1, 0, 1)) > 0
        for run in line.runs
    ]
    return sum(near) > _ALIGNED_SHARE * len(near)


def _is_grid(lines: list[Line]) -> bool:
    columns = _columns(lines, median(run.size for line in lines for run in line.runs))
    cells = [cell for line in lines for cell in _cells_of(line, columns)]
    has_prose = any(_is_prose([cell for cell in cells if cell.column == number]) for number in range(len(columns)))
    return len(columns) >= _FEWEST_CELLS and not has_prose and bool(table_cuts(lines))


def _goes_on_below(last: Line, line: Line) -> bool:
    """Whether a line is the second one of a cell of the row above it: alone, below a cell that is not the first."""
    is_near = 0 < last.middle - line.middle < _SECOND_LINE * line.size
    starts = [run.x0 for run in last.runs] if len(last.runs) == 1 else [run.x0 for run in last.runs[1:]]
    return is_near and len(line.runs) == 1 and any(abs(line.x0 - x0) < _SAME_EDGE_PT for x0 in starts)


def with_whole_tables(bands: list[Band]) -> list[Band]:
    """Finds the tables, and moves each one's first and last rows to where they belong.

    `bands` alternate: not parted, parted, not parted, … Lone lines at a table's ends, a caption or a note, go out; rows
    next to it whose cells cross a column, as heads and totals do, come in.
    """
    for index in range(1, len(bands), 2):
        above, band, below = bands[index - 1 : index + 2]
        cuts = table_cuts(band.lines)
        if not cuts:
            continue
        rows = band.lines
        pitch = median([a.middle - b.middle for a, b in pairwise(rows)] or [rows[0].size * 1.2])
        while len(rows) > 2 and _drop(rows[-2:]) > _FAR_ROW * pitch:
            below.lines.insert(0, rows.pop())
        while len(rows) > 2 and _drop(rows[:2]) > _FAR_ROW * pitch:
            above.lines.append(rows.pop(0))
        while len(rows) > 1 and len(rows[0].runs) == 1:
            above.lines.append(rows.pop(0))
        while len(rows) > 1 and len(rows[-1].runs) == 1 and (rows[-1].x0 < cuts[0] or _drop(rows[-2:]) > 1.15 * pitch):
            below.lines.insert(0, rows.pop())
        while n := _n_lines_of_row(above.lines[::-1], cuts):
            if _drop([above.lines[-1], rows[0]]) > _FAR_ROW * pitch:
                break
            rows[:0] = above.lines[-n:]
            del above.lines[-n:]
        while below.lines and (_is_row(below.lines[0], cuts) or _goes_on_below(rows[-1], below.lines[0])):
            if _drop([rows[-1], below.lines[0]]) > _FAR_ROW * pitch:
                break
            rows.append(below.lines.pop(0))
        band.cuts = table_cuts(rows) if len(rows) > 1 else ()
    return _with_parts_joined(bands)


def _n_lines_of_row(upwards: list[Line], cuts: tuple[float, ...]) -> int:
    """How many of the lines above a table, from the lowest up, are one row of it: one, and the second lines of its cells."""
    for number, line in enumerate(upwards[:_MOST_LINES_OF_CELL]):
        if _is_row(line, cuts):
            return number + 1
        if number + 1 == len(upwards) or not _goes_on_below(upwards[number + 1], line):
            return 0
    return 0


def _with_parts_joined(bands: list[Band]) -> list[Band]:
    """Tables with nothing between them whose columns are the same are one, as when only some of its rows cross the gutter."""
    found = bands[:1]
    for band, after in zip(bands[1::2], bands[2::2], strict=True):
        last, between = (found[-2] if len(found) > 1 else None), found[-1].lines
        while last and last.cuts and between and _goes_on_below(last.lines[-1], between[0]):
            last.lines.append(between.pop(0))
        if last and last.cuts and band.cuts and not between and _is_one_table(last, band):
            found[-2] = Band([*last.lines, *band.lines], is_parted=True, cuts=table_cuts([*last.lines, *band.lines]))
            found[-1] = after
        else:
            found += [band, after]
    return found


def _is_one_table(above: Band, below: Band) -> bool:
    pitch = median(a.middle - b.middle for a, b in pairwise([*above.lines, *below.lines]))
    if _drop([above.lines[-1], below.lines[0]]) > _FAR_ROW * pitch:
        return False
    return len(table_cuts([*above.lines, *below.lines])) == max(len(above.cuts), len(below.cuts))


def _drop(lines: list[Line]) -> float:
    return lines[0].middle - lines[-1].middle


def _is_row(line: Line, cuts: tuple[float, ...]) -> bool:
    return len(line.runs) > 1 and len({sum(run.x0 >= cut for cut in cuts) for run in line.runs}) > 1


@dataclass(frozen=True, slots=True)
class _Cell:
    """What stands on one line in one column: its words, and the share of the column's width they take."""

    column: int
    text: str
    n_words: int
    fill: float


def table_cuts(lines: list[Line]) -> tuple[float, ...]:
    """Where the columns of a table part; empty when the lines are columns of text."""
    columns = _columns(lines, median(run.size for line in lines for run in line.runs))
    if len(columns) < 2:
        return ()
    rows = [_cells_of(line, columns) for line in lines]
    cells = [cell for row in rows for cell in row]
    prose = [number for number in range(len(columns)) if _is_prose([c for c in cells if c.column == number])]
    if not cells or len(prose) > 1:
        return ()
    numeric = sum(_NUMERIC.fullmatch(cell.text) is not None for cell in cells) / len(cells)
    is_short = fmean(cell.n_words for cell in cells) <= (3.2 if len(columns) > 2 else 2.5)
    if (is_short or numeric > _NUMERIC_SHARE) and not prose:
        is_table = sum(len(row) > 1 for row in rows) / len(rows) > _SHARED_ROWS
    else:
        is_table = _has_row_heads(rows, columns)
    return tuple((a[1] + b[0]) / 2 for a, b in pairwise(columns)) if is_table else ()


def _is_prose(cells: list[_Cell]) -> bool:
    """Whether most lines of a column are full of words."""
    full = sum(cell.n_words >= _PROSE_WORDS and cell.fill > _PROSE_FILL for cell in cells)
    return len(cells) > 2 and full > 0.5 * len(cells)


def _columns(lines: list[Line], size: float) -> list[tuple[float, float]]:
    """The (left, right) of each column: where next to no line crosses, columns part."""
    allowed = int(_CROSSING_SHARE * len(lines))
    events = sorted(
        [(run.x0, 1) for line in lines for run in line.runs] + [(run.x1, -1) for line in lines for run in line.runs]
    )
    columns: list[tuple[float, float]] = []
    depth, start = 0, 0.0
    for position, step in events:
        before, depth = depth, depth + step
        if before <= allowed < depth:
            start = position
        elif depth <= allowed < before:
            if columns and start - columns[-1][1] < _CELL_GAP * size:
                columns[-1] = (columns[-1][0], position)
            else:
                columns.append((start, position))
    return columns


def _cells_of(line: Line, columns: list[tuple[float, float]]) -> list[_Cell]:
    found: list[_Cell] = []
    for number, (left, right) in enumerate(columns):
        runs = [run for run in line.runs if left - 0.01 <= (run.x0 + run.x1) / 2 <= right + 0.01]
        if runs:
            text = " ".join(run.text for run in runs)
            width = max(run.x1 for run in runs) - min(run.x0 for run in runs)
            found.append(_Cell(number, text, len(text.split()), width / max(1.0, right - left)))
    return found


def _has_row_heads(rows: list[list[_Cell]], columns: list[tuple[float, float]]) -> bool:
    """Whether the first column names, in a few ragged words, what the lines beside it say."""
    headed = [row for row in rows if row and row[0].column == 0]
    if len(headed) < 3:
        return False
    beside = sum(len(row) > 1 for row in headed) / len(headed)
    is_narrow = columns[0][1] - columns[0][0] < 0.45 * (columns[-1][1] - columns[0][0])
    return beside > 0.9 and is_narrow and fmean(row[0].n_words for row in headed) <= 3
