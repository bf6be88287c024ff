"""Where lines part into columns: blank strips with text on both sides over several lines.

A strip need not be wide, for runs end where a gap is wider than any word space. What must be told from a column's edge
are rivers: the wide blanks of justified lines, one above the other by chance.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from gawah.extract.pdf.lines import Line

# Shares of the letter size. Runs end where a gap is wider than any word space, so a gutter need not be wide to be one.
_GUTTER = 0.3
_LONGEST_RIVER, _RIVER_GAP = 6, 1.6  # lines, and letter sizes: narrower gaps over fewer lines part no columns
_JUSTIFIED_PT = 2.0  # how far the ends of a justified column's lines may lie from its edges
_FEWEST_WHOLE = 4
_SAME_START_PT = 1.0
_EDGE_PT = 1.5  # how far the edges of one column's lines may lie apart
_OVERHANG = 0.9  # so far lines of one column may reach into the next
_FEWEST_BEGINNINGS, _BEGINNINGS_SHARE = 6, 0.4  # lines, and share of them, that tell where a next column begins
_FEWEST_OVER = 2  # lines
_MOST_CANDIDATES = 24
_Row = list[tuple[float, float]]


@dataclass(slots=True, eq=False)
class Band:
    """Neighbouring lines: parted by a gutter or not; with `cuts`, the rows of a table."""

    lines: list[Line]
    is_parted: bool
    cuts: tuple[float, ...] = ()


def mark_spread(lines: list[Line]) -> None:
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


def best_gutter(lines: list[Line]) -> tuple[float, float] | None:
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


def bands_of(lines: list[Line], gutter: tuple[float, float]) -> list[Band]:
    rows = _rows_of(lines)
    result: list[Band] = []
    at = 0
    size = median(run.size for line in lines for run in line.runs)
    for start, end, _ in _valid_bands(rows, gutter, size):
        result.append(Band(lines[at:start], is_parted=False))
        result.append(Band(lines[start:end], is_parted=True))
        at = end
    result.append(Band(lines[at:], is_parted=False))
    return result


def _rows_of(lines: list[Line]) -> list[_Row]:
    """What of each line is taken by text; what reaches a little over the edge of the next column ends before it.

    So do lines whose letters have lost their widths, as in a damaged file, and those that stand out of a justified column.
    """
    size = median(run.size for line in lines for run in line.runs)
    edges = [edge for edge in _next_edges(lines) if _n_over(edge, lines, _OVERHANG * size) >= _FEWEST_OVER]
    rows: list[_Row] = []
    for line in lines:
        if line.is_spread:
            rows.append([(line.x0, line.x1)])
            continue
        row: _Row = []
        for run in line.runs:
            edge = next((edge for edge in edges if -_GUTTER * size < run.x1 - edge < _OVERHANG * size), None)
            is_over = edge is not None and run.x0 < edge - _OVERHANG * size
            row.append((run.x0, min(run.x1, edge - _GUTTER * size) if edge is not None and is_over else run.x1))
        rows.append(row)
    return rows


def _next_edges(lines: list[Line]) -> list[float]:
    """Where, on many lines, something begins behind something else."""
    starts = sorted(run.x0 for line in lines for run in line.runs[1:])
    found: list[float] = []
    first = 0
    for index in range(1, len(starts) + 1):
        if index == len(starts) or starts[index] - starts[index - 1] > _EDGE_PT:
            if index - first >= max(_FEWEST_BEGINNINGS, _BEGINNINGS_SHARE * len(lines)):
                found.append(starts[first])
            first = index
    return found


def _n_over(edge: float, lines: list[Line], overhang: float) -> int:
    """How many lines reach over an edge, by no more than the overhang."""
    return sum(run.x0 < edge - overhang and edge < run.x1 < edge + overhang for line in lines for run in line.runs)


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
