"""An answer's text for eyes: a source's own "[2]" told from the marker [2].

Numbers in brackets that are no markers are written ⟦2⟧, as the prompt shows them to the generator (compose.py). The text
itself, with the places of its markers beside it, is what every interface carries; this is for where places cannot be shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from gawah.cite import grammar
from gawah.types import Span

# Code is known to be code by its backticks: there an index stays as it must be typed.
_CODE = regex.compile(
    r"(?m)^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?s:.*?)(?:^[ ]{0,3}(?P=fence)|\Z)|(?P<ticks>`++)[^\n]*?(?P=ticks)"
)


def literals_shown(text: str, markers: Sequence[Span]) -> str:
    """The text with its literal number groups, like [2] or [3, 4], in ⟦⟧; `markers` are the places of its markers.

    As long as the text, so spans stay true. A group with a zero is an index or an interval, never a marker, and stays.
    """
    kept = {(span.start, span.end) for span in markers} | {match.span() for match in _CODE.finditer(text)}
    shown = list(text)
    for match in grammar.GROUP.finditer(text):
        start, end = match.span()
        if grammar.has_zero(match.group(1)) or any(first < end and start < past for first, past in kept):
            continue
        shown[start], shown[end - 1] = grammar.SHOWN_OPEN, grammar.SHOWN_CLOSE
    return "".join(shown)
