"""A run to the section on its gate: what it did, what other thresholds would do, and what its number is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from gawah.eval.hidden import HIDDEN
from gawah.eval.render import NOTHING, share
from gawah.eval.report import figures
from gawah.eval.report.layout import figure, note, section
from gawah.eval.report.markup import Markup, joined, table
from gawah.eval.report.numbers import binned, groups_of, nice_grid, reliability
from gawah.eval.report.reading import GateFacts, RunFacts
from gawah.eval.report.scale import (
    Cases,
    Scale,
    cases_of,
    risk_points,
    scale_of,
    sweep_points,
    values_by_group,
    withheld_points,
)
from gawah.eval.report.words import bound, drawn_name, group_name, number, rate
from gawah.eval.stats import ALL, auc, successes, upper_bound
from gawah.eval.sweep import RiskPoint, SweepPoint
from gawah.gate import CALIBRATED
from gawah.types import Estimate

_ROWS = 13  # of a table over thresholds
_FINER = 8  # thresholds that are drawn for each that is written
_BINS = 30
_NUMBER = "score of the gate"
_BLUFFS, _GIVE_UPS, _RIGHT, _HIDDEN = 1, 0, 2, 3  # colours


def gate_section(facts: RunFacts) -> Markup:
    scale, kinds = scale_of(facts), groups_of(facts.unanswerable)
    cases = cases_of(facts, scale)
    values = values_by_group(facts, scale, kinds)
    known = [value for group in values.values() for value in group if value is not None]
    parts = [_decisions(facts.metrics.gate)]
    if known:
        grid = nice_grid(min(known), max(known), _ROWS)
        parts += [
            _sweep(cases, scale, grid, kinds),
            _histograms(values, scale, nice_grid(min(known), max(known), _BINS)),
            _reliability(facts, scale),
            _risk(cases, scale, values),
        ]
    else:
        parts.append(note("The gate had no number for any question: there is nothing to sweep over."))
    return section("gate", "What the gate lets through", *parts)


def _decisions(gate: GateFacts) -> Markup:
    rows = [[f"give-ups, {group_name(group)}", rate(of), ""] for group, of in gate.give_ups.items()]
    rows += [
        [f"bluffs, {group_name(group)}", rate(of), bound(gate.at_most if group == ALL else _bound(of), of.n)]
        for group, of in gate.bluffs.items()
    ]
    rows += [
        ["answered although the answer was hidden", rate(gate.withheld), bound(gate.withheld_at_most, gate.withheld.n)],
        ["answered right, of those answered", rate(gate.answered_right, "none answered"), ""],
    ]
    said = (
        "A give-up is an answerable question that was refused, a bluff one that must be refused and was answered. A hidden "
        "answer is an answerable question asked again as if nothing that holds its answer had been found: a near miss. "
        "“At most” is the one-sided 95 % upper bound: what a rate promises, also when nothing was seen."
    )
    return joined([note(said), table(["", "rate", "at most"], rows, caption="What the gate did.")])


def _bound(value: Estimate) -> float:
    return upper_bound(successes(value), value.n)


def _mark(scale: Scale) -> figures.Mark:
    return figures.Mark(scale.operating, "threshold of this run")


def _sweep(cases: Cases, scale: Scale, grid: Sequence[float], kinds: Sequence[str]) -> Markup:
    fine = sorted({*grid, scale.operating, *_between(grid)})
    points, hidden = sweep_points(cases, scale, fine), withheld_points(cases, scale, fine)
    lines = [
        _line("give-ups", _GIVE_UPS, fine, [point.give_ups[ALL] for point in points]),
        _line("bluffs", _BLUFFS, fine, [point.bluffs[ALL] for point in points]),
        _line("answered right", _RIGHT, fine, [point.right[ALL] for point in points]),
        _line("hidden, answered", _HIDDEN, fine, [point.bluffs[ALL] for point in hidden]),
    ]
    frame = figures.Frame(scale.name, "share of the questions", _mark(scale))
    drawing = figures.curves("sweep", "What other thresholds would do", [line for line in lines if line.x], frame)
    way = "at or under the threshold passes" if scale.is_distance else "over the threshold passes"
    caption = (
        f"The same passages judged again at every threshold ({way}): give-ups and answered right of the answerable "
        "questions, bluffs of those that must be refused. Bands are Wilson 95 % intervals; the dotted line is this run."
    )
    if empty := [line.name for line in lines if not line.x]:
        caption += f" Of these, none asked: {', '.join(empty)}."
    return figure([drawing], caption, _sweep_table(cases, scale, grid, kinds))


def _between(grid: Sequence[float]) -> list[float]:
    return [low + (high - low) * part / _FINER for low, high in pairwise(grid) for part in range(1, _FINER)]


def _line(name: str, colour: int, x: Sequence[float], rates: Sequence[Estimate]) -> figures.Line:
    """Without observations nothing is drawn."""
    if not rates or not rates[0].n:
        return figures.Line(name, colour, (), ())
    return figures.Line(name, colour, x, [e.mean for e in rates], [e.low for e in rates], [e.high for e in rates])


def _sweep_table(cases: Cases, scale: Scale, grid: Sequence[float], kinds: Sequence[str]) -> Markup:
    thresholds = sorted({*grid, scale.operating})
    points, hidden = sweep_points(cases, scale, thresholds), withheld_points(cases, scale, thresholds)
    rows = [
        [number(threshold), *_sweep_cells(point, kinds), rate(hidden[place].bluffs[ALL]) if hidden else "none asked"]
        for place, (threshold, point) in enumerate(zip(thresholds, points, strict=True))
    ]
    head = ["threshold", "answered right", "give-ups", "bluffs", *(f"bluffs, {group_name(kind)}" for kind in kinds)]
    return table(
        [*head, "bluffs at most", "hidden, answered"],
        rows,
        caption=f"Thresholds on the {scale.name}; the row of this run is set off.",
        marked=[thresholds.index(scale.operating)],
    )


def _sweep_cells(point: SweepPoint, kinds: Sequence[str]) -> list[str]:
    bluffs = point.bluffs[ALL]
    return [
        rate(point.right[ALL]), rate(point.give_ups[ALL]), rate(bluffs), *(rate(point.bluffs[kind]) for kind in kinds),
        bound(_bound(bluffs), bluffs.n),
    ]  # fmt: skip


def _histograms(values: dict[str, list[float | None]], scale: Scale, edges: Sequence[float]) -> Markup:
    known = {group: [value for value in of if value is not None] for group, of in values.items()}
    counts = {group: binned(of, edges) for group, of in known.items()}
    colours = {"answerable": _RIGHT, HIDDEN: _HIDDEN}
    rows = [
        (drawn_name(group, place), colours.get(group, _BLUFFS), counts[group]) for place, group in enumerate(counts)
    ]
    drawing = figures.histograms("spread", "Where questions stand", rows, edges, x_label=scale.name, mark=_mark(scale))
    caption = (
        "Each row is scaled to its own largest bar. The gate can tell apart what does not overlap; the area (AUC) is the "
        "chance that a question with an answer stands on the better side of one without: 1 is perfect, .5 is a coin."
    )
    written = [
        [f"{number(low)} to {number(high)}", *(str(counts[group][place]) for group in counts)]
        for place, (low, high) in enumerate(pairwise(edges))
    ]
    written.append(["no number", *(str(len(values[group]) - len(known[group])) for group in values)])
    names = [group_name(group) for group in counts]
    areas = [
        [
            f"answerable against {group_name(group)}",
            _area(known["answerable"], of, scale),
            f"{len(values['answerable'])}, {len(values[group])}",
        ]
        for group, of in known.items()
        if group != "answerable"
    ]
    return figure(
        [drawing], caption,
        table([scale.name, *names], written, caption="Questions by where they stand."),
        table(["", "AUC", "questions"], areas, caption="How well the number separates.") if areas else Markup(""),
    )  # fmt: skip


def _area(answerable: Sequence[float], others: Sequence[float], scale: Scale) -> str:
    pair = (others, answerable) if scale.is_distance else (answerable, others)
    found = auc(*pair)
    return "none asked" if math.isnan(found.area) else f"{share(found.area)} [{share(found.low)}, {share(found.high)}]"


def _reliability(facts: RunFacts, scale: Scale) -> Markup:
    predicts = facts.metrics.gate.name == CALIBRATED
    sides = ([q.gate for q in facts.answerable], [q.gate for q in facts.unanswerable])
    bins = reliability(*sides, predicts=predicts)
    if not bins or not all(sides):
        return note(
            "Reliability cannot be shown: only answerable questions were asked, or only such as must be refused."
        )
    line = figures.Line(
        "observed", _GIVE_UPS, [b.predicted if predicts else b.mean for b in bins], [b.answerable.mean for b in bins],
        [b.answerable.low for b in bins], [b.answerable.high for b in bins],
    )  # fmt: skip
    across = "predicted share of answerable questions" if predicts else scale.name
    frame = figures.Frame(across, "observed share", None if predicts else _mark(scale))
    drawing = figures.points(
        "reliability", "What the number is worth", line, frame, diagonal="as predicted" if predicts else ""
    )
    said = (
        "The score is the log-odds that a question can be answered, where as many can as cannot; the prediction adds the odds "
        "of this set. Points on the dotted line: the score means what it says."
        if predicts
        else f"The {scale.name} is no probability, and nothing is predicted: shown is how often a question that stands there "
        "can be answered at all."
    )
    rows = [
        [
            f"{number(b.low)} to {number(b.high)}", str(b.answerable.n), number(b.mean),
            share(b.predicted) if predicts else NOTHING, rate(b.answerable),
        ]
        for b in bins
    ]  # fmt: skip
    return figure(
        [drawing],
        f"Questions in bins of about equal numbers. {said} Bars are Wilson 95 % intervals.",
        table(
            [_NUMBER if predicts else scale.name, "questions", "mean", "predicted", "answerable"],
            rows,
            caption="Reliability, bin by bin.",
        ),
    )


def _risk(cases: Cases, scale: Scale, values: dict[str, list[float | None]]) -> Markup:
    stand = {value for group, of in values.items() if group != HIDDEN for value in of if value is not None}
    # Over a score is strictly over: the point just under each score is where its question comes in.
    steps = stand if scale.is_distance else {math.nextafter(value, -math.inf) for value in stand}
    thresholds = sorted({*steps, scale.operating}, reverse=not scale.is_distance)
    points = [pair for pair in zip(thresholds, risk_points(cases, scale, thresholds), strict=True) if pair[1].risk.n]
    if not points:
        return note("No threshold answers anything: there is no risk to show.")
    lines = [
        figures.Line(
            "risk", _BLUFFS, [p.coverage.mean for _, p in points], [p.risk.mean for _, p in points],
            [p.risk.low for _, p in points], [p.risk.high for _, p in points],
        )
    ]  # fmt: skip
    here = next((p.coverage.mean for threshold, p in points if threshold == scale.operating), None)
    frame = figures.Frame(
        "coverage: share of all questions answered",
        "risk: share of answers that are wrong",
        None if here is None else figures.Mark(here, "this run"),
    )
    drawing = figures.curves("risk", "Risk over coverage", lines, frame)
    chosen = _at_tenths(points, scale.operating)
    rows = [[number(threshold), rate(p.coverage), rate(p.risk)] for threshold, p in chosen]
    operating = [place for place, (threshold, _) in enumerate(chosen) if threshold == scale.operating]
    caption = (
        "From the strictest threshold (left) to the one that answers everything. Wrong is an answer whose passages do not "
        "hold the needle, and any answer to a question that must be refused."
    )
    head = ["threshold", "coverage", "risk"]
    return figure([drawing], caption, table(head, rows, caption="At every tenth of coverage.", marked=operating))


def _at_tenths(points: Sequence[tuple[float, RiskPoint]], operating: float) -> list[tuple[float, RiskPoint]]:
    """The points that come first at or over each tenth of coverage, and the one of the run, in order."""
    wanted = {operating}
    for tenth in range(1, 11):
        reached = next((threshold for threshold, point in points if point.coverage.mean >= tenth / 10 - 1e-9), None)
        wanted |= set() if reached is None else {reached}
    return [pair for pair in points if pair[0] in wanted]
