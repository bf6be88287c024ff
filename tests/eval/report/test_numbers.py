"""What figures are drawn from: worked examples, brute-force oracles, properties."""

from __future__ import annotations

import math
import statistics
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.eval.report.numbers import binned, nice_grid, reliability, spreads
from gawah.eval.report.reading import Decided
from gawah.eval.stats import successes

NUMBERS = st.floats(-1e6, 1e6)


def decided(score, *, threshold=0.5):
    return Decided(refused=False, reason="", score=score, threshold=threshold, passages=((0.1, True),))


@pytest.mark.parametrize(
    ("low", "high", "most", "grid"),
    [
        (0.12, 0.88, 10, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
        (-3.8, 5.7, 6, (-4.0, -2.0, 0.0, 2.0, 4.0, 6.0)),
        (0.5, 0.5, 3, (0.45, 0.5, 0.55)),
        (0.0, 1.0, 2, (0.0, 1.0)),
    ],
)
def test_a_grid_is_round_numbers_around_its_values(low, high, most, grid):
    assert nice_grid(low, high, most) == pytest.approx(grid)


@given(NUMBERS, NUMBERS, st.integers(2, 40))
def test_a_grid_encloses_its_values_rises_and_is_not_longer_than_asked_by_more_than_two(one, other, most):
    low, high = min(one, other), max(one, other)
    grid = nice_grid(one, other, most)
    slack = 1e-6 * max(1.0, abs(low), abs(high))
    assert grid[0] <= low + slack
    assert grid[-1] >= high - slack
    assert all(a < b for a, b in pairwise(grid))
    assert 2 <= len(grid) <= most + 2


@pytest.mark.parametrize(("low", "high", "most"), [(math.nan, 1, 3), (0, math.inf, 3), (0, 1, 1)])
def test_no_grid_without_numbers(low, high, most):
    with pytest.raises(ValueError, match="no grid"):
        nice_grid(low, high, most)


@given(st.lists(st.integers(0, 100).map(lambda n: n / 10), max_size=50))
def test_bins_are_half_open_but_the_last(values):
    edges = (0.0, 2.5, 5.0, 7.5, 10.0)
    by_hand = [sum(low <= value < high for value in values) for low, high in pairwise(edges)]
    by_hand[-1] += sum(value == edges[-1] for value in values)
    assert binned(values, edges) == tuple(by_hand)


def test_reliability_predicts_with_the_odds_of_the_questions_asked():
    """Three can be answered for one that cannot: a score of 0 (even odds in the fit) predicts 3/4."""
    (only,) = reliability([decided(0.0)] * 3, [decided(0.0)], predicts=True)
    assert (only.low, only.high, only.mean) == (0.0, 0.0, 0.0)
    assert only.predicted == pytest.approx(0.75)
    assert (successes(only.answerable), only.answerable.n) == (3, 4)


def test_a_score_that_predicts_nothing_has_no_prediction():
    assert all(math.isnan(b.predicted) for b in reliability([decided(0.2)], [decided(0.4)], predicts=False))


@given(st.lists(st.integers(-5, 5), max_size=40), st.lists(st.integers(-5, 5), max_size=40), st.integers(1, 10))
def test_bins_of_reliability_hold_every_question_once_and_part_no_equal_scores(can, cannot, n_bins):
    bins = reliability(
        [decided(float(s)) for s in can], [decided(float(s)) for s in cannot], predicts=True, n_bins=n_bins
    )
    assert sum(b.answerable.n for b in bins) == len(can) + len(cannot)
    assert sum(successes(b.answerable) for b in bins) == len(can)
    assert len(bins) <= n_bins
    assert all(one.high < other.low for one, other in pairwise(bins))
    for b in bins:
        inside = [s for s in can if b.low <= s <= b.high], [s for s in cannot if b.low <= s <= b.high]
        assert (successes(b.answerable), b.answerable.n) == (len(inside[0]), len(inside[0]) + len(inside[1]))


def test_questions_without_a_number_are_in_no_bin():
    assert reliability([decided(None)], [decided(None)], predicts=True) == ()


@given(st.lists(st.integers(0, 10**6).map(lambda n: n / 1000), min_size=2, max_size=60))
def test_spreads_are_quantiles(values):
    (row,) = spreads({"embed": values})
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    expected = (cuts[0], cuts[4], cuts[9], cuts[14], cuts[18], max(values))
    assert (row.p5, row.p25, row.p50, row.p75, row.p95, row.longest) == pytest.approx(expected, abs=0.00051)
    assert row.n == len(values)


def test_the_total_stands_last_and_stages_without_times_are_left_out():
    assert [row.stage for row in spreads({"total": [2.0], "embed": [1.0], "rerank": []})] == ["embed", "total"]
