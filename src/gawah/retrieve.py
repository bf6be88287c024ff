"""A question to ranked passages, and to the evidence that a gate decides over: all of one snapshot of the catalog."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gawah.dense import search_dense
from gawah.errors import IndexLegError, NotFoundError, StampMismatchError, UsageError
from gawah.fuse import fuse
from gawah.gate import N_BACKGROUND, N_COMPARED, Evidence
from gawah.index.bm25 import best_possible, idf
from gawah.lexical import find_terms, search_lexical
from gawah.ports import Candidate, Embedder, Index, IndexView, QueryEmbedding, Reranker, Snapshot
from gawah.rerank import rarity, reorder, token_weights
from gawah.text import NAMESPACE, analyze, exact_terms, query_terms
from gawah.types import Filter, Hit, ModelStamp, Passage, Ranking

SYSTEMS = ("dense", "bm25", "rrf", "rerank")
_LEGS = ("dense", "bm25")
COVERED_ABOVE = 0.5  # under it the vectors rank by noise: Hindi, R@1 of all legs together .09, of words alone .74
BY_WORDS = "searched by words alone: the encoder does not know the words of this question"


@dataclass(frozen=True, slots=True)
class Retriever:
    """What a search works with. `reranker` is None when reranking is switched off.

    `missing` names, one line each, parts that the settings ask for and that are not there: every result says so. So it says
    `notes`: what is not as the settings have it, on purpose.
    """

    index: Index
    embedder: Embedder
    reranker: Reranker | None
    candidates: int = 100
    rerank_depth: int = 50
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def best_system(self) -> str:
        return "rerank" if self.reranker else "rrf"


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a search found: passages in the final order, and every system's ranking that led to it.

    `degraded` names each part that failed and whose work is missing from the order; `notes` say which parts were left
    out on purpose, and why. `query` is the question as the encoder reads it. `reranker` is the one that made the order,
    "none" where none did.
    """

    question: str
    query: QueryEmbedding
    system: str
    reranker: str
    passages: tuple[Passage, ...]
    rankings: Mapping[str, Ranking]
    generation: int
    epoch: int
    degraded: tuple[str, ...]
    notes: tuple[str, ...]
    times_ms: Mapping[str, float]


def retrieve(
    retriever: Retriever, snapshot: Snapshot, question: str, *, system: str, cutoff: int, only: Filter | None = None
) -> Retrieved:
    """The best `cutoff` passages by one system.

    Raises UsageError (empty question, unknown system), StampMismatchError (another model built the index), and
    IndexLegError when the leg that was asked for, or both legs of a fusion, fail. One leg of two may fail: it is named.
    """
    _check(retriever, snapshot, question, system)
    watch = Stopwatch()
    with watch.stage("index"):
        view = retriever.index.view(snapshot)
        admitted = _admitted(snapshot, only)
    with watch.stage("embed"):
        query = retriever.embedder.embed_query(question)
    depth = max(retriever.candidates, cutoff)
    by_words = system not in _LEGS and retriever.embedder.coverage(question) < COVERED_ABOVE
    legs = (system,) if system in _LEGS else ("bm25",) if by_words else _LEGS
    rankings, degraded = _search_legs(legs, view, query, question, depth, admitted, watch)
    if system not in _LEGS:
        with watch.stage("fuse"):
            rankings["rrf"] = fuse(tuple(rankings.values()), 2 * depth)
    notes = [*retriever.notes, *([BY_WORDS] if by_words else [])]
    used = "none"
    if system == "rerank":
        with watch.stage("rerank"):
            if by_words:
                rankings["rerank"] = rankings["rrf"]
            else:
                rankings["rerank"], cut = _reranked(retriever, snapshot, view, query, question, rankings["rrf"])
                notes += cut
                used = retriever.reranker.name if retriever.reranker else used
        degraded += retriever.missing
    with watch.stage("passages"):
        passages = _passages(snapshot, view, query, rankings[system].hits[:cutoff])
    degraded += getattr(view, "degraded", ())
    return Retrieved(
        question=question,
        query=query,
        system=system,
        reranker=used,
        passages=passages,
        rankings=rankings,
        generation=view.generation,
        epoch=view.epoch,
        degraded=tuple(degraded),
        notes=tuple(notes),
        times_ms=watch.times_ms,
    )


def gather(retriever: Retriever, snapshot: Snapshot, retrieved: Retrieved) -> Evidence:
    """What a gate needs to decide over what was retrieved, from the same snapshot.

    The background is drawn from the whole index, whatever a filter admitted: it says what is found by chance.
    """
    view = retriever.index.view(snapshot)
    question, query = retrieved.question, retrieved.query
    compared = [passage.chunk.id for passage in retrieved.passages[:N_COMPARED]]
    others = [chunk_id for chunk_id in view.sample(N_BACKGROUND + N_COMPARED) if chunk_id not in set(compared)]
    terms = query_terms(question)
    held_by = dict(zip(terms, view.document_frequency(terms), strict=True))
    lexical = retrieved.rankings.get("bm25")
    return Evidence(
        question=question,
        passages=retrieved.passages,
        query=query,
        weights=_readable_weights(retriever.embedder, view, query),
        tokens=tuple(view.tokens(compared)),
        background=tuple(view.tokens(others[:N_BACKGROUND])),
        term_weights={
            term: idf(view.n_chunks, min(max(1, n), view.n_chunks))
            for term, n in held_by.items()
            if not term.startswith(NAMESPACE)
        },
        bm25_best=lexical.hits[0].score if lexical and lexical.hits else 0.0,
        bm25_attainable=sum(best_possible(view.n_chunks, held_by[term]) for term in terms),
        readable=retriever.embedder.coverage(question) >= COVERED_ABOVE,
    )


def _admitted(snapshot: Snapshot, only: Filter | None) -> NDArray[np.int64] | None:
    """Numbers of the documents a filter admits; NotFoundError when it admits none, which is a slip more often than not."""
    if not only:
        return None
    numbers = snapshot.document_numbers(only)
    if not len(numbers):
        asked = [*only.collections, *only.documents, *only.media_types]
        raise NotFoundError(f"no document is of {', '.join(asked)}; `gawah ls` lists collections and names")
    return numbers


def _readable_weights(embedder: Embedder, view: IndexView, query: QueryEmbedding) -> tuple[float, ...]:
    """Token weights for a gate: 0 for words that the encoder cannot read, whose tokens match by noise."""
    readable = {word: embedder.coverage(word) >= COVERED_ABOVE for word in set(query.words)}
    weights = token_weights(query.words, view.document_frequency, view.n_chunks, analyze=analyze)
    return tuple(weight if readable[word] else 0.0 for word, weight in zip(query.words, weights, strict=True))


class Stopwatch:
    """Wall milliseconds by stage."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.times_ms: dict[str, float] = {}
        self._clock = clock

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = self._clock()
        try:
            yield
        finally:
            self.times_ms[name] = round((self._clock() - start) * 1000, 3)


def _check(retriever: Retriever, snapshot: Snapshot, question: str, system: str) -> None:
    if not question.strip():
        raise UsageError("the question is empty; ask something")
    if any("\ud800" <= character <= "\udfff" for character in question):
        raise UsageError(
            "the question holds bytes that are not UTF-8; check the encoding of the terminal or the program that asks"
        )
    if system not in SYSTEMS:
        raise UsageError(f"there is no system {system}; choose one of {', '.join(SYSTEMS)}")
    if system == "rerank" and retriever.reranker is None:
        raise UsageError("reranking is switched off; set rerank to late, or choose the system rrf")
    if snapshot.model is not None and snapshot.model != retriever.embedder.stamp:
        stored, ours = snapshot.model, retriever.embedder.stamp
        raise StampMismatchError(
            f"this store was built with {_named(stored)}, not with {_named(ours)}; "
            "their vectors cannot be compared: set the old model again, or build a generation with the new one: "
            "gawah migrate --model"
        )


def _named(model: ModelStamp) -> str:
    """Name, weights and recipe: one set of weights with two recipes gives two kinds of vectors."""
    return f"{model.name} ({model.sha256[:12]}, recipe {model.recipe_sha256[:8]})"


def _search_legs(
    legs: tuple[str, ...],
    view: IndexView,
    query: QueryEmbedding,
    question: str,
    depth: int,
    admitted: NDArray[np.int64] | None,
    watch: Stopwatch,
) -> tuple[dict[str, Ranking], list[str]]:
    """The rankings of the legs that work, and a line for the one that does not; raises when none does."""
    searches: dict[str, Callable[[], Ranking]] = {
        "dense": lambda: search_dense(view, query.vector, depth, admitted),
        "bm25": lambda: search_lexical(view, query_terms(question), depth, admitted),
    }
    rankings: dict[str, Ranking] = {}
    failed: list[IndexLegError] = []
    for leg in legs:
        with watch.stage(leg):
            try:
                rankings[leg] = searches[leg]()
            except IndexLegError as error:
                failed.append(error)
    if not rankings:
        raise failed[0]
    return rankings, [str(error) for error in failed]


def _reranked(
    retriever: Retriever, snapshot: Snapshot, view: IndexView, query: QueryEmbedding, question: str, fused: Ranking
) -> tuple[Ranking, tuple[str, ...]]:
    """The fused order with its best `rerank_depth` put in the reranker's order, and the reranker's notes."""
    assert retriever.reranker is not None
    head = [hit.chunk_id for hit in fused.hits[: retriever.rerank_depth]]
    candidates = [
        Candidate(chunk_id, snapshot.chunk(chunk_id), codes, exact)
        for chunk_id, codes, exact in zip(head, view.tokens(head), _exactness(view, question, head), strict=True)
    ]
    weights = token_weights(query.words, view.document_frequency, view.n_chunks, analyze=analyze)
    scored = retriever.reranker.score(question, query, candidates, weights)
    return reorder(fused, scored.values, "rerank"), scored.notes


def _exactness(view: IndexView, question: str, chunk_ids: Sequence[str]) -> list[float]:
    """Per chunk the share of the question's exact terms that it holds, rare ones weighing more; 0 where there are none."""
    terms = exact_terms(question)
    if not terms:
        return [0.0] * len(chunk_ids)
    weights = [rarity(n, view.n_chunks) for n in view.document_frequency(terms)]
    total = sum(weights)
    try:
        held = find_terms(view, terms, chunk_ids)
    except IndexLegError:  # named already: the lexical leg has failed with it
        return [0.0] * len(chunk_ids)
    shares = [0.0] * len(chunk_ids)
    for at, row in enumerate(held):
        for weight, there in zip(weights, row, strict=True):  # one after the other: a fixed order of additions
            shares[at] += weight / total if there else 0.0
    return shares


def _passages(snapshot: Snapshot, view: IndexView, query: QueryEmbedding, hits: tuple[Hit, ...]) -> tuple[Passage, ...]:
    cosines = view.cosine(query.vector, [hit.chunk_id for hit in hits])
    ranked = [(hit.chunk_id, hit.score, 1.0 - cosine) for hit, cosine in zip(hits, cosines, strict=True)]
    return tuple(snapshot.passages(ranked))
