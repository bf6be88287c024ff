"""Reciprocal rank fusion."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.fuse import fuse, rrf
from gawah.types import Hit, Ranking

GOLDEN = Path(__file__).resolve().parents[1] / "../shared/eval/golden"
IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_worked_example() -> None:
    fused = rrf([["a", "b"], ["b", "c"]])
    assert fused == [("b", 1 / 61 + 1 / 62), ("a", 1 / 61), ("c", 1 / 62)]


@pytest.mark.parametrize("corpus", ["rustbook", "etcd"])
def test_golden_order(corpus: str) -> None:
    """Where scores differ the order is theirs; where they tie, the reference takes the first seen: here also the least id."""
    path = GOLDEN / f"{corpus}.json"
    if not path.exists():
        pytest.skip(f"the reference outputs are not at {GOLDEN}")
    for case in json.loads(path.read_text())["rrf"]:
        fused = rrf([[f"{number:03}" for number in ids] for ids in case["lists"]], case["k"])
        assert [int(chunk_id) for chunk_id, _ in fused] == case["fused"]


@given(st.lists(IDS, max_size=4), st.integers(1, 100))
def test_scores_are_exact_sums_rounded_once_and_ties_go_by_id(lists: list[list[str]], k: int) -> None:
    exact: dict[str, Fraction] = {}
    for ids in lists:
        for rank, id_ in enumerate(ids, start=1):
            exact[id_] = exact.get(id_, Fraction(0)) + Fraction(1 / (k + rank))
    expected = sorted(((id_, float(score)) for id_, score in exact.items()), key=lambda pair: (-pair[1], pair[0]))
    assert rrf(lists, k) == expected


@given(st.lists(IDS, max_size=4), st.randoms())
def test_the_order_of_the_lists_does_not_matter(lists: list[list[str]], random) -> None:
    shuffled = list(lists)
    random.shuffle(shuffled)
    assert rrf(shuffled) == rrf(lists)


def test_an_id_that_is_in_a_list_twice_counts_once() -> None:
    assert rrf([["a", "a", "b"]]) == rrf([["a", "b"]])


def test_rankings_are_fused_by_rank_and_cut() -> None:
    one = Ranking("dense", (Hit("a", 0.9, 1), Hit("b", 0.1, 2)), 100)
    other = Ranking("lexical", (Hit("b", 30.0, 1), Hit("c", 2.0, 2)), 100)
    assert fuse([one, other], 2) == Ranking("rrf", (Hit("b", 1 / 61 + 1 / 62, 1), Hit("a", 1 / 61, 2)), 2)
    assert fuse([one], 9).hits == (Hit("a", 1 / 61, 1), Hit("b", 1 / 62, 2))
    assert fuse([], 5) == Ranking("rrf", (), 5)
    assert fuse([one], 0).hits == ()
