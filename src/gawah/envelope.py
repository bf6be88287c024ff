"""Outcomes and hits as the JSON that every interface shows and the answer log keeps: one form, whoever asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gawah.types import (
    Answer,
    Citation,
    Claim,
    DocumentRecord,
    GateDecision,
    Mark,
    Outcome,
    Passage,
    Refusal,
    SelfCheck,
)
from gawah.wire import to_json

ANSWER_SCHEMA = "gawah.answer/1"
SEARCH_SCHEMA = "gawah.search/1"
_DISTANCE_DIGITS = 6  # float32 dot products carry about seven


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """An answer or a refusal: `{schema, answer_id, status, question, answer, citations, claims, marks, refusal, gate, …}`.

    `marks` are the places of `answer` that are markers; outcomes recorded before they were kept have no such key, and
    claims of before they were checked have `from`, `to`, `markers` and the status "cited" or "uncited" only.
    """
    body: dict[str, Any] = {
        "schema": ANSWER_SCHEMA,
        "answer_id": outcome.id,
        "status": "answered" if isinstance(outcome, Answer) else "refused",
        "question": outcome.question,
        "answer": None,
        "citations": [],
        "claims": [],
        "marks": [],
        "unknown_markers": [],
        "flags": [],
        "self_check": None,
        "refusal": None,
        "gate": decision_json(outcome.decision),
        "provenance": to_json(outcome.provenance),
    }
    if isinstance(outcome, Answer):
        body["answer"] = outcome.text
        body["citations"] = [citation_json(citation) for citation in outcome.citations]
        body["claims"] = [claim_json(claim) for claim in outcome.claims]
        body["marks"] = [mark_json(mark) for mark in outcome.marks]
        body["unknown_markers"] = list(outcome.unknown_markers)
        body["flags"] = list(outcome.flags)
        body["self_check"] = self_check_json(outcome.self_check)
    else:
        body["refusal"] = refusal_json(outcome)
    return body


def refusal_json(refusal: Refusal) -> dict[str, Any]:
    return {
        "reason": refusal.reason,
        "message": refusal.message,
        "threshold": refusal.decision.threshold,
        "nearest": [hit_json(passage) for passage in refusal.nearest],
        "unsupported": list(refusal.unsupported),
    }


def citation_json(citation: Citation) -> dict[str, Any]:
    return {
        "marker": citation.marker,
        "document": citation.document_name,
        "document_id": citation.document_id,
        "collection": citation.collection,
        "label": citation.label,
        "locator": citation.locator_label,
        "fragment": citation.fragment,
        "url": citation.url,
        "quote": citation.quote,
        "prefix": citation.prefix,
        "suffix": citation.suffix,
        "from": citation.span.start,
        "to": citation.span.end,
        "cosine_distance": _distance(citation.cosine_distance),
        "file_sha256": citation.file_sha256,
        "text_sha256": citation.text_sha256,
        "chunk_id": citation.chunk_id,
    }


def claim_json(claim: Claim) -> dict[str, Any]:
    return {
        "from": claim.span.start,
        "to": claim.span.end,
        "markers": list(claim.markers),
        "status": claim.status,
        "score": claim.score,
        "missing": [{"kind": missing.kind, "text": missing.text} for missing in claim.missing],
        "foreign": list(claim.foreign),
        "highlights": [
            {
                "marker": one.marker,
                "from": one.span.start,
                "to": one.span.end,
                "locator": one.locator_label,
                "fragment": one.fragment,
            }
            for one in claim.highlights
        ],
        "agreeing": claim.n_agreeing,
    }


def self_check_json(check: SelfCheck | None) -> dict[str, Any] | None:
    return None if check is None else {"samples": check.n_samples, "failed": check.n_failed}


def mark_json(mark: Mark) -> dict[str, Any]:
    return {"from": mark.span.start, "to": mark.span.end, "marker": mark.number}


def decision_json(decision: GateDecision) -> dict[str, Any]:
    return {
        "gate": decision.gate,
        "score": _finite(decision.score),
        "threshold": decision.threshold,
        "signals": {name: _finite(value) for name, value in decision.signals.items()},
        "refuse_reason": decision.refuse_reason,
    }


def hits_json(
    passages: Iterable[Passage],
    system: str,
    question: str,
    generation: int,
    degraded: tuple[str, ...],
    notes: tuple[str, ...],
) -> dict[str, Any]:
    """A search's hits, all of one generation: the one that answered."""
    return {
        "schema": SEARCH_SCHEMA,
        "system": system,
        "question": question,
        "generation": generation,
        "hits": [hit_json(passage) for passage in passages],
        "degraded": list(degraded),
        "notes": list(notes),
    }


def hit_json(passage: Passage) -> dict[str, Any]:
    return {
        "rank": passage.hit.rank,
        "score": passage.hit.score,
        "document": passage.document_name,
        "document_id": passage.chunk.document_id,
        "collection": passage.collection,
        "section": passage.chunk.section,
        "from": passage.chunk.span.start,
        "to": passage.chunk.span.end,
        "content": passage.chunk.content,
        "cosine_distance": _distance(passage.cosine_distance),
        "chunk_id": passage.chunk.id,
    }


def document_json(record: DocumentRecord, stale: tuple[str, ...]) -> dict[str, Any]:
    """`stale` names the parts of the stamp that are older than the code's."""
    return {
        "id": record.id,
        "collection": record.collection,
        "name": record.name,
        "uri": record.uri,
        "media_type": record.media_type,
        "size_bytes": record.size_bytes,
        "state": record.state.value,
        "failure": to_json(record.failure),
        "attempts": record.attempts,
        "title": record.title,
        "language": record.language,
        "stamp": to_json(record.stamp),
        "stale": list(stale),
        "counters": to_json(record.counters),
        "quality": dict(record.quality),
        "warnings": list(record.warnings),
        "file_sha256": record.file_sha256,
        "indexed_sha256": record.indexed_sha256,
        "updated_at": record.updated_at,
    }


def collections_json(counts: Iterable[tuple[str, str, int, int, int]]) -> list[dict[str, Any]]:
    """(collection, state, documents, chunks, bytes) to one object a collection, in the order they come."""
    found: dict[str, dict[str, Any]] = {}
    for name, state, n_documents, n_chunks, n_bytes in counts:
        empty = {"name": name, "n_documents": 0, "n_chunks": 0, "size_bytes": 0, "states": {}}
        body = found.setdefault(name, empty)
        body["n_documents"] += n_documents
        body["n_chunks"] += n_chunks
        body["size_bytes"] += n_bytes
        body["states"][state] = n_documents
    return list(found.values())


def cited_documents(body: Mapping[str, Any]) -> list[str]:
    """Ids of the documents whose words an outcome carries, in quotes or among the nearest passages."""
    refusal = body.get("refusal") or {}
    return sorted({item["document_id"] for item in [*body["citations"], *refusal.get("nearest", [])]})


def _distance(value: float) -> float | None:
    return None if (finite := _finite(value)) is None else round(finite, _DISTANCE_DIGITS)


def _finite(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if value - value == 0 else None
