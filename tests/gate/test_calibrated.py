"""The calibrated gate and its model: monotone, a sum that can be read, refusing for a reason."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.made import make_evidence

from gawah.gate import (
    DIRECTIONS,
    EMPTY_INDEX,
    CalibratedGate,
    Calibration,
    CalibrationStamp,
    Feature,
    Fitted,
    MonotoneModel,
    packaged_calibration,
    refusal_code,
)

STAMP = CalibrationStamp("a" * 64, "sign1-fp16/1", "canonical/1 analyzer/2", "blocks-E/1", "late-interaction")


def fitted(model, threshold):
    return Fitted(model, threshold, ("set",), 10, 10, 1, 0, 0.07, 0.26, bound_holds=False)


def calibration(vectors, words, threshold=0.0):
    return Calibration("fake", STAMP, fitted(vectors, threshold), fitted(words, threshold))


BY_CAT = calibration(
    MonotoneModel(-0.5, (Feature("maxsim_best", 2.0, 0.4, 0.5), Feature("missing", -4.0, 0.0, 1.0))),
    MonotoneModel(-1.0, (Feature("coverage_best", 3.0, 0.0, 1.0),)),
)


def test_the_score_is_the_sum_of_what_is_shown():
    decision = CalibratedGate(BY_CAT)(make_evidence("warm cat", texts=["a warm cat", "a dog"]))
    parts = {name: value for name, value in decision.signals.items() if name.startswith("+")}
    assert set(parts) == {"+intercept", "+maxsim_best", "+missing"}
    assert math.fsum(parts.values()) == decision.score
    assert parts["+maxsim_best"] == pytest.approx(2.0 * (decision.signals["maxsim_best"] - 0.4) / 0.5)
    assert decision.gate == "calibrated"
    assert decision.refuse_reason is None
    assert [passage.chunk.content for passage in decision.admitted] == ["a warm cat", "a dog"]


def test_at_most_so_many_go_on():
    evidence = make_evidence("cat", texts=["cat"] * 6)
    assert len(CalibratedGate(BY_CAT)(evidence).admitted) == 4
    assert len(CalibratedGate(BY_CAT, at_most=2)(evidence).admitted) == 2


def test_a_refusal_says_score_threshold_and_what_is_missing():
    decision = CalibratedGate(BY_CAT)(make_evidence("warm cat GSM-E19", texts=["a warm cat"]))
    assert decision.admitted == ()
    assert decision.refuse_reason == (
        f"nothing that answers it (score {decision.score:.2f}, not over 0.00; not in the passages: GSM-E19)"
    )
    assert refusal_code(decision) == "nothing_near"


def test_a_score_at_the_threshold_is_refused():
    evidence = make_evidence("warm cat", texts=["a warm cat"])
    score = CalibratedGate(BY_CAT)(evidence).score
    at = calibration(BY_CAT.vectors.model, BY_CAT.words.model, threshold=score)
    assert CalibratedGate(at)(evidence).refuse_reason is not None


def test_nothing_found_is_refused_whatever_the_threshold():
    low = calibration(BY_CAT.vectors.model, BY_CAT.words.model, threshold=-1e9)
    assert CalibratedGate(low)(make_evidence("cat")).refuse_reason == EMPTY_INDEX


def test_a_question_the_encoder_cannot_read_is_judged_by_words_alone():
    gate = CalibratedGate(BY_CAT)
    held = {"term_weights": {"cat": 1.0}}
    assert gate(make_evidence("cat", texts=["cat"], readable=False, **held)).score == 2.0
    assert gate(make_evidence("cat", texts=["dog"], readable=False, **held)).score == -1.0
    assert "+maxsim_best" not in gate(make_evidence("cat", texts=["cat"], readable=False, **held)).signals


ALWAYS = calibration(MonotoneModel(1.0, ()), MonotoneModel(1.0, ()))
OIL = "तेल का प्रकार ISO VG 220 है।"


def test_words_alone_answer_nothing_when_only_the_smallest_are_held():
    decision = CalibratedGate(ALWAYS)(make_evidence("कंपनी का मालिक कौन है?", texts=[OIL], readable=False))
    assert decision.admitted == ()
    assert decision.score > decision.threshold
    assert decision.refuse_reason == (
        "nothing that answers it (none of its words but the smallest; not in the passages: कंपनी, मालिक)"
    )
    assert refusal_code(decision) == "nothing_near"


@pytest.mark.parametrize("question", ["तेल कौन सा है?", "कंपनी का तेल", "यह क्या है?"])
def test_one_content_word_that_is_held_or_none_asked_leaves_it_to_the_score(question):
    assert CalibratedGate(ALWAYS)(make_evidence(question, texts=[OIL], readable=False)).admitted


def test_a_question_the_encoder_reads_may_share_no_word_with_its_answer():
    assert CalibratedGate(ALWAYS)(make_evidence("feline warmth", texts=["a cat"])).admitted


def test_words_that_stand_only_behind_what_goes_on_are_not_held():
    evidence = make_evidence("तेल", texts=["पंप"] * 4 + [OIL], readable=False)
    assert not CalibratedGate(ALWAYS)(evidence).admitted


values = st.floats(-3, 3)


@given(st.dictionaries(st.sampled_from(sorted(DIRECTIONS)), values, min_size=1), st.data())
def test_more_of_what_speaks_for_an_answer_never_lowers_a_score(signals, data):
    features = tuple(
        Feature(name, DIRECTIONS[name] * data.draw(st.floats(0, 5)), data.draw(values), data.draw(st.floats(0.01, 3)))
        for name in signals
    )
    model = MonotoneModel(data.draw(values), features)
    name = data.draw(st.sampled_from(sorted(signals)))
    more = {**signals, name: signals[name] + DIRECTIONS[name] * data.draw(st.floats(0, 2))}
    assert model.score(more) >= model.score(signals) - 1e-9


def test_the_models_that_ship_are_monotone_and_count_what_they_say():
    shipped = packaged_calibration()
    for one in (shipped.vectors, shipped.words):
        assert all(feature.coefficient * DIRECTIONS[feature.name] >= 0 for feature in one.model.features)
        assert any(feature.coefficient for feature in one.model.features)
        assert one.max_bluff is None
    assert shipped.vectors.fitted_on == ("etcd", "rustbook")
    assert shipped.words.fitted_on == ("hi", "ur")
    assert {feature.name for feature in shipped.words.model.features} <= {"coverage", "coverage_best", "bm25_share"}


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (("maxsim_best", -1.0, 0.0, 1.0), "wrong sign"),
        (("missing", 1.0, 0.0, 1.0), "wrong sign"),
        (("charm", 1.0, 0.0, 1.0), "no signal"),
        (("gain", math.nan, 0.0, 1.0), "finite"),
        (("gain", 1.0, 0.0, 0.0), "above 0"),
    ],
)
def test_a_feature_that_cannot_be_is_refused(feature, message):
    with pytest.raises(ValueError, match=message):
        Feature(*feature)


def test_a_signal_counts_once():
    with pytest.raises(ValueError, match="once"):
        MonotoneModel(0.0, (Feature("gain", 1.0, 0.0, 1.0),) * 2)
