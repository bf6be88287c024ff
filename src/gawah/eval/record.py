"""A run to files and back: `metrics.json`, a line a question, a line an answer, the times, TREC runs.

`docs/evaluation.md` describes every field. Times differ from run to run, everything else is the same to the byte.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from gawah.errors import UsageError
from gawah.eval.answers import Answers, Judged, answer_line, answers_record
from gawah.eval.collection import CollectionError
from gawah.eval.lines import finite, lines_of, times_by_question
from gawah.eval.measures import QueryOutcome, bluffs, by_phrasing, counts, give_ups, summarise, summary_record
from gawah.eval.run import Run
from gawah.eval.stats import ALL, estimate, successes, upper_bound
from gawah.eval.trec import with_rank_scores, write_run
from gawah.types import Estimate
from gawah.wire import to_json

SCHEMA = "gawah.metrics/1"
METRICS = "metrics.json"
LINES = "questions.jsonl"
TIMES = "times.json"
_LONGEST_MS = 1e12
ANSWERS = "answers.jsonl"


def metrics_of(run: Run, answers: Answers | None = None) -> dict[str, Any]:
    """The run as it stands in metrics.json; `answers` is in it when there are some."""
    audit = run.audit
    asked = {} if answers is None else {"answers": answers_record(answers)}
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
        **asked,
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


def write_files(run: Run, folder: Path, answers: Answers | None = None) -> dict[str, Any]:
    """Writes the run into a folder, over what a run left there before; returns the metrics. Raises UsageError."""
    metrics = metrics_of(run, answers)
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / METRICS).write_text(_pretty(metrics), encoding="utf-8", newline="\n")
        _write_lines(folder / LINES, lines_of(run))
        (folder / TIMES).write_text(f"{_compact(times_by_question(run))}\n", encoding="utf-8")
        if answers is None:
            (folder / ANSWERS).unlink(missing_ok=True)
        else:
            _write_lines(folder / ANSWERS, map(answer_line, answers.judged))
        for system in run.systems:
            rankings = {one.query.id: one.rankings[system] for one in run.asked}
            write_run(folder / f"{system}.run", with_rank_scores(rankings))
    return metrics


class AnswerLog:
    """The answers of a run while they come: what was answered is on disk, whatever ends the process.

    A context manager. Lines stand in the order in which they came until it is left; then in the order of `ids`.
    """

    def __init__(self, folder: Path, ids: Sequence[str]) -> None:
        self._path = folder / ANSWERS
        self._place = {query_id: place for place, query_id in enumerate(ids)}
        self._lines: list[dict[str, Any]] = []

    def add(self, one: Judged) -> None:
        """Raises UsageError when it cannot be written."""
        line = answer_line(one)
        self._lines.append(line)
        with _writing(self._path), self._path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(f"{_compact(line)}\n")

    def __enter__(self) -> Self:
        with _writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text("", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _writing(self._path):
            _write_lines(self._path, sorted(self._lines, key=lambda line: self._place[line["id"]]))


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier run, as it was written: its metrics, and its lines by question id; `answers` only of a finished asking."""

    folder: Path
    metrics: Mapping[str, Any]
    lines: Mapping[str, Mapping[str, Any]]
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_baseline(path: Path) -> Baseline:
    """A run's folder, or the metrics.json in it. Raises CollectionError for what is no run of this schema."""
    folder = path.parent if path.name == METRICS else path
    metrics = _object(folder / METRICS, _read(folder / METRICS))
    if metrics.get("schema") != SCHEMA:
        raise CollectionError(
            f"{folder / METRICS} is of schema {metrics.get('schema')!r}, not {SCHEMA}; measure it anew"
        )
    lines = _lines_by_id(folder / LINES, "gate", dict)
    answers = _lines_by_id(folder / ANSWERS, "status", str) if metrics.get("answers") else {}
    return Baseline(folder, metrics, lines, answers)


def _lines_by_id(path: Path, key: str, kind: type) -> dict[str, Mapping[str, Any]]:
    """Lines of a run by question id; each must have `key` of a kind."""
    lines: dict[str, Mapping[str, Any]] = {}
    for number, text in enumerate(_read(path).split("\n"), start=1):
        if not text.strip():
            continue
        line = _object(f"{path}:{number}", text)
        if not isinstance(line.get("id"), str) or not isinstance(line.get(key), kind):
            raise CollectionError(f"{path}:{number}: no question of a run; measure it anew")
        lines[line["id"]] = line
    return lines


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write the run to {place}: {error.strerror or error}") from error


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{_compact(line)}\n" for line in lines), encoding="utf-8", newline="\n")


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
        "threshold": finite(decided.threshold),
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


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
