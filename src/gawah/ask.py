"""A question to an answer with citations, or to a refusal. Every outcome of `ask` is recorded.

One snapshot of the catalog serves retrieval, gate and quotes; the generator runs after it, and only if the gate lets it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gawah.cite import Hear, Resolved, placed, resolve, without_marks
from gawah.compose import compose, number_sources, prompt_sha256
from gawah.envelope import cited_documents, outcome_json
from gawah.errors import GeneratorError, StoreError
from gawah.fragment import one_line
from gawah.gate import Gate, refusal_message
from gawah.ports import Catalog, Generator, ResamplingGenerator, Snapshot
from gawah.rerank import token_weights
from gawah.retrieve import Retrieved, Retriever, Stopwatch, gather, retrieve
from gawah.sources import is_gone
from gawah.support import Likeness, Weigh, agreeing, check_claims
from gawah.text import analyze
from gawah.types import (
    Answer,
    Claim,
    Filter,
    GateDecision,
    NumberedSource,
    Outcome,
    Prompt,
    Provenance,
    Refusal,
    SelfCheck,
)

CONTEXT_CHARS = 32  # enough words around a quote to find it again when its offsets have moved
N_NEAREST = 4
UNSUPPORTED = "unsupported"  # the reason of a strict refusal
_NAMED_CHARS = 120


@dataclass(frozen=True, slots=True)
class Assistant:
    """What a question is answered with. `notes` are said with every outcome: what is not as the settings have it, and why.

    `strict`: an answer with a claim that its quotes do not carry, or with none that they do, becomes a refusal.
    """

    catalog: Catalog
    retriever: Retriever
    gate: Gate
    generator: Generator
    notes: tuple[str, ...] = ()
    strict: bool = False


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


def ask(
    assistant: Assistant,
    question: str,
    *,
    only: Filter | None = None,
    heard: Hear | None = None,
    self_check: int = 0,
) -> Outcome:
    """Answers from the documents, or refuses before any generator is called; records which.

    `heard` is told an answer sentence by sentence while it is written (cite.resolve), unless the assistant is strict: what
    was said could not be taken back. `self_check`: how many further samples of the generator each claim is held against.
    Raises GeneratorError or UnreachableError when the generator fails, and what `retrieve` raises.
    """
    return _recorded(assistant, answer(assistant, question, only=only, heard=heard, self_check=self_check))


def answer(
    assistant: Assistant,
    question: str,
    *,
    only: Filter | None = None,
    heard: Hear | None = None,
    self_check: int = 0,
) -> Outcome:
    """What `ask` does, but for the recording: the catalog is only read. Threads may share an assistant."""
    with assistant.catalog.snapshot() as snapshot:
        retrieved, decision = judge(assistant.retriever, assistant.gate, snapshot, question, only=only)
        contexts = {p.chunk.id: snapshot.context(p.chunk.id, CONTEXT_CHARS) for p in decision.admitted}
    if decision.refuse_reason is not None:
        return _refusal(assistant, question, retrieved, decision)
    heard = None if assistant.strict else heard
    return _answer(assistant, retrieved, decision, contexts, self_check=self_check, heard=heard)


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
    retrieved: Retrieved,
    decision: GateDecision,
    contexts: Mapping[str, tuple[str, str]],
    *,
    self_check: int,
    heard: Hear | None,
) -> Outcome:
    watch = Stopwatch()
    sources = number_sources(decision.admitted)
    prompt = compose(retrieved.question, sources)
    with watch.stage("generate"):
        resolved = resolve(
            assistant.generator.generate(prompt),
            sources,
            context=lambda passage: contexts[passage.chunk.id],
            heard=heard,
        )
    likeness = Likeness(assistant.retriever.embedder, _weigh(assistant, retrieved.generation))
    words = without_marks(resolved.text, resolved.marks)
    with watch.stage("support"):
        claims = check_claims(words, resolved.claims, resolved.citations, sources, likeness)
        with assistant.catalog.snapshot() as snapshot:
            claims = placed(claims, resolved.citations, snapshot.locate)
    samples: SelfCheck | None = None
    notes: tuple[str, ...] = ()
    if self_check:
        with watch.stage("self-check"):
            samples, claims, notes = _self_checked(assistant, prompt, claims, words, self_check, likeness)
    provenance = _provenance(assistant, retrieved, decision, {**retrieved.times_ms, **watch.times_ms})
    provenance = replace(
        provenance,
        generator=assistant.generator.name,
        prompt_sha256=prompt_sha256(prompt),
        n_prompt_chars=len(prompt.system) + len(prompt.user),
        notes=(*provenance.notes, *notes),
    )
    if assistant.strict and (broken := _broken(claims, resolved.text)) is not None:
        return _strict_refusal(retrieved, decision, provenance, broken)
    return Answer(
        id=_new_id(),
        question=retrieved.question,
        text=resolved.text,
        citations=resolved.citations,
        claims=claims,
        unknown_markers=resolved.unknown_markers,
        decision=decision,
        provenance=provenance,
        flags=_flags(resolved, claims, sources),
        marks=resolved.marks,
        self_check=samples,
    )


def _flags(resolved: Resolved, claims: Sequence[Claim], sources: Sequence[NumberedSource]) -> tuple[str, ...]:
    cited = {citation.marker for citation in resolved.citations}
    statuses = {claim.status for claim in claims}
    raised = {
        "source_missing": any(source.number in cited and _is_gone(source.passage.uri) for source in sources),
        "no_citation": not resolved.citations,
        "unknown_markers": bool(resolved.unknown_markers),
        "unsupported_claims": "unsupported" in statuses,
        "weak_claims": "weak" in statuses,
        "uncited_claims": "uncited" in statuses,
        "foreign_references": any(claim.foreign for claim in claims),
    }
    return tuple(name for name, is_raised in raised.items() if is_raised)


def _weigh(assistant: Assistant, generation: int) -> Weigh:
    """Words by how rare they are in the index as it is when they are first asked for; a copied answer asks for none.

    Of the generation that was searched, whichever is active by then.
    """
    known: dict[str, float] = {}

    def weigh(words: Sequence[str]) -> list[float]:
        if new := [word for word in dict.fromkeys(words) if word not in known]:
            with assistant.catalog.snapshot(generation) as snapshot:
                view = assistant.retriever.index.view(snapshot)
                weights = token_weights(new, view.document_frequency, view.n_chunks, analyze=analyze)
            known.update(zip(new, weights, strict=True))
        return [known[word] for word in words]

    return weigh


def _self_checked(
    assistant: Assistant, prompt: Prompt, claims: Sequence[Claim], words: str, n_samples: int, likeness: Likeness
) -> tuple[SelfCheck | None, tuple[Claim, ...], tuple[str, ...]]:
    """The claims with the number of samples that support each, and what has to be said of it."""
    generator = assistant.generator
    if not isinstance(generator, ResamplingGenerator):
        return None, tuple(claims), (f"no self-check: {generator.name} always writes the same for the same prompt",)
    samples: list[list[str]] = []
    failures: list[str] = []
    for number in range(n_samples):
        try:
            sample = resolve(generator.resample(prompt, number), prompt.sources)
        except GeneratorError as error:
            failures.append(str(error))
            continue
        plain = without_marks(sample.text, sample.marks)
        samples.append([claim.span.slice(plain) for claim in sample.claims])
    counts = agreeing([claim.span.slice(words) for claim in claims], samples, likeness)
    checked = tuple(replace(claim, n_agreeing=count) for claim, count in zip(claims, counts, strict=True))
    notes = (f"self-check: {len(failures)} of {n_samples} samples failed: {failures[0]}",) if failures else ()
    return SelfCheck(n_samples, len(failures)), checked, notes


def _broken(claims: Sequence[Claim], text: str) -> tuple[str, ...] | None:
    """The sentences for which a strict assistant takes a draft back: those unsupported, all where none is carried."""
    carried = [claim for claim in claims if claim.status in ("supported", "weak")]
    broken = [claim for claim in claims if claim.status == "unsupported"] if carried else claims
    return None if carried and not broken else tuple(claim.span.slice(text) for claim in broken)


def _strict_refusal(
    retrieved: Retrieved, decision: GateDecision, provenance: Provenance, broken: tuple[str, ...]
) -> Refusal:
    named = one_line(broken[0], _NAMED_CHARS) if broken else ""
    more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
    return Refusal(
        id=_new_id(),
        question=retrieved.question,
        reason=UNSUPPORTED,
        message=f'the answer that was written is not carried by its sources: "{named}"{more}; '
        "read the passages below, or ask without strict to see it marked",
        nearest=decision.admitted[:N_NEAREST],
        decision=decision,
        provenance=provenance,
        unsupported=broken,
    )


def _provenance(
    assistant: Assistant, retrieved: Retrieved, decision: GateDecision, times_ms: Mapping[str, float]
) -> Provenance:
    """Of a refusal: no generator was called, so none is named."""
    model = assistant.retriever.embedder.stamp
    return Provenance(
        generation=retrieved.generation,
        epoch=retrieved.epoch,
        model=model.name,
        model_sha256=model.sha256,
        systems=tuple(retrieved.rankings),
        reranker=retrieved.reranker,
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
    if not assistant.generator.quotes_only or (isinstance(outcome, Refusal) and outcome.unsupported):
        carried |= {
            passage.chunk.document_id for passage in outcome.decision.admitted
        }  # what it read, it may have used
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
