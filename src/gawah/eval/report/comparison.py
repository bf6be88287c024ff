"""Two runs over the same questions to a section: paired tests, and the questions that changed sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gawah.eval.baseline import SIGNIFICANT_P, compare_lines
from gawah.eval.render import p_value
from gawah.eval.report.layout import note, section
from gawah.eval.report.markup import Markup, joined, table
from gawah.eval.report.reading import Metrics, Question, RunFacts
from gawah.eval.report.words import listed, number
from gawah.eval.stats import holm
from gawah.types import Comparison

_NEAR_RANKS = 4


def comparison_section(facts: RunFacts, before: RunFacts) -> Markup:
    """Raises UsageError when the two are not of the same questions."""
    comparisons = compare_lines(facts.written.lines, list(facts.metrics.systems), before.written)
    said = (
        "Paired by question: where this run is better and where it is worse than the baseline. p is the two-sided exact "
        f"sign test over those that differ; beside it stands Holm's over all rows. Under p = {SIGNIFICANT_P:g} the last "
        "column says better or worse; a difference that chance explains is none."
    )
    return section(
        "baseline", "Against the baseline",
        _what_differs(facts.metrics, before.metrics), note(said), _table(comparisons), _changed(facts, before),
    )  # fmt: skip


def _what_differs(ours: Metrics, theirs: Metrics) -> Markup:
    pairs = {name: (of(ours), of(theirs)) for name, of in _MADE_OF.items()}
    rows = [[name, mine, other] for name, (mine, other) in pairs.items() if mine != other]
    if not rows:
        return note("Both runs are of the same set, chunker, model and gate.")
    return table(["", "this run", "baseline"], rows, caption="What differs between the runs.", class_="worded")


_MADE_OF: Mapping[str, Callable[[Metrics], str]] = {
    "set": lambda metrics: metrics.set_name,
    "documents": lambda metrics: str(metrics.n_documents),
    "chunks": lambda metrics: str(metrics.n_chunks),
    "chunker": lambda metrics: metrics.strategy,
    "model": lambda metrics: f"{metrics.model} ({metrics.model_sha256[:12]})",
    "pipeline": lambda metrics: metrics.pipeline,
    "gate": lambda metrics: f"{metrics.gate.name}, threshold {number(metrics.gate.threshold)}",
    "judged passages of": lambda metrics: metrics.gate.system,
}


def _table(comparisons: Mapping[str, Comparison]) -> Markup:
    adjusted = holm({name: one.p for name, one in comparisons.items()})
    differing = {name: one for name, one in comparisons.items() if one.wins or one.losses}
    same = [name for name in comparisons if name not in differing]
    rows = [
        [name, f"+{one.wins}", f"−{one.losses}", str(one.ties), p_value(one.p), p_value(adjusted[name]), _verdict(one)]
        for name, one in differing.items()
    ]
    marked = [place for place, row in enumerate(rows) if row[-1] == "worse"]
    head = ["", "better", "worse", "same", "p", "p (Holm)", "so"]
    found = [table(head, rows, caption="Paired comparisons with the baseline.", marked=marked)] if rows else []
    alike = [note(f"Alike, question by question: {', '.join(same)}.")] if same else []
    return joined([*found, *alike])


def _verdict(one: Comparison) -> str:
    if one.p >= SIGNIFICANT_P:
        return "no difference shown"
    return "worse" if one.losses > one.wins else "better"


def _changed(facts: RunFacts, before: RunFacts) -> Markup:
    theirs = {question.id: question for question in before.questions}
    system = facts.metrics.gate.system

    def found(question: Question) -> bool:
        rank = question.ranks.get(system)
        return rank is not None and rank <= _NEAR_RANKS

    kinds: dict[str, tuple[Sequence[Question], Callable[[Question], bool]]] = {
        "one chunk holds the answer whole": (facts.answerable, lambda q: not q.is_destroyed),
        f"found in the first {_NEAR_RANKS} ({system})": (facts.answerable, found),
        "answerable and answered": (facts.answerable, lambda q: not q.gate.refused),
        "to be refused and refused": (facts.unanswerable, lambda q: q.gate.refused),
    }
    rows = []
    for name, (of, holds) in kinds.items():
        won = [q.id for q in of if holds(q) and not holds(theirs[q.id])]
        lost = [q.id for q in of if not holds(q) and holds(theirs[q.id])]
        rows.append([name, listed(won) or "none", listed(lost) or "none"])
    return table(
        ["", "now", "before"],
        rows,
        caption="Questions of which this holds now only, or held before only.",
        class_="worded",
    )
