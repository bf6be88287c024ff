"""An indexed set to a run: every question put to every system and to the gate, without a model that writes.

A run keeps, question by question, what was found, what the gate decided and what would be cited; `record` turns it into
files. Documents that failed are the caller's to report: their needles are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gawah.ask import judge
from gawah.chunk import Audit, Chunking
from gawah.cite import resolve
from gawah.compose import compose, number_sources
from gawah.errors import UsageError
from gawah.eval.citations import page_right, quote_exact
from gawah.eval.collection import Collection, CollectionError, JudgedQuery, UnanswerableQuery
from gawah.eval.corpus import Corpus, read_corpus
from gawah.eval.hidden import HIDDEN, HiddenQuery, hidden_queries
from gawah.eval.match import folded_text, needle_of
from gawah.eval.measures import MRR_CUTOFF, Destroyed, QueryOutcome, destroyed, outcome_of
from gawah.eval.sweep import GateCase, case_of, unanswerable_case
from gawah.eval.validation import validate_collection
from gawah.eval.withheld import Withheld, judge_without
from gawah.gate import AT_MOST, Gate
from gawah.ports import Catalog, Generator, Snapshot
from gawah.retrieve import SYSTEMS, Retrieved, Retriever, retrieve
from gawah.types import Chunk, Citation, Estimate, GateDecision, Locator, Passage, Ranking, Stamp

CUTOFF = MRR_CUTOFF  # how many results of a system are judged

Reached = Literal["not_found", "not_admitted", "refused", "given"]
"""A needle is in no fused result; in one, but in no admitted passage; in one, but the gate refused; in what is admitted."""
_PROBLEMS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured: an index, how it was cut, and what answers from it. Without a generator nothing is cited."""

    catalog: Catalog
    retriever: Retriever
    gate: Gate
    generator: Generator | None
    chunking: Chunking


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as the systems, the gate and the generator met it.

    `rankings` and `outcomes` are by system, `outcomes` of answerable questions only. `case` is all that the gate was
    given, `returned` the first passages of it. `reached` and `withheld`, the gate's decision when nothing that holds the
    needle is found, are None for what must be refused; `withheld` also for a question that is asked twice. `found` is the
    place of the best system's first passage that holds the needle.
    """

    query: JudgedQuery | UnanswerableQuery
    rankings: Mapping[str, Ranking]
    outcomes: Mapping[str, QueryOutcome]
    decision: GateDecision
    case: GateCase
    returned: tuple[Passage, ...]
    withheld: Withheld | None
    reached: Reached | None
    found: Locator | None
    citations: tuple[Citation, ...]
    notes: tuple[str, ...]
    times_ms: Mapping[str, float]

    @property
    def refused(self) -> bool:
        return self.decision.refuse_reason is not None

    @property
    def right(self) -> bool:
        """Whether an admitted passage holds the needle."""
        return self.reached == "given"


@dataclass(frozen=True, slots=True)
class Run:
    """A set, measured. `stamps` are the distinct ones of its documents; `answered_from` names the gate's system."""

    set_name: str
    chunker: str
    stamps: tuple[Stamp, ...]
    systems: tuple[str, ...]
    answered_from: str
    asked: tuple[Asked, ...]
    destroyed: Destroyed
    audit: Audit
    n_documents: int
    failed: tuple[str, ...]
    quote_exact: Estimate
    page_right: Estimate

    @property
    def judged(self) -> tuple[Asked, ...]:
        """The questions with a needle, in the set's order."""
        return tuple(one for one in self.asked if isinstance(one.query, JudgedQuery))

    @property
    def unanswerable(self) -> tuple[Asked, ...]:
        return tuple(one for one in self.asked if isinstance(one.query, UnanswerableQuery))

    @property
    def queries(self) -> tuple[JudgedQuery, ...]:
        """Those of `judged`."""
        return tuple(one.query for one in self.asked if isinstance(one.query, JudgedQuery))

    @property
    def must_refuse(self) -> tuple[UnanswerableQuery, ...]:
        """Those of `unanswerable`."""
        return tuple(one.query for one in self.asked if isinstance(one.query, UnanswerableQuery))

    @property
    def lost(self) -> frozenset[str]:
        """Ids of the questions whose answer no chunk's content holds whole."""
        words = set(self.destroyed.in_content)
        needles = {needle_of(query) for query in self.queries if query.needle in words}
        return frozenset(query.id for query in self.queries if needle_of(query) in needles)

    def outcomes(self, system: str) -> tuple[QueryOutcome, ...]:
        return tuple(one.outcomes[system] for one in self.judged)


def measure(subject: Subject, collection: Collection, *, systems: Sequence[str] = ()) -> Run:
    """Puts every question of the set to the systems (all there are, unless named) and to the gate, over one snapshot.

    Recall is judged on what can be quoted (content); with overlap, on the embedded text, since only there the repeated
    words stand. Raises CollectionError when the set does not fit the indexed documents, UsageError for a system that
    does not exist, and what `retrieve` raises.
    """
    chosen = systems_of(subject.retriever, systems)
    with subject.catalog.snapshot() as snapshot:
        corpus = read_corpus(snapshot, subject.chunking, subject.retriever.embedder)
        _require_valid(collection, corpus)
        judged_text = _embedded if subject.chunking.repeats_words else _quotable
        hidden = hidden_queries(collection.queries, corpus.texts, corpus.chunks_by_name).queries
        withheld = {query.id: query for query in hidden}
        queries: tuple[JudgedQuery | UnanswerableQuery, ...] = (*collection.queries, *collection.unanswerable)
        asked = tuple(
            _ask(subject, snapshot, query, chosen, judged_text, withheld.get(f"{HIDDEN}-{query.id}"))
            for query in queries
        )
    cited = [citation for one in asked for citation in one.citations]
    found = [(one.query, one.found) for one in asked if isinstance(one.query, JudgedQuery) and one.found is not None]
    return Run(
        set_name=collection.name,
        chunker=subject.chunking.name,
        stamps=corpus.stamps,
        systems=chosen,
        answered_from=subject.retriever.best_system,
        asked=asked,
        destroyed=destroyed(collection.queries, corpus.chunks),
        audit=corpus.audit,
        n_documents=len(corpus.texts),
        failed=corpus.failed,
        quote_exact=quote_exact(cited, corpus.texts_by_id),
        page_right=page_right(found),
    )


def systems_of(retriever: Retriever, named: Sequence[str] = ()) -> tuple[str, ...]:
    """The systems to measure, in their fixed order; raises UsageError for one that there is not."""
    there = tuple(system for system in SYSTEMS if system != "rerank" or retriever.reranker is not None)
    if missing := [system for system in named if system not in there]:
        raise UsageError(f"there is no system {missing[0]} here; choose of {', '.join(there)}")
    return tuple(system for system in there if not named or system in named)


def _require_valid(collection: Collection, corpus: Corpus) -> None:
    problems = validate_collection(collection, corpus.texts)
    if not problems:
        return
    shown = "; ".join(problems[:_PROBLEMS_SHOWN])
    more = f"; and {len(problems) - _PROBLEMS_SHOWN} more" if len(problems) > _PROBLEMS_SHOWN else ""
    unread = f" (documents that failed: {'; '.join(corpus.failed[:_PROBLEMS_SHOWN])})" if corpus.failed else ""
    raise CollectionError(f"the set {collection.name} cannot be measured: {shown}{more}{unread}")


def _quotable(chunk: Chunk) -> str:
    return chunk.content


def _embedded(chunk: Chunk) -> str:
    return chunk.text


def _ask(
    subject: Subject,
    snapshot: Snapshot,
    query: JudgedQuery | UnanswerableQuery,
    systems: tuple[str, ...],
    judged_text: Callable[[Chunk], str],
    hidden: HiddenQuery | None,
) -> Asked:
    """As `ask` does it, but for the recording; and each system's ranking besides."""
    retriever = subject.retriever
    retrieved, decision = judge(retriever, subject.gate, snapshot, query.query)
    rankings = {system: _ranking(retriever, snapshot, query.query, system, retrieved) for system in systems}
    outcomes: dict[str, QueryOutcome] = {}
    reached, found = None, None
    case = unanswerable_case(query.id, query.kind, retrieved.passages)
    if isinstance(query, JudgedQuery):
        for system, ranking in rankings.items():
            texts = [judged_text(snapshot.chunk(hit.chunk_id)) for hit in ranking.hits]
            outcomes[system] = outcome_of(query, texts)
        case = case_of(query, retrieved.passages)
        reached = _reached(snapshot, query, retrieved, decision)
        holder = _holder(query, retrieved.passages[:CUTOFF])
        found = holder.locator if holder else None
    return Asked(
        query=query,
        rankings=rankings,
        outcomes=outcomes,
        decision=decision,
        case=case,
        returned=retrieved.passages[:AT_MOST],
        withheld=judge_without(retriever, subject.gate, snapshot, retrieved, hidden) if hidden else None,
        reached=reached,
        found=found,
        citations=_citations(subject, query, decision),
        notes=(*retrieved.degraded, *retrieved.notes),
        times_ms={**retrieved.times_ms, "total": round(sum(retrieved.times_ms.values()), 3)},
    )


def _reached(snapshot: Snapshot, query: JudgedQuery, retrieved: Retrieved, decision: GateDecision) -> Reached:
    if _holder(query, decision.admitted) is not None:
        return "given"
    needle = needle_of(query)
    fused = retrieved.rankings.get("rrf") or retrieved.rankings[retrieved.system]
    contents = (snapshot.chunk(hit.chunk_id).content for hit in fused.hits)
    if not any(needle.is_in(folded_text(content, needle.fold)) for content in contents):
        return "not_found"
    return "not_admitted" if decision.refuse_reason is None else "refused"


def _ranking(retriever: Retriever, snapshot: Snapshot, question: str, system: str, retrieved: Retrieved) -> Ranking:
    """A system's own first results; a leg that the best system left out (a script the encoder cannot read) is asked."""
    ranking = retrieved.rankings.get(system)
    if ranking is None:
        ranking = retrieve(retriever, snapshot, question, system=system, cutoff=CUTOFF).rankings[system]
    return Ranking(system, ranking.hits[:CUTOFF], CUTOFF)


def _holder(query: JudgedQuery, passages: Sequence[Passage]) -> Passage | None:
    """The first passage whose content holds the needle whole."""
    needle = needle_of(query)
    return next((p for p in passages if needle.is_in(folded_text(p.chunk.content, needle.fold))), None)


def _citations(
    subject: Subject, query: JudgedQuery | UnanswerableQuery, decision: GateDecision
) -> tuple[Citation, ...]:
    """What an answer to an answerable question would cite."""
    if subject.generator is None or not isinstance(query, JudgedQuery) or decision.refuse_reason is not None:
        return ()
    sources = number_sources(decision.admitted)
    return resolve(subject.generator.generate(compose(query.query, sources)), sources).citations
