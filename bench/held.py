"""An evaluation set's index in memory, as the product searches it, with every step open to change.

`Held.ranks` with an empty `Search` is the product's order: BM25 and dense, 100 each, fused, the first fifty by late
interaction and what the question names letter for letter. `held` refuses to go on where that is not so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bench.written import Writer
from gawah.app import Application, analyze_document
from gawah.chunk import Chunking
from gawah.eval import load_collection
from gawah.eval.collection import JudgedQuery
from gawah.eval.match import contains
from gawah.evaluate import Workshop, evaluate
from gawah.fuse import K
from gawah.index import bm25
from gawah.maxsim import best_matches
from gawah.ports import Embedder, QueryEmbedding, TokenCodes
from gawah.rerank import token_weights
from gawah.rerank.late import EXACT_WEIGHT
from gawah.retrieve import retrieve
from gawah.text import NAMESPACE, analyze, exact_terms, query_terms

CANDIDATES, DEPTH = 100, 50
N_NEAREST = 16

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """What differs from the product's search of one question; scores are [chunks]. `more` are further legs."""

    lexical: Floats | None = None
    dense: Floats | None = None
    final: Floats | None = None
    more: Sequence[Floats] = ()
    depth: int = DEPTH


@dataclass(frozen=True)
class Counted:
    """Term counts by column (CSC [chunks, terms]), and BM25's norm of each chunk's length."""

    columns: Any
    norms: Floats


@dataclass
class Held:
    """Chunks by id, and questions. counts: CSR [chunks, terms]; late: [questions, chunks], what the final order goes by."""

    name: str
    embedder: Embedder
    ids: list[str]
    texts: list[str]
    contents: list[str]
    places: list[tuple[str, str]]  # document's name, section path
    vectors: NDArray[np.float32]
    codes: list[TokenCodes]
    questions: list[JudgedQuery]
    asked_as: list[str]
    embedded: list[QueryEmbedding] = field(default_factory=list)
    vocabulary: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.embedded = [self.embedder.embed_query(text) for text in self.asked_as]
        self.vocabulary = self.vocabulary or {
            term: at for at, term in enumerate(dict.fromkeys(t for one in self._terms for t in one))
        }

    @cached_property
    def _terms(self) -> list[list[str]]:
        return [[*plain, *whole] for plain, whole in map(analyze_document, self.texts)]

    @cached_property
    def counts(self) -> Any:
        return weighted_counts(self, self._terms, 1.0)

    @cached_property
    def _plain(self) -> NDArray[np.bool_]:
        return np.asarray([not term.startswith(NAMESPACE) for term in self.vocabulary])

    @cached_property
    def lengths(self) -> Floats:
        return np.asarray(self.counts[:, self._plain].sum(axis=1)).ravel()

    @cached_property
    def rarity(self) -> Floats:
        n = np.asarray((self.counts > 0).sum(axis=0)).ravel()
        return np.log1p((len(self.ids) - n + 0.5) / (n + 0.5))

    @cached_property
    def cosines(self) -> Floats:
        return np.stack([self.vectors.astype(np.float64) @ one.vector for one in self.embedded])

    @cached_property
    def holds(self) -> NDArray[np.bool_]:
        return np.asarray([[contains(content, query) for content in self.contents] for query in self.questions])

    @cached_property
    def frequencies(self) -> NDArray[np.int64]:
        return np.asarray((self.counts > 0).sum(axis=0)).ravel()

    def document_frequency(self, terms: Sequence[str]) -> list[int]:
        known = [self.vocabulary.get(term) for term in terms]
        return [int(self.frequencies[at]) if at is not None else 0 for at in known]

    @cached_property
    def late(self) -> Floats:
        rows = []
        for text, query in zip(self.asked_as, self.embedded, strict=True):
            weights = np.asarray(token_weights(query.words, self.document_frequency, len(self.ids), analyze=analyze))
            total = weights.sum() or 1.0
            rows.append(
                best_matches(query.token_vectors, self.codes) @ weights / total + EXACT_WEIGHT * self.exact(text)
            )
        return np.stack(rows)

    def exact(self, text: str) -> Floats:
        shares = np.zeros(len(self.ids))
        terms = exact_terms(text)
        held = [max(1, n) for n in self.document_frequency(terms)]
        weights = [math.log1p((len(self.ids) - n + 0.5) / (n + 0.5)) for n in held]
        for term, weight in zip(terms, weights, strict=True):
            if term in self.vocabulary:
                found = np.asarray(self.counts[:, self.vocabulary[term]].todense()).ravel() > 0
                shares += found * weight / sum(weights)
        return shares

    @cached_property
    def order(self) -> list[NDArray[np.int64]]:
        """Per question all chunks that the product's search finds, in its order."""
        return [self._order(at, Search()) for at in range(len(self.questions))]

    @cached_property
    def nearest(self) -> NDArray[np.int64]:
        """[chunks, N_NEAREST] of other sections, the nearest first."""
        similar = self.vectors.astype(np.float64) @ self.vectors.T
        numbers = {place: at for at, place in enumerate(dict.fromkeys(self.places))}
        section = np.asarray([numbers[place] for place in self.places])
        similar[section[:, None] == section[None, :]] = -2
        return np.argsort(-similar, axis=1, kind="stable")[:, :N_NEAREST]

    @cached_property
    def of_documents(self) -> Any:
        """Terms of each chunk's document, scaled to the mean length of a chunk."""
        names = list(dict.fromkeys(document for document, _ in self.places))
        member = np.asarray([names.index(document) for document, _ in self.places])
        of_each = self.gather(self.counts, member, len(names))
        scale = self.lengths.mean() / np.maximum(1, np.asarray(of_each.sum(axis=1)).ravel())
        return (sparse.diags(scale) @ of_each).tocsr()[member]

    def gather(self, rows: Any, to: NDArray[np.int64], n: int | None = None) -> Any:
        """Rows added up where they go to."""
        size = len(self.ids) if n is None else n
        return sparse.csr_matrix((np.ones(len(to)), (to, np.arange(len(to)))), shape=(size, len(to))) @ rows

    def term_weights(self, terms: Sequence[str]) -> dict[int, float]:
        found: dict[int, float] = {}
        for term in terms:
            if (at := self.vocabulary.get(term)) is not None:
                found[at] = found.get(at, 0.0) + 1.0
        return found

    def bm25(self, at: int, counts: Any = None) -> Floats:
        return self.scored(self.term_weights(query_terms(self.asked_as[at])), counts)

    def scored(self, asked: Mapping[int, float], counts: Any = None) -> Floats:
        """BM25 [chunks] by `counts` (`Counted`); document frequencies are those of the passages as they are written."""
        held: Counted = self.counted if counts is None else counts
        scores = np.zeros(len(self.ids))
        for term, weight in asked.items():
            rows = slice(held.columns.indptr[term], held.columns.indptr[term + 1])
            at, tf = held.columns.indices[rows], held.columns.data[rows]
            scores[at] += weight * self.rarity[term] * tf * (bm25.K1 + 1) / (tf + held.norms[at])
        return scores

    @cached_property
    def counted(self) -> Counted:
        return self.count(self.counts)

    def count(self, counts: Any) -> Counted:
        """Counts ready to be searched; the lengths are theirs."""
        lengths = np.asarray(counts[:, self._plain].sum(axis=1)).ravel()
        norms = bm25.K1 * (1 - bm25.B + bm25.B * lengths / lengths.mean())
        return Counted(counts.tocsc(), norms)

    def ranks(self, search: Callable[[int], Search]) -> Floats:
        """Per question the rank of the first chunk with the needle, infinite where none is found."""
        found = []
        for at in range(len(self.questions)):
            hits = np.flatnonzero(self.holds[at][self._order(at, search(at))])
            found.append(hits[0] + 1.0 if len(hits) else math.inf)
        return np.asarray(found)

    def _order(self, at: int, search: Search) -> NDArray[np.int64]:
        lexical = self.bm25(at) if search.lexical is None else search.lexical
        dense = self.cosines[at] if search.dense is None else search.dense
        fused = np.zeros(len(self.ids))
        for leg, least in ((dense, -math.inf), (lexical, 0.0), *((leg, -math.inf) for leg in search.more)):
            first = np.argsort(-leg, kind="stable")[:CANDIDATES]
            first = first[leg[first] > least]
            fused[first] += 1 / (K + 1 + np.arange(len(first)))
        found = np.argsort(-fused, kind="stable")[: int((fused > 0).sum())]
        final = self.late[at] if search.final is None else search.final
        head = np.sort(found[: search.depth])
        return np.concatenate([head[np.argsort(-final[head], kind="stable")], found[search.depth :]])

    def asked(self, writer: Writer, seeds: Sequence[int] = (0, 1, 2)) -> list[list[str]]:
        """Per chunk the questions that a model asked of it, as many as it wrote."""
        return [
            [writer.write("question", [text], [seed])[0][0] for seed in seeds if writer.has("question", text, seed)]
            for text in self.texts
        ]

    def asked_cosines(self, writer: Writer) -> Floats:
        """[questions, chunks]: the best cosine to a question that was asked of the chunk, -2 where none was."""
        if not hasattr(self, "_asked_cosines"):
            best = np.full((len(self.questions), len(self.ids)), -2.0)
            own = np.stack([one.vector for one in self.embedded]).astype(np.float64)
            for at, said in enumerate(self.asked(writer)):
                for one in filter(str.strip, said):
                    best[:, at] = np.maximum(best[:, at], own @ self.embedder.embed_query(one).vector)
            self._asked_cosines = best
        return self._asked_cosines

    def said_again(self, writer: Writer, task: str) -> Held:
        """The same corpus with its questions as a model said them; a question that it said nothing of as it is."""
        if not hasattr(self, "_again"):
            self._again: dict[str, Held] = {}
        if task not in self._again:
            said = [one[0] for one in writer.write(task, [query.query for query in self.questions])]
            texts = [new if analyze(new) else query.query for new, query in zip(said, self.questions, strict=True)]
            self._again[task] = Held(
                self.name, self.embedder, self.ids, self.texts, self.contents, self.places, self.vectors, self.codes,
                self.questions, texts, vocabulary=self.vocabulary,
            )  # fmt: skip
        return self._again[task]


def weighted_counts(corpus: Held, terms: Sequence[Sequence[str]], weight: float) -> Any:
    """CSR [chunks, terms] of those terms that the corpus has."""
    rows, columns = [], []
    for at, of_chunk in enumerate(terms):
        known = [corpus.vocabulary[term] for term in of_chunk if term in corpus.vocabulary]
        rows += [at] * len(known)
        columns += known
    shape = (len(corpus.ids), len(corpus.vocabulary))
    return sparse.csr_matrix((np.full(len(rows), weight), (rows, columns)), shape=shape)


def held(shop: Workshop, folder: Path, *, checked: bool = True) -> Held:
    """The set of a folder. Raises SystemExit where the order is not the product's, unless that is not `checked`."""
    collection = load_collection(folder)
    chunking = Chunking(target=shop.settings.target_chars)
    evaluate(shop, collection, chunking=chunking, systems=["rerank"], cite=False)
    own = shop.settings.model_copy(update={"store": shop.folder(collection, chunking)})
    questions = [query for query in collection.questions if isinstance(query, JudgedQuery)]
    with Application(own, embedder=shop.embedder, chunking=chunking) as app, app.catalog.snapshot() as snapshot:
        names = {record.id: record.name for record in snapshot.documents()}
        rows = sorted(snapshot.rows(0), key=lambda row: row.chunk_id)
        chunks = [snapshot.chunk(row.chunk_id) for row in rows]
        corpus = Held(
            collection.name, shop.embedder, [row.chunk_id for row in rows], [row.text for row in rows],
            [chunk.content for chunk in chunks], [(names[chunk.document_id], chunk.section) for chunk in chunks],
            np.stack([row.embedding.vector for row in rows]), [row.embedding.tokens for row in rows],
            questions, [query.query for query in questions],
        )  # fmt: skip
        for at, query in enumerate(questions if checked else []):
            found = retrieve(app.retriever, snapshot, query.query, system="rerank", cutoff=DEPTH)
            if [p.chunk.id for p in found.passages] != [corpus.ids[n] for n in corpus.order[at][: len(found.passages)]]:
                raise SystemExit(f"{folder.name}: the order of {query.id} is not the product's")
    return corpus
