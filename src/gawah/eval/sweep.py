"""Retrieved distances to what the gate would do at every threshold: answered right, given up, bluffed.

The gate is the reference gate: of the passages in their order the first four within the threshold are admitted, and none
means refusal. A gate with one score for the whole question is swept alike: give each passage the negated score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gawah.errors import UsageError
from gawah.eval.collection import JudgedQuery
from gawah.eval.match import folded_text, needle_of
from gawah.eval.stats import ALL, Area, auc, estimate, estimates_by_group
from gawah.gate import AT_MOST
from gawah.types import Estimate, Passage

HISTOGRAM_EDGES = tuple(i / 20 for i in range(41))  # all cosine distances, in steps of 0.05

Decisions = NDArray[np.bool_]
"""One row a threshold, one column a question."""


@dataclass(frozen=True, slots=True)
class GateCase:
    """A question as the gate meets it: (distance, holds the needle) of each passage retrieved, best first.

    `group` is the phrasing of an answerable question, the kind of an unanswerable one.
    """

    query_id: str
    group: str
    passages: tuple[tuple[float, bool], ...]

    @property
    def best(self) -> float:
        """The smallest distance; infinite when nothing was retrieved."""
        return min((distance for distance, _ in self.passages), default=math.inf)


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """What happens at one threshold, by group and over "all".

    Of the answerable questions each is answered right (a passage with the needle is admitted), answered wrong (others
    are), or given up; of the unanswerable ones each is refused, or a bluff.
    """

    threshold: float
    right: Mapping[str, Estimate]
    wrong: Mapping[str, Estimate]
    give_ups: Mapping[str, Estimate]
    bluffs: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of questions by best distance. Bins are half-open but the last; `n_outside` lie in none of them."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    n_outside: int


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """At one threshold: the share of all questions that is answered, and of those the share that should not have been.

    Wrong is an answer without the needle among its passages, and any answer to an unanswerable question.
    """

    threshold: float
    coverage: Estimate
    risk: Estimate


def case_of(query: JudgedQuery, passages: Sequence[Passage]) -> GateCase:
    """An answerable question with the passages retrieved for it; a passage's content is what must hold the needle."""
    needle = needle_of(query)
    judged = ((p.cosine_distance, needle.is_in(folded_text(p.chunk.content, needle.fold))) for p in passages)
    return GateCase(query.id, query.phrasing, tuple(judged))


def unanswerable_case(query_id: str, group: str, passages: Sequence[Passage]) -> GateCase:
    """A question that must be refused: no passage is right."""
    return GateCase(query_id, group, tuple((passage.cosine_distance, False) for passage in passages))


def every_threshold(cases: Iterable[GateCase]) -> tuple[float, ...]:
    """Every distance at which some decision changes, ascending; below the first of them nothing is answered."""
    return tuple(sorted({d for case in cases for d, _ in case.passages if math.isfinite(d)}))


def sweep(
    answerable: Sequence[GateCase],
    unanswerable: Sequence[GateCase],
    thresholds: Sequence[float],
    *,
    at_most: int = AT_MOST,
) -> tuple[SweepPoint, ...]:
    """One point a threshold, in the order given. Hidden-answer questions belong into a sweep of their own.

    Raises UsageError when there is no question at all, a distance or threshold is not a number, or `at_most` < 1.
    """
    answered, right = _decisions(answerable, thresholds, at_most)
    bluffed, _ = _decisions(unanswerable, thresholds, at_most)
    _require_some(answerable, unanswerable)
    phrasings, kinds = [case.group for case in answerable], [case.group for case in unanswerable]
    return tuple(
        SweepPoint(
            threshold=threshold,
            right=_by_group(phrasings, right[row]),
            wrong=_by_group(phrasings, answered[row] & ~right[row]),
            give_ups=_by_group(phrasings, ~answered[row]),
            bluffs=_by_group(kinds, bluffed[row]),
        )
        for row, threshold in enumerate(thresholds)
    )


def risk_coverage(
    answerable: Sequence[GateCase],
    unanswerable: Sequence[GateCase],
    thresholds: Sequence[float] | None = None,
    *,
    at_most: int = AT_MOST,
) -> tuple[RiskPoint, ...]:
    """The risk-coverage curve (El-Yaniv and Wiener, JMLR 2010), at every threshold that matters unless some are given.

    Questions of equal distance enter together. Risk without any answer is NaN in [0, 1]. Raises as `sweep` does.
    """
    _require_some(answerable, unanswerable)
    if thresholds is None:
        thresholds = every_threshold([*answerable, *unanswerable])
    answered, right = _decisions(answerable, thresholds, at_most)
    bluffed, _ = _decisions(unanswerable, thresholds, at_most)
    n_answered = answered.sum(axis=1) + bluffed.sum(axis=1)
    n_right = right.sum(axis=1)
    n = len(answerable) + len(unanswerable)
    return tuple(
        RiskPoint(threshold, estimate(int(total), n), estimate(int(total - good), int(total)))
        for threshold, total, good in zip(thresholds, n_answered, n_right, strict=True)
    )


def separation(answerable: Sequence[GateCase], unanswerable: Sequence[GateCase]) -> dict[str, Area]:
    """The area under the ROC curve of the best distance, against each kind of unanswerable question and "all".

    1 when every unanswerable question is farther from its best passage than every answerable one; 0.5 by chance.
    Raises UsageError for a distance that is not a number.
    """
    _require_numbers([*answerable, *unanswerable])
    near = [case.best for case in answerable]
    kinds = sorted({case.group for case in unanswerable})
    areas = {kind: auc([case.best for case in unanswerable if case.group == kind], near) for kind in kinds}
    return {**areas, ALL: auc([case.best for case in unanswerable], near)}


def histogram(cases: Sequence[GateCase], edges: Sequence[float] = HISTOGRAM_EDGES) -> Histogram:
    """How the best distances spread; a question for which nothing was retrieved is outside every bin.

    Raises UsageError for fewer than two edges, edges that do not rise, or a distance that is not a number.
    """
    if len(edges) < 2 or any(not low < high for low, high in pairwise(edges)):
        raise UsageError("a histogram needs two or more edges that rise")
    _require_numbers(cases)
    counts, _ = np.histogram([case.best for case in cases if math.isfinite(case.best)], bins=np.asarray(edges))
    return Histogram(tuple(edges), tuple(int(count) for count in counts), len(cases) - int(counts.sum()))


def _decisions(cases: Sequence[GateCase], thresholds: Sequence[float], at_most: int) -> tuple[Decisions, Decisions]:
    """Which questions are answered, and which of them with the needle among the admitted passages."""
    _require_numbers(cases)
    limits = np.asarray(thresholds, dtype=np.float64)
    if at_most < 1 or np.isnan(limits).any():
        raise UsageError("a sweep needs thresholds that are numbers, and at least one passage to admit")
    answered = np.zeros((limits.size, len(cases)), dtype=bool)
    right = np.zeros_like(answered)
    for column, case in enumerate(cases):
        if not case.passages:
            continue
        distances = np.array([distance for distance, _ in case.passages])
        correct = np.array([is_correct for _, is_correct in case.passages])
        under = distances[None, :] <= limits[:, None]
        admitted = under & (np.cumsum(under, axis=1) <= at_most)
        answered[:, column] = under.any(axis=1)
        right[:, column] = (admitted & correct).any(axis=1)
    return answered, right


def _by_group(groups: Sequence[str], events: NDArray[np.bool_]) -> dict[str, Estimate]:
    return estimates_by_group(groups, events.tolist())


def _require_numbers(cases: Iterable[GateCase]) -> None:
    for case in cases:
        if any(math.isnan(distance) for distance, _ in case.passages):
            raise UsageError(f"a distance of {case.query_id!r} is not a number; its vector is damaged: embed again")


def _require_some(answerable: Sequence[GateCase], unanswerable: Sequence[GateCase]) -> None:
    if not answerable and not unanswerable:
        raise UsageError("there is no question to sweep over; a set needs judged or unanswerable questions")
