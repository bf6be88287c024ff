"""A run to the sections on what was found: at a glance, recall, chunks, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gawah.eval.render import share
from gawah.eval.report import figures
from gawah.eval.report.layout import figure, folded, section, tiles
from gawah.eval.report.markup import Markup, table
from gawah.eval.report.numbers import recall_curves, spreads
from gawah.eval.report.reading import GateFacts, Metrics, RunFacts
from gawah.eval.report.words import NONE_ASKED, count, counted, drawn_name, group_name, number, questions, rate
from gawah.eval.stats import ALL
from gawah.types import Estimate

_CHARS = "chars"
_RANKS = (1, 5, 10, 15, 20)  # that are written under the curves


def at_a_glance(metrics: Metrics) -> Markup:
    """The numbers that are asked for first. Of recall: the system that answers, or the last one that was measured."""
    gate, rows = metrics.gate, []
    system = gate.system if gate.system in metrics.systems else next(reversed(list(metrics.systems)), "")
    if system:
        rates = metrics.systems[system][ALL].rates
        rows += [_tile(f"Answer in the first result ({system})", rates.get("recall@1"))]
        rows += [_tile("… in the first four", rates.get("recall@4"))]
    destroyed, quotes = metrics.counts["destroyed"], metrics.counts["quote_exact"]
    rows += [
        ("Answers that chunking destroyed", count(*destroyed), "no chunk holds them whole"),
        ("Give-ups", counted(gate.give_ups[ALL]), "answerable, refused"),
        ("Bluffs", counted(gate.bluffs[ALL]), _bluffs_beside(gate)),
        ("Quotes exact", count(*quotes, nothing="none quoted"), "what is quoted stands in the text"),
    ]
    return tiles(rows)


def _tile(what: str, value: Estimate | None) -> tuple[str, str, str]:
    if value is None or not value.n:
        return (what, NONE_ASKED, "")
    return (what, counted(value), f"{share(value.mean)}, between {share(value.low)} and {share(value.high)}")


def _bluffs_beside(gate: GateFacts) -> str:
    groups = [f"{group} {counted(of)}" for group, of in gate.bluffs.items() if group != ALL and of.n]
    return f"of those that must be refused; {', '.join(groups)}" if groups else "must be refused, answered"


def recall_section(facts: RunFacts) -> Markup:
    curves = recall_curves(facts)
    if not facts.answerable or not facts.metrics.systems:
        return section("retrieval", "What retrieval finds", "No answerable question was asked of any system.")
    drawings = [_recall_drawing(group, place, by_system) for place, (group, by_system) in enumerate(curves.items())]
    caption = (
        "Recall: the share of questions with the needle, the words that answer, whole in one of the first k results. "
        "Bands are Wilson 95 % intervals; where two overlap, only a paired test tells systems apart."
    )
    ranks = folded(
        "Recall at every rank, as drawn",
        *(_every_rank(group, by_system) for group, by_system in curves.items()),
    )
    return section("retrieval", "What retrieval finds", figure(drawings, caption, _recall_table(facts.metrics), ranks))


def _recall_drawing(group: str, place: int, by_system: Mapping[str, Sequence[Estimate]]) -> Markup:
    lines = [
        figures.Line(
            drawn_name(system, number), number % len(figures.COLOURS), range(1, len(curve) + 1),
            [e.mean for e in curve], [e.low for e in curve], [e.high for e in curve],
        )
        for number, (system, curve) in enumerate(by_system.items())
    ]  # fmt: skip
    n = next(iter(by_system.values()))[0].n
    title = f"{drawn_name(group, place)}: {questions(n)}"
    frame = figures.Frame("results looked at, k", "recall at k", ticks=_RANKS)
    return figures.curves(f"recall-{place}", title, lines, frame)


def _recall_table(metrics: Metrics) -> Markup:
    """The table of metrics.json, to the number."""
    names = list(
        dict.fromkeys(name for groups in metrics.systems.values() for of in groups.values() for name in of.rates)
    )
    rows = []
    for system, groups in metrics.systems.items():
        for group, of in groups.items():
            cells = [rate(of.rates[name]) if name in of.rates else NONE_ASKED for name in names]
            rows.append([f"{system}, {group_name(group)}", *cells, share(of.mrr)])
    return table(
        ["system, questions", *map(_measure_name, names), "MRR"],
        rows,
        caption="Recall at k results and at equal text (needle whole in the first characters of results); MRR within 20.",
    )


def _measure_name(name: str) -> str:
    size = name.removeprefix("recall@")
    return f"in {size.removesuffix(_CHARS)} characters" if size.endswith(_CHARS) else f"R@{size}"


def _every_rank(group: str, by_system: Mapping[str, Sequence[Estimate]]) -> Markup:
    curves = list(by_system.values())
    rows = [[str(k), *(rate(curve[k - 1]) for curve in curves)] for k in range(1, len(curves[0]) + 1)]
    return table(["k", *by_system], rows, caption=f"Recall at k, {group_name(group)}.")


def chunks_section(metrics: Metrics) -> Markup:
    """What chunking did to the corpus, and what would be cited."""
    counts = metrics.counts
    rows = [
        ["needles that no chunk holds whole, of what can be quoted", count(*counts["destroyed"])],
        ["… of what is embedded", count(*counts["destroyed_in_text"])],
        ["sentences and rows that one chunk holds whole", count(*counts["survival"], nothing="none in the corpus")],
        ["chunks longer than the encoder reads, before the guard", f"{metrics.n_over_window} of {metrics.n_chunks}"],
        ["… that are truncated in the end", str(metrics.n_truncated)],
        [
            "embedded tokens that are headers or overlap",
            count(metrics.n_context_tokens, metrics.n_tokens, nothing="none embedded"),
        ],
        ["quotes that are what stands at their place", count(*counts["quote_exact"], nothing="none quoted")],
        ["pages that are right", count(*counts["page_right"], nothing="no question with a page")],
    ]
    return section(
        "chunks", "Chunks and quotes", table(["what", "how many"], rows, caption="Chunks and quotes, counted.")
    )


def times_section(facts: RunFacts) -> Markup:
    rows = spreads(facts.times_ms)
    if not rows:
        return section("times", "How long a question takes", "No times were kept.")
    drawing = figures.boxes("times", "Wall time of a stage", rows, x_label="milliseconds, logarithmic")
    caption = (
        "Each line runs from the 5th to the 95th percentile, the box over the middle half, the bar is the median, the dot "
        "the slowest question. One run on one machine: times, unlike all else here, differ from run to run."
    )
    written = [
        [row.stage, str(row.n), *(f"{ms:.3f}" for ms in (row.p5, row.p25, row.p50, row.p75, row.p95, row.longest))]
        for row in rows
    ]
    head = ["stage", "questions", "p5", "p25", "p50", "p75", "p95", "longest"]
    return section(
        "times",
        "How long a question takes",
        figure([drawing], caption, table(head, written, caption="Milliseconds by stage.")),
    )


def made_of(metrics: Metrics) -> Markup:
    """What was measured: enough to measure it again."""
    gate = metrics.gate
    rows = [
        ["documents", f"{metrics.n_documents} searchable, {metrics.n_failed} failed"],
        ["chunks", f"{metrics.n_chunks} by {metrics.strategy}"],
        ["encoder", f"{metrics.model} ({metrics.model_sha256[:12]})" if metrics.model else "none"],
        ["pipeline", metrics.pipeline or "none"],
        ["extractors", ", ".join(metrics.extractors) or "none"],
        ["gate", f"{gate.name}, threshold {number(gate.threshold)}, over the passages of {gate.system}"],
    ]
    return table(["what", "which"], rows, caption="Index and gate.", class_="worded")
