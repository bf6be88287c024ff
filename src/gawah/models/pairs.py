"""A question and passages to pairs of word-pieces: [CLS] question [SEP] passage [SEP], cut to the window by the longest first.

The rule is that of the `tokenizers` library, which transformers runs; its slow tokenizers, written in Python, break ties the
other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from gawah.errors import ModelError
from gawah.models.cross_checkpoint import CrossCheckpoint
from gawah.models.wordpieces import read_tokenizer

_N_SPECIALS = 3
_SHAPE = ["[CLS]", 0, "[SEP]", 1, "[SEP]"]  # specials by name, sides by number
_SHAPE_TYPES = [0, 0, 0, 1, 1]


@dataclass(frozen=True, slots=True)
class Pair:
    """Piece ids and types, int64 [n]; `is_cut`: whether the question or the passage lost its end."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    is_cut: bool


class PairPieces:
    """A cross-encoder's tokenizer."""

    def __init__(self, checkpoint: CrossCheckpoint) -> None:
        """ModelError when the tokenizer cannot be read, makes no pairs, or knows pieces that the weights do not."""
        path = checkpoint.tokenizer_path
        self._tokenizer, _ = read_tokenizer(path, checkpoint.shape.vocabulary_size)
        if not _makes_pairs(self._tokenizer):
            raise ModelError(
                f"{path} does not make [CLS] a [SEP] b [SEP] of a pair; use a BERT cross-encoder's tokenizer"
            )
        self._first, self._between = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        self._room = checkpoint.window_tokens - _N_SPECIALS

    def pairs(self, question: str, passages: Sequence[str]) -> list[Pair]:
        """The question with each passage, in order."""
        asked = self._tokenizer.encode(question, add_special_tokens=False).ids
        encodings = self._tokenizer.encode_batch_fast(list(passages), add_special_tokens=False)
        return [self._pair(asked, encoding.ids) for encoding in encodings]

    def _pair(self, question: list[int], passage: list[int]) -> Pair:
        n_question, n_passage = kept_lengths(len(question), len(passage), self._room)
        between = self._between
        ids = [self._first, *question[:n_question], between, *passage[:n_passage], between]
        types = [0] * (n_question + 2) + [1] * (n_passage + 1)
        is_cut = n_question + n_passage < len(question) + len(passage)
        return Pair(np.array(ids, np.int64), np.array(types, np.int64), is_cut)


def kept_lengths(n_question: int, n_passage: int, room: int) -> tuple[int, int]:
    """How many pieces of each side stay where both together have `room`: the longer side loses first.

    The shorter side keeps all, or half of the room where that is less; the longer one gets the rest, and so one piece more
    of an odd room. Equal sides count the passage as the longer one.
    """
    if n_question + n_passage <= room:
        return n_question, n_passage
    shorter = min(n_question, n_passage, room // 2)
    return (room - shorter, shorter) if n_question > n_passage else (shorter, room - shorter)


def _makes_pairs(tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer itself puts specials and types where BERT was trained to have them."""
    paired = tokenizer.encode("a", "b")
    sides = [
        side if side is not None else token for side, token in zip(paired.sequence_ids, paired.tokens, strict=True)
    ]
    return sides == _SHAPE and paired.type_ids == _SHAPE_TYPES
