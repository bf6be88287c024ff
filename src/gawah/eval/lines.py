"""A run to an object a question, as it stands in `questions.jsonl`, and to its times; `docs/evaluation.md` has every field."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gawah.eval.collection import JudgedQuery
from gawah.eval.run import Asked, Run
from gawah.eval.sweep import GateCase
from gawah.fragment import label
from gawah.types import GateDecision

TIMES_SCHEMA = "gawah.times/1"
QUOTED_CHARS = 600  # of a returned passage: enough to see what it is about


def times_by_question(run: Run) -> dict[str, Any]:
    """Wall milliseconds by question and stage, as they stand in times.json."""
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
        "score": finite(decision.score),
        "threshold": finite(decision.threshold),
        "signals": {name: finite(value) for name, value in decision.signals.items()},
        "passages": [[finite(distance), holds] for distance, holds in case.passages],
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
            "distance": finite(passage.cosine_distance),
            "holds": holds,
            "admitted": passage.chunk.id in admitted,
            "text": passage.chunk.content[:QUOTED_CHARS],
        }
        for passage, (_, holds) in zip(one.returned, one.case.passages, strict=False)
    ]


def finite(value: float) -> float | None:
    """A number as JSON can have it."""
    return value if math.isfinite(value) else None
