"""The one definition of correct: does a text hold a query's needle whole? And where does a needle stand in a text?

Fold "md" collapses white space, so that a needle wrapped over lines counts, and leaves out what no canonical text holds
(byte order marks, control characters), since a needle may have been copied from the raw file. Fold "pdf" compares letters, digits and
combining marks of the NFKC form in lower case, which ignores hyphenation, ligatures and soft breaks; there, a table row
is held by all its cells, and a sentence over a page break by both its parts, since a running head may stand between.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from gawah.eval.collection import Fold, JudgedQuery
from gawah.text import collapse_space
from gawah.types import Span

_DROPPED = re.compile("[\x00-\x08\x0e-\x1b\ufeff]")  # as in extract; those that are blanks too count as blanks
_MARKS = frozenset({"Mn", "Mc"})


@dataclass(frozen=True, slots=True)
class Needle:
    """A needle in its folded form; `pieces` are the folded cells or parts, all of which do instead of the whole."""

    fold: Fold
    whole: str
    pieces: tuple[str, ...] = ()

    def is_in(self, folded: str) -> bool:
        """Whether a text that went through `folded_text` holds it. A needle of which nothing is left is nowhere."""
        if not self.whole:
            return False
        if self.whole in folded:
            return True
        return bool(self.pieces) and all(piece in folded for piece in self.pieces)


def needle_of(query: JudgedQuery) -> Needle:
    """The needle of a query, folded once for many texts."""
    pieces = (query.needle_cells or query.needle_parts) if query.fold == "pdf" else ()
    return Needle(
        query.fold, folded_text(query.needle, query.fold), tuple(folded_text(piece, query.fold) for piece in pieces)
    )


def folded_text(text: str, fold: Fold) -> str:
    """A text as needles are compared with it."""
    return collapse_space(_DROPPED.sub("", text)) if fold == "md" else _letters(text)


def contains(text: str, query: JudgedQuery) -> bool:
    """True when the text holds the query's needle whole."""
    return needle_of(query).is_in(folded_text(text, query.fold))


def first_correct(query: JudgedQuery, texts: Iterable[str]) -> int | None:
    """The 1-based rank of the first text that holds the needle whole; None when none does."""
    needle = needle_of(query)
    return next(
        (rank for rank, text in enumerate(texts, start=1) if needle.is_in(folded_text(text, needle.fold))), None
    )


def locate(text: str, query: JudgedQuery) -> list[Span]:
    """Where the needle stands in a text, as spans of it, in order.

    Of a needle that is nowhere whole, in fold "pdf": the places of those cells or parts that occur once; a cell such as
    "yes" occurs everywhere and tells no place.
    """
    if query.fold == "md":
        words = [re.escape(word) for word in _DROPPED.sub("", query.needle).split()]
        return [Span(*found.span()) for found in re.finditer(r"\s+".join(words), text)] if words else []
    folded = _PlacedText.of(text)
    whole = folded.find(query.needle)
    if whole:
        return whole
    found = [folded.find(piece) for piece in (query.needle_cells or query.needle_parts)]
    return sorted(places[0] for places in found if len(places) == 1)


def _letters(text: str) -> str:
    lower = unicodedata.normalize("NFKC", text).lower()
    return "".join(c for c in lower if c.isalnum() or unicodedata.category(c) in _MARKS)


@dataclass(frozen=True, slots=True)
class _PlacedText:
    """Letters, digits and marks of a text, and for each the offset of the character it came from.

    Decomposed (NFKD) and lowered character by character, needle and text alike: unlike the composed form, that can be
    done without looking at neighbours, so that every letter keeps its origin.
    """

    letters: str
    origins: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> _PlacedText:
        pairs = [(letter, at) for at, character in enumerate(text) for letter in _decomposed(character)]
        return cls("".join(letter for letter, _ in pairs), tuple(at for _, at in pairs))

    def find(self, needle: str) -> list[Span]:
        wanted = "".join(letter for character in needle for letter in _decomposed(character))
        if not wanted:
            return []
        return [
            Span(self.origins[found.start()], self.origins[found.end() - 1] + 1)
            for found in re.finditer(re.escape(wanted), self.letters)
        ]


def _decomposed(character: str) -> str:
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    lower = unicodedata.normalize("NFKD", character).lower()
    return "".join(c for c in unicodedata.normalize("NFKD", lower) if c.isalnum() or unicodedata.category(c) in _MARKS)
