"""From a text to word-pieces, by the model's own tokenizer, and which of them carry meaning.

Published tokenizer files store truncation and padding at 128 pieces, which silently cuts almost half of our chunks:
both are switched off here, and nothing is ever cut but a question that is longer than the window.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from gawah.errors import ModelError
from gawah.models.checkpoint import Checkpoint
from gawah.models.jsonfile import read_object

if TYPE_CHECKING:
    from tokenizers import Encoding

_CONTINUATION = "##"  # begins a word-piece that is not the first of its word
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
        path = checkpoint.tokenizer_path
        model = read_object(path).get("model")
        if not isinstance(model, dict) or model.get("type") != "WordPiece" or not isinstance(model.get("vocab"), dict):
            raise ModelError(f"{path} holds no WordPiece vocabulary; use a BERT model's tokenizer.json")
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        n_rows = checkpoint.shape.vocabulary_size
        n_known = self._tokenizer.get_vocab_size()
        if n_known > n_rows or self._tokenizer.id_to_token(n_rows) is not None:
            raise ModelError(f"{path} knows {n_known} pieces, the weights {n_rows}; the two do not belong together")
        self._window_tokens = checkpoint.window_tokens
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        special = {number for number, token in self._tokenizer.get_added_tokens_decoder().items() if token.special}
        self._special = frozenset(special - {self._unknown})

    def count(self, texts: Sequence[str]) -> list[int]:
        """Pieces of each text, specials included, without truncation."""
        return [len(encoding) for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def split(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of each text; raises ValueError for a text over the window."""
        result = []
        for text, encoding in zip(texts, self._tokenizer.encode_batch(list(texts)), strict=True):
            if len(encoding) > self._window_tokens:
                raise ValueError(
                    f"a text of {len(encoding)} tokens is over the window of {self._window_tokens}: {text[:60]!r}"
                )
            result.append(self._pieces(text, encoding, list(range(len(encoding)))))
        return result

    def split_question(self, question: str) -> tuple[Pieces, tuple[str, ...]]:
        """The pieces of a question and, for each kept one, its whole word as written.

        A question over the window is cut at the window, the final special kept: here alone cutting is right, for the
        words left out are still searched by the lexical leg, and refusing a long question helps nobody.
        """
        encoding = self._tokenizer.encode(question)
        positions = list(range(len(encoding)))
        if len(positions) > self._window_tokens:
            n_final = _n_trailing(encoding.special_tokens_mask)
            positions = positions[: self._window_tokens - n_final] + positions[len(positions) - n_final :]
        pieces = self._pieces(question, encoding, positions)
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
            if written.isascii() or (word not in unknown and letters >= _LETTERS_A_PIECE * n_pieces[word]):
                n_known += letters
        return n_known / n_letters if n_letters else 1.0

    def _pieces(self, text: str, encoding: Encoding, positions: list[int]) -> Pieces:
        ids, tokens, special, offsets = encoding.ids, encoding.tokens, encoding.special_tokens_mask, encoding.offsets
        kept = []
        for place, at in enumerate(positions):
            if special[at] or ids[at] in self._special:
                continue
            # What is unknown is judged by what was written: an emoji is left out, a word of a rare script is not.
            piece = text[slice(*offsets[at])] if ids[at] == self._unknown else tokens[at].removeprefix(_CONTINUATION)
            if has_word_character(piece):
                kept.append(place)
        return Pieces(np.array([ids[at] for at in positions], np.int64), np.array(kept, np.int64))


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
