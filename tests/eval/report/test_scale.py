"""Whichever way a gate compares, the sweep at its threshold decides as the gate did."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.eval.report import read_facts
from gawah.eval.report.reading import Decided
from gawah.eval.report.scale import Cases, Scale, cases_of, risk_points, scale_of, sweep_points, withheld_points
from gawah.eval.stats import ALL, successes

SCORES = st.sampled_from([-1.0, 0.0, math.nextafter(0.5, 0), 0.5, math.nextafter(0.5, 1), 2.0])
DISTANCE, SCORE = (Scale(is_distance=way, is_relative=False, operating=0.5) for way in (True, False))


def judged(score, *holds, distance=None):
    passages = tuple((score if distance is None else distance, one) for one in holds)
    return Decided(refused=False, reason="", score=score, threshold=0.5, passages=passages)


@given(st.lists(SCORES, min_size=1, max_size=12))
def test_over_a_score_is_strictly_over_and_within_a_distance_is_not(scores):
    for scale, passes in ((SCORE, [s > 0.5 for s in scores]), (DISTANCE, [s <= 0.5 for s in scores])):
        cases = Cases(tuple(scale.case(str(i), "own", judged(s, True)) for i, s in enumerate(scores)), (), ())
        (point,) = sweep_points(cases, scale, [0.5])
        assert successes(point.right[ALL]) == sum(passes)
        assert successes(point.give_ups[ALL]) == len(scores) - sum(passes)


def test_a_score_lets_the_first_four_through_and_no_fifth():
    at = {n: SCORE.case("q", "own", judged(1.0, *[False] * n, True, distance=0.3)) for n in (3, 4)}
    for n, right in ((3, 1), (4, 0)):
        (point,) = sweep_points(Cases((at[n],), (), ()), SCORE, [0.5])
        assert (successes(point.right[ALL]), successes(point.wrong[ALL])) == (right, 1 - right)


@pytest.mark.parametrize("scale", [DISTANCE, SCORE])
def test_a_question_for_which_nothing_was_found_is_never_answered(scale):
    cases = Cases((), (scale.case("q", "near", judged(9.0)), scale.case("r", "near", judged(None))), ())
    for point in sweep_points(cases, scale, [-1e9, 0.0, 1e9]):
        assert successes(point.bluffs["near"]) == 0


@pytest.mark.parametrize("scale", [DISTANCE, SCORE])
def test_without_hidden_questions_there_are_no_points(scale):
    assert withheld_points(Cases((), (), ()), scale, [0.5]) == ()


def test_every_decision_of_a_run_is_met_at_its_threshold(measured_folder):
    facts = read_facts(measured_folder)
    scale = scale_of(facts)
    cases = cases_of(facts, scale)
    for index, question in enumerate(facts.answerable):
        (point,) = sweep_points(Cases((cases.answerable[index],), (), ()), scale, [scale.operating])
        assert bool(successes(point.give_ups[ALL])) == question.gate.refused
        assert bool(successes(point.right[ALL])) == question.right
    for index, question in enumerate(facts.unanswerable):
        (point,) = sweep_points(Cases((), (cases.unanswerable[index],), ()), scale, [scale.operating])
        assert bool(successes(point.bluffs[ALL])) == (not question.gate.refused)


def test_questions_of_several_thresholds_stand_on_a_scale_from_their_own(examples_folder):
    facts = read_facts(examples_folder("calibrated"))
    assert len({q.gate.threshold for q in facts.questions}) == 2  # words alone, for Hindi and Urdu
    scale = scale_of(facts)
    assert (scale.is_relative, scale.operating) == (True, 0.0)
    english = replace(facts, questions=tuple(q for q in facts.questions if q.query.isascii() and q.needle is None))
    one = [q for q in english.questions if q.gate.threshold == english.questions[0].gate.threshold]
    alone = scale_of(replace(facts, questions=tuple(one)))
    assert (alone.is_relative, alone.operating) == (False, one[0].gate.threshold)


def test_coverage_grows_as_the_gate_is_opened(measured_folder):
    facts = read_facts(measured_folder)
    scale = scale_of(facts)
    thresholds = sorted((-3.0, 0.0, 0.2, 0.5, 0.7, 3.0), reverse=not scale.is_distance)
    shares = [point.coverage.mean for point in risk_points(cases_of(facts, scale), scale, thresholds)]
    assert shares == sorted(shares)
