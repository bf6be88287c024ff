"""Token vectors and token codes to matches: how well each token of a question is met by each text, the same to the bit
on every machine (MaxSim's kernel; Khattab and Zaharia, "ColBERT", 2020).

Query components are rounded to integers small enough that float32 sums of them are exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gawah.ports import TokenCodes

_EXACT_BELOW = 2.0**24  # float32 holds every integer up to here
_PRODUCT_OF_ONE_THREAD = (
    1 << 17
)  # multiplications; over twice as many OpenBLAS wakes its threads, which wait for busy cores


def best_matches(query_vectors: NDArray[np.float32], codes: Sequence[TokenCodes]) -> NDArray[np.float64]:
    """float64 [n texts, n query tokens]: max over a text's tokens of (2 (q_t . b) - sum q_t) * scale.

    query_vectors: [n_tokens, dimensions], unit rows; b are a token's unpacked sign bits. Zeros for a text without
    tokens. Memory: 4 bytes a dimension of all texts' tokens together.
    """
    best = np.zeros((len(codes), len(query_vectors)))
    filled = [at for at, code in enumerate(codes) if len(code.scales)]
    if filled and len(query_vectors):
        signs = np.concatenate([codes[at].signs for at in filled])
        scales = np.concatenate([codes[at].scales for at in filled]).astype(np.float64)
        starts = np.cumsum([0, *(len(codes[at].scales) for at in filled[:-1])])
        best[filled] = np.maximum.reduceat(_similarities(query_vectors, signs) * scales[:, None], starts, axis=0)
    return best


def _similarities(query_vectors: NDArray[np.float32], signs: NDArray[np.uint8]) -> NDArray[np.float64]:
    """2 (q . b) - sum q of every text token with every query token: float64 [n text tokens, n query tokens].

    Query components become integers at a power of two per token, as large as leaves every partial sum of them exact in
    float32, so the order of additions does not matter. Rounding moves a score by some 1e-6, by 3e-5 at the very worst
    (384 dimensions); a float32 sum of the components as they are would differ by as much from one BLAS to the next.
    """
    dimensions = query_vectors.shape[1]
    exact = query_vectors.astype(np.float64)
    room = _EXACT_BELOW - dimensions  # each component may be rounded away from zero
    size = np.maximum(np.abs(exact).sum(axis=1), np.finfo(np.float32).tiny)
    factors = np.exp2(np.floor(np.log2(room / size)))
    integers = np.rint(exact * factors[:, None])
    n_rows = max(1, _PRODUCT_OF_ONE_THREAD // max(1, integers.size))
    bits = np.zeros((-(-len(signs) // n_rows), n_rows, dimensions), np.float32)
    bits.reshape(-1, dimensions)[: len(signs)] = np.unpackbits(signs, axis=1, count=dimensions)
    products = bits @ integers.astype(np.float32).T
    sums = products.reshape(-1, len(integers))[: len(signs)].astype(np.float64)
    return np.asarray((2 * sums - integers.sum(axis=1)) / factors, np.float64)
