"""A run to files and back: `metrics.json`, a line a question, the times, TREC runs and judgements.

`docs/evaluation.md` describes every field. Times differ from run to run, everything else is the same to the byte.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gawah.errors import UsageError
from gawah.eval.collection import CollectionError, JudgedQuery
from gawah.eval.measures import QueryOutcome, bluffs, by_phrasing, counts, give_ups, summarise, summary_record
from gawah.eval.run import Asked, Run
from gawah.eval.stats import ALL, estimate, successes, upper_bound
from gawah.eval.sweep import GateCase
from gawah.eval.trec import with_rank_scores, write_run
from gawah.fragment import label
from gawah.types import Estimate, GateDecision
from gawah.wire import to_json

SCHEMA = "gawah.metrics/1"
METRICS = "metrics.json"
LINES = "questions.jsonl"
TIMES = "times.json"
TIMES_SCHEMA = "gawah.times/1"
_LONGEST_MS = 1e12
QUOTED_CHARS = 600  # of a returned passage: enough to see what it is about


def metrics_of(run: Run) -> dict[str, Any]:
    """The run as it stands in metrics.json."""
    audit = run.audit
    return {
        "schema": SCHEMA,
        "set": run.set_name,
        "strategy": run.chunker,
        "stamp": _stamp(run),
        "n": {"documents": run.n_documents, "failed": len(run.failed), "chunks": audit.n_chunks},
        "systems": {
            system: {group: _measures(of) for group, of in by_phrasing(run.outcomes(system)).items()}
            for system in run.systems
        },
        "destroyed": _k_n(estimate(len(run.destroyed.in_content), run.destroyed.n_needles)),
        "destroyed_in_text": _k_n(estimate(len(run.destroyed.in_text), run.destroyed.n_needles)),
        "survival": _k_n(estimate(audit.n_whole, audit.n_sentences)),
        "over_window": {"before_guard": audit.n_over_before_guard, "truncated": audit.n_truncated},
        "gate": _gate(run),
        "citation": {"quote_exact": _k_n(run.quote_exact), "page_right": _k_n(run.page_right)},
        "tokens": {
            "embedded": audit.n_tokens,
            "context": audit.n_context_tokens,
            "context_share": round(audit.header_share, 6),
        },
        "times_ms": times_of(run),
    }


def gate_rates(run: Run) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Give-ups by phrasing and bluffs by kind, "all" last."""
    refused = {one.query.id: one.refused for one in run.asked}
    return give_ups(run.queries, refused), bluffs(run.must_refuse, refused)


def times_of(run: Run) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of each stage's wall milliseconds, over the questions that came through it."""
    stages = dict.fromkeys(stage for one in run.asked for stage in one.times_ms)
    spent = {stage: [one.times_ms[stage] for one in run.asked if stage in one.times_ms] for stage in stages}
    return {
        stage: {"p50": round(float(np.percentile(values, 50)), 3), "p95": round(float(np.percentile(values, 95)), 3)}
        for stage, values in spent.items()
    }


def _times_by_question(run: Run) -> dict[str, Any]:
    return {"schema": TIMES_SCHEMA, "times_ms": {one.query.id: dict(one.times_ms) for one in run.asked}}


def lines_of(run: Run) -> Iterator[dict[str, Any]]:
    """One object a question, in the set's order."""
    lost = run.lost
    for one in run.asked:
        query = one.query
        line: dict[str, Any] = {"id": query.id, "query": query.query, "kind": query.kind}
        if isinstance(query, JudgedQuery):
            line |= {
                "phrasing": query.phrasing,
                "document": query.document,
                "needle": query.needle,
                "destroyed": query.id in lost,
                "systems": {name: {"rank": o.rank, "n_chars": o.n_chars} for name, o in one.outcomes.items()},
            }
        yield line | {
            "hits": {name: [hit.chunk_id for hit in ranking.hits] for name, ranking in one.rankings.items()},
            "gate": {**_decided(one.decision, one.case), "right": one.right},
            "withheld": _decided(one.withheld.decision, one.withheld.case) if one.withheld else None,
            "returned": _returned(one),
            "citations": [{"document": c.document_name, "from": c.span.start, "to": c.span.end} for c in one.citations],
            "notes": list(one.notes),
        }


def _decided(decision: GateDecision, case: GateCase) -> dict[str, Any]:
    return {
        "refused": decision.refuse_reason is not None,
        "reason": decision.refuse_reason,
        "score": _finite(decision.score),
        "threshold": _finite(decision.threshold),
        "signals": {name: _finite(value) for name, value in decision.signals.items()},
        "passages": [[_finite(distance), holds] for distance, holds in case.passages],
    }


def _returned(one: Asked) -> list[dict[str, Any]]:
    """The first passages that the gate was given, with their first words."""
    admitted = {passage.chunk.id for passage in one.decision.admitted}
    return [
        {
            "document": passage.document_name,
            "section": passage.chunk.section,
            "place": label(passage.locator),
            "from": passage.chunk.span.start,
            "to": passage.chunk.span.end,
            "distance": _finite(passage.cosine_distance),
            "holds": holds,
            "admitted": passage.chunk.id in admitted,
            "text": passage.chunk.content[:QUOTED_CHARS],
        }
        for passage, (_, holds) in zip(one.returned, one.case.passages, strict=False)
    ]


def write_files(run: Run, folder: Path) -> dict[str, Any]:
    """Writes the run into a folder, over what a run left there before; returns the metrics. Raises UsageError."""
    metrics = metrics_of(run)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / METRICS).write_text(_pretty(metrics), encoding="utf-8", newline="\n")
        (folder / LINES).write_text("".join(f"{_compact(line)}\n" for line in lines_of(run)), encoding="utf-8")
        (folder / TIMES).write_text(f"{_compact(_times_by_question(run))}\n", encoding="utf-8")
        for system in run.systems:
            rankings = {one.query.id: one.rankings[system] for one in run.asked}
            write_run(folder / f"{system}.run", with_rank_scores(rankings))
    except OSError as error:
        raise UsageError(f"cannot write the run to {folder}: {error.strerror or error}") from error
    return metrics


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier run, as it was written: its metrics, and its lines by question id."""

    folder: Path
    metrics: Mapping[str, Any]
    lines: Mapping[str, Mapping[str, Any]]


def read_baseline(path: Path) -> Baseline:
    """A run's folder, or the metrics.json in it. Raises CollectionError for what is no run of this schema."""
    folder = path.parent if path.name == METRICS else path
    metrics = _object(folder / METRICS, _read(folder / METRICS))
    if metrics.get("schema") != SCHEMA:
        raise CollectionError(
            f"{folder / METRICS} is of schema {metrics.get('schema')!r}, not {SCHEMA}; measure it anew"
        )
    lines: dict[str, Mapping[str, Any]] = {}
    for number, text in enumerate(_read(folder / LINES).split("\n"), start=1):
        if not text.strip():
            continue
        line = _object(f"{folder / LINES}:{number}", text)
        if not isinstance(line.get("id"), str) or not isinstance(line.get("gate"), dict):
            raise CollectionError(f"{folder / LINES}:{number}: no question of a run; measure it anew")
        lines[line["id"]] = line
    return Baseline(folder, metrics, lines)


def read_times(folder: Path) -> dict[str, tuple[float, ...]]:
    """Wall milliseconds of every question of a run, by stage. Raises CollectionError for what is no run of this schema."""
    path = folder / TIMES
    by_question = _object(path, _read(path)).get("times_ms")
    if not isinstance(by_question, dict) or not all(isinstance(times, dict) for times in by_question.values()):
        raise CollectionError(f"{path}: no times by question; measure it anew")
    spent: dict[str, list[float]] = {}
    for times in by_question.values():
        for stage, value in times.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LONGEST_MS:
                raise CollectionError(f"{path}: {stage} took {value!r} ms; measure it anew")
            spent.setdefault(stage, []).append(float(value))
    return {stage: tuple(values) for stage, values in spent.items()}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CollectionError(f"cannot read {path}: {error.strerror or error}; name the folder of a run") from error
    except UnicodeDecodeError as error:
        raise CollectionError(f"{path} is not UTF-8 ({error.reason}); it is no run") from error


def _object(place: object, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise CollectionError(f"{place}: not JSON ({error}); it is no run") from error
    if not isinstance(value, dict):
        raise CollectionError(f"{place}: a JSON object is wanted; it is no run")
    return value


def _stamp(run: Run) -> dict[str, Any]:
    """What all documents share; extractors are many."""
    shared = [to_json(stamp) for stamp in run.stamps]
    first = shared[0] if shared else {"model": None, "pipeline": "", "chunker": run.chunker}
    return {
        "model": first["model"],
        "pipeline": first["pipeline"],
        "chunker": first["chunker"],
        "extractors": sorted({stamp["extractor"] for stamp in shared}),
    }


def _gate(run: Run) -> dict[str, Any]:
    given_up, bluffed = gate_rates(run)
    decided = run.asked[0].decision
    answered = [one for one in run.judged if not one.refused]
    hidden = [one.withheld for one in run.judged if one.withheld]
    withheld = estimate(sum(not one.refused for one in hidden), len(hidden))
    return {
        "name": decided.gate,
        "threshold": _finite(decided.threshold),
        "system": run.answered_from,
        "give_ups": {**counts(given_up[ALL]), **{group: counts(of) for group, of in given_up.items() if group != ALL}},
        "bluffs": {
            **counts(bluffed[ALL]),
            "at_most": upper_bound(successes(bluffed[ALL]), bluffed[ALL].n),
            **{
                kind: counts(bluffed.get(kind, estimate(0, 0)))
                for kind in dict.fromkeys(("near", "far", *bluffed))
                if kind != ALL
            },
        },
        "bluffs_withheld": {**counts(withheld), "at_most": upper_bound(successes(withheld), withheld.n)},
        "answered_right": counts(estimate(sum(one.right for one in answered), len(answered))),
    }


def _measures(outcomes: tuple[QueryOutcome, ...]) -> dict[str, object]:
    """Without `mrr_full`: a run keeps the first CUTOFF results, beyond which nothing is known."""
    return {name: value for name, value in summary_record(summarise(outcomes)).items() if name != "mrr_full"}


def _k_n(proportion: Estimate) -> dict[str, int]:
    return {"k": successes(proportion), "n": proportion.n}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
