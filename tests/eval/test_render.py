"""Tables as they are read."""

from __future__ import annotations

import math

import pytest
from tests.eval.made import judged

from gawah.eval import Destroyed, GateCase, estimate, histogram, outcome_of, risk_coverage, separation, summarise, sweep
from gawah.eval.render import (
    areas_table,
    comparisons_table,
    destroyed_table,
    histograms_table,
    measures_table,
    p_value,
    proportion,
    rates_table,
    risk_table,
    share,
    sweep_table,
    table,
)
from gawah.types import Comparison

ANSWERABLE = [GateCase("a", "own", ((0.2, True),)), GateCase("b", "own", ((0.6, False),))]
UNANSWERABLE = [GateCase("u", "near", ((0.3, False),)), GateCase("v", "far", ())]


def cells(text):
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines()]


def test_a_proportion_is_written_with_its_count_and_interval():
    assert proportion(estimate(38, 64)) == "38/64 .594 [.471, .705]"
    assert proportion(estimate(4, 4)) == "4/4 1.000 [.510, 1.000]"
    assert proportion(estimate(0, 30)) == "0/30 .000 [.000, .114]"
    assert proportion(estimate(0, 0)) == "0/0 –"


@pytest.mark.parametrize(
    ("value", "words"), [(0.5, ".500"), (0, ".000"), (1, "1.000"), (0.9996, "1.000"), (math.nan, "–")]
)
def test_shares_have_three_places(value, words):
    assert share(value) == words


@pytest.mark.parametrize(("p", "words"), [(1.0, "1.0000"), (0.0015, "0.0015"), (9e-17, "9.0e-17"), (0.0, "0.0000")])
def test_small_ps_keep_their_power(p, words):
    assert p_value(p) == words


def test_systems_are_rows_and_measures_are_columns():
    summary = summarise([outcome_of(judged("x"), ["x"])], cutoffs=(1,), budgets_chars=(2000,))
    assert measures_table({"rrf|all": summary}) == (
        "|  | n | R@1 | in 2,000 chars | MRR |\n"
        "| :-- | --: | --: | --: | --: |\n"
        "| rrf\\|all | 1 | 1/1 1.000 [.207, 1.000] | 1/1 1.000 [.207, 1.000] | 1.000 |\n"
    )
    assert measures_table({}) == ""
    with pytest.raises(ValueError, match="same cutoffs"):
        measures_table({"a": summary, "b": summarise([], cutoffs=(4,), budgets_chars=(2000,))})
    assert cells(measures_table({"none": summarise([])}))[2] == ["none", "0", *["0/0 –"] * 6, "–"]


def test_comparisons_show_wins_losses_and_the_family_s_p():
    rows = cells(comparisons_table({"E - A": Comparison(18, 3, 43, 0.0015), "F - E": Comparison(8, 6, 50, 0.79)}))
    assert rows[2:] == [
        ["E - A", "+18", "−3", "43", "0.0015", "0.0030"],
        ["F - E", "+8", "−6", "50", "0.7900", "0.7900"],
    ]


def test_destroyed_needles_are_shown_of_all():
    assert cells(destroyed_table({"A": Destroyed(32, ("x",) * 6, ())}))[2] == [
        "A",
        "32",
        "6/32 .188 [.089, .353]",
        "0/32 .000 [.000, .107]",
    ]


def test_a_rate_without_events_shows_what_it_promises():
    assert cells(rates_table({"bluffs": {"far": estimate(0, 30)}}))[2] == [
        "bluffs",
        "far",
        "0/30 .000 [.000, .114]",
        ".095",
    ]


def test_a_sweep_is_a_row_a_threshold():
    rows = cells(sweep_table(sweep(ANSWERABLE, UNANSWERABLE, (0.1, 0.5))))
    assert rows[0] == [
        "threshold", "right", "wrong", "give-ups", "bluffs, far", "bluffs, near", "bluffs, all", "bluffs at most",
    ]  # fmt: skip
    assert [row[0] for row in rows[2:]] == ["0.100", "0.500"]
    assert rows[3][1].startswith("1/2 ")
    assert rows[3][-1] == ".975"
    assert len(cells(sweep_table([]))) == 2


def test_curves_histograms_and_areas_are_tables_too():
    assert [row[0] for row in cells(risk_table(risk_coverage(ANSWERABLE, UNANSWERABLE)))[2:]] == [
        "0.200",
        "0.300",
        "0.600",
    ]
    spread = {"answerable": histogram(ANSWERABLE), "unanswerable": histogram(UNANSWERABLE)}
    assert cells(histograms_table(spread))[2:] == [
        ["0.20–0.25", "1", "0"],
        ["0.30–0.35", "0", "1"],
        ["0.60–0.65", "1", "0"],
        ["outside", "0", "1"],
    ]
    assert histograms_table({}) == ""
    with pytest.raises(ValueError, match="same bins"):
        histograms_table({"a": histogram([]), "b": histogram([], (0, 1))})
    assert cells(areas_table(separation(ANSWERABLE, UNANSWERABLE)))[2][0] == "far"


def test_a_row_of_another_length_is_refused_and_pipes_are_escaped():
    with pytest.raises(ValueError, match="2 cells"):
        table(["a", "b"], [["1"]])
    assert table(["a"], [["x|y\\\nz"]]).endswith("| x\\|y\\\\ z |\n")
