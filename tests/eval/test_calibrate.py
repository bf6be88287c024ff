"""Thresholds against trying all of them; a calibration of a set from end to end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import UsageError
from gawah.eval.calibrate import GateQuestion, calibrate, choose_threshold
from gawah.eval.stats import upper_bound
from gawah.gate import CalibrationStamp

STAMP = CalibrationStamp("a" * 64, "sign1-fp16/1", "p", "c", "r")
scores = st.lists(st.integers(-20, 20).map(lambda n: n / 4), min_size=1, max_size=60)


@given(scores, scores, st.sampled_from([0.01, 0.07, 0.15, 0.3, 0.6]))
def test_it_is_the_lowest_threshold_within_the_target(answerable, unanswerable, target):
    found = choose_threshold(answerable, unanswerable, max_bluff=target)
    n = len(unanswerable)
    assert found.n_bluffs == sum(score > found.value for score in unanswerable)
    assert found.n_give_ups == sum(score <= found.value for score in answerable)
    assert found.bound == upper_bound(found.n_bluffs, n)
    possible = upper_bound(0, n) <= target
    assert found.bound_holds == possible

    def within(k):
        return upper_bound(k, n) <= target if possible else k / n <= target + 1e-9

    assert within(found.n_bluffs)
    lower = [t for t in {*unanswerable, *answerable, -9.0} if t < found.value]
    for threshold in lower:
        if within(sum(score > threshold for score in unanswerable)):
            assert sum(score <= threshold for score in answerable) >= found.n_give_ups


def test_worked_values():
    unanswerable = [n / 100 for n in range(60)]  # 0.59 is the largest
    answerable = [0.555, 0.575, 0.9]
    found = choose_threshold(answerable, unanswerable, max_bluff=0.15)
    assert (found.n_bluffs, found.n_give_ups, found.bound_holds) == (4, 0, True)
    assert found.value == pytest.approx(0.5525)
    assert found.bound == pytest.approx(0.1461, abs=1e-4)
    strict = choose_threshold(answerable, unanswerable, max_bluff=0.07)
    assert (strict.n_bluffs, strict.n_give_ups) == (0, 2)
    few = choose_threshold([1.0], [0.1] * 30, max_bluff=0.07)
    assert (few.n_bluffs, few.bound_holds) == (0, False), "0 of 30 promises 9.5 %"


@given(scores, scores)
def test_without_a_target_no_threshold_has_a_lower_sum_of_both_rates(answerable, unanswerable):
    found = choose_threshold(answerable, unanswerable)

    def cost(threshold):
        bluffs = sum(score > threshold for score in unanswerable) / len(unanswerable)
        return bluffs + sum(score <= threshold for score in answerable) / len(answerable)

    every = [-99.0, *answerable, *unanswerable]
    assert cost(found.value) == pytest.approx(min(map(cost, every)))
    assert found.n_bluffs == sum(score > found.value for score in unanswerable)
    assert found.n_give_ups == sum(score <= found.value for score in answerable)


def test_a_worked_balance():
    found = choose_threshold([0.2, 0.6, 0.7, 0.8], [0.1, 0.3, 0.5, 0.65])
    assert (found.value, found.n_give_ups, found.n_bluffs) == (pytest.approx(0.55), 1, 1)


@pytest.mark.parametrize("target", [0, 1, -0.1, 1.5])
def test_a_target_that_is_no_rate_is_a_usage_error(target):
    with pytest.raises(UsageError, match="between 0 and 1"):
        choose_threshold([1.0], [0.0], max_bluff=target)


def test_no_question_that_must_be_refused_is_a_usage_error():
    with pytest.raises(UsageError, match="must be refused"):
        choose_threshold([1.0], [], max_bluff=0.1)


def test_no_question_with_an_answer_is_a_usage_error():
    with pytest.raises(UsageError, match="with an answer"):
        choose_threshold([], [1.0])


def question(number, answerable, readable=True):
    value = (number + (5 if answerable else 0)) / 20
    names = (
        "maxsim_best",
        "maxsim_pieces",
        "gain",
        "margin",
        "above_background",
        "cosine_capped",
        "coverage_best",
        "bm25_share",
    )
    signals = {**dict.fromkeys(names, value), "missing": 0.0}
    return GateQuestion(
        "s",
        f"q{number}{answerable}",
        "?",
        "own" if answerable else "near",
        answerable,
        readable,
        answerable,
        3,
        signals,
    )


def test_readable_questions_teach_the_model_by_vectors_and_the_others_the_one_by_words():
    asked = [question(n, yes) for n in range(10) for yes in (True, False)]
    foreign = [question(n, yes, readable=False) for n in range(20) for yes in (True, False)]
    made = calibrate([*asked, *foreign], "fake", STAMP, max_bluff=0.3)
    assert (made.vectors.n_answerable, made.words.n_answerable) == (10, 20)
    assert made.vectors.fitted_on == ("s",)
    assert made == calibrate([*asked, *foreign], "fake", STAMP, max_bluff=0.3)


def test_with_too_few_others_the_given_model_by_words_stays_or_all_teach_one():
    asked = [question(n, yes) for n in range(10) for yes in (True, False)]
    few = [question(n, yes, readable=False) for n in range(19) for yes in (True, False)]
    assert calibrate([*asked, *few], "fake", STAMP, max_bluff=0.3).words.n_answerable == 29
    given = calibrate(asked, "fake", STAMP, max_bluff=0.3).words
    assert calibrate([*asked, *few], "fake", STAMP, max_bluff=0.2, words=given).words == given


def test_a_set_that_the_encoder_cannot_read_is_a_usage_error():
    with pytest.raises(UsageError, match="reads none"):
        calibrate([question(1, True, False), question(2, False, False)], "fake", STAMP, max_bluff=0.1)
