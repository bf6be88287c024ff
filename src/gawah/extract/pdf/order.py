"""The runs of a page to regions in reading order: flowing text, column by column, and tables, row by row.

A gutter is a blank strip with text on both sides over several lines. Lines that cross it part the page into bands: what
spans the columns is read where it stands, the columns between such lines one after the other. A band whose columns hold
short cells on common lines is a table. What the content stream's order is does not matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from gawah.extract.pdf.runs import Run, append, append_blank

# Shares of the letter size. Runs end where a gap is wider than any word space, so a gutter need not be wide to be one.
_GUTTER = 0.3
_SAME_RUN = 0.45  # two runs closer than this are one, which the content stream wrote in pieces
_SPREAD = 1.5  # times the widest blank inside a run: one a little wider, next to it, is a blank of the same spread line
_WIDEST_SPREAD = 1.25
_NEAR_IN_STREAM = 2  # runs: what the stream writes far apart is not one line, however close it stands
_BLANK = 0.12
_AFTER_MARKER = 3.0
_MARKER = re.compile(r"[•●○◦▪■□‣–—*·-]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})[.)]|(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4}\.?")
_LONGEST_RIVER, _RIVER_GAP = 6, 1.6  # lines, and letter sizes: narrower gaps over fewer lines part no columns
_JUSTIFIED_PT = 2.0  # how far the ends of a justified column's lines may lie from its edges
_FEWEST_WHOLE = 4
_SAME_START_PT = 1.0
_EDGE_PT = 1.5  # how far the edges of one column's lines may lie apart
_MOST_CANDIDATES = 24
_DEEPEST = 24
_CELL_GAP = 0.35  # of the letter size, between the columns of a table
_CROSSING_SHARE = 0.06  # of a table's rows may cross a gap between its columns
_BLANK_STRIP = 1.6
_NUMERIC_SHARE = 0.35  # of a table's cells
_PROSE_WORDS, _PROSE_FILL = 4, 0.7  # of a line: so many words, over so much of the column's width
_SHARED_ROWS = 0.4  # of a table's lines have several cells; the others are second lines of one cell
_FAR_ROW = 2.2  # times the usual distance of two rows: what is farther away is no row of the table
_NUMERIC = re.compile(r"[\d.,%$€£()+\-–—−/:*×·†‡<>=~\s]+")


@dataclass(slots=True, eq=False)
class Line:
    """Runs on one line, in reading order. is_spread: the gaps between them are the wide blanks of a justified line."""

    runs: list[Run]
    is_spread: bool = False

    @property
    def x0(self) -> float:
        return min(run.x0 for run in self.runs)

    @property
    def x1(self) -> float:
        return max(run.x1 for run in self.runs)

    @property
    def size(self) -> float:
        """Of the run with the most letters."""
        return max(self.runs, key=lambda run: len(run.text)).size

    @property
    def middle(self) -> float:
        return max(self.runs, key=lambda run: len(run.text)).middle

    @property
    def text(self) -> str:
        return " ".join(run.text for run in self.runs)

    @property
    def is_bold(self) -> bool:
        return all(run.is_bold for run in self.runs)


@dataclass(slots=True, eq=False)
class Region:
    """Lines of flowing text, or, when `cuts` says between which columns, the rows of a table."""

    lines: list[Line]
    cuts: tuple[float, ...] = ()
    n_columns_beside: int = 1


def regions(runs: Sequence[Run]) -> list[Region]:
    """Regions in reading order; the runs are of one page and one turn."""
    found: list[Region] = []
    if runs:
        _divide(lines_of(runs), found, 0)
    return found


def connected(runs: Sequence[Run]) -> tuple[list[Run], int]:
    """Runs that belong together made one: pieces of one line, and list marks or numbers with what they stand before.

    Returns the runs and how many blanks were put in. Runs are changed in place.
    """
    result: list[Run] = []
    n_blanks = 0
    number = {id(run): index for index, run in enumerate(runs)}
    for line in lines_of(runs):
        kept = line.runs[:1]
        at = number[id(kept[0])]
        for run in line.runs[1:]:
            last, before, at = kept[-1], at, number[id(run)]
            gap, size = run.x0 - last.x1, max(run.size, last.size)
            is_mark = _MARKER.fullmatch(last.text) is not None and run.text[:1].isalpha() and gap < _AFTER_MARKER * size
            room = max(_SAME_RUN * size, min(_SPREAD * max(_widest_blank(last), _widest_blank(run)), _WIDEST_SPREAD * size))
            is_piece = -0.1 * size < gap < room and abs(at - before) <= _NEAR_IN_STREAM
            if run.is_rtl or last.is_rtl or not (is_mark or is_piece):
                kept.append(run)
                continue
            if gap > _BLANK * size:
                append_blank(last, run)
                n_blanks += 1
            append(last, run)
        result += kept
    return result, n_blanks


def _widest_blank(run: Run) -> float:
    """Between words of a run; 0 in a run of one word."""
    return max((run.rights[at] - run.lefts[at] for at, letter in enumerate(run.text) if letter == " "), default=0.0)


def lines_of(runs: Sequence[Run]) -> list[Line]:
    """Runs grouped to lines, from top to bottom; within a line as they are read."""
    lines: list[tuple[float, float, list[Run]]] = []
    for run in sorted(runs, key=lambda run: (-run.middle, run.x0)):
        for position in range(len(lines) - 1, max(-1, len(lines) - 4), -1):
            middle, size, members = lines[position]
            small, large = min(size, run.size), max(size, run.size)
            if abs(middle - run.middle) < 0.5 * small + 0.15 * (large - small):
                members.append(run)
                if run.size > size:
                    lines[position] = (run.middle, run.size, members)
                break
        else:
            lines.append((run.middle, run.size, [run]))
    return [Line(_in_line(members)) for _, _, members in lines]


def _in_line(runs: list[Run]) -> list[Run]:
    if len(runs) == 1:
        return runs
    return sorted(runs, key=(lambda run: -run.x1) if _is_mostly_rtl(runs) else (lambda run: run.x0))


def _is_mostly_rtl(runs: Sequence[Run]) -> bool:
    return 2 * sum(len(run.text) for run in runs if run.is_rtl) > sum(len(run.text) for run in runs)


# --- dividing


@dataclass(slots=True, eq=False)
class _Band:
    """Neighbouring lines: parted by a gutter or not; with `cuts`, the rows of a table."""

    lines: list[Line]
    is_parted: bool
    cuts: tuple[float, ...] = ()


def _divide(lines: list[Line], found: list[Region], depth: int) -> None:
    _mark_spread(lines)
    gutter = _best_gutter(lines) if depth < _DEEPEST and len(lines) > 1 else None
    if gutter is None:
        found.append(Region(lines))
        return
    for band in _with_whole_tables(_bands(lines, gutter)):
        if band.cuts:
            found.append(Region(band.lines, band.cuts))
        elif band.is_parted:
            _read_columns(band.lines, gutter, found, depth)
        elif band.lines:
            _divide(band.lines, found, depth + 1)


def _read_columns(lines: list[Line], gutter: tuple[float, float], found: list[Region], depth: int) -> None:
    cut = _blank_strip(lines)
    if cut:
        _divide(lines[:cut], found, depth + 1)
        _divide(lines[cut:], found, depth + 1)
        return
    sides = [_side(lines, lambda run: run.x0 < gutter[1] - 0.01), _side(lines, lambda run: run.x0 >= gutter[1] - 0.01)]
    if _is_mostly_rtl([run for line in lines for run in line.runs]):
        sides.reverse()
    first = len(found)
    for side in sides:
        _divide(side, found, depth + 1)
    for region in found[first:]:
        region.n_columns_beside += not region.cuts


def _blank_strip(lines: list[Line]) -> int:
    """Where a blank strip across all columns, of more than a line's height, parts the lines: it ends every column.

    The number of lines above it; 0 when there is none.
    """
    size = median(line.size for line in lines)
    low = min(run.bottom for run in lines[0].runs)
    widest, at = _BLANK_STRIP * size, 0
    for number, line in enumerate(lines[1:], start=1):
        gap = low - max(run.top for run in line.runs)
        if gap > widest:
            widest, at = gap, number
        low = min(low, *(run.bottom for run in line.runs))
    return at


def _side(lines: list[Line], belongs: Callable[[Run], bool]) -> list[Line]:
    return lines_of([run for line in lines for run in line.runs if belongs(run)])


def _best_gutter(lines: list[Line]) -> tuple[float, float] | None:
    """The strip (left, right) that parts the most lines into two sides; None when there is none."""
    runs = [run for line in lines for run in line.runs]
    size = median(run.size for run in runs)
    width = _GUTTER * size
    low = min(run.x0 for run in runs)
    rows = _rows_of(lines)
    best: tuple[int, float, float] | None = None
    for right in _edges(sorted(run.x0 for run in runs)):
        if right - width > low:
            best = _better(best, rows, (right - width, right), size)
    for left in _edges(sorted(run.x1 for run in runs)):
        best = _better(best, rows, (left, left + width), size)
    return None if best is None else (best[1], best[2])


def _edges(positions: list[float]) -> list[float]:
    """The positions where at least two edges meet, the most frequent first, each at its cluster's outer end."""
    counts = Counter[float]()
    start = 0
    for index in range(1, len(positions) + 1):
        if index == len(positions) or positions[index] - positions[index - 1] > _EDGE_PT:
            if index - start > 1:
                counts[positions[start]] = index - start
            start = index
    return sorted(counts, key=lambda position: (-counts[position], position))[:_MOST_CANDIDATES]


_Row = list[tuple[float, float]]


def _rows_of(lines: list[Line]) -> list[_Row]:
    """What of each line is taken by text."""
    return [
        [(line.x0, line.x1)] if line.is_spread else [(run.x0, run.x1) for run in line.runs] for line in lines
    ]


def _mark_spread(lines: list[Line]) -> None:
    """Marks lines of words that fill a justified column, most of whose lines do, from edge to edge with even gaps."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    full = [line for line in lines if line.x0 - left < _JUSTIFIED_PT and right - line.x1 < _JUSTIFIED_PT]
    n_whole = sum(len(line.runs) == 1 for line in full)
    if n_whole < _FEWEST_WHOLE or n_whole < 0.4 * len(lines):
        return
    for line in full:
        gaps = [b.x0 - a.x1 for a, b in pairwise(line.runs)]
        is_words = sum(letter.isalpha() for letter in line.text) > 0.6 * len(line.text)
        line.is_spread = bool(gaps) and is_words and max(gaps) < min(1.4 * min(gaps) + 1, 4.5 * line.size)


def _better(
    best: tuple[int, float, float] | None, rows: list[_Row], strip: tuple[float, float], size: float
) -> tuple[int, float, float] | None:
    score = sum(n_rows for _, _, n_rows in _valid_bands(rows, strip, size))
    return (score, *strip) if score and (best is None or score > best[0]) else best


def _valid_bands(rows: list[_Row], strip: tuple[float, float], size: float) -> list[tuple[int, int, int]]:
    """(first row, past the last row, rows on the side that has fewer) of each stretch of rows that the strip parts."""
    bands: list[tuple[int, int, int]] = []
    start, n_left, n_right = 0, 0, 0
    gaps: list[tuple[float, float]] = []
    for index in range(len(rows) + 1):
        ends = _ends_beside(rows[index], strip) if index < len(rows) else None
        if ends is not None:
            n_left += ends[0] is not None
            n_right += ends[1] is not None
            if ends[0] is not None and ends[1] is not None:
                gaps.append((ends[0], ends[1]))
            continue
        fewest = 2 if index - start == len(rows) else 3
        if min(n_left, n_right) >= fewest and not _is_river(gaps, size):
            bands.append((start, index, min(n_left, n_right)))
        start, n_left, n_right, gaps = index + 1, 0, 0, []
    return bands


def _ends_beside(row: _Row, strip: tuple[float, float]) -> tuple[float | None, float | None] | None:
    """Where the text left of the strip ends and right of it begins; None when something crosses it."""
    before: float | None = None
    for x0, x1 in row:
        if x1 <= strip[0] + 0.01:
            before = x1 if before is None or x1 > before else before
        elif x0 < strip[1] - 0.01:
            return None
    after = min((x0 for x0, _ in row if x0 >= strip[1] - 0.01), default=None)
    return before, after


def _is_river(gaps: list[tuple[float, float]], size: float) -> bool:
    """Whether a few narrow gaps happen to stand one above the other, as in justified text with wide blanks.

    What follows the gaps of a column begins at one place.
    """
    if not 0 < len(gaps) < _LONGEST_RIVER or fmean(end - start for start, end in gaps) >= _RIVER_GAP * size:
        return False
    edge = median(end for _, end in gaps)
    return sum(abs(end - edge) < _SAME_START_PT for _, end in gaps) < 0.8 * len(gaps)


def _bands(lines: list[Line], gutter: tuple[float, float]) -> list[_Band]:
    rows = _rows_of(lines)
    result: list[_Band] = []
    at = 0
    size = median(run.size for line in lines for run in line.runs)
    for start, end, _ in _valid_bands(rows, gutter, size):
        result.append(_Band(lines[at:start], is_parted=False))
        result.append(_Band(lines[start:end], is_parted=True))
        at = end
    result.append(_Band(lines[at:], is_parted=False))
    return result


# --- tables


@dataclass(frozen=True, slots=True)
class _Cell:
    """What stands on one line in one column: its words, and the share of the column's width they take."""

    column: int
    text: str
    n_words: int
    fill: float


def _table_cuts(lines: list[Line]) -> tuple[float, ...]:
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


def _with_whole_tables(bands: list[_Band]) -> list[_Band]:
    """Finds the tables, and moves each one's first and last rows to where they belong.

    `bands` alternate: not parted, parted, not parted, … Lone lines at a table's ends, a caption or a note, go out; rows
    next to it whose cells cross a column, as heads and totals do, come in.
    """
    for index in range(1, len(bands), 2):
        above, band, below = bands[index - 1 : index + 2]
        cuts = _table_cuts(band.lines)
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
        while above.lines and _is_row(above.lines[-1], cuts) and _drop([above.lines[-1], rows[0]]) <= _FAR_ROW * pitch:
            rows.insert(0, above.lines.pop())
        while below.lines and _is_row(below.lines[0], cuts) and _drop([rows[-1], below.lines[0]]) <= _FAR_ROW * pitch:
            rows.append(below.lines.pop(0))
        band.cuts = _table_cuts(rows) if len(rows) > 1 else ()
    return bands


def _drop(lines: list[Line]) -> float:
    return lines[0].middle - lines[-1].middle


def _is_row(line: Line, cuts: tuple[float, ...]) -> bool:
    return len(line.runs) > 1 and len({sum(run.x0 >= cut for cut in cuts) for run in line.runs}) > 1
