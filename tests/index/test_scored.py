"""The best rows by BM25: the same bits as adding everything up, whatever was not read."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from gawah.index import bm25
from gawah.index.scored import PostingLists, best_rows, positions


def parts_of(seed: int, sizes: list[int], shares: list[float], *, masked: bool) -> list[PostingLists]:
    """Random posting lists: term i is in `shares[i]` of the rows of every part."""
    rng = np.random.default_rng(seed)
    parts = []
    for size in sizes:
        postings = []
        for share in shares:
            rows = np.flatnonzero(rng.random(size) < share).astype(np.int32)
            postings.append((rows, rng.integers(1, 9, len(rows)).astype(np.uint16)))
        admitted = rng.random(size) < 0.5 if masked else None
        parts.append(PostingLists(rng.integers(0, 200, size).astype(np.int32), admitted, postings))
    return parts


def added_up(parts: list[PostingLists], weights: list[float], mean: float, cutoff: int) -> list[dict[int, float]]:
    """Every row's sum, term by term in order; of each part the rows that reach the `cutoff`-th best of all."""
    totals = []
    for part in parts:
        total = np.zeros(len(part.lengths))
        for weight, (held, counts) in zip(weights, part.postings, strict=True):
            norms = bm25.length_norms(part.lengths, mean)
            np.add.at(total, held, weight * bm25.saturated(counts, norms.take(held)))
        if part.admitted is not None:
            total[~part.admitted] = 0
        totals.append(total)
    together = np.sort(np.concatenate(totals))[::-1]
    border = together[min(cutoff, len(together)) - 1]
    return [{int(row): total[row] for row in np.flatnonzero((total >= border) & (total > 0))} for total in totals]


def check(parts: list[PostingLists], weights: list[float], cutoff: int) -> None:
    rows, scores = best_rows(parts, weights, 90.0, cutoff)
    for found, of_found, wanted in zip(rows, scores, added_up(parts, weights, 90.0, cutoff), strict=True):
        assert (np.diff(found) > 0).all()
        got = dict(zip(found.tolist(), of_found.tolist(), strict=True))
        assert {row: got.get(row) for row in wanted} == wanted


@settings(max_examples=80)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 3000), max_size=4),
    st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.05, 0.3, 1.0]), max_size=6),
    st.integers(1, 120),
    st.booleans(),
)
def test_the_same_bits_as_adding_everything_up(
    seed: int, sizes: list[int], shares: list[float], cutoff: int, masked: bool
) -> None:
    parts = parts_of(seed, sizes, shares, masked=masked)
    if not parts or not sum(sizes):
        assert best_rows(parts, [1.0] * len(shares), 90.0, cutoff)[0] == [] or not sum(sizes)
        return
    weights = [bm25.idf(sum(sizes), int(share * sum(sizes))) for share in shares]
    check(parts, weights, cutoff)


def test_common_words_are_looked_up_and_not_read_where_rare_ones_decide() -> None:
    parts = parts_of(5, [20_000], [0.01, 0.6], masked=False)
    weights = [bm25.idf(20_000, 200), bm25.idf(20_000, 12_000)]
    check(parts, weights, 20)
    rows, _ = best_rows(parts, weights, 90.0, 20)
    only_common = np.setdiff1d(parts[0].postings[1][0], parts[0].postings[0][0])
    assert not np.isin(rows[0], only_common).any()


def test_where_a_row_stands_in_a_list() -> None:
    at, found = positions(np.array([2, 5, 9], np.int32), np.array([0, 5, 9, 11]))
    assert found.tolist() == [False, True, True, False]
    assert at[found].tolist() == [1, 2]
    assert positions(np.zeros(0, np.int32), np.array([1, 2]))[1].tolist() == [False, False]
    assert positions(np.array([1], np.int32), np.zeros(0, np.int64))[1].tolist() == []
