"""The reference gate compares, in order, and says why it refuses."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.made import make_evidence

from gawah.errors import UsageError
from gawah.gate import EMPTY_INDEX, NOTHING_NEAR, Gate, ReferenceGate, reference_gate, refusal_code, refusal_message
from gawah.testing.generator import make_source


def passages(*distances):
    return [make_source(n, f"content {n}", distance=d).passage for n, d in enumerate(distances, start=1)]


def test_the_passages_under_the_threshold_go_on_in_their_order_at_most_four():
    found = passages(0.5, 0.9, 0.3, 0.675, 0.6, 0.1)
    decision = reference_gate(found, threshold=0.675)
    assert decision.admitted == (found[0], found[2], found[3], found[4])
    assert decision.refuse_reason is None
    assert decision.score == 0.1
    assert decision.threshold == 0.675
    assert decision.signals == {"best_cosine_distance": 0.1, "n_under": 5.0}


def test_nothing_near_is_refused_with_the_number():
    decision = reference_gate(passages(0.7, 0.69), threshold=0.675)
    assert decision.refuse_reason == "nothing under cosine distance 0.675"
    assert decision.admitted == ()
    assert decision.score == 0.69
    assert refusal_code(decision) == NOTHING_NEAR


def test_no_passages_at_all_have_a_reason_of_their_own():
    decision = reference_gate([], threshold=0.675)
    assert decision.refuse_reason == refusal_code(decision) == EMPTY_INDEX
    assert math.isinf(decision.score)


def test_a_distance_that_is_no_number_is_never_admitted():
    found = passages(math.nan, 0.2)
    assert reference_gate(found, threshold=2.0).admitted == (found[1],)
    assert reference_gate(found, threshold=2.0).score == 0.2
    assert refusal_code(reference_gate(found[:1], threshold=2.0)) == NOTHING_NEAR


@pytest.mark.parametrize("threshold", [math.nan, -0.1, 2.1, math.inf])
def test_a_threshold_that_is_no_distance_is_a_usage_error(threshold):
    with pytest.raises(UsageError, match="threshold"):
        reference_gate(passages(0.1), threshold=threshold)


def test_admitting_nobody_is_a_usage_error():
    with pytest.raises(UsageError, match="at most 0"):
        reference_gate(passages(0.1), threshold=0.5, at_most=0)


distances = st.lists(st.floats(0, 2) | st.just(math.nan), max_size=12)


@given(distances, st.floats(0, 2), st.integers(1, 6))
def test_it_equals_filtering_then_cutting(values, threshold, at_most):
    found = passages(*values)
    decision = reference_gate(found, threshold=threshold, at_most=at_most)
    under = [p for p in found if not math.isnan(p.cosine_distance) and p.cosine_distance <= threshold]
    assert decision.admitted == tuple(under[:at_most])
    assert (decision.refuse_reason is None) == bool(under)
    assert (decision.score <= threshold) == bool(under), "the score is on the scale of the threshold"


def test_the_gate_decides_as_the_function_does():
    found = passages(0.4, 0.6, 0.2)
    gate: Gate = ReferenceGate(0.5, at_most=1)
    assert gate(make_evidence("q", found)) == reference_gate(found, threshold=0.5, at_most=1)


def test_the_refusal_names_question_threshold_and_nearest_in_one_line():
    nearest = [replace(p, document_name=f"manual-{n}.md") for n, p in enumerate(passages(0.71, 0.9))]
    decision = reference_gate(nearest, threshold=0.675)
    assert refusal_message("what is the\n offside rule", decision, nearest) == (
        'nothing under cosine distance 0.675 for "what is the offside rule"; '
        "nearest: manual-0.md - Section 1 (0.710); manual-1.md - Section 2 (0.900)"
    )


def test_a_hostile_question_or_name_stays_one_printable_line():
    nearest = [replace(p, document_name="\x1b[31m\n\u202e" + "x" * 500) for p in passages(0.9)]
    decision = reference_gate(nearest, threshold=0.1)
    message = refusal_message("\x1b]0;title\x07 \u202e?" * 500, decision, nearest)
    assert message.isprintable()
    assert len(message) < 600


def test_the_message_of_an_empty_index_says_so():
    assert "no document" in refusal_message("q", reference_gate([], threshold=0.5), [])


def test_a_decision_to_go_on_has_no_refusal_code():
    with pytest.raises(ValueError, match="did not refuse"):
        refusal_code(reference_gate(passages(0.1), threshold=0.5))


def test_a_question_that_the_encoder_cannot_read_is_judged_by_no_distance():
    found = passages(0.9, math.nan, 0.1, 1.9, 0.2)
    decision = ReferenceGate(0.5)(make_evidence("क्या", found, readable=False))
    assert decision.admitted == tuple(found[:4])
    assert decision.refuse_reason is None
    assert decision.signals["by_words"] == 1.0
    assert ReferenceGate(0.5)(make_evidence("क्या", readable=False)).refuse_reason == EMPTY_INDEX
