"""Measures to Markdown tables: every proportion with its interval, every comparison with its wins, losses and p."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from gawah.eval.measures import Destroyed, Summary
from gawah.eval.stats import ALL, Area, estimate, holm, successes, upper_bound
from gawah.eval.sweep import Histogram, RiskPoint, SweepPoint
from gawah.types import Comparison, Estimate

NOTHING = "–"
_SMALL_P = 0.0001  # below, a p is written with its power of ten


def measures_table(summaries: Mapping[str, Summary]) -> str:
    """A row a system (or strategy): recall at every cutoff and at equal text, MRR. Raises ValueError when rows differ
    in what they measure.
    """
    if not summaries:
        return ""
    first = next(iter(summaries.values()))
    if len({(*s.recall, NOTHING, *s.text_recall) for s in summaries.values()}) > 1:
        raise ValueError("rows of one table must have the same cutoffs and budgets")
    head = ["", "n", *(f"R@{k}" for k in first.recall), *(f"in {size:,} chars" for size in first.text_recall), "MRR"]
    return table(
        head,
        [
            [
                name,
                str(s.n),
                *map(proportion, s.recall.values()),
                *map(proportion, s.text_recall.values()),
                share(s.mrr),
            ]
            for name, s in summaries.items()
        ],
    )


def comparisons_table(comparisons: Mapping[str, Comparison]) -> str:
    """A row a comparison, named "treatment - baseline" or so; beside p stands Holm's over all rows as one family."""
    adjusted = holm({name: comparison.p for name, comparison in comparisons.items()})
    return table(
        ["", "wins", "losses", "ties", "p", "p (Holm)"],
        [
            [name, f"+{c.wins}", f"−{c.losses}", str(c.ties), p_value(c.p), p_value(adjusted[name])]
            for name, c in comparisons.items()
        ],
    )


def destroyed_table(by_strategy: Mapping[str, Destroyed]) -> str:
    """A row a strategy: needles that no chunk holds whole, in what can be quoted and in what is embedded."""
    return table(
        ["", "needles", "destroyed in content", "destroyed in embedded text"],
        [
            [
                name,
                str(lost.n_needles),
                proportion(estimate(len(lost.in_content), lost.n_needles)),
                proportion(estimate(len(lost.in_text), lost.n_needles)),
            ]
            for name, lost in by_strategy.items()
        ],
    )


def rates_table(rates: Mapping[str, Mapping[str, Estimate]]) -> str:
    """A row a rate and group, such as bluffs, near: its interval, and what it promises at most with 95 % confidence."""
    return table(
        ["", "group", "rate", "at most"],
        [
            [name, group, proportion(rate), share(upper_bound(successes(rate), rate.n))]
            for name, groups in rates.items()
            for group, rate in groups.items()
        ],
    )


def sweep_table(points: Iterable[SweepPoint]) -> str:
    """A row a threshold; each kind of unanswerable question has its own column of bluffs."""
    rows = list(points)
    kinds = list(rows[0].bluffs) if rows else [ALL]
    head = ["threshold", "right", "wrong", "give-ups", *(f"bluffs, {kind}" for kind in kinds), "bluffs at most"]
    return table(
        head,
        [
            [
                f"{point.threshold:.3f}",
                *(proportion(rates[ALL]) for rates in (point.right, point.wrong, point.give_ups)),
                *(proportion(point.bluffs[kind]) for kind in kinds),
                share(upper_bound(successes(point.bluffs[ALL]), point.bluffs[ALL].n)),
            ]
            for point in rows
        ],
    )


def risk_table(points: Iterable[RiskPoint]) -> str:
    """A row a threshold of a risk-coverage curve."""
    rows = [[f"{point.threshold:.3f}", proportion(point.coverage), proportion(point.risk)] for point in points]
    return table(["threshold", "coverage", "risk"], rows)


def histograms_table(histograms: Mapping[str, Histogram]) -> str:
    """A row a bin in which any distribution has a question; raises ValueError when the bins differ."""
    columns = list(histograms.values())
    if not columns:
        return ""
    edges = columns[0].edges
    if any(column.edges != edges for column in columns):
        raise ValueError("histograms of one table must have the same bins")
    bins = zip(edges, edges[1:], *(column.counts for column in columns), strict=False)
    rows = [[f"{low:.2f}–{high:.2f}", *map(str, ns)] for low, high, *ns in bins if any(ns)]
    rows.append(["outside", *(str(column.n_outside) for column in columns)])
    return table(["best distance", *histograms], rows)


def areas_table(areas: Mapping[str, Area]) -> str:
    """A row an area under the ROC curve."""
    return table(
        ["", "AUC", "positives", "negatives"],
        [
            [name, _between(share(a.area), share(a.low), share(a.high)), str(a.n_positive), str(a.n_negative)]
            for name, a in areas.items()
        ],
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; ends in a newline. The first column is flush left, the others right. Raises ValueError for a row
    of another length.
    """
    rule = [":--", *("--:" for _ in head[1:])]
    lines = [head, rule, *rows]
    if any(len(line) != len(head) for line in lines):
        raise ValueError(f"every row must have {len(head)} cells")
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def proportion(value: Estimate) -> str:
    """As in 38/64 .594 [.471, .705]; without observations "0/0" and a dash."""
    if not value.n:
        return f"0/0 {NOTHING}"
    return f"{successes(value)}/{value.n} {_between(share(value.mean), share(value.low), share(value.high))}"


def share(value: float) -> str:
    """A number from 0 to 1 to three places, without the zero before the point; a dash for NaN."""
    if math.isnan(value):
        return NOTHING
    written = f"{value:.3f}"
    return written.removeprefix("0") if written != "0.000" else ".000"


def p_value(p: float) -> str:
    """Four places, or two digits and a power of ten when that would be 0."""
    return f"{p:.1e}" if 0 < p < _SMALL_P else f"{p:.4f}"


def _between(value: str, low: str, high: str) -> str:
    return f"{value} [{low}, {high}]"


def _cell(words: str) -> str:
    return words.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
