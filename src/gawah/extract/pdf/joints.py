"""What stands between two lines of one paragraph: a blank, nothing, or nothing and the hyphen of the first gone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gawah.extract.pdf.letters import SOFT_HYPHEN

_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_HYPHENED = re.compile(r"((?:[^\W\d_]+[-\u2010])*)([^\W\d_]+)[-\u2010]$")
_FIRST = re.compile(r"[^\W\d_]+")
_HOLDS_TOGETHER = re.compile(r"[\w/:][-\u2010\u2011\u2013\u2014/@]$")
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_HOLDS_SIGNS = re.compile(r"[@/:._\d]|--")  # as addresses, paths, flags, file names and codes do
_AROUND = ".,:;!?…()[]{}<>\"'“”‘’«»"
# "pre- and postwar": the hyphen stands for the word that follows later.
_SUSPENDS = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e"})


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """The words of a document, hyphenated ones as they are, in lower case."""
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def joint(before: str, after: str, words: frozenset[str]) -> tuple[int, str]:
    """(characters to leave out at the end of the first line, what to put between the two).

    A hyphen goes when a lower-case letter follows, unless only the hyphenated form is among the document's words, or it
    stands in an address, a path, a flag, a file name, or after a lone letter (N-acetylcysteine).
    """
    if before.endswith(SOFT_HYPHEN):
        return 1, ""
    first = _FIRST.match(after)
    broken = _HYPHENED.search(before)
    if broken and first and after[0].islower():
        if _is_spelled_with_hyphens(before, after):
            return 0, ""
        if first.group() in _SUSPENDS:
            return 0, " "
        stem, last = broken.group(1), broken.group(2)
        if len(last) == 1:
            return 0, ""
        whole = (stem + last + first.group()).casefold()
        hyphened = (stem + last + "-" + first.group()).casefold()
        keeps = whole not in words and (hyphened in words or bool(stem))
        return (0, "") if keeps else (1, "")
    if _HOLDS_TOGETHER.search(before) and after[:1].isalnum():
        return 0, ""
    if _UNSPACED.match(before[-1:]) and _UNSPACED.match(after[:1]):
        return 0, ""
    return 0, " "


def _is_spelled_with_hyphens(before: str, after: str) -> bool:
    """Whether the word on either side, sentence marks and brackets aside, is more than letters."""
    sides = before.rsplit(maxsplit=1)[-1][:-1].lstrip(_AROUND), after.split(maxsplit=1)[0].rstrip(_AROUND)
    return any(_HOLDS_SIGNS.search(side) for side in sides)
