"""A question and passages to pairs of word-pieces: [CLS] question [SEP] passage [SEP], cut to the window by the longest first.

Cutting is the tokenizer library's own, which is what transformers runs: while a pair is too long the longer side loses its
end; where both are too long, each keeps half, and of an odd number the side that was longer keeps one more, the passage
where they were equal. (transformers' slow tokenizers, written in Python, leave that one piece to the question.)
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
        path, n_rows = checkpoint.tokenizer_path, checkpoint.shape.vocabulary_size
        # Two of them: a side that were cut before it is paired would not be as long as it is, and lose a tie it had won.
        self._whole, _ = read_tokenizer(path, n_rows)
        self._cutting, _ = read_tokenizer(path, n_rows)
        if not _makes_pairs(self._whole):
            raise ModelError(f"{path} does not make [CLS] a [SEP] b [SEP] of a pair; use a BERT cross-encoder's tokenizer")
        self._window_tokens = checkpoint.window_tokens
        self._n_specials = self._whole.num_special_tokens_to_add(is_pair=True)
        self._cutting.enable_truncation(self._window_tokens, strategy="longest_first")

    def pairs(self, question: str, passages: Sequence[str]) -> list[Pair]:
        """The question with each passage, in order."""
        asked = self._whole.encode(question, add_special_tokens=False)
        room = self._window_tokens - self._n_specials - len(asked)
        pairs = []
        for passage in self._whole.encode_batch(list(passages), add_special_tokens=False):
            paired = self._cutting.post_process(asked, passage)
            pairs.append(
                Pair(np.array(paired.ids, np.int64), np.array(paired.type_ids, np.int64), is_cut=len(passage) > room)
            )
        return pairs


def _makes_pairs(tokenizer: Tokenizer) -> bool:
    """Whether specials and types stand where BERT was trained to have them."""
    paired = tokenizer.encode("a", "b")
    sides = [side if side is not None else token for side, token in zip(paired.sequence_ids, paired.tokens, strict=True)]
    return sides == _SHAPE and paired.type_ids == _SHAPE_TYPES
