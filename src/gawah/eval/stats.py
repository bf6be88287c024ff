"""Counts to estimates with their uncertainty: intervals, bounds, paired tests, areas. Pure functions, no data frames.

Without observations nothing is divided: the mean is NaN and the interval is all of [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gawah.errors import UsageError
from gawah.types import Comparison, Estimate

CONFIDENCE = 0.95
ALL = "all"
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)  # 1.96
_HALVINGS = 100  # of an interval of length 1: beyond the precision of a float


@dataclass(frozen=True, slots=True)
class Area:
    """An area under the ROC curve, P(positive > negative) + P(equal)/2, with its 95 % interval."""

    area: float
    low: float
    high: float
    n_positive: int
    n_negative: int


def estimate(k: int, n: int) -> Estimate:
    """The proportion k/n with its Wilson 95 % interval (Wilson, JASA 1927); n = 0 gives NaN in [0, 1].

    Raises ValueError unless 0 <= k <= n.
    """
    _check_counts(k, n)
    if n == 0:
        return Estimate(math.nan, 0.0, 1.0, 0)
    share, z2 = k / n, _Z * _Z
    center = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low = 0.0 if k == 0 else center - half  # the formula gives exactly 0 and 1 there, rounding does not
    high = 1.0 if k == n else center + half
    return Estimate(share, low, high, n)


def successes(proportion: Estimate) -> int:
    """The k of an estimate's k/n."""
    return round(proportion.mean * proportion.n) if proportion.n else 0


def estimates_by_group(groups: Sequence[str], events: Sequence[bool]) -> dict[str, Estimate]:
    """The share of events in each group, by name, and over all under "all", last. Raises ValueError on unequal lengths."""
    pairs = list(zip(groups, events, strict=True))
    by_group = {
        name: estimate(sum(event for group, event in pairs if group == name), sum(group == name for group, _ in pairs))
        for name in sorted(set(groups))
    }
    return {**by_group, ALL: estimate(sum(events), len(pairs))}


def upper_bound(k: int, n: int) -> float:
    """The one-sided 95 % upper bound of a rate of which k of n were seen (Clopper and Pearson, Biometrika 1934).

    The rate at which k or fewer events would come up in only 5 % of samples: 1 - 0.05^(1/n) for none, 1 for n of n and
    for n = 0. Raises ValueError unless 0 <= k <= n.
    """
    _check_counts(k, n)
    if k == n:
        return 1.0
    if k == 0:
        return -math.expm1(math.log(1 - CONFIDENCE) / n)
    low, high = k / n, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _binomial_tail(k, n, middle) > 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high


def sign_test(wins: int, losses: int) -> float:
    """The two-sided exact p of a sign test on discordant pairs (McNemar's test, exact form); 1 without any.

    Twice the smaller binomial tail at 1/2, at most 1, in whole numbers up to one final division.
    """
    if wins < 0 or losses < 0:
        raise ValueError(f"{wins} wins and {losses} losses are no counts")
    n = wins + losses
    tail = term = 1  # n over 0, then each from the one before: exact, and linear where n over k anew is not
    for k in range(min(wins, losses)):
        term = term * (n - k) // (k + 1)
        tail += term
    return min(1.0, 2 * tail / (1 << n))


def compare(treatment: Mapping[str, float], baseline: Mapping[str, float]) -> Comparison:
    """Pairs outcomes by query id: a win where the treatment's is higher. Booleans and reciprocal ranks both do.

    Raises UsageError when the two did not answer the same queries, or an outcome is not a number.
    """
    if unpaired := sorted(treatment.keys() ^ baseline.keys()):
        raise UsageError(f"{len(unpaired)} queries are in one run only, {unpaired[0]!r} among them; compare equal sets")
    differences = [treatment[query] - baseline[query] for query in treatment]
    if any(math.isnan(difference) for difference in differences):
        raise UsageError("an outcome is not a number; measure again")
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return Comparison(wins, losses, len(differences) - wins - losses, sign_test(wins, losses))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p-values of a family of tests, in the order given (Holm, Scand. J. Statist. 1979).

    Reject those at or under alpha: the chance of even one false rejection is then at most alpha.
    Raises ValueError for what is no probability.
    """
    if wrong := [name for name, p in p_values.items() if not 0 <= p <= 1]:
        raise ValueError(f"the p-value of {wrong[0]} is {p_values[wrong[0]]}")
    adjusted: dict[str, float] = {}
    largest = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def auc(positives: ArrayLike, negatives: ArrayLike) -> Area:
    """The area under the ROC curve of scores that should be higher for positives; a tie counts one half.

    The interval is the score interval over Hanley and McNeil's variance (Newcombe, Stat. Med. 2006, part 2, method 5),
    which keeps a width at areas of 0 and 1. Without positives or negatives: NaN in [0, 1].
    Infinite scores are ordered as they stand; raises ValueError for NaN.
    """
    higher, lower = _scores(positives), _scores(negatives)
    n_pairs = higher.size * lower.size
    if n_pairs == 0:
        return Area(math.nan, 0.0, 1.0, higher.size, lower.size)
    in_order = np.sort(lower)
    n_below = np.searchsorted(in_order, higher, side="left").sum()
    n_not_above = np.searchsorted(in_order, higher, side="right").sum()
    area = float(n_below + n_not_above) / (2 * n_pairs)

    def misfit(theta: float) -> float:
        return abs(area - theta) - _Z * math.sqrt(_area_variance(theta, higher.size, lower.size))

    low = 0.0 if area == 0 else _crossing(misfit, outer=0.0, inner=area)
    high = 1.0 if area == 1 else _crossing(misfit, outer=1.0, inner=area)
    return Area(area, low, high, higher.size, lower.size)


def _check_counts(k: int, n: int) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is no proportion")


def _binomial_tail(k: int, n: int, p: float) -> float:
    """P(X <= k) of a binomial, 0 < p < 1, with its terms in logarithms so that large n neither over- nor underflow."""
    log_p, log_q = math.log(p), math.log1p(-p)
    logs = [
        math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * log_p + (n - i) * log_q
        for i in range(k + 1)
    ]
    largest = max(logs)
    return math.exp(largest) * math.fsum(math.exp(log - largest) for log in logs)


def _scores(values: ArrayLike) -> NDArray[np.float64]:
    scores = np.asarray(values, dtype=np.float64).ravel()
    if np.isnan(scores).any():
        raise ValueError("a score is not a number")
    return scores


def _area_variance(theta: float, n_positive: int, n_negative: int) -> float:
    """Hanley and McNeil's (Radiology 1982), with both sample sizes replaced by their mean where they break symmetry."""
    n_star = (n_positive + n_negative) / 2 - 1
    spread = 1 + n_star * ((1 - theta) / (2 - theta) + theta / (1 + theta))
    return theta * (1 - theta) * spread / (n_positive * n_negative)


def _crossing(misfit: Callable[[float], float], *, outer: float, inner: float) -> float:
    """Where a misfit that is not negative at `outer` and not positive at `inner` changes its sign."""
    for _ in range(_HALVINGS):
        middle = (outer + inner) / 2
        if misfit(middle) > 0:
            outer = middle
        else:
            inner = middle
    return outer
