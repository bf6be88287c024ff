"""The questions of a run to the numbers of its figures and tables. Pure functions; nothing is drawn or written here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gawah.eval.report.reading import Decided, Question, RunFacts
from gawah.eval.run import CUTOFF
from gawah.eval.stats import ALL, estimate
from gawah.types import Estimate

_PERCENTILES = (5, 25, 50, 75, 95)
_STEPS = (1, 2, 2.5, 5, 10)  # a nice step is one of these times a power of ten


@dataclass(frozen=True, slots=True)
class Spread:
    """Wall milliseconds of a stage over the questions that came through it."""

    stage: str
    n: int
    p5: float
    p25: float
    p50: float
    p75: float
    p95: float
    longest: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Questions whose scores lie in [low, high]: their mean score, the share a calibrated gate predicts to be answerable
    (NaN from a gate whose score predicts none), and the share that is.
    """

    low: float
    high: float
    mean: float
    predicted: float
    answerable: Estimate


def groups_of(questions: Sequence[Question]) -> tuple[str, ...]:
    """Phrasings or kinds that occur, near before far, others by name."""
    first = {"own": 0, "ticket": 1, "near": 0, "far": 1}
    return tuple(sorted({question.group for question in questions}, key=lambda name: (first.get(name, 2), name)))


def recall_curves(facts: RunFacts) -> dict[str, dict[str, tuple[Estimate, ...]]]:
    """Recall at 1 to CUTOFF by group, then by system; "all" last, and alone when all are of one phrasing."""
    groups = {name: [q for q in facts.answerable if q.group == name] for name in groups_of(facts.answerable)}
    shown = {**(groups if len(groups) > 1 else {}), ALL: list(facts.answerable)}
    return {
        group: {system: _curve([q.ranks[system] for q in of]) for system in facts.metrics.systems}
        for group, of in shown.items()
    }


def _curve(ranks: Sequence[int | None]) -> tuple[Estimate, ...]:
    found = [rank for rank in ranks if rank is not None]
    return tuple(estimate(sum(rank <= k for rank in found), len(ranks)) for k in range(1, CUTOFF + 1))


def spreads(times_ms: Mapping[str, Sequence[float]]) -> tuple[Spread, ...]:
    """A row a stage in the order of the work, "total" last; stages without a time are left out."""
    stages = sorted((stage for stage in times_ms if times_ms[stage]), key=lambda stage: stage == "total")
    return tuple(_spread(stage, times_ms[stage]) for stage in stages)


def _spread(stage: str, values: Sequence[float]) -> Spread:
    p5, p25, p50, p75, p95 = (round(float(np.percentile(values, percent)), 3) for percent in _PERCENTILES)
    return Spread(stage, len(values), p5, p25, p50, p75, p95, round(max(values), 3))


def nice_grid(low: float, high: float, most: int) -> tuple[float, ...]:
    """Round numbers from at or under `low` to at or over `high`, 2 to about `most` of them, evenly spaced.

    Raises ValueError for what is not finite, or most < 2.
    """
    if not (math.isfinite(low) and math.isfinite(high)) or most < 2:
        raise ValueError(f"no grid from {low} to {high} with {most} points")
    low, high = min(low, high), max(low, high)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in _STEPS if factor * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(number * step, 10) for number in range(first, max(last, first + 1) + 1))


def binned(values: Iterable[float], edges: Sequence[float]) -> tuple[int, ...]:
    """Counts in half-open bins, the last one closed."""
    counts, _ = np.histogram(np.asarray(list(values), np.float64), bins=np.asarray(edges))
    return tuple(int(count) for count in counts)


def reliability(
    answerable: Sequence[Decided], unanswerable: Sequence[Decided], *, predicts: bool, n_bins: int = 8
) -> tuple[Bin, ...]:
    """Questions in bins of about equal numbers by score, ascending; equal scores stay together.

    A calibrated score is the log-odds that a question is answerable where as many are as are not; what it predicts here
    takes the odds of these questions into account.
    """
    scored = sorted(
        (decided.score, label)
        for side, label in ((answerable, True), (unanswerable, False))
        for decided in side
        if decided.score is not None
    )
    if not scored:
        return ()
    shift = math.log(len(answerable) / len(unanswerable)) if answerable and unanswerable else math.nan
    size = math.ceil(len(scored) / n_bins)
    bins: list[Bin] = []
    start = 0
    while start < len(scored):
        end = min(start + size, len(scored))
        while end < len(scored) and scored[end][0] == scored[end - 1][0]:
            end += 1
        scores = [score for score, _ in scored[start:end]]
        predicted = math.fsum(_sigmoid(score + shift) for score in scores) / len(scores) if predicts else math.nan
        share = estimate(sum(label for _, label in scored[start:end]), len(scores))
        bins.append(Bin(scores[0], scores[-1], math.fsum(scores) / len(scores), predicted, share))
        start = end
    return tuple(bins)


def _sigmoid(value: float) -> float:
    if math.isnan(value):
        return math.nan
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
