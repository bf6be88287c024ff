"""A query vector to the rows nearest to it: exact cosine similarity, with or without a scan of sign bits before it.

The scores that leave this module are float64 sums in one fixed order, so they are the same whichever part a row is in,
however many rows stand beside it, and whatever BLAS does. The faster scans before only decide which rows get one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gawah.index.part import BITS_PER_WORD, Part

RESCORED = 2000  # of 100k clustered MiniLM vectors this keeps every one of the best 10, and .99+ of the best 100
_MAGNITUDE_BITS = (
    3  # of a query component, in the scan of sign bits; 1 (Hamming) loses 5 times as many, 4 gains nothing
)
_ROWS_A_BLOCK = 16384  # 128 KiB of one word of sign bits: stays in the second-level cache
_ROWS_RESCORED_A_BLOCK = 2048  # 6 MiB of 384 float64
_FEW = 0.25  # gathering rows costs about four times what scanning one does

Mask = NDArray[np.bool_] | None
"""Which rows of a part may be returned; None for all."""


def exact_dots(
    vectors: NDArray[np.float32], rows: NDArray[np.int64], query: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Dot products of chosen rows with a query [d]; products of float32 values are exact in float64."""
    result = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS_RESCORED_A_BLOCK):
        block = slice(start, start + _ROWS_RESCORED_A_BLOCK)
        result[block] = _folded(vectors[rows[block]] * query)
    return result


def rows_by_scan(
    parts: Sequence[Part], masks: Sequence[Mask], query: NDArray[np.float64], cutoff: int
) -> list[NDArray[np.int64]]:
    """Per part the rows that can be among the best `cutoff`, ties at the border and rounding included."""
    everything = [_every_row(part, mask) for part, mask in zip(parts, masks, strict=True)]
    return _refined(parts, everything, query, cutoff)


def rows_by_bits(
    parts: Sequence[Part], masks: Sequence[Mask], query: NDArray[np.float64], cutoff: int
) -> list[NDArray[np.int64]]:
    """As `rows_by_scan`, but only among the RESCORED or 5 * cutoff rows that the sign bits put first.

    The estimate is a row's sum of |query component| over the dimensions whose sign differs from the query's: the
    cosine with the row's signs in place of its values, up to scale. All rows tied at the border are kept.
    """
    distances = [_sign_distance(part.vector_bits, query) for part in parts]
    n_of_distance = np.zeros(query.size * (2**_MAGNITUDE_BITS - 1) + 1, np.int64)
    for distance, mask in zip(distances, masks, strict=True):
        n_of_distance += np.bincount(distance if mask is None else distance[mask], minlength=len(n_of_distance))
    border = int(np.searchsorted(np.cumsum(n_of_distance), max(RESCORED, 5 * cutoff)))
    near = []
    for distance, mask in zip(distances, masks, strict=True):
        kept = distance <= border
        near.append(np.flatnonzero(kept if mask is None else kept & mask))
    return _refined(parts, near, query, cutoff)


def _refined(
    parts: Sequence[Part], rows: Sequence[NDArray[np.int64]], query: NDArray[np.float64], cutoff: int
) -> list[NDArray[np.int64]]:
    """Those of the rows whose float32 dot product does not rule out that they are among the best `cutoff`.

    |float32 dot - dot| <= d * 2^-24 * |q| * |x| (Higham 2002, eq. 3.5, first order): a row of the best `cutoff` is at
    most twice that below the float32 score of rank `cutoff`.
    """
    if sum(map(len, rows)) <= cutoff:
        return list(rows)
    single = query.astype(np.float32)
    scores = [_float32_dots(part, chosen, single) for part, chosen in zip(parts, rows, strict=True)]
    margin = 2.5 * query.size * 2.0**-24 * float(np.linalg.norm(query))
    border = kth_largest(scores, cutoff) - margin
    return [chosen[score >= border] for chosen, score in zip(rows, scores, strict=True)]


def kth_largest(scores: Sequence[NDArray[np.floating]], k: int) -> float:
    """The k-th largest (1-based) of all the values, of which there are at least k."""
    together = np.concatenate(scores)
    return float(np.partition(together, len(together) - k)[len(together) - k])


def _float32_dots(part: Part, rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
    if len(rows) == part.n_chunks:
        return part.vectors @ query
    if len(rows) <= _FEW * part.n_chunks:
        return part.vectors[rows] @ query
    return (part.vectors @ query)[rows]


def _every_row(part: Part, mask: Mask) -> NDArray[np.int64]:
    return np.arange(part.n_chunks) if mask is None else np.flatnonzero(mask)


def _sign_distance(bits: NDArray[np.uint64], query: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Per row, the sum of quantised |query component| over the dimensions of differing sign."""
    n_words, n_rows = bits.shape
    signs, planes = _quantised(query, n_words)
    total = np.empty(n_rows, np.uint16)  # up to 7 * 9362 dimensions
    for start in range(0, n_rows, _ROWS_A_BLOCK):
        block = bits[:, start : start + _ROWS_A_BLOCK]
        sums = np.zeros((_MAGNITUDE_BITS, block.shape[1]), np.uint16)
        for word in range(n_words):
            differing = block[word] ^ signs[word]
            for significance in range(_MAGNITUDE_BITS):
                sums[significance] += np.bitwise_count(differing & planes[significance, word])
        for significance in range(1, _MAGNITUDE_BITS):
            sums[0] += sums[significance] << significance
        total[start : start + _ROWS_A_BLOCK] = sums[0]
    return total


def _quantised(query: NDArray[np.float64], n_words: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The query's signs [n_words], and the bit planes [_MAGNITUDE_BITS, n_words] of its components' magnitudes."""
    magnitude = np.abs(query)
    largest = float(magnitude.max(initial=0.0)) or 1.0
    levels = np.rint(magnitude / largest * (2**_MAGNITUDE_BITS - 1)).astype(np.uint8)
    planes = [(levels >> significance) & 1 for significance in range(_MAGNITUDE_BITS)]
    padded = np.zeros((1 + _MAGNITUDE_BITS, n_words * BITS_PER_WORD), np.uint8)
    padded[:, : query.size] = np.array([query > 0, *planes])
    words = np.packbits(padded, axis=1).view("<u8")
    return words[0], words[1:]


def _folded(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of rows [n, d], halving d again and again: only element-wise additions, so their order is fixed."""
    width = products.shape[1]
    while width > 1:
        half = width // 2
        products[:, :half] += products[:, half : 2 * half]
        if width % 2:
            products[:, 0] += products[:, width - 1]
        width = half
    return products[:, 0]
