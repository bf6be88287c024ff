"""The fit against scipy's bounded minimiser, and what it keeps."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gawah.errors import UsageError
from gawah.eval.monotone import fit_monotone, loss, minimise
from gawah.gate import DIRECTIONS

NAMES = ("maxsim_best", "gain", "margin", "missing")
SIGNS = np.array([0.0, *(DIRECTIONS[name] for name in NAMES)])


def made(seed, n=40, separation=0.7):
    """Random signals; the first and the last tell, the second tells the wrong way, the third nothing."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    labels[:2] = 1.0, -1.0
    rows = rng.normal(size=(n, 4)) + separation * labels[:, None] * np.array([1, -1, 0, -1])
    rows[:, 3] = np.round(rows[:, 3])
    return rows, labels


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 10.0]), st.floats(0, 5))
def test_the_minimum_is_scipys(seed, ridge, separation):
    rows, labels = made(seed, separation=separation)
    rows = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-9)
    shares = np.ones(len(labels))
    design = np.hstack([np.ones((len(rows), 1)), rows])
    found = minimise(rows, labels, shares, signs=SIGNS, ridge=ridge)
    bounds = [(None, None), *((0, None) if sign > 0 else (None, 0) for sign in SIGNS[1:])]
    oracle = minimize(
        lambda at: loss(design, labels, shares, at, ridge)[:2], np.zeros(5), jac=True, method="L-BFGS-B",
        bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )  # fmt: skip
    assert (found * SIGNS >= 0).all()
    assert loss(design, labels, shares, found, ridge)[0] <= oracle.fun + 1e-9
    assert found == pytest.approx(oracle.x, abs=2e-4)


def test_gradient_and_hessian_are_those_of_the_loss():
    rows, labels = made(3)
    design, shares = np.hstack([np.ones((len(rows), 1)), rows]), np.linspace(0.5, 2, len(labels))
    at, step = np.array([0.1, 0.4, 0.0, 0.3, -0.2]), 1e-5
    value, gradient, hessian = loss(design, labels, shares, at, 2.0)
    for k in range(5):
        moved = at + step * np.eye(5)[k]
        up, up_gradient, _ = loss(design, labels, shares, moved, 2.0)
        assert (up - value) / step == pytest.approx(gradient[k], abs=1e-2)
        assert (up_gradient - gradient) / step == pytest.approx(hessian[k], abs=1e-2)


def as_signals(rows):
    return [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]


def test_a_signal_that_tells_the_wrong_way_gets_nothing_and_the_model_parts_the_classes():
    rows, labels = made(1, n=200)
    yes, no = as_signals(rows[labels > 0]), as_signals(rows[labels < 0])
    model = fit_monotone(NAMES, yes, no)
    by_name = {feature.name: feature.coefficient for feature in model.features}
    assert by_name["gain"] == 0
    assert by_name["maxsim_best"] > 0 > by_name["missing"]
    assert np.mean([model.score(one) for one in yes]) > 0 > np.mean([model.score(one) for one in no])
    assert model == fit_monotone(NAMES, yes, no), "the same data give the same bits"


def test_classes_weigh_alike_however_many_there_are():
    rows, labels = made(2)
    yes, no = as_signals(rows[labels > 0]), as_signals(rows[labels < 0])
    assert fit_monotone(["margin"], [{"margin": 1.0}] * 9, [{"margin": 1.0}]).intercept == pytest.approx(0, abs=1e-8)
    assert fit_monotone(NAMES, yes, no).features


def test_a_signal_that_never_varies_counts_nothing():
    model = fit_monotone(["gain", "margin"], [{"gain": 1.0, "margin": 2.0}], [{"gain": 1.0, "margin": 1.0}])
    assert [feature.coefficient == 0 for feature in model.features] == [True, False]


@pytest.mark.parametrize(("yes", "no"), [([], [{"gain": 1.0}]), ([{"gain": 1.0}], []), ([], [])])
def test_a_missing_class_is_a_usage_error(yes, no):
    with pytest.raises(UsageError, match="lack"):
        fit_monotone(["gain"], yes, no)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_signal_that_is_no_number_is_a_usage_error(value):
    with pytest.raises(UsageError, match="not a number"):
        fit_monotone(["gain"], [{"gain": value}], [{"gain": 1.0}])
