"""Signals of labelled questions to a monotone logistic model, by projected Newton steps. No library beside numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gawah.errors import UsageError
from gawah.gate import DIRECTIONS, Feature, MonotoneModel

RIDGE = (
    10.0  # on standardised signals: with 60 to 200 questions it keeps correlated signals from playing off each other
)
_MOST_STEPS = 200
_CONVERGED = 1e-10
_HALVINGS = 40
_ENOUGH = 1e-4  # of the decrease that the slope promises (Armijo)

Array = NDArray[np.float64]


def fit_monotone(
    names: Sequence[str],
    answerable: Sequence[Mapping[str, float]],
    unanswerable: Sequence[Mapping[str, float]],
    *,
    ridge: float = RIDGE,
) -> MonotoneModel:
    """The logistic model over the named signals with the least loss among those whose coefficients have the signs of
    `DIRECTIONS`: both classes weigh alike, plus `ridge`/2 times the squared coefficients of standardised signals.

    A signal that never varies gets coefficient 0. Deterministic. Raises UsageError when a class is empty or a signal is
    not a finite number.
    """
    if not answerable or not unanswerable:
        raise UsageError("a gate is fitted on answerable and unanswerable questions; the sets lack one of the two")
    rows = np.array([[signals[name] for name in names] for signals in (*answerable, *unanswerable)], np.float64)
    rows = rows.reshape(len(answerable) + len(unanswerable), len(names))
    if not np.isfinite(rows).all():
        raise UsageError("a signal of a question is not a number; its vectors are damaged: embed again")
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    scales[scales == 0] = 1.0
    labels = np.array([1.0] * len(answerable) + [-1.0] * len(unanswerable))
    shares = np.where(labels > 0, 1 / len(answerable), 1 / len(unanswerable)) * len(labels) / 2
    signs = np.array([0.0, *(DIRECTIONS[name] for name in names)])
    found = minimise((rows - means) / scales, labels, shares, signs=signs, ridge=ridge)
    features = zip(names, found[1:].tolist(), means.tolist(), scales.tolist(), strict=True)
    return MonotoneModel(
        float(found[0]), tuple(Feature(name, value, mean, scale) for name, value, mean, scale in features)
    )


def minimise(rows: Array, labels: Array, shares: Array, *, signs: Array, ridge: float) -> Array:
    """[1 + n signals], intercept first: the minimum of `loss` under the signs (0: free).

    Projected Newton with an active set (Bertsekas, SIAM J. Control Optim. 1982): coordinates at 0 whose gradient pushes
    them across stay there, the others take a Newton step, halved until the loss falls enough. The loss is strictly convex
    in the coefficients, so the minimum is the only one.
    """
    design = np.hstack([np.ones((len(rows), 1)), rows])
    at = np.zeros(design.shape[1])

    def descend(step: Array) -> Array | None:
        length = 1.0
        for _ in range(_HALVINGS):
            new = _projected(at + length * step, signs)
            promised = float(gradient @ (new - at))
            if promised < 0 and loss(design, labels, shares, new, ridge)[0] <= value + _ENOUGH * promised:
                return new
            length /= 2
        return None

    value, gradient, hessian = loss(design, labels, shares, at, ridge)
    for _ in range(_MOST_STEPS):
        free = (signs == 0) | (at != 0) | (gradient * signs < 0)
        if np.abs(gradient[free]).max(initial=0.0) < _CONVERGED:
            break
        newton = np.zeros_like(at)
        newton[free] = np.linalg.solve(hessian[np.ix_(free, free)], -gradient[free])
        new = descend(newton)
        if new is None:
            new = descend(-gradient)  # a Newton step that is cut at the signs need not lead down; this does
        if new is None:
            break  # no step that can be seen in float64 lowers the loss
        at = new
        value, gradient, hessian = loss(design, labels, shares, at, ridge)
    return at


def loss(design: Array, labels: Array, shares: Array, at: Array, ridge: float) -> tuple[float, Array, Array]:
    """The weighted logistic loss with its ridge (not on the intercept), its gradient and its Hessian."""
    margins = labels * (design @ at)
    penalty = np.full(len(at), ridge)
    penalty[0] = 0.0
    value = float(shares @ np.logaddexp(0.0, -margins) + penalty @ (at * at) / 2)
    wrong = np.exp(-np.logaddexp(0.0, margins))  # 1 / (1 + e^margin) without overflow
    gradient = -design.T @ (shares * labels * wrong) + penalty * at
    curvature = shares * wrong * (1 - wrong)
    hessian = (design * curvature[:, None]).T @ design + np.diag(penalty + 1e-12)
    return value, gradient, hessian


def _projected(at: Array, signs: Array) -> Array:
    """Coefficients of the wrong sign become 0."""
    return np.where(at * signs < 0, 0.0, at)
