"""A question to an answer with citations, or to a refusal. Every outcome of `ask` is recorded.

One snapshot of the catalog serves retrieval, gate and quotes; the generator runs after it, and only if the gate lets it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gawah.cite import Hear, resolve
from gawah.compose import compose, number_sources, prompt_sha256
from gawah.envelope import cited_documents, outcome_json
from gawah.errors import StoreError
from gawah.gate import Gate, refusal_message
from gawah.ports import Catalog, Generator, Snapshot
from gawah.retrieve import Retrieved, Retriever, Stopwatch, gather, retrieve
from gawah.sources import is_gone
from gawah.types import Answer, Filter, GateDecision, Outcome, Provenance, Refusal

CONTEXT_CHARS = 32  # enough words around a quote to find it again when its offsets have moved
N_NEAREST = 4


@dataclass(frozen=True, slots=True)
class Assistant:
    """What a question is answered with. `notes` are said with every outcome: what is not as the settings have it, and why."""

    catalog: Catalog
    retriever: Retriever
    gate: Gate
    generator: Generator
    notes: tuple[str, ...] = ()


def judge(
    retriever: Retriever, gate: Gate, snapshot: Snapshot, question: str, *, only: Filter | None = None
) -> tuple[Retrieved, GateDecision]:
    """What is found for a question, and whether it may be answered from it; raises what `retrieve` raises."""
    retrieved = retrieve(
        retriever, snapshot, question, system=retriever.best_system, cutoff=retriever.rerank_depth, only=only
    )
    watch = Stopwatch()
    with watch.stage("gate"):
        decision = gate(gather(retriever, snapshot, retrieved))
    return replace(retrieved, times_ms={**retrieved.times_ms, **watch.times_ms}), decision


def ask(assistant: Assistant, question: str, *, only: Filter | None = None, heard: Hear | None = None) -> Outcome:
    """Answers from the documents, or refuses before any generator is called; records which.

    `heard` is told an answer sentence by sentence while it is written (cite.resolve). Raises GeneratorError or UnreachableError when the generator fails, and what `retrieve` raises.
    """
    return _recorded(assistant, answer(assistant, question, only=only, heard=heard))


def answer(assistant: Assistant, question: str, *, only: Filter | None = None, heard: Hear | None = None) -> Outcome:
    """What `ask` does, but for the recording: the catalog is only read. Threads may share an assistant."""
    with assistant.catalog.snapshot() as snapshot:
        retrieved, decision = judge(assistant.retriever, assistant.gate, snapshot, question, only=only)
        contexts = {p.chunk.id: snapshot.context(p.chunk.id, CONTEXT_CHARS) for p in decision.admitted}
    if decision.refuse_reason is not None:
        return _refusal(assistant, question, retrieved, decision)
    return _answer(assistant, question, retrieved, decision, contexts, heard)


def _refusal(assistant: Assistant, question: str, retrieved: Retrieved, decision: GateDecision) -> Refusal:
    nearest = tuple(sorted(retrieved.passages, key=lambda p: (p.cosine_distance, p.chunk.id))[:N_NEAREST])
    assert decision.refuse_reason is not None
    return Refusal(
        id=_new_id(),
        question=question,
        reason=decision.refuse_reason,
        message=refusal_message(question, decision, nearest),
        nearest=nearest,
        decision=decision,
        provenance=_provenance(assistant, retrieved, decision, retrieved.times_ms),
    )


def _answer(
    assistant: Assistant,
    question: str,
    retrieved: Retrieved,
    decision: GateDecision,
    contexts: Mapping[str, tuple[str, str]],
    heard: Hear | None,
) -> Answer:
    watch = Stopwatch()
    sources = number_sources(decision.admitted)
    prompt = compose(question, sources)
    with watch.stage("generate"):
        resolved = resolve(
            assistant.generator.generate(prompt),
            sources,
            context=lambda passage: contexts[passage.chunk.id],
            heard=heard,
        )
    cited = {citation.marker for citation in resolved.citations}
    flags = tuple(
        name
        for name, raised in (
            ("source_missing", any(source.number in cited and _is_gone(source.passage.uri) for source in sources)),
            ("no_citation", not resolved.citations),
            ("unknown_markers", bool(resolved.unknown_markers)),
            ("uncited_claims", any(claim.status == "uncited" for claim in resolved.claims)),
        )
        if raised
    )
    provenance = _provenance(assistant, retrieved, decision, {**retrieved.times_ms, **watch.times_ms})
    return Answer(
        id=_new_id(),
        question=question,
        text=resolved.text,
        citations=resolved.citations,
        claims=resolved.claims,
        unknown_markers=resolved.unknown_markers,
        decision=decision,
        provenance=replace(
            provenance,
            generator=assistant.generator.name,
            prompt_sha256=prompt_sha256(prompt),
            n_prompt_chars=len(prompt.system) + len(prompt.user),
        ),
        flags=flags,
        marks=resolved.marks,
    )


def _provenance(
    assistant: Assistant, retrieved: Retrieved, decision: GateDecision, times_ms: Mapping[str, float]
) -> Provenance:
    """Of a refusal: no generator was called, so none is named."""
    model = assistant.retriever.embedder.stamp
    reranker = assistant.retriever.reranker
    return Provenance(
        generation=retrieved.generation,
        epoch=retrieved.epoch,
        model=model.name,
        model_sha256=model.sha256,
        systems=tuple(retrieved.rankings),
        reranker=reranker.name if reranker and not retrieved.notes else "none",
        gate=decision.gate,
        generator="none",
        prompt_sha256="",
        n_prompt_chars=0,
        times_ms=times_ms,
        degraded=retrieved.degraded,
        notes=(*assistant.notes, *retrieved.notes),
    )


def _recorded(assistant: Assistant, outcome: Outcome) -> Outcome:
    """Appends to the log; an answer that cannot be recorded is still given, and says so."""
    body = outcome_json(outcome)
    carried = set(cited_documents(body))
    if not assistant.generator.quotes_only:
        carried |= {passage.chunk.document_id for passage in outcome.decision.admitted}  # what it read, it may have used
    try:
        assistant.catalog.append_answer(outcome.id, str(body["status"]), body, sorted(carried))
    except StoreError as error:
        degraded = (*outcome.provenance.degraded, f"not recorded: {error}")
        return replace(outcome, provenance=replace(outcome.provenance, degraded=degraded))
    return outcome


def _is_gone(uri: str) -> bool:
    """Whether the original is a file that is not there any more: the quote stands, but nobody can look it up."""
    return uri.startswith("file:") and is_gone(uri)


def _new_id() -> str:
    return f"a{secrets.token_hex(12)}"
