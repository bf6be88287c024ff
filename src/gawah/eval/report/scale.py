"""A gate's decisions to one scale on which a threshold can be moved, whichever way that gate compares.

The reference gate lets a passage through whose distance is at or under the threshold; a calibrated gate lets the first
passages through when its score is over it. Both become cases of `sweep`, on a reach that grows as the gate admits more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gawah.eval.hidden import HIDDEN
from gawah.eval.report.reading import Decided, RunFacts
from gawah.eval.sweep import GateCase, RiskPoint, SweepPoint, risk_coverage, sweep
from gawah.gate import AT_MOST, REFERENCE


@dataclass(frozen=True, slots=True)
class Scale:
    """`is_distance`: less passes, passage by passage. `is_relative`: questions were judged by several thresholds, so that
    scores are counted from the threshold of each. `operating` is the threshold of the run.
    """

    is_distance: bool
    is_relative: bool
    operating: float

    @property
    def name(self) -> str:
        if self.is_distance:
            return "cosine distance of the nearest passage"
        return "score above the question's own threshold" if self.is_relative else "score of the gate"

    def value(self, decided: Decided) -> float | None:
        """Where a decision stands; None when the gate had no number."""
        if decided.score is None or not self.is_relative:
            return decided.score
        return decided.score - decided.threshold

    def case(self, query_id: str, group: str, decided: Decided) -> GateCase:
        if self.is_distance:
            return GateCase(query_id, group, decided.passages)
        value = self.value(decided)
        if value is None or not decided.passages:
            return GateCase(query_id, group, ())
        return GateCase(query_id, group, ((-value, any(holds for _, holds in decided.passages[:AT_MOST])),))

    def reach(self, threshold: float) -> float:
        """The threshold as `sweep` has it: at or under. Over a score is strictly over."""
        return threshold if self.is_distance else math.nextafter(-threshold, -math.inf)


@dataclass(frozen=True, slots=True)
class Cases:
    """Every question as its gate met it; `withheld` are the answerable ones without their answer."""

    answerable: tuple[GateCase, ...]
    unanswerable: tuple[GateCase, ...]
    withheld: tuple[GateCase, ...]


def scale_of(facts: RunFacts) -> Scale:
    """The scale of a run's gate."""
    decided = [q.gate for q in facts.questions] + [q.withheld for q in facts.questions if q.withheld]
    thresholds = {one.threshold for one in decided}
    is_relative = facts.metrics.gate.name != REFERENCE and len(thresholds) > 1
    operating = 0.0 if is_relative else min(thresholds, default=facts.metrics.gate.threshold)
    return Scale(facts.metrics.gate.name == REFERENCE, is_relative, operating)


def cases_of(facts: RunFacts, scale: Scale) -> Cases:
    return Cases(
        tuple(scale.case(q.id, q.group, q.gate) for q in facts.answerable),
        tuple(scale.case(q.id, q.group, q.gate) for q in facts.unanswerable),
        tuple(scale.case(q.id, HIDDEN, q.withheld) for q in facts.answerable if q.withheld),
    )


def values_by_group(facts: RunFacts, scale: Scale, kinds: Sequence[str]) -> dict[str, list[float | None]]:
    """Where decisions stand: of answerable questions, of each kind that must be refused, and of hidden answers."""
    return {
        "answerable": [scale.value(q.gate) for q in facts.answerable],
        **{kind: [scale.value(q.gate) for q in facts.unanswerable if q.group == kind] for kind in kinds},
        HIDDEN: [scale.value(q.withheld) for q in facts.answerable if q.withheld],
    }


def sweep_points(cases: Cases, scale: Scale, thresholds: Sequence[float]) -> tuple[SweepPoint, ...]:
    """What happens at each threshold. Their `threshold` is the sweep's own; the order is that of `thresholds`."""
    return sweep(cases.answerable, cases.unanswerable, [scale.reach(threshold) for threshold in thresholds])


def withheld_points(cases: Cases, scale: Scale, thresholds: Sequence[float]) -> tuple[SweepPoint, ...]:
    """The same of hidden-answer questions, as bluffs; empty when there are none."""
    if not cases.withheld:
        return ()
    return sweep((), cases.withheld, [scale.reach(threshold) for threshold in thresholds])


def risk_points(cases: Cases, scale: Scale, thresholds: Sequence[float]) -> tuple[RiskPoint, ...]:
    return risk_coverage(cases.answerable, cases.unanswerable, [scale.reach(threshold) for threshold in thresholds])
