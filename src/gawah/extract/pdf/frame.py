"""The reading frame: coordinates in which x grows along the text and y upwards, whichever way it is turned on the page."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass

from gawah.extract.pdf.page import PageChars

RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def to_page(turn: int, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
    """A box of the reading frame in PDF user space."""
    return ((x0, y0, x1, y1), (-y1, x0, -y0, x1), (-x1, -y1, -x0, -y0), (y0, -x1, y1, -x0))[turn]


def shown_to_page(
    rotation: int, box: tuple[float, float, float, float], left: float, top: float, right: float, bottom: float
) -> tuple[float, float, float, float]:
    """What a viewer shows, in points from the top left of a page that it turns by `rotation`, in PDF user space.

    `box` is what of the page shows, in user space.
    """
    x0, y0, x1, y1 = box
    if rotation == 90:
        return x0 + top, y0 + left, x0 + bottom, y0 + right
    if rotation == 180:
        return x1 - right, y0 + top, x1 - left, y0 + bottom
    if rotation == 270:
        return x1 - bottom, y1 - right, x1 - top, y1 - left
    return x0 + left, y1 - bottom, x0 + right, y1 - top


def page_to_shown(
    rotation: int, box: tuple[float, float, float, float], x0: float, y0: float, x1: float, y1: float
) -> tuple[float, float, float, float]:
    """The way back: left, top, right, bottom, in points as a viewer shows the page."""
    left, bottom, right, top = box
    if rotation == 90:
        return y0 - bottom, x0 - left, y1 - bottom, x1 - left
    if rotation == 180:
        return right - x1, y0 - bottom, right - x0, y1 - bottom
    if rotation == 270:
        return top - y1, right - x1, top - y0, right - x0
    return x0 - left, top - y1, x1 - left, top - y0


@dataclass(frozen=True, slots=True)
class Slant:
    """By how much the lines of a page rise along the text of its reading frame, about a point that stays where it is."""

    degrees: float
    x: float
    y: float

    def straight(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """The box, along the lines, of which the given one is what stands upright around it."""
        angle = math.radians(self.degrees)
        cos, sin = math.cos(angle), abs(math.sin(angle))
        shrink = cos * cos - sin * sin
        width, height = x1 - x0, y1 - y0
        along = max(0.0, (width * cos - height * sin) / shrink) / 2
        across = max(0.0, (height * cos - width * sin) / shrink) / 2
        x, y = self._turned((x0 + x1) / 2, (y0 + y1) / 2, -angle)
        return x - along, y - across, x + along, y + across

    def height(self, x: float, y: float) -> float:
        """How high a point of the reading frame lies once the lines are straight."""
        return self._turned(x, y, -math.radians(self.degrees))[1]

    def upright(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """The way back: the box around a box that stands along the lines."""
        angle = math.radians(self.degrees)
        corners = [self._turned(x, y, angle) for x in (x0, x1) for y in (y0, y1)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return min(xs), min(ys), max(xs), max(ys)

    def along(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """As `upright`, but no wider than the middle of the box along the lines: boxes of neighbours meet, and do not overlap."""
        middle, angle = (y0 + y1) / 2, math.radians(self.degrees)
        ends = [self._turned(x, middle, angle)[0] for x in (x0, x1)]
        _, low, _, high = self.upright(x0, y0, x1, y1)
        return min(ends), low, max(ends), high

    def _turned(self, x: float, y: float, angle: float) -> tuple[float, float]:
        cos, sin = math.cos(angle), math.sin(angle)
        dx, dy = x - self.x, y - self.y
        return self.x + dx * cos - dy * sin, self.y + dx * sin + dy * cos


@dataclass(slots=True)
class Frame:
    """The parallel sequences of a page's characters in one reading frame, set straight if it has a slant."""

    turn: int
    slant: Slant | None
    lefts: array[float]
    rights: array[float]
    lows: array[float]
    highs: array[float]
    cell_lefts: array[float]
    cell_rights: array[float]
    bottoms: array[float]
    tops: array[float]


def frame_of(chars: PageChars, turn: int, slant: Slant | None) -> Frame:
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

    ink, cells = turned(chars.tight), turned(chars.loose)
    if slant is not None:
        ink, cells = _straight(slant, ink), _straight(slant, cells)
    frame = Frame(turn, slant, *ink, *cells)
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


def _straight(slant: Slant, sides: tuple[array[float], ...]) -> tuple[array[float], ...]:
    """Boxes as (lefts, rights, lows, highs), rounded as letters on one line are to have one height."""
    boxes = [slant.straight(x0, y0, x1, y1) for x0, x1, y0, y1 in zip(*sides, strict=True)]
    return tuple(array("d", [round(box[side], 2) for box in boxes]) for side in (0, 2, 1, 3))


def _share(lefts: array[float], rights: array[float], first: int, last: int) -> None:
    left, width = lefts[first], (rights[first] - lefts[first]) / (last - first + 1)
    for index in range(first, last + 1):
        lefts[index] = left + width * (index - first)
        rights[index] = left + width * (index - first + 1)


def _negative(numbers: array[float]) -> array[float]:
    return array(numbers.typecode, [-number for number in numbers])
