"""Counts to BM25 scores, in float64 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, eq. 3.15).

The idf is the variant that is never negative: a term in every chunk still counts, a little.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

K1 = 1.2  # how soon further occurrences stop counting; the reference's value
B = 0.75  # how much a long chunk is held against itself; the reference's value


def idf(n_chunks: int, n_holding: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): the weight of a term that `n_holding` of `n_chunks` chunks hold."""
    return math.log1p((n_chunks - n_holding + 0.5) / (n_holding + 0.5))


def best_possible(n_chunks: int, n_holding: int) -> float:
    """What a term adds to a score at the very most, however often a chunk holds it: idf (k1 + 1)."""
    return idf(n_chunks, n_holding) * (K1 + 1)


def length_norms(lengths: NDArray[np.int32], mean_length: float) -> NDArray[np.float64]:
    """k1 (1 - b + b * length / mean) of each chunk: the count at which a term has half its full weight."""
    relative = lengths / mean_length if mean_length > 0 else np.zeros(len(lengths))
    return np.asarray(K1 * (1 - B + B * relative), dtype=np.float64)


def saturated(counts: NDArray[np.integer], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """A term's factor on its idf in each chunk, from its counts tf there: tf (k1 + 1) / (tf + norm)."""
    return np.asarray(counts * (K1 + 1) / (counts + norms), dtype=np.float64)
