"""A run folder to typed values, each field checked once: what the files say, and nothing that is computed anew."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gawah.eval.collection import CollectionError
from gawah.eval.record import Baseline, read_baseline, read_times
from gawah.eval.report.fields import LARGEST, Fields
from gawah.eval.stats import ALL
from gawah.types import Estimate

_NO_INTERVAL = ("k", "n", "low", "high", "at_most")


@dataclass(frozen=True, slots=True)
class Measures:
    """Of one system and group: every proportion by its name in metrics.json ("recall@4"); `mrr` is NaN without questions."""

    rates: Mapping[str, Estimate]
    mrr: float


@dataclass(frozen=True, slots=True)
class GateFacts:
    """What the gate did. `give_ups` and `bluffs` are by group, "all" first; `at_most` are upper bounds of the bluff rates
    over all that was asked and over the hidden-answer questions.
    """

    name: str
    threshold: float
    system: str
    give_ups: Mapping[str, Estimate]
    bluffs: Mapping[str, Estimate]
    at_most: float
    withheld: Estimate
    withheld_at_most: float
    answered_right: Estimate


@dataclass(frozen=True, slots=True)
class Metrics:
    """metrics.json, as far as the report shows it."""

    set_name: str
    strategy: str
    model: str
    model_sha256: str
    pipeline: str
    extractors: tuple[str, ...]
    n_documents: int
    n_failed: int
    n_chunks: int
    systems: Mapping[str, Mapping[str, Measures]]
    counts: Mapping[str, tuple[int, int]]
    n_over_window: int
    n_truncated: int
    n_tokens: int
    n_context_tokens: int
    gate: GateFacts
    times_ms: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Decided:
    """A gate's decision. `score` is None where it was no number; `passages` are (distance, holds the needle), best first,
    an infinite distance where it was no number.
    """

    refused: bool
    reason: str
    score: float | None
    threshold: float
    passages: tuple[tuple[float, bool], ...]


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage that was returned, with its first words."""

    document: str
    section: str
    place: str
    distance: float
    holds: bool
    admitted: bool
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A line of questions.jsonl. `group` is a phrasing or, of what must be refused, a kind; `needle` is None for those."""

    id: str
    query: str
    group: str
    needle: str | None
    document: str
    is_destroyed: bool
    ranks: Mapping[str, int | None]
    gate: Decided
    right: bool
    withheld: Decided | None
    returned: tuple[Quoted, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run. `times_ms` are those of every question, by stage; `written` is the run as it can be compared."""

    metrics: Metrics
    questions: tuple[Question, ...]
    times_ms: Mapping[str, tuple[float, ...]]
    written: Baseline

    @property
    def answerable(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.needle is not None)

    @property
    def unanswerable(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.needle is None)


def read_facts(path: Path) -> RunFacts:
    """The run in a folder. Raises CollectionError, naming file, line and field, for what `gawah eval --out` does not write."""
    written = read_baseline(path)
    metrics = _metrics(Fields(written.metrics, str(written.folder / "metrics.json")))
    lines = str(written.folder / "questions.jsonl")
    questions = tuple(_question(Fields(line, f"{lines}: {key}")) for key, line in written.lines.items())
    facts = RunFacts(metrics, questions, read_times(written.folder), written)
    _require_one_run(facts, lines)
    return facts


def _require_one_run(facts: RunFacts, lines: str) -> None:
    """Figures come from the lines and headline numbers from metrics.json: both must be of one run."""
    gate = facts.metrics.gate
    for side, questions in ((gate.give_ups[ALL], facts.answerable), (gate.bluffs[ALL], facts.unanswerable)):
        if side.n != len(questions):
            raise CollectionError(
                f"{lines} and metrics.json are of two runs ({len(questions)} and {side.n} questions); measure anew"
            )
    for question in facts.answerable:
        if absent := facts.metrics.systems.keys() - question.ranks.keys():
            raise CollectionError(f"{lines}: {question.id}: no rank by {min(absent)}; measure it anew")


def _metrics(fields: Fields) -> Metrics:
    stamp, n = fields.inside("stamp"), fields.inside("n")
    model = stamp.inside("model") if stamp.value.get("model") else None
    citation, tokens, window = (fields.inside(name) for name in ("citation", "tokens", "over_window"))
    return Metrics(
        set_name=fields.text("set"),
        strategy=fields.text("strategy"),
        model=model.text("name") if model else "",
        model_sha256=model.text("sha256") if model else "",
        pipeline=stamp.text("pipeline"),
        extractors=stamp.texts("extractors"),
        n_documents=n.whole("documents"),
        n_failed=n.whole("failed"),
        n_chunks=n.whole("chunks"),
        systems={
            name: {group: _measures(of) for group, of in groups.each()}
            for name, groups in fields.inside("systems").each()
        },
        counts={
            **{name: _k_n(fields.inside(name)) for name in ("destroyed", "destroyed_in_text", "survival")},
            **{name: _k_n(citation.inside(name)) for name in ("quote_exact", "page_right")},
        },
        n_over_window=window.whole("before_guard"),
        n_truncated=window.whole("truncated"),
        n_tokens=tokens.whole("embedded"),
        n_context_tokens=tokens.whole("context"),
        gate=_gate(fields.inside("gate")),
        times_ms={stage: (of.number("p50"), of.number("p95")) for stage, of in fields.inside("times_ms").each()},
    )


def _measures(fields: Fields) -> Measures:
    mrr = fields.value.get("mrr")
    rates = {name: _rate(fields.inside(name)) for name in fields.value if name != "mrr"}
    return Measures(rates, math.nan if mrr is None else fields.number("mrr"))


def _gate(fields: Fields) -> GateFacts:
    bluffs, withheld = fields.inside("bluffs"), fields.inside("bluffs_withheld")
    return GateFacts(
        name=fields.text("name"),
        threshold=fields.number("threshold"),
        system=fields.text("system"),
        give_ups=_rates(fields.inside("give_ups")),
        bluffs=_rates(bluffs),
        at_most=bluffs.number("at_most"),
        withheld=_rate(withheld),
        withheld_at_most=withheld.number("at_most"),
        answered_right=_rate(fields.inside("answered_right")),
    )


def _rates(fields: Fields) -> dict[str, Estimate]:
    groups = {name: _rate(fields.inside(name)) for name in fields.value if name not in _NO_INTERVAL}
    return {ALL: _rate(fields), **groups}


def _rate(fields: Fields) -> Estimate:
    k, n = _k_n(fields)
    return Estimate(k / n if n else math.nan, fields.number("low"), fields.number("high"), n)


def _k_n(fields: Fields) -> tuple[int, int]:
    k, n = fields.whole("k"), fields.whole("n")
    if k > n:
        raise fields.wrong(f"{k} of {n} is no proportion")
    return k, n


def _question(fields: Fields) -> Question:
    has_needle = "needle" in fields.value
    systems = fields.inside("systems").each() if has_needle else ()
    withheld = fields.value.get("withheld")
    return Question(
        id=fields.text("id"),
        query=fields.text("query"),
        group=fields.text("phrasing" if has_needle else "kind"),
        needle=fields.text("needle") if has_needle else None,
        document=fields.text("document") if has_needle else "",
        is_destroyed=fields.flag("destroyed") if has_needle else False,
        ranks={name: _rank(of) for name, of in systems},
        gate=_decided(fields.inside("gate")),
        right=fields.inside("gate").flag("right"),
        withheld=None if withheld is None else _decided(fields.inside("withheld")),
        returned=tuple(_quoted(one) for one in fields.objects("returned")),
    )


def _rank(fields: Fields) -> int | None:
    if fields.value.get("rank") is None:
        return None
    rank = fields.whole("rank")
    if rank < 1:
        raise fields.wrong("a rank counts from 1")
    return rank


def _decided(fields: Fields) -> Decided:
    return Decided(
        refused=fields.flag("refused"),
        reason="" if fields.value.get("reason") is None else fields.text("reason"),
        score=None if fields.value.get("score") is None else fields.number("score"),
        threshold=fields.number("threshold"),
        passages=tuple(_passage(fields, pair) for pair in fields.items("passages")),
    )


def _passage(fields: Fields, pair: Any) -> tuple[float, bool]:
    match pair:
        case [None, bool(holds)]:
            return math.inf, holds
        case [float() | int() as distance, bool(holds)] if not isinstance(distance, bool) and abs(distance) <= LARGEST:
            return float(distance), holds
    raise fields.wrong("a passage is [distance, whether it holds the needle]")


def _quoted(fields: Fields) -> Quoted:
    return Quoted(
        document=fields.text("document"),
        section=fields.text("section"),
        place=fields.text("place"),
        distance=math.inf if fields.value.get("distance") is None else fields.number("distance"),
        holds=fields.flag("holds"),
        admitted=fields.flag("admitted"),
        text=fields.text("text"),
    )
