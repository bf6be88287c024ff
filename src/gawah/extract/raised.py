"""Where raised and lowered characters and fractions begin and end, to the signs that keep their digits apart.

10 with a raised 23 is not 1023, 10 with a lowered 2 is not 102, and 1 over 2 is not 12. The readers put a mark, which no canonical text can hold, at each
edge while they collect a paragraph; `with_signs` makes "10^23", "10_2" and "1/2" of it. The signs are added: no file holds them.
"""

from __future__ import annotations

import re
from typing import Literal

RAISED, LOWERED = "\x01", "\x02"  # a superscript begins, ends
FRACTION, BAR, FRACTION_END = "\x03", "\x04", "\x05"
SUNK, SURFACED = "\x06", "\x07"  # a subscript begins, ends
Height = Literal["", "raised", "sunk"]
"""Where letters stand: on the line, above it, below it."""
EDGES: dict[Height, tuple[str, str]] = {"": ("", ""), "raised": (RAISED, LOWERED), "sunk": (SUNK, SURFACED)}
SIGN = "superscript or fraction"  # the reason in the books
MARKS = re.compile(f"([{RAISED}-{SURFACED}]+)")
_MOVED = re.compile(r"\s*(-?)\+?[0.]*[1-9]")
_RUNS_INTO = re.compile(r"(?:[^\W_]|[0-9][.,]|[)\]])\Z")
_RAISED_TEXT = re.compile(r"\s*[\w+\-−–(]")
_WORD = re.compile(r"\s*[^\W\d_]{2,}(?!\w)")  # 1st, Nᵒˢ, Mᵐᵉ: a word's raised end invents no number


def with_signs(text: str) -> tuple[str, int]:
    """The text without marks, and how many characters were added for them.

    "^" stands before a superscript that follows a letter, a digit, a closing bracket or a number's full stop; none before a
    raised word (1st), a bracket ([3]) or a sign such as an asterisk. "_" stands before a subscript between two digits only:
    H2O and CO2 are what people write and look for. "/" stands between numerator and denominator, a
    blank where a digit would follow a superscript's or fraction's digit.
    """
    pieces = MARKS.split(text)
    if len(pieces) == 1:
        return text, 0
    n_added = 0
    for at in range(1, len(pieces), 2):
        pieces[at] = _sign(pieces[at], pieces[at - 1], pieces[at + 1])
        n_added += len(pieces[at])
    return "".join(pieces), n_added


def _sign(marks: str, before: str, after: str) -> str:
    if BAR in marks:
        return "/" if before.strip() and after.strip() else ""
    if RAISED in marks and LOWERED not in marks:
        is_raised = _RUNS_INTO.search(before[-2:]) and _RAISED_TEXT.match(after) and not _WORD.match(after)
        return "^" if is_raised else ""
    if marks in (LOWERED + RAISED, RAISED + LOWERED, SURFACED + SUNK, SUNK + SURFACED):
        return ""
    if SUNK in marks and SURFACED not in marks:
        return "_" if before[-1:].isdigit() and after[:1].isdigit() else ""
    edge = before[-1:] + after[:1]
    touches = edge.isalnum() if FRACTION in marks or FRACTION_END in marks else edge.isdigit()
    return " " if len(edge) == 2 and touches else ""


def height_of(moved: str) -> Height:
    """Of letters that a file moves up or, with a minus, down, by a number of whatever unit."""
    match = _MOVED.match(moved)
    return "" if match is None else "sunk" if match.group(1) else "raised"
