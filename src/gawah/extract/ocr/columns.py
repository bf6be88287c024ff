"""Lines that run across two columns of text, which tesseract makes of short ones, parted at the gutter.

A gutter is a blank strip that all lines of a block have, wider than the letters are high, with several words on either
side of it in most lines; the columns of a table, whose cells are a word or two, stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median

from gawah.extract.ocr.words import OcrLine, OcrWord

_GUTTER = 1.2  # of the letters' height
_FEWEST_LINES = 2
_FEWEST_WORDS = 3.0  # a line, on either side


def in_columns(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """The lines, upright and from left to right, column by column; blocks are numbered anew."""
    blocks: list[list[OcrLine]] = []
    for line in lines:
        if blocks and blocks[-1][-1].block == line.block:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    parted = [column for block in blocks for column in _columns(block)]
    return [replace(line, block=number) for number, column in enumerate(parted, 1) for line in column]


def _columns(block: list[OcrLine]) -> list[list[OcrLine]]:
    gutter = _gutter(block)
    if gutter is None:
        return [block]
    left, right = (_side(block, gutter, is_left) for is_left in (True, False))
    if min(fmean(len(line.words) for line in side) for side in (left, right)) < _FEWEST_WORDS:
        return [block]
    return [*_columns(left), *_columns(right)]


def _gutter(block: Sequence[OcrLine]) -> float | None:
    """The middle of the widest strip that is blank in every line and has words on both sides in every line."""
    if len(block) < _FEWEST_LINES:
        return None
    least = _GUTTER * median(word.y1 - word.y0 for line in block for word in line.words)
    common = _gaps(block[0], least)
    for line in block[1:]:
        gaps = _gaps(line, least)
        both = [(max(a, c), min(b, d)) for a, b in common for c, d in gaps]
        common = [(start, end) for start, end in both if end - start >= least]
    if not common:
        return None
    start, end = max(common, key=lambda gap: gap[1] - gap[0])
    return (start + end) / 2


def _gaps(line: OcrLine, least: float) -> list[tuple[float, float]]:
    words = sorted(line.words, key=lambda word: word.x0)
    gaps, right = [], words[0].x1
    for word in words[1:]:
        if word.x0 - right >= least:
            gaps.append((right, word.x0))
        right = max(right, word.x1)
    return gaps


def _side(block: Sequence[OcrLine], gutter: float, is_left: bool) -> list[OcrLine]:  # noqa: FBT001
    def is_here(word: OcrWord) -> bool:
        return (word.x0 + word.x1 < 2 * gutter) == is_left

    return [replace(line, words=tuple(filter(is_here, line.words))) for line in block]
