"""Runs to the lines they stand on, and runs that the content stream wrote in pieces to one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gawah.extract.pdf.runs import Run, append, append_blank

# Shares of the letter size.
_SAME_RUN = 0.45  # two runs closer than this are one, which the content stream wrote in pieces
_SPREAD = 1.5  # times the widest blank inside a run: one a little wider, next to it, is a blank of the same spread line
_WIDEST_SPREAD = 1.25
_NEAR_IN_STREAM = 2  # runs: what the stream writes far apart is not one line, however close it stands
_BLANK = 0.12
_AFTER_MARKER = 3.0
_MARKER = re.compile(r"[•●○◦▪■□☐☑‣–—*·-]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})[.)]|(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4}\.?")


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
        return " ".join(run.words for run in self.runs)

    @property
    def is_bold(self) -> bool:
        return all(run.is_bold for run in self.runs)


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
    return sorted(runs, key=(lambda run: -run.x1) if is_mostly_rtl(runs) else (lambda run: run.x0))


def is_mostly_rtl(runs: Sequence[Run]) -> bool:
    return 2 * sum(len(run.text) for run in runs if run.is_rtl) > sum(len(run.text) for run in runs)


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
            room = max(
                _SAME_RUN * size, min(_SPREAD * max(_widest_blank(last), _widest_blank(run)), _WIDEST_SPREAD * size)
            )
            is_piece = -0.1 * size < gap < room and abs(at - before) <= _NEAR_IN_STREAM
            if run.is_rtl or last.is_rtl or not (is_mark or is_piece):
                kept.append(run)
                continue
            if is_mark and last.hang is None:
                last.hang = run.x0
            if gap > _BLANK * size:
                append_blank(last, run)
                n_blanks += 1
            append(last, run)
        result += kept
    return result, n_blanks


def _widest_blank(run: Run) -> float:
    """Between words of a run; 0 in a run of one word."""
    return max((run.rights[at] - run.lefts[at] for at, letter in enumerate(run.text) if letter == " "), default=0.0)
