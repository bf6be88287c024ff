"""The lines of a page to regions in reading order: flowing text, column by column, and tables, row by row.

Lines that cross a gutter part the page into bands: what spans the columns is read where it stands, the columns between
such lines one after the other. A band whose columns hold short cells on common lines is a table. What the content
stream's order is does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from gawah.extract.pdf.cells import with_tables_apart, with_whole_tables
from gawah.extract.pdf.gutters import bands_of, best_gutter, mark_spread
from gawah.extract.pdf.lines import Line, is_mostly_rtl, lines_of
from gawah.extract.pdf.runs import Run

_DEEPEST = 24
_BLANK_STRIP = 1.6


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


def _divide(lines: list[Line], found: list[Region], depth: int) -> None:
    mark_spread(lines)
    gutter = best_gutter(lines) if depth < _DEEPEST and len(lines) > 1 else None
    if gutter is None:
        found.append(Region(lines))
        return
    for band in with_whole_tables(with_tables_apart(bands_of(lines, gutter))):
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
    if is_mostly_rtl([run for line in lines for run in line.runs]):
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
