"""Statistics against worked values, scipy, and definitions by brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from gawah.errors import UsageError
from gawah.eval.stats import auc, compare, estimate, estimates_by_group, holm, sign_test, successes, upper_bound
from gawah.types import Comparison

COUNTS = st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("k", "n", "low", "high"), [(38, 64, 0.471, 0.705), (53, 64, 0.718, 0.901), (0, 10, 0, 0.278), (10, 10, 0.722, 1)]
)
def test_wilson_intervals_have_the_worked_values(k, n, low, high):
    found = estimate(k, n)
    assert (round(found.low, 3), round(found.high, 3), found.n, found.mean) == (low, high, n, k / n)


@given(COUNTS.filter(lambda counts: counts[1] > 0))
def test_wilson_intervals_are_those_of_scipy(counts):
    k, n = counts
    oracle = scipy_stats.binomtest(k, n).proportion_ci(method="wilson")
    found = estimate(k, n)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=1e-12)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert successes(found) == k


def test_no_observations_say_nothing_and_divide_nothing():
    found = estimate(0, 0)
    assert math.isnan(found.mean)
    assert (found.low, found.high, found.n, successes(found)) == (0, 1, 0, 0)
    assert upper_bound(0, 0) == 1
    assert sign_test(0, 0) == 1
    assert compare({}, {}) == Comparison(0, 0, 0, 1.0)
    assert holm({}) == {}
    assert math.isnan(auc([], [1.0]).area)
    assert (auc([1.0], []).low, auc([1.0], []).high) == (0, 1)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_what_is_no_proportion_is_refused(k, n):
    with pytest.raises(ValueError, match="no proportion"):
        estimate(k, n)
    with pytest.raises(ValueError, match="no proportion"):
        upper_bound(k, n)


@pytest.mark.parametrize(
    ("k", "n", "bound"),
    [(0, 30, 0.095), (0, 100, 0.030), (0, 300, 0.010), (2, 30, 0.195), (10, 30, 0.499), (3, 3, 1.0)],
)
def test_upper_bounds_have_the_worked_values(k, n, bound):
    assert round(upper_bound(k, n), 3) == bound


@given(COUNTS.filter(lambda counts: counts[1] > 0))
def test_upper_bounds_are_those_of_scipy(counts):
    k, n = counts
    oracle = scipy_stats.binomtest(k, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert upper_bound(k, n) == pytest.approx(oracle, abs=1e-9)


def test_an_upper_bound_of_many_observations_neither_over_nor_underflows():
    oracle = scipy_stats.beta.ppf(0.95, 1001, 99_000)
    assert upper_bound(1000, 100_000) == pytest.approx(oracle, rel=1e-9)


@pytest.mark.parametrize(
    ("wins", "losses", "p"), [(18, 3, 0.0015), (12, 2, 0.0129), (8, 6, 0.79), (10, 3, 0.09), (0, 1, 1.0), (5, 5, 1.0)]
)
def test_sign_tests_have_the_worked_values(wins, losses, p):
    digits = len(str(p).split(".")[1])
    assert round(sign_test(wins, losses), digits) == p


@given(st.integers(0, 300), st.integers(0, 300))
def test_sign_tests_are_those_of_scipy_and_two_sided(wins, losses):
    found = sign_test(wins, losses)
    assert found == sign_test(losses, wins)
    if wins + losses:
        assert found == pytest.approx(scipy_stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)


def test_a_sign_test_of_very_many_pairs_stays_a_number():
    assert 0 <= sign_test(6000, 4000) < 1e-80


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="no counts"):
        sign_test(-1, 2)


def test_a_comparison_counts_wins_losses_and_ties_by_query():
    treatment = {"a": True, "b": True, "c": False, "d": 0.5}
    baseline = {"d": 0.25, "c": True, "b": True, "a": False}
    assert compare(treatment, baseline) == Comparison(2, 1, 1, 1.0)


def test_runs_over_different_queries_are_not_compared():
    with pytest.raises(UsageError, match="'b' among them"):
        compare({"a": 1}, {"a": 1, "b": 0})


def test_an_outcome_that_is_not_a_number_is_refused():
    with pytest.raises(UsageError, match="not a number"):
        compare({"a": math.nan}, {"a": 1})


def test_holm_has_the_worked_values():
    # 4 x .005, 3 x .01, 2 x .03, then 1 x .04 raised to the value before it.
    adjusted = holm({"late": 0.04, "first": 0.005, "third": 0.03, "second": 0.01})
    assert list(adjusted) == ["late", "first", "third", "second"]
    assert adjusted == pytest.approx({"late": 0.06, "first": 0.02, "third": 0.06, "second": 0.03})


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.999))
def test_holm_rejects_what_the_step_down_rule_rejects(p_values, alpha):
    adjusted = holm({str(i): p for i, p in enumerate(p_values)})
    n = len(p_values)
    steps = [(n - i) * p for i, p in enumerate(sorted(p_values))]
    n_rejected = next((i for i, step in enumerate(steps) if step > alpha), n)
    assert sum(p <= alpha for p in adjusted.values()) == n_rejected


def test_holm_refuses_what_is_no_probability():
    with pytest.raises(ValueError, match="the p-value of x"):
        holm({"x": math.nan})


def test_groups_are_counted_apart_and_together():
    found = estimates_by_group(["own", "ticket", "own"], [True, False, False])
    assert {name: (successes(e), e.n) for name, e in found.items()} == {"own": (1, 2), "ticket": (0, 1), "all": (1, 3)}
    assert list(found)[-1] == "all"
    assert estimates_by_group([], [])["all"].n == 0


# --- areas -----------------------------------------------------------------------------------

SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.5, 1.0, math.inf, -math.inf]), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_an_area_is_the_share_of_pairs_in_order_with_ties_as_halves(positives, negatives):
    pairs = list(itertools.product(positives, negatives))
    by_definition = sum(1.0 if p > n else 0.5 if p == n else 0.0 for p, n in pairs) / len(pairs)
    found = auc(positives, negatives)
    assert found.area == pytest.approx(by_definition)
    assert 0 <= found.low <= found.area <= found.high <= 1


@given(SCORES, SCORES)
def test_swapping_the_classes_mirrors_the_area_and_its_interval(positives, negatives):
    one, other = auc(positives, negatives), auc(negatives, positives)
    assert (one.area, one.low, one.high) == pytest.approx((1 - other.area, 1 - other.high, 1 - other.low))


def test_an_area_is_that_of_the_mann_whitney_statistic():
    rng = np.random.default_rng(3)
    positives, negatives = rng.normal(1, 1, 64), rng.normal(0, 1, 30)
    u = scipy_stats.mannwhitneyu(positives, negatives).statistic
    assert auc(positives, negatives).area == pytest.approx(u / (64 * 30))


def test_the_interval_of_an_area_solves_its_equation():
    rng = np.random.default_rng(5)
    found = auc(rng.normal(1, 1, 64), rng.normal(0, 1, 30))
    z2, n_star = scipy_stats.norm.ppf(0.975) ** 2, (64 + 30) / 2 - 1
    for theta in (found.low, found.high):
        spread = 1 + n_star * (1 - theta) / (2 - theta) + n_star * theta / (1 + theta)
        assert (found.area - theta) ** 2 == pytest.approx(z2 * theta * (1 - theta) * spread / (64 * 30))


def test_the_interval_of_an_area_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(7)
    truth = scipy_stats.norm.cdf(1.2 / math.sqrt(2))
    areas = [auc(rng.normal(1.2, 1, 40), rng.normal(0, 1, 25)) for _ in range(1000)]
    assert 0.93 <= np.mean([a.low <= truth <= a.high for a in areas]) <= 0.99


def test_a_perfect_separation_of_few_still_has_a_width():
    found = auc([3, 4], [1, 2])
    assert (found.area, found.high) == (1, 1)
    assert found.low < 0.6


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match="not a number"):
        auc([math.nan], [1.0])
