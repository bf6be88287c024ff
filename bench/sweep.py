"""The reference gate over the development sets, threshold by threshold: its part of docs/gate.md (`bench.calibrate`).

The passages are those the product would hand to its gate: block-aware chunks, both legs, fusion, reranking.
"""

from __future__ import annotations

from gawah.app import Application
from gawah.config import Settings
from gawah.eval.collection import Collection
from gawah.eval.stats import upper_bound
from gawah.eval.sweep import GateCase, SweepPoint, case_of, separation, sweep, unanswerable_case
from gawah.types import Estimate

THRESHOLDS = tuple(round(0.40 + step / 40, 3) for step in range(17))
DEPTH = 50


def cases_of(collection: Collection, app: Application) -> tuple[list[GateCase], list[GateCase]]:
    """Answerable and unanswerable questions as the gate meets them."""
    answerable = [case_of(query, app.search(query.query, cutoff=DEPTH).passages) for query in collection.queries]
    unanswerable = [
        unanswerable_case(query.id, query.kind, app.search(query.query, cutoff=DEPTH).passages)
        for query in collection.unanswerable
    ]
    return answerable, unanswerable


def shown(value: Estimate) -> str:
    return f"{round(value.mean * value.n)}/{value.n} [{value.low:.2f}, {value.high:.2f}]"


def table(points: tuple[SweepPoint, ...], chosen: float) -> str:
    lines = [
        "| threshold | answered right | answered wrong | give-ups | of them own | bluffs | near | far | bluffs at most |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for point in points:
        bluffs = point.bluffs["all"]
        mark = "**" if abs(point.threshold - chosen) < 1e-9 else ""
        cells = (
            f"{mark}{point.threshold:.3f}{mark}", shown(point.right["all"]), shown(point.wrong["all"]),
            shown(point.give_ups["all"]), shown(point.give_ups["own"]), shown(bluffs),
            shown(point.bluffs["near"]), shown(point.bluffs["far"]),
            f"{upper_bound(round(bluffs.mean * bluffs.n), bluffs.n):.0%}",
        )  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(cases: dict[str, tuple[list[GateCase], list[GateCase]]]) -> str:
    """The reference gate's part of docs/gate.md, from the cases of each set."""
    chosen = Settings.model_fields["gate_threshold"].default
    pooled = tuple([case for pair in cases.values() for case in pair[side]] for side in (0, 1))
    out = [HEAD.format(chosen=chosen)]
    for name, (answerable, unanswerable) in {**cases, "both sets pooled": pooled}.items():
        areas = separation(answerable, unanswerable)
        said = ", ".join(f"{kind} {area.area:.2f} [{area.low:.2f}, {area.high:.2f}]" for kind, area in areas.items())
        out.append(f"\n### {name}\n\nArea under the curve of the best distance, answerable against not: {said}.\n")
        out.append(table(sweep(answerable, unanswerable, THRESHOLDS), chosen))
    return "\n".join(out)


HEAD = """
## The reference gate, threshold by threshold

`gate = reference`. The gate refuses when no passage lies within a cosine distance; else it admits the first
four that do. Here *answered wrong*
is an answerable one whose admitted passages do not hold the answer whole. Brackets are Wilson 95 % intervals; *bluffs at
most* is the one-sided 95 % upper bound of the bluff rate.

The shipped threshold is **{chosen}** (in bold): the largest that keeps two steps of distance from the first far question it
would let through. It was chosen on these two sets, so their figures flatter it. Below it give-ups and wrong answers rise
(fewer, nearer passages are admitted, and the right one is often not the nearest), while near misses hardly fall: no
threshold on one distance parts them from questions that have an answer. Far questions it refuses reliably. Over Hindi and
Urdu text this English encoder puts everything close together (distances of 0.1 to 0.3 whatever is asked), so there this
gate refuses next to nothing. Set `gate_threshold` lower where a wrong answer costs more than a refusal."""
