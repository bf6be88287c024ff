r"""A vocabulary to the words it cannot read, by the script they are written in.

A vocabulary that was learned from English still holds the single letters of most scripts, so that a Hindi word falls
apart into one piece a letter: five times the pieces, and vectors that tell letters, not words. Such a word is better one
unknown piece. Which scripts are read is counted in the vocabulary itself: in that of all-MiniLM-L6-v2 there are 26,461
pieces of several Latin letters, 8 of Cyrillic, 4 of Greek, 2 of Arabic and none of any other script.
"""

from __future__ import annotations

from collections.abc import Iterable

import regex

PIECES_FORMAT = "unread-words/1"  # what becomes of the tokenizer's pieces: a part of a model's recipe

_READ_FROM_PIECES = 100  # pieces of several letters; a multilingual vocabulary has thousands a script it was trained on

# Scripts in wide use today (UAX 31, table 5). Words of Latin letters are never unread: names, identifiers and hashes
# fall apart too, and their parts still tell them from others. A word of any other script stays as the tokenizer cut it.
_SCRIPTS = (
    "Arabic", "Armenian", "Bengali", "Bopomofo", "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Greek", "Gujarati",
    "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Kannada", "Katakana", "Khmer", "Lao", "Malayalam", "Myanmar",
    "Oriya", "Sinhala", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan",
)  # fmt: skip
_STRETCHERS = "\u0640\u30fc"  # tatweel, the kana length mark: letters that several scripts share


class UnreadWords:
    """The words whose letters are all of scripts that a vocabulary does not read."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        """`vocabulary`: pieces, without the mark of a continuation."""
        foreign = [piece for piece in vocabulary if len(piece) > 1 and not piece.isascii()]
        self.scripts = tuple(script for script in _SCRIPTS if _n_pieces(script, foreign) < _READ_FROM_PIECES)
        letters = "".join(rf"\p{{{script}}}" for script in self.scripts)
        # At least one character in the class: an empty one is no regular expression.
        self._letter = regex.compile(rf"(?V1)[[{letters}\ufdd0]&&[\p{{L}}\ufdd0]]")
        self._word = regex.compile(
            rf"(?V1)[\p{{M}}\p{{Cf}}]*+[[{letters}\ufdd0]&&\p{{L}}][[[{letters}\ufdd0]--\p{{N}}]\p{{M}}\p{{Cf}}{_STRETCHERS}]*+"
        )

    def may_be_in(self, text: str) -> bool:
        """Whether a letter of an unread script is in the text; when none is, no word of it is unread."""
        return not text.isascii() and self._letter.search(text) is not None

    def holds(self, word: str) -> bool:
        """Whether the word, as written, is unread: letters of unread scripts only, with their marks, and no digit."""
        return self._word.fullmatch(word) is not None


def _n_pieces(script: str, pieces: Iterable[str]) -> int:
    whole = regex.compile(rf"(?V1)[\p{{{script}}}\p{{M}}]+")
    return sum(whole.fullmatch(piece) is not None for piece in pieces)
