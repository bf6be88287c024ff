"""Token vectors kept in other formats than the product's one bit a dimension, to be compared with it. For benchmarks only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gawah.maxsim import best_matches
from gawah.models.encoder import token_codes

STORED = "1 bit"  # what the product keeps

Vectors = NDArray[np.float32]
Matches = Callable[[Vectors, Sequence[object]], NDArray[np.float64]]


@dataclass(frozen=True)
class Format:
    """How token vectors are kept: `keep` makes them of unit rows, `matches` gives [n texts, n query tokens]."""

    name: str
    bytes_per_token: int
    keep: Callable[[Vectors], object]
    matches: Matches


def as_int8(vectors: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Symmetric, one scale a token: the largest component is 127."""
    scales = np.abs(vectors).max(axis=1) / 127
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float16).astype(np.float32)


def best_of_each(similarities: Vectors, lengths: Sequence[int]) -> NDArray[np.float64]:
    """The best match of every question token in each text; 0 for a text without tokens."""
    best = np.zeros((len(lengths), similarities.shape[1]))
    filled = [at for at, length in enumerate(lengths) if length]
    if filled and similarities.shape[1]:
        starts = np.cumsum([0, *(lengths[at] for at in filled[:-1])])
        best[filled] = np.maximum.reduceat(similarities, starts, axis=0)
    return best


def matches_fp16(query: Vectors, kept: Sequence[object]) -> NDArray[np.float64]:
    rows = np.concatenate(kept).astype(np.float32)
    return best_of_each(rows @ query.T, [len(one) for one in kept])


def matches_int8(query: Vectors, kept: Sequence[object]) -> NDArray[np.float64]:
    rows = np.concatenate([one[0] for one in kept]).astype(np.float32)
    scales = np.concatenate([one[1] for one in kept])
    return best_of_each((rows @ query.T) * scales[:, None], [len(one[1]) for one in kept])


FORMATS = (
    Format("fp16", 2 * 384, lambda vectors: vectors.astype(np.float16), matches_fp16),
    Format("int8", 384 + 2, as_int8, matches_int8),
    Format(STORED, 384 // 8 + 2, token_codes, best_matches),
)
