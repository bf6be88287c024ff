"""Points hold what BM25 is counted from; the engine's own score, under another mean length, never rules a chunk out wrongly."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gawah.index import qdrant_points as points
from gawah.testing.index import TEXTS, FakeIndex, FakeIndexCatalog, analyze_plain

SAME_HASH = ("t15385", "t210367")  # found by trying four hundred thousand


def engine_score(made: points.TermPoint, indices: list[int], values: list[float]) -> float:
    held = dict(zip(made.indices, made.values, strict=True))
    return math.fsum(
        np.float32(held.get(index, 0)) * np.float32(value) for index, value in zip(indices, values, strict=True)
    )


def test_a_worked_example() -> None:
    """Two terms in a chunk of four, the mean is two: norm = 1.2 (.25 + .75 * 2) = 2.1; 2 * 2.2 / 4.1 + .5 * 2.2 / 3.1."""
    made = points.term_point("b a a c", analyze_plain, 2.0)
    assert (made.bag, made.length) == ("b a a c", 4)
    assert dict(zip(made.indices, made.values, strict=True))[points.term_index("a")] == pytest.approx(2 * 2.2 / 4.1)
    assert points.score(made.bag, made.length, {"a": 1.0, "b": 0.5, "z": 9.0}, 2.0) == pytest.approx(
        2 * 2.2 / 4.1 + 0.5 * 2.2 / 3.1
    )


def test_an_identifier_is_scored_and_does_not_lengthen_its_chunk() -> None:
    made = points.term_point("the err_conn-17 of it", analyze_plain, 3.0)
    assert made.length == len(analyze_plain("the err_conn-17 of it")[0])
    assert points.score(made.bag, made.length, {"err_conn-17": 1.0}, 3.0) > 0


def test_the_mark_of_an_identifier_does_not_divide_it() -> None:
    assert points.score("\x1f=err-17 err 17", 2, {"\x1f=err-17": 1.0}, 2.0) > 0
    assert points.score("\x1f=err-17 err 17", 2, {"=err-17": 1.0}, 2.0) == 0


def test_scores_are_those_of_an_index_that_looks_at_every_chunk() -> None:
    catalog = FakeIndexCatalog()
    catalog.add(1, {f"c{number}": text for number, text in enumerate(TEXTS)})
    oracle = FakeIndex().view(catalog.feed())
    mean = sum(len(analyze_plain(text)[0]) for text in TEXTS) / len(TEXTS)
    weights = {
        term: math.log(1 + (len(TEXTS) - n + 0.5) / (n + 0.5))
        for term, n in zip(["backup", "database"], oracle.document_frequency(["backup", "database"]), strict=True)
    }
    for chunk_id, expected in oracle.bm25(["backup", "database"], 99):
        made = points.term_point(TEXTS[int(chunk_id[1:])], analyze_plain, 7.0)
        assert points.score(made.bag, made.length, weights, mean) == pytest.approx(expected, rel=1e-12)


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", *SAME_HASH]), min_size=1, max_size=40)


@given(
    WORDS,
    st.dictionaries(st.sampled_from(["a", "b", "z", *SAME_HASH]), st.floats(0.01, 20), min_size=1),
    st.floats(0.5, 300),
    st.floats(0.5, 300),
)
def test_no_chunk_scores_above_the_ceiling_of_its_engine_score(
    words: list[str], weights: dict[str, float], reference: float, mean: float
) -> None:
    made = points.term_point(" ".join(words), analyze_plain, reference)
    found = engine_score(made, *points.query_vector(weights))
    assert points.score(made.bag, made.length, weights, mean) <= points.ceiling(found, mean, reference) + 1e-12


def test_two_terms_of_one_hash_share_a_dimension_and_are_told_apart_by_our_own_score() -> None:
    one, other = SAME_HASH
    assert points.term_index(one) == points.term_index(other)
    made = points.term_point(f"{one} {other}", analyze_plain, 2.0)
    assert len(made.indices) == 1
    assert points.query_vector({one: 1.0, other: 3.0}) == ([points.term_index(one)], [3.0])
    assert points.score(one, 1, {other: 1.0}, 1.0) == 0


@given(st.sets(st.integers(-5, 60)))
def test_runs_and_single_numbers_are_the_set_they_came_from(numbers: set[int]) -> None:
    runs, single = points.document_runs(sorted(numbers))
    covered = [number for first, last in runs for number in range(first, last + 1)]
    assert sorted([*covered, *single]) == sorted(numbers)
    assert all(last - first >= 2 for first, last in runs)
    assert len(runs) + len(single) <= len(numbers)
