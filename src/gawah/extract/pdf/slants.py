"""The angles at which a page's words run to quarter turns, and by how much most of the text of each leans from its own.

A page that was scanned or set a little askew has its lines at one angle: its letters are set straight about the middle
of the page before anything is measured, and the boxes go back the same way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gawah.extract.pdf.frame import Slant, to_page

_LEAST_DEGREES = 0.25  # what leans less rises by less than half a letter over a line
_MOST_DEGREES = 12  # beyond it text stands aslant, unless most of the page does
_MOST_IF_USUAL = 30  # nearer to 45 the box of a letter no longer tells its width from its height
Setting = tuple[int, Slant | None]
"""Quarter turns counter-clockwise, and the slant of the frame."""


def settings_of(
    angles: Sequence[float], n_letters: Sequence[int], box: tuple[float, float, float, float]
) -> dict[float, Setting | None]:
    """How words at each angle, in degrees, are read; None when they stand aslant. `box` is what of the page shows."""
    weights: defaultdict[float, int] = defaultdict(int)
    for angle, n in zip(angles, n_letters, strict=True):
        weights[angle] += n
    by_turn: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    for angle, weight in weights.items():
        by_turn[_turn(angle)].append((_lean(angle), weight))
    slants = {turn: _slant(rows, sum(weights.values()), turn, box) for turn, rows in by_turn.items()}
    return {angle: _setting(_turn(angle), _lean(angle), slants[_turn(angle)]) for angle in weights}


def _turn(angle: float) -> int:
    return round(angle / 90) % 4


def _lean(angle: float) -> float:
    return angle - 90 * round(angle / 90)


def _slant(
    rows: list[tuple[float, int]], n_letters: int, turn: int, box: tuple[float, float, float, float]
) -> Slant | None:
    """The lean of the middle letter of all that run this way."""
    usual = sorted((lean, weight) for lean, weight in rows if abs(lean) <= _MOST_IF_USUAL)
    half, so_far, middle = sum(weight for _, weight in usual) / 2, 0, 0.0
    for lean, weight in usual:
        so_far += weight
        if so_far >= half:
            middle = lean
            break
    is_usual = 2 * sum(weight for lean, weight in usual if abs(lean - middle) < 1) > n_letters
    if not _LEAST_DEGREES <= abs(middle) <= (_MOST_IF_USUAL if is_usual else _MOST_DEGREES):
        return None
    x0, y0, x1, y1 = to_page((4 - turn) % 4, *box)
    return Slant(middle, (x0 + x1) / 2, (y0 + y1) / 2)


def _setting(turn: int, lean: float, slant: Slant | None) -> Setting | None:
    """Words go with the text that they lean like: with what was set straight, or with what stands upright."""
    if slant is not None and abs(lean - slant.degrees) <= min(abs(lean), _MOST_DEGREES):
        return turn, slant
    return (turn, None) if abs(lean) <= _MOST_DEGREES else None
