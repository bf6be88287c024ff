"""Lines that run across two columns of text, which tesseract makes of short ones, parted at the gutter.

A gutter is a blank strip that lines below each other have in common, wider than the letters are high, with several words
on either side of it in most lines; the columns of a table, whose cells are a word or two, stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from statistics import fmean, median

from gawah.extract.ocr.words import OcrLine, OcrWord

_GUTTER = 1.2  # of the letters' height
_FEWEST_LINES = 2  # with words on both sides
_FEWEST_WORDS = 3.0  # a line, on either side

Strip = tuple[float, float]


def in_columns(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """The lines, upright, column by column where they run across a gutter; blocks are numbered anew."""
    blocks: list[list[OcrLine]] = []
    at, is_after_columns = 0, True
    while at < len(lines):
        end, strip = _run(lines, at)
        if strip is not None:
            for is_left in (True, False):
                blocks += _by_block(
                    in_columns([replace(line, block=1) for line in _side(lines[at:end], strip, is_left)])
                )
        elif is_after_columns or lines[at].block != lines[at - 1].block:
            blocks.append([lines[at]])
        else:
            blocks[-1].append(lines[at])
        at, is_after_columns = end, strip is not None
    return [replace(line, block=number) for number, block in enumerate(blocks, 1) for line in block]


def _by_block(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    return [list(block) for _, block in groupby(lines, key=lambda line: line.block)]


def _run(lines: Sequence[OcrLine], start: int) -> tuple[int, Strip | None]:
    """Past the last of the lines from `start` on that have a gutter in common, and the gutter; None when there is none."""
    strips = _gaps(lines[start])
    end, last_across, n_across = start + 1, start, 1
    while strips and end < len(lines):
        least = _GUTTER * _height(lines[end])
        across = [(max(a, c), min(b, d)) for a, b in strips for c, d in _gaps(lines[end])]
        across = [(a, b) for a, b in across if b - a >= least]
        beside = [strip for strip in strips if _is_beside(lines[end], strip)]
        if not across and not beside:
            break
        if across:
            last_across, n_across = end, n_across + 1
        strips = across or beside
        end += 1
    while end - 1 > last_across and lines[end - 1].block != lines[last_across].block:
        end -= 1  # short lines below the columns are none of them
    if not strips or n_across < _FEWEST_LINES:
        return start + 1, None
    strip = max(strips, key=lambda strip: strip[1] - strip[0])
    sides = [_side(lines[start:end], strip, is_left) for is_left in (True, False)]
    if min(fmean(len(line.words) for line in side) for side in sides) < _FEWEST_WORDS:
        return start + 1, None
    return end, strip


def _gaps(line: OcrLine) -> list[Strip]:
    """The blanks between words that are wide enough for a gutter."""
    least = _GUTTER * _height(line)
    words = sorted(line.words, key=lambda word: word.x0)
    gaps, right = [], words[0].x1
    for word in words[1:]:
        if word.x0 - right >= least:
            gaps.append((right, word.x0))
        right = max(right, word.x1)
    return gaps


def _height(line: OcrLine) -> float:
    return median(word.y1 - word.y0 for word in line.words)


def _is_beside(line: OcrLine, strip: Strip) -> bool:
    """Whether a line lies on one side of a strip."""
    return max(word.x1 for word in line.words) <= strip[0] or min(word.x0 for word in line.words) >= strip[1]


def _side(lines: Sequence[OcrLine], strip: Strip, is_left: bool) -> list[OcrLine]:  # noqa: FBT001
    """The lines' parts on one side of a strip, those that have one."""
    middle = strip[0] + strip[1]

    def is_here(word: OcrWord) -> bool:
        return (word.x0 + word.x1 < middle) == is_left

    parts = [replace(line, words=tuple(filter(is_here, line.words))) for line in lines]
    return [part for part in parts if part.words]
