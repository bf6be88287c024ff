"""Offsets of the lines and of the runs of lines of a canonical text. Lines end at LF, at nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from gawah.types import Block, BlockKind, Span


def line_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """(start, end) of each line without its LF; a last line that is empty is left out."""
    stop = len(text) if end is None else end
    while start < stop:
        line_end = text.find("\n", start, stop)
        if line_end < 0:
            line_end = stop
        yield start, line_end
        start = line_end + 1


def runs_of_lines(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """(start, end) of each run of lines that are not blank, from the first line's start to the last one's end."""
    run_start, run_end = -1, -1
    for line_start, line_end in line_spans(text, start, end):
        if text[line_start:line_end].isspace() or line_start == line_end:
            if run_start >= 0:
                yield run_start, run_end
            run_start = -1
            continue
        if run_start < 0:
            run_start = line_start
        run_end = line_end
    if run_start >= 0:
        yield run_start, run_end


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without the blanks around it; an empty range at `end` when there is nothing else."""
    raw = text[start:end]
    first = end - len(raw.lstrip())
    return first, max(first, start + len(raw.rstrip()))


def paragraph(text: str, start: int, end: int, kind: BlockKind = BlockKind.PARAGRAPH) -> Block:
    """A block of the range without the blanks around it."""
    return Block(kind, Span(*trimmed(text, start, end)))
