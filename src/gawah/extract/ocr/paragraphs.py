"""Lines that were read to paragraphs. tesseract's own paragraphs end at many a line's end; these end where a sentence
does, at a line that stops short, or at a gap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from gawah.extract.ocr.words import OcrLine, OcrPage

_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SENTENCE_END = re.compile(r"[.!?:;।॥۔؟…。！？][\"'”’»)\]]*$")
_SHORT_LINE = 0.75  # of the block's width: a line that ends before stands by itself, as in a form or an address
_GAP = 1.6  # times the usual distance of two lines of the block


def paragraphs(page: OcrPage) -> list[list[OcrLine]]:
    """The lines of a page, in order, in paragraphs.

    A sentence that a column's end cuts goes on in the next one: where no sentence has ended and small letters follow.
    """
    blocks = _blocks(page.lines)
    found: list[list[OcrLine]] = []
    for block in blocks:
        usual = _usual_step(block, page.turn)
        for index, line in enumerate(block):
            if index:
                is_new = _parts(block, index, page.turn, usual)
            else:
                is_new = not found or not _goes_on(found[-1][-1], line)
            if is_new:
                found.append([line])
            else:
                found[-1].append(line)
    return found


def _blocks(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    found: list[list[OcrLine]] = []
    for line in lines:
        if found and found[-1][-1].block == line.block:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def _goes_on(before: OcrLine, line: OcrLine) -> bool:
    return _SENTENCE_END.search(before.text) is None and line.text[:1].islower()


def _parts(block: Sequence[OcrLine], index: int, turn: int, usual: float) -> bool:
    """Whether tesseract's paragraph ends before a line, and rightly so; a wide gap parts in any case."""
    before, line = block[index - 1], block[index]
    step = _along(line, turn) - _along(before, turn)
    if usual and step > _GAP * usual:
        return True
    if before.paragraph == line.paragraph:
        return False
    return _SENTENCE_END.search(before.text) is not None or is_short(before, block, turn)


def _usual_step(block: Sequence[OcrLine], turn: int) -> float:
    """The distance of two lines that follow each other, mostly; 0 for a block of one or two lines."""
    at = [_along(line, turn) for line in block]
    steps = [after - before for before, after in pairwise(at)]
    return median(steps) if len(steps) > 1 else 0.0


def is_short(line: OcrLine, block: Sequence[OcrLine], turn: int) -> bool:
    """Whether a line ends well before other lines of its block do, in the direction in which it is read."""
    ends = [_extent(other, turn) for other in block]
    low, high = min(start for start, _ in ends), max(end for _, end in ends)
    start, end = _extent(line, turn)
    filled = high - start if _RTL.search(line.text) else end - low
    return filled < _SHORT_LINE * (high - low)


def _extent(line: OcrLine, turn: int) -> tuple[float, float]:
    """Where a line begins and ends, along the text."""
    if turn == 0:
        return min(word.x0 for word in line.words), max(word.x1 for word in line.words)
    if turn == 1:
        return -max(word.y1 for word in line.words), -min(word.y0 for word in line.words)
    if turn == 2:
        return -max(word.x1 for word in line.words), -min(word.x0 for word in line.words)
    return min(word.y0 for word in line.words), max(word.y1 for word in line.words)


def _along(line: OcrLine, turn: int) -> float:
    """How far down the column a line stands: its middle, across the text."""
    if turn % 2 == 0:
        middle = (min(word.y0 for word in line.words) + max(word.y1 for word in line.words)) / 2
    else:
        middle = (min(word.x0 for word in line.words) + max(word.x1 for word in line.words)) / 2
    return middle if turn in (0, 1) else -middle
