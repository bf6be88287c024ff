"""A query vector to the rows nearest to it: by exact cosine similarity of all, or of those that sign bits or a graph name.

The scores that leave this module are float64 sums in one fixed order, so they are the same whichever part a row is in,
however many rows stand beside it, and whatever BLAS does. The faster scans before only decide which rows get one.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gawah.index.graph import Graph
from gawah.index.part import BITS_PER_WORD, Part

RESCORED = 2000  # of 100k clustered MiniLM vectors this keeps every one of the best 10, and .99+ of the best 100
_MAGNITUDE_BITS = (
    3  # of a query component, in the scan of sign bits; 1 (Hamming) loses 5 times as many, 4 gains nothing
)
_ROWS_A_BLOCK = 16384  # 128 KiB of one word of sign bits: stays in the second-level cache
_ROWS_A_TASK = 131072  # three milliseconds' worth for one core
_FEW_ROWS = 32768
_WORDS_AT_ONCE = 3  # of which the counts fit in a byte
_ASKED_OF_GRAPH = 800  # rows; of those the exact scores find the best: of a million .98 of the best 25, of 300 .97
_ASKED_MORE = 5  # times the cutoff
_ASKED_AT_MOST = 5000  # then a scan of sign bits is as fast, and knows of masks
_ROWS_RESCORED_A_BLOCK = 2048  # 6 MiB of 384 float64
_FEW = 0.25  # gathering rows costs about four times what scanning one does

_Task = tuple[NDArray[np.uint64], NDArray[np.uint16]]  # sign bits of some rows, and where their distances go

_Result = TypeVar("_Result")

Mask = NDArray[np.bool_] | None
"""Which rows of a part may be returned; None for all."""


class Pool(ThreadPoolExecutor):
    """Threads that help the one that asks: numpy's loops over bits let go of the interpreter's lock."""

    def __init__(self, n_threads: int) -> None:
        super().__init__(max(1, n_threads - 1), thread_name_prefix="scan")
        self.n_threads = n_threads


def exact_dots(
    vectors: NDArray[np.float32], rows: NDArray[np.int64], query: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Dot products of chosen rows with a query [d]; products of float32 values are exact in float64."""
    result = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS_RESCORED_A_BLOCK):
        block = slice(start, start + _ROWS_RESCORED_A_BLOCK)
        result[block] = _folded(vectors[rows[block]] * query)
    return result


def rows_by_bits(
    parts: Sequence[Part],
    masks: Sequence[Mask],
    query: NDArray[np.float64],
    cutoff: int,
    pool: Pool | None = None,
) -> list[NDArray[np.int64]]:
    """Per part the RESCORED or 5 * cutoff rows of all that the sign bits put first; blocks of rows side by side in `pool`.

    The estimate is a row's sum of |query component| over the dimensions whose sign differs from the query's: the
    cosine with the row's signs in place of its values, up to scale. All rows tied at the border are kept.
    """
    distances = [np.empty(part.n_chunks, np.uint16) for part in parts]  # up to 7 * 9362 dimensions
    signs, planes = _quantised(query, -(-query.size // BITS_PER_WORD))
    tasks = deque(
        (part.vector_bits[:, start : start + _ROWS_A_TASK], distance[start : start + _ROWS_A_TASK])
        for part, distance in zip(parts, distances, strict=True)
        for start in range(0, part.n_chunks, _ROWS_A_TASK)
    )
    _side_by_side(pool, tasks, lambda task: _fill_sign_distances(task[0], task[1], signs, planes))
    n_of_distance = np.zeros(query.size * (2**_MAGNITUDE_BITS - 1) + 1, np.int64)
    for distance, mask in zip(distances, masks, strict=True):
        n_of_distance += np.bincount(distance if mask is None else distance[mask], minlength=len(n_of_distance))
    border = int(np.searchsorted(np.cumsum(n_of_distance), max(RESCORED, 5 * cutoff)))
    near = []
    for distance, mask in zip(distances, masks, strict=True):
        kept = distance <= border
        near.append(np.flatnonzero(kept if mask is None else kept & mask))
    return near


def _side_by_side(pool: Pool | None, tasks: deque[_Task], work: Callable[[_Task], None]) -> None:
    """Does all tasks, in this thread and in the pool's if there are several; the pool may be busy with other questions."""

    def take() -> None:
        with contextlib.suppress(IndexError):
            while True:
                work(tasks.popleft())

    n_others = 0 if pool is None else min(pool.n_threads, len(tasks)) - 1
    others = [pool.submit(take) for _ in range(n_others)] if pool is not None else []
    take()
    for other in others:
        if not other.cancel():
            other.result()


def later(pool: Pool | None, work: Callable[..., _Result], *given: object) -> Callable[[], _Result]:
    """Has the pool begin a piece of work; what is returned waits for it, or does it where no thread was free."""
    if pool is None or pool.n_threads == 1:
        return lambda: work(*given)
    begun = pool.submit(work, *given)
    return lambda: work(*given) if begun.cancel() else begun.result()


def suits_graph(part: Part, n_admitted: int, cutoff: int) -> bool:
    """Whether a graph may be asked: it knows of no masks, so for as many more rows as the mask will refuse."""
    return n_admitted > 0 and _n_asked(part.n_chunks, n_admitted, cutoff) <= _ASKED_AT_MOST


def rows_by_graph(
    graph: Graph, mask: Mask, n_admitted: int, query: NDArray[np.float64], cutoff: int
) -> NDArray[np.int64] | None:
    """Rows that are probably the nearest of those the mask admits; None where the graph named too few of these."""
    if mask is None:
        return np.sort(graph.nearest(query, _n_asked(n_admitted, n_admitted, cutoff)))
    rows = np.sort(graph.nearest(query, _n_asked(len(mask), n_admitted, cutoff)))
    admitted = rows[mask[rows]]
    return admitted if len(admitted) >= min(cutoff, n_admitted) else None


def _n_asked(n_rows: int, n_admitted: int, cutoff: int) -> int:
    n_asked = max(_ASKED_OF_GRAPH, int(_ASKED_MORE * cutoff))
    return n_asked if n_rows == n_admitted else int(1.2 * n_asked * n_rows / n_admitted) + 1


def refined(
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
    if len(rows) <= _FEW_ROWS:  # not worth waking BLAS's threads, which wait for cores where others are at work
        chosen = part.vectors if len(rows) == part.n_chunks else part.vectors[rows]
        return np.asarray(np.einsum("ij,j->i", chosen, query))
    if len(rows) == part.n_chunks:
        return part.vectors @ query
    if len(rows) <= _FEW * part.n_chunks:
        return part.vectors[rows] @ query
    return (part.vectors @ query)[rows]


def every_row(part: Part, mask: Mask) -> NDArray[np.int64]:
    return np.arange(part.n_chunks) if mask is None else np.flatnonzero(mask)


def _fill_sign_distances(
    bits: NDArray[np.uint64], total: NDArray[np.uint16], signs: NDArray[np.uint64], planes: NDArray[np.uint64]
) -> None:
    """Per row, the sum of quantised |query component| over the dimensions of differing sign, into `total`."""
    n_words, n_rows = bits.shape
    width = min(n_rows, _ROWS_A_BLOCK)
    differing, weighed = np.empty(width, np.uint64), np.empty(width, np.uint64)
    counts, sums = np.empty(width, np.uint8), np.empty((_MAGNITUDE_BITS, width), np.uint8)
    for start in range(0, n_rows, _ROWS_A_BLOCK):
        block = slice(0, min(_ROWS_A_BLOCK, n_rows - start))
        into = total[start : start + _ROWS_A_BLOCK]
        into[:] = 0
        for first in range(0, n_words, _WORDS_AT_ONCE):
            words = range(first, min(first + _WORDS_AT_ONCE, n_words))
            for word in words:
                np.bitwise_xor(bits[word, start : start + _ROWS_A_BLOCK], signs[word], out=differing[block])
                for significance in range(_MAGNITUDE_BITS):
                    np.bitwise_and(differing[block], planes[significance, word], out=weighed[block])
                    if word == first:
                        np.bitwise_count(weighed[block], out=sums[significance, block])
                    else:
                        np.bitwise_count(weighed[block], out=counts[block])
                        sums[significance, block] += counts[block]
            for significance in range(_MAGNITUDE_BITS):
                into += sums[significance, block].astype(np.uint16) << np.uint16(significance)


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
