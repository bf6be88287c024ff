"""The reading frame: coordinates in which x grows along the text and y upwards, whichever way it is turned on the page."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass

from gawah.extract.pdf.page import PageChars

RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def to_page(turn: int, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
    """A box of the reading frame in PDF user space."""
    return ((x0, y0, x1, y1), (-y1, x0, -y0, x1), (-x1, -y1, -x0, -y0), (y0, -x1, y1, -x0))[turn]


@dataclass(slots=True)
class Frame:
    """The parallel sequences of a page's characters in one reading frame."""

    lefts: array[float]
    rights: array[float]
    lows: array[float]
    highs: array[float]
    cell_lefts: array[float]
    cell_rights: array[float]
    bottoms: array[float]
    tops: array[float]


def frame_of(chars: PageChars, turn: int) -> Frame:
    """The characters in one frame. Letters that pdfium took out of one ligature have all of its ink, but part its cell."""

    def turned(numbers: array[float]) -> tuple[array[float], ...]:
        x0, y0, x1, y1 = (numbers[side::4] for side in range(4))
        if turn == 0:
            return x0, x1, y0, y1
        if turn == 1:
            return y0, y1, _negative(x1), _negative(x0)
        if turn == 2:
            return _negative(x1), _negative(x0), _negative(y1), _negative(y0)
        return _negative(y1), _negative(y0), x0, x1

    frame = Frame(*turned(chars.tight), *turned(chars.loose))
    lefts, rights = frame.lefts, frame.rights
    n, first = len(lefts), 0
    same = [i for i in range(1, n) if lefts[i] == lefts[i - 1] and rights[i] == rights[i - 1] != lefts[i]]
    for position, index in enumerate(same):
        if position and same[position - 1] == index - 1:
            continue
        first, last = index - 1, index
        while last + 1 < n and lefts[last + 1] == lefts[first] and rights[last + 1] == rights[first]:
            last += 1
        if RTL.match(chars.units[first]) is None and not chars.units[first].isspace():
            _share(frame.cell_lefts, frame.cell_rights, first, last)
    return frame


def _share(lefts: array[float], rights: array[float], first: int, last: int) -> None:
    left, width = lefts[first], (rights[first] - lefts[first]) / (last - first + 1)
    for index in range(first, last + 1):
        lefts[index] = left + width * (index - first)
        rights[index] = left + width * (index - first + 1)


def _negative(numbers: array[float]) -> array[float]:
    return array(numbers.typecode, [-number for number in numbers])
