"""The strings of a workbook, whole or in runs of letters that stand on, above or below the line, to taken text."""

from __future__ import annotations

import re

from gawah.extract.assembly import Assembly
from gawah.extract.package import Element, attribute, child, local
from gawah.extract.raised import EDGES, MARKS, Height

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")  # how characters that XML cannot hold are written (ECMA-376, ST_Xstring)
_HEIGHTS: dict[str, Height] = {"superscript": "raised", "subscript": "sunk"}


def marked_string(item: Element) -> str:
    """The raw text of all runs of a string, but not of the phonetic reading beside them; superscripts are marked."""
    pieces: list[str] = []
    for inner in item:
        name = local(inner)
        if name == "t":
            pieces.append(inner.text or "")
        elif name == "r":
            align = child(inner, "rPr", "vertAlign")
            before, after = EDGES[_HEIGHTS.get(attribute(align, "val"), "") if align is not None else ""]
            pieces += [before, *(text.text or "" for text in inner if local(text) == "t"), after]
    return "".join(pieces)


def take_string(assembly: Assembly, marked: str) -> str:
    """The text with signs for its marks; characters that XML cannot hold are written `_x0041_` in the file."""
    pieces = MARKS.split(marked)
    return assembly.sign(
        "".join(assembly.take(_unescaped(piece)) if at % 2 == 0 else piece for at, piece in enumerate(pieces))
    )


def _unescaped(text: str) -> str:
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda match: _character(int(match.group(1), 16)), text)


def _character(code: int) -> str:
    return "" if 0xD800 <= code <= 0xDFFF else chr(code)
