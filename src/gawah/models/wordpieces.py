"""From a text to word-pieces, by the model's own tokenizer, and which of them carry meaning.

Published tokenizer files store truncation and padding at 128 pieces, which silently cuts almost half of our chunks:
both are switched off here, and nothing is ever cut but a question that is longer than the window.

A word of a script that the vocabulary does not read is one unknown piece, not one a letter (`scripts`): a Hindi text
then takes as much of the window as an English one. Texts without such words have exactly the tokenizer's pieces.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from gawah.errors import ModelError
from gawah.models.checkpoint import Checkpoint
from gawah.models.jsonfile import read_object
from gawah.models.scripts import UnreadWords

if TYPE_CHECKING:
    from tokenizers import Encoding

_CONTINUATION = "##"  # begins a word-piece that is not the first of its word
# What the library raises for a file that it cannot read: it has no class of its own for that.
_PLAIN_EXCEPTION: type[Exception] = Exception
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Pieces:
    """The word-pieces of one text.

    ids: int64 [n]; kept: int64, positions of the pieces that are neither special nor punctuation, ascending.
    """

    ids: NDArray[np.int64]
    kept: NDArray[np.int64]


# Pieces of an English word hold four letters on average, those of a word that falls apart one or its letter and marks.
_LETTERS_A_PIECE = 2.0


class WordPieces:
    """A checkpoint's tokenizer."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        """Raises ModelError when the tokenizer cannot be read or knows pieces that the weights do not."""
        self._tokenizer, vocabulary = read_tokenizer(checkpoint.tokenizer_path, checkpoint.shape.vocabulary_size)
        self._window_tokens = checkpoint.window_tokens
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        special = {number for number, token in self._tokenizer.get_added_tokens_decoder().items() if token.special}
        self._special = frozenset(special - {self._unknown})
        self._unread = UnreadWords(piece.removeprefix(_CONTINUATION) for piece in vocabulary)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Pieces of each text, specials included, without truncation."""
        counts = [len(encoding) for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        for number, text in enumerate(texts):
            if self._unread.may_be_in(text):
                counts[number] = len(self._positions(text, self._tokenizer.encode(text))[0])
        return counts

    def split(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of each text; raises ValueError for a text over the window."""
        result = []
        for text, encoding in zip(texts, self._tokenizer.encode_batch(list(texts)), strict=True):
            positions, unread = self._positions(text, encoding)
            if len(positions) > self._window_tokens:
                raise ValueError(
                    f"a text of {len(positions)} tokens is over the window of {self._window_tokens}: {text[:60]!r}"
                )
            result.append(self._pieces(text, encoding, positions, unread))
        return result

    def split_question(self, question: str) -> tuple[Pieces, tuple[str, ...]]:
        """The pieces of a question and, for each kept one, its whole word as written.

        A question over the window is cut at the window, the final special kept: here alone cutting is right, for the
        words left out are still searched by the lexical leg, and refusing a long question helps nobody.
        """
        encoding = self._tokenizer.encode(question)
        positions, unread = self._positions(question, encoding)
        if len(positions) > self._window_tokens:
            n_final = _n_trailing(encoding.special_tokens_mask)
            positions = positions[: self._window_tokens - n_final] + positions[len(positions) - n_final :]
        pieces = self._pieces(question, encoding, positions, unread)
        spans = _word_spans(question, encoding)
        words = encoding.word_ids
        kept_words = (words[positions[at]] for at in pieces.kept)
        return pieces, tuple(question[slice(*spans[word])] for word in kept_words if word is not None)

    def coverage(self, text: str) -> float:
        """The share of the letters that stand in words the vocabulary knows by more than single letters.

        Plain ASCII words always count as known: identifiers fall apart too, and their parts are still apart from others'.
        """
        encoding = self._tokenizer.encode(text)
        n_pieces = Counter(word for word in encoding.word_ids if word is not None)
        unknown = {word for word, id_ in zip(encoding.word_ids, encoding.ids, strict=True) if id_ == self._unknown}
        n_letters = n_known = 0
        for word, span in _word_spans(text, encoding).items():
            written = text[slice(*span)]
            letters = sum(unicodedata.category(character)[0] in "LM" for character in written)
            n_letters += letters
            falls_apart = letters < _LETTERS_A_PIECE * n_pieces[word] or self._unread.holds(written)
            if written.isascii() or not (word in unknown or falls_apart):
                n_known += letters
        return n_known / n_letters if n_letters else 1.0

    def _positions(self, text: str, encoding: Encoding) -> tuple[list[int], frozenset[int]]:
        """Positions of the pieces that stay, ascending, and which of them stand for a whole word that is unread.

        A vocabulary without an unknown piece keeps every piece.
        """
        if self._unknown is None or not self._unread.may_be_in(text):
            return list(range(len(encoding))), frozenset()
        words = encoding.word_ids
        n_pieces = Counter(word for word in words if word is not None)
        torn = {
            word
            for word, span in _word_spans(text, encoding).items()
            if n_pieces[word] > 1 and self._unread.holds(text[slice(*span)])
        }
        first = {word: at for at, word in reversed(list(enumerate(words))) if word in torn}
        positions = [at for at, word in enumerate(words) if word not in torn or first[word] == at]
        return positions, frozenset(first.values())

    def _pieces(self, text: str, encoding: Encoding, positions: list[int], unread: frozenset[int]) -> Pieces:
        ids, tokens, special, offsets = encoding.ids, encoding.tokens, encoding.special_tokens_mask, encoding.offsets
        kept = []
        for place, at in enumerate(positions):
            if at in unread:
                kept.append(place)
                continue
            if special[at] or ids[at] in self._special:
                continue
            # What is unknown is judged by what was written: an emoji is left out, a word of a rare script is not.
            piece = text[slice(*offsets[at])] if ids[at] == self._unknown else tokens[at].removeprefix(_CONTINUATION)
            if has_word_character(piece):
                kept.append(place)
        numbers = [self._unknown if at in unread else ids[at] for at in positions]
        return Pieces(np.array(numbers, np.int64), np.array(kept, np.int64))


def read_tokenizer(path: Path, n_rows: int) -> tuple[Tokenizer, Collection[str]]:
    """A WordPiece tokenizer that neither cuts nor pads, and its pieces. `n_rows`: how many pieces the weights know."""
    model = read_object(path).get("model")
    if not isinstance(model, dict) or model.get("type") != "WordPiece" or not isinstance(model.get("vocab"), dict):
        raise ModelError(f"{path} holds no WordPiece vocabulary; use a BERT model's tokenizer.json")
    tokenizer = _from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    last = max(tokenizer.get_vocab().values(), default=0)  # ids may have gaps: their count is not the last one
    if last >= n_rows:
        raise ModelError(
            f"{path} numbers pieces up to {last}, the weights have {n_rows}; the two do not belong together"
        )
    return tokenizer, model["vocab"]


def _from_file(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except _PLAIN_EXCEPTION as error:
        if type(error) is not Exception:
            raise
        reason = str(error).partition("\n")[0]
        raise ModelError(f"{path} is no tokenizer ({reason}); take the file from the model's source again") from error


@lru_cache(maxsize=1 << 16)
def has_word_character(piece: str) -> bool:
    """Whether a letter, a digit or a mark (Unicode L, N, M) is in it: what has none is punctuation or a symbol."""
    return any(unicodedata.category(character)[0] in "LNM" for character in piece)


def _word_spans(text: str, encoding: Encoding) -> dict[int, tuple[int, int]]:
    """The range of each of the tokenizer's words in the text.

    The tokenizer drops marks (accents, Devanagari vowel signs) before it cuts: those after a word's last piece are
    the word's own.
    """
    spans: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(encoding.word_ids, encoding.offsets, strict=True):
        if word is not None:
            first, last = spans.get(word, (start, end))
            spans[word] = min(first, start), max(last, end)
    return {word: (start, _after_marks(text, end)) for word, (start, end) in spans.items()}


def _after_marks(text: str, end: int) -> int:
    at = end
    while at < len(text) and (text[at] in _JOINERS or unicodedata.category(text[at])[0] == "M"):
        at += 1
        if text[at - 1] not in _JOINERS:
            end = at  # a joiner counts only when a mark follows
    return end


def _n_trailing(special_tokens_mask: list[int]) -> int:
    return next((n for n, flag in enumerate(reversed(special_tokens_mask)) if not flag), len(special_tokens_mask))
