"""Posting lists to the rows with the best BM25 scores: exact, without reading the lists of common words where that is sure.

Rare words go first. As soon as the words that are left cannot lift a new row into the best, they are only looked up in the
rows that are in the running ("max score", Turtle and Flood, "Query evaluation: strategies and optimizations", 1995). Who
is left at the end is scored anew, term by term in the order of the question, so a score has the same bits whatever was
left out on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gawah.index import bm25

Postings = tuple[NDArray[np.int32], NDArray[np.integer]]
"""Rows that hold a term, ascending, and how often."""

_ROUNDING = 1e-12  # relative; sums of positive float64 in another order differ by less
_DENSE = 8  # rows are looked for in the sums of all rows when the lists have more than an eighth as many entries


@dataclass(frozen=True, slots=True, eq=False)
class PostingLists:
    """Of one part: every row's counted terms, which rows may be returned (None for all), and each asked term's postings."""

    lengths: NDArray[np.int32]
    admitted: NDArray[np.bool_] | None
    postings: Sequence[Postings]


def best_rows(
    lists: Sequence[PostingLists], weights: Sequence[float], mean_length: float, cutoff: int
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float64]]]:
    """Per part the rows that are among the best `cutoff` of all parts, ties at the border included, and their scores."""
    running = [_Running(part, mean_length) for part in lists]
    most = [weight * (bm25.K1 + 1) for weight in weights]  # what a term adds to a score is below that
    by_rarity = sorted(range(len(weights)), key=lambda term: sum(len(part.postings[term][0]) for part in lists))
    left = sum(most)
    border = 0.0
    closed = False
    for term in by_rarity:
        if not closed and border > left * (1 + _ROUNDING):
            closed = True
        for each in running:
            each.add(term, weights[term], border - left * (1 + _ROUNDING) if closed else None)
        left = max(0.0, left - most[term])
        border = _border([each.values() for each in running], cutoff)
    rows, scores = [], []
    for part, each in zip(lists, running, strict=True):
        rows.append(each.rows[each.values() >= border])
        scores.append(_scores(part, rows[-1], weights, mean_length))
    return rows, scores


def positions(postings: NDArray[np.int32], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each row stands in a posting list, and whether it does."""
    if not len(postings):
        return np.zeros(len(rows), np.int64), np.zeros(len(rows), np.bool_)
    at = np.searchsorted(postings, rows.astype(np.int32))
    at[at == len(postings)] = 0
    return at, np.asarray(postings[at] == rows, np.bool_)


class _Running:
    """The rows of one part that may still be among the best, and what the terms so far give them."""

    def __init__(self, part: PostingLists, mean_length: float) -> None:
        self._part, self._mean = part, mean_length
        self._sums = np.zeros(len(part.lengths))
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self._seen: list[NDArray[np.int32]] = []

    def add(self, term: int, weight: float, at_least: float | None) -> None:
        """Adds a term to the sums of all rows that hold it; with `at_least`, only of rows with such sums, the others go."""
        held, counts = self._part.postings[term]
        if at_least is not None:
            self.rows = self.rows[self.values() >= at_least]
            at, found = positions(held, self.rows)
            rows, counts = self.rows[found], counts[at[found]]
            self._sums[rows] += _gains(self._part, rows, counts, weight, self._mean)
            return
        if not len(held):
            return
        self._sums[held] += _gains(self._part, held, counts, weight, self._mean)
        self._seen.append(held)
        if _DENSE * sum(map(len, self._seen)) > len(self._sums):
            rows = np.flatnonzero(self._sums)
        else:
            rows = np.sort(np.concatenate(self._seen)).astype(np.int64)
            rows = rows[np.append(True, rows[1:] != rows[:-1])]
        self.rows = rows if self._part.admitted is None else rows[self._part.admitted[rows]]

    def values(self) -> NDArray[np.float64]:
        return self._sums[self.rows]


def _border(values: Sequence[NDArray[np.float64]], cutoff: int) -> float:
    """A little under the `cutoff`-th largest of the values; 0 when there are no more than that."""
    together = np.concatenate(values) if values else np.zeros(0)
    if len(together) <= cutoff:
        return 0.0
    at = len(together) - cutoff
    return float(np.partition(together, at)[at]) * (1 - _ROUNDING)


def _scores(
    part: PostingLists, rows: NDArray[np.int64], weights: Sequence[float], mean_length: float
) -> NDArray[np.float64]:
    total = np.zeros(len(rows))
    for weight, (held, counts) in zip(weights, part.postings, strict=True):
        at, found = positions(held, rows)
        total[found] += _gains(part, rows[found], counts[at[found]], weight, mean_length)
    return total


def _gains(
    part: PostingLists, rows: NDArray[np.integer], counts: NDArray[np.integer], weight: float, mean_length: float
) -> NDArray[np.float64]:
    return weight * bm25.saturated(counts, bm25.length_norms(part.lengths[rows], mean_length))
