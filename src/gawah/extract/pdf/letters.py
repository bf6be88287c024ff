"""A word's glyphs to the letters they stand for: ligatures taken apart, Arabic forms to base letters, marks that do not
print left out. Nothing else is changed: no quotes, dashes or digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

HYPHEN = "-"
SOFT_HYPHEN = "\u00ad"
BLANKS = " \t\r\n\x0b\x0c\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_LINE_HYPHENS = "\x02\ufffe"  # what pdfium makes of a hyphen at the end of a line
_ARABIC_FORM = re.compile("[\ufb50-\ufd3d\ufd50-\ufdff\ufe70-\ufefc]")
_LAM = "\u0644"
_ALEFS = "\u0622\u0623\u0625\u0627\u0671"
_INVISIBLE = {
    **dict.fromkeys("\u200b\u2060\ufeff\u180e", "zero width"),
    **dict.fromkeys("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", "direction mark"),
    SOFT_HYPHEN: "soft hyphen",
}
# Words without any of these are their own letters.
ODD = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u0622-\u0627\u0644\u0671\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069"
    "\ud800-\udfff\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufeff\ufffe\uffff]"
)


def letters_of(units: str, same_place: list[bool], dropped: Counter[str], added: Counter[str]) -> tuple[str, list[int]]:
    """The letters of one word, and the index of the glyph that each came from.

    `same_place[i]` says whether the glyph has the box of the one before it, as the two letters of a lam-alef have.
    What is left out or put in is counted in the two counters.
    """
    letters: list[str] = []
    origins: list[int] = []
    for index, made in _mended_order(units, same_place, dropped):
        text = _LIGATURES.get(made) or (_base_letters(made) if _ARABIC_FORM.match(made) else made)
        reason = _INVISIBLE.get(text, "control" if unicodedata.category(text[0]) in ("Cc", "Cs") else "")
        if text in _LINE_HYPHENS:
            text, reason = HYPHEN, ""
        elif text == SOFT_HYPHEN and index == len(units) - 1:
            reason = ""  # at a line's end it shows; whoever puts lines together takes it away
        if reason or text == "\uffff":
            dropped[reason or "control"] += 1
            continue
        if len(text) > 1:
            added["ligature"] += len(text) - 1
        letters.append(text)
        origins.extend([index] * len(text))
    return "".join(letters), origins


def _mended_order(units: str, same_place: list[bool], dropped: Counter[str]) -> list[tuple[int, str]]:
    """(index, character): surrogate pairs joined, and alef-lam that is one lam-alef glyph, reversed by pdfium's pass over
    right-to-left lines, put right.
    """
    result: list[tuple[int, str]] = []
    index = 0
    while index < len(units):
        unit = units[index]
        following = units[index + 1 : index + 2]
        if "\ud800" <= unit <= "\udbff" and "\udc00" <= following <= "\udfff":
            result.append((index, (unit + following).encode("utf-16-le", "surrogatepass").decode("utf-16-le")))
            dropped["half of a character"] += 1
            index += 2
        elif unit in _ALEFS and following == _LAM and same_place[index + 1]:
            result += [(index, _LAM), (index + 1, unit)]
            index += 2
        else:
            result.append((index, unit))
            index += 1
    return result


def _base_letters(form: str) -> str:
    return unicodedata.normalize("NFKC", form).replace(" ", "") or form
