"""The sweep does what the reference gate does, at every threshold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.eval.made import judged, passage

from gawah.errors import UsageError
from gawah.eval import (
    GateCase,
    case_of,
    every_threshold,
    histogram,
    risk_coverage,
    separation,
    successes,
    sweep,
    unanswerable_case,
)
from gawah.gate import reference_gate

DISTANCES = st.sampled_from([0.0, 0.2, 0.3, 0.30000000000000004, 0.5, 1.0])
PASSAGES = st.lists(st.tuples(DISTANCES, st.booleans()), max_size=7).map(tuple)
CASES = st.lists(st.tuples(st.sampled_from(["own", "ticket"]), PASSAGES), max_size=6).map(
    lambda pairs: [GateCase(str(i), group, passages) for i, (group, passages) in enumerate(pairs)]
)


def case(*passages, group="own", query_id="q"):
    return GateCase(query_id, group, passages)


ANSWERABLE = [
    case((0.2, True), query_id="near and right"),
    case((0.3, False), (0.6, True), query_id="right further down", group="ticket"),
    case((0.7, False), query_id="never right"),
]
UNANSWERABLE = [case((0.4, False), group="near"), case((0.9, False), group="far"), case(group="far")]


def test_a_sweep_has_the_worked_values():
    points = sweep(ANSWERABLE, UNANSWERABLE, (0.1, 0.4, 0.65, 2.0))
    tally = [
        tuple(successes(rates["all"]) for rates in (point.right, point.wrong, point.give_ups, point.bluffs))
        for point in points
    ]
    assert tally == [(0, 0, 3, 0), (1, 1, 1, 1), (2, 0, 1, 1), (2, 1, 0, 2)]
    assert [successes(point.bluffs["near"]) for point in points] == [0, 1, 1, 1]
    assert [successes(point.give_ups["ticket"]) for point in points] == [1, 0, 0, 0]


def test_an_answer_in_fifth_place_is_not_admitted():
    crowded = case((0.1, False), (0.1, False), (0.1, False), (0.1, False), (0.1, True))
    (point,) = sweep([crowded], [], [0.5])
    assert successes(point.wrong["all"]) == 1
    (wider,) = sweep([crowded], [], [0.5], at_most=5)
    assert successes(wider.right["all"]) == 1


def test_a_higher_threshold_can_crowd_the_answer_out():
    late = case(*[(0.5, False)] * 4, (0.1, True))
    assert [successes(point.right["all"]) for point in sweep([late], [], [0.1, 0.5])] == [1, 0]


@given(CASES, st.lists(DISTANCES, min_size=1, max_size=4))
def test_the_sweep_decides_as_the_gate_does(cases, thresholds):
    points = sweep(cases, [case((0.5, False), group="near")], thresholds)
    for threshold, point in zip(thresholds, points, strict=True):
        n_right = n_given_up = 0
        for one in cases:
            passages = [passage(d, chunk_id="right" if ok else "wrong") for d, ok in one.passages]
            decision = reference_gate(passages, threshold=threshold)
            n_given_up += decision.refuse_reason is not None
            n_right += any(p.chunk.id == "right" for p in decision.admitted)
        assert (successes(point.right["all"]), successes(point.give_ups["all"])) == (n_right, n_given_up)
        assert successes(point.wrong["all"]) == len(cases) - n_right - n_given_up


@given(CASES, CASES)
def test_give_ups_fall_and_bluffs_rise_with_the_threshold(answerable, unanswerable):
    if not answerable and not unanswerable:
        return
    points = sweep(answerable, unanswerable, every_threshold([*answerable, *unanswerable]))
    given_up = [successes(point.give_ups["all"]) for point in points]
    bluffed = [successes(point.bluffs["all"]) for point in points]
    assert given_up == sorted(given_up, reverse=True)
    assert bluffed == sorted(bluffed)


def test_every_threshold_is_where_a_decision_changes():
    assert every_threshold([*ANSWERABLE, *UNANSWERABLE]) == (0.2, 0.3, 0.4, 0.6, 0.7, 0.9)
    assert every_threshold([case()]) == ()


def test_passages_are_judged_by_their_content():
    query = judged("big needle", phrasing="ticket")
    found = case_of(query, [passage(0.1, "hay"), passage(0.2, "a big\nneedle")])
    assert found == GateCase("q1", "ticket", ((0.1, False), (0.2, True)))
    assert unanswerable_case("u", "far", [passage(0.1)]) == GateCase("u", "far", ((0.1, False),))
    assert case_of(query, []).best == math.inf


def test_when_all_is_refused_nothing_is_divided():
    (point,) = sweep(ANSWERABLE, [], [0.0])
    assert (successes(point.give_ups["all"]), point.bluffs["all"].n) == (3, 0)
    (risk,) = risk_coverage(ANSWERABLE, UNANSWERABLE, [0.0])
    assert (risk.coverage.mean, risk.risk.n) == (0, 0)
    assert math.isnan(risk.risk.mean)


def test_risk_is_the_wrong_share_of_what_is_answered():
    points = risk_coverage(ANSWERABLE, UNANSWERABLE)
    curve = [(point.threshold, successes(point.coverage), successes(point.risk)) for point in points]
    assert curve == [(0.2, 1, 0), (0.3, 2, 1), (0.4, 3, 2), (0.6, 3, 1), (0.7, 4, 2), (0.9, 5, 3)]
    assert all(point.coverage.n == 6 for point in points)


def test_separation_is_the_share_of_pairs_in_order_by_kind():
    found = separation(ANSWERABLE, UNANSWERABLE)
    assert found["near"].area == pytest.approx(2 / 3)
    assert found["far"].area == 1
    assert found["all"].area == pytest.approx(8 / 9)
    assert math.isnan(separation(ANSWERABLE, [])["all"].area)


def test_questions_without_passages_are_equally_far():
    assert separation([case()], [case(group="far")])["all"].area == 0.5


def test_a_histogram_counts_every_question():
    found = histogram([*ANSWERABLE, *UNANSWERABLE], (0.2, 0.4, 0.7))
    assert (found.counts, found.n_outside) == ((2, 2), 2)
    assert sum(histogram(ANSWERABLE).counts) == 3
    assert histogram([]).n_outside == 0


@pytest.mark.parametrize("edges", [(), (1.0,), (1.0, 1.0), (2.0, 1.0), (0.0, math.nan)])
def test_bins_that_do_not_rise_are_refused(edges):
    with pytest.raises(UsageError, match="edges that rise"):
        histogram([], edges)


def test_a_distance_that_is_not_a_number_is_refused_by_name():
    broken = [case((math.nan, True), query_id="q7")]
    for measure in (lambda: sweep(broken, [], [0.5]), lambda: histogram(broken), lambda: separation(broken, broken)):
        with pytest.raises(UsageError, match="'q7' is not a number"):
            measure()


def test_nothing_to_sweep_is_said():
    with pytest.raises(UsageError, match="no question"):
        sweep([], [], [0.5])
    with pytest.raises(UsageError, match="no question"):
        risk_coverage([], [])
    with pytest.raises(UsageError, match="thresholds that are numbers"):
        sweep(ANSWERABLE, [], [math.nan])
    with pytest.raises(UsageError, match="at least one passage"):
        sweep(ANSWERABLE, [], [0.5], at_most=0)
