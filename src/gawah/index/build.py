"""Catalog rows to a part, and which of a part's rows live.

The same chunks give the same arrays here and in `merge`, so a segment's files depend on what is in it and not on its history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gawah.errors import StoreCorruptError
from gawah.index.graph import Graph
from gawah.index.part import (
    Part,
    blob_of,
    document_runs,
    encode,
    sign_bits,
    starts_of,
    term_hash,
)
from gawah.ports import IndexRow

AnalyzeDocument = Callable[[str], tuple[list[str], list[str]]]
"""A chunk's embedded text to (terms that count to its length, identifier terms that do not)."""

UNIT_TOLERANCE = 1e-3  # far above float32's rounding, far below any vector that was never normalised


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """A part and which of its rows live; `live` is None when all do. Same part, other deletions: another portion."""

    part: Part
    live: NDArray[np.bool_] | None
    n_live: int
    total_length: int
    """Counted terms of the live rows."""
    graph: Graph | None = None
    """A way to a vector's neighbours that does not look at every row, where the segment has one."""

    def without(self, seqs: NDArray[np.int64]) -> Portion:
        """The portion after the deletion of those of `seqs` that are in it."""
        gone = self.part.rows_of_seqs(seqs)
        if not len(gone):
            return self
        live = np.ones(self.part.n_chunks, np.bool_) if self.live is None else self.live.copy()
        dying = np.unique(gone[live[gone]])
        live[dying] = False
        length = self.total_length - int(self.part.lengths[dying].sum(dtype=np.int64))
        return replace(self, live=live, n_live=self.n_live - len(dying), total_length=length)

    def live_rows(self) -> NDArray[np.int64]:
        return np.arange(self.part.n_chunks) if self.live is None else np.flatnonzero(self.live)

    def admitted(self, only: NDArray[np.int64] | None) -> NDArray[np.bool_] | None:
        """Rows that live and whose document is among the sorted numbers `only`; None when that is every row."""
        if only is None:
            return self.live
        runs = self.part.run_documents
        at = np.searchsorted(only, runs)
        known = at < len(only)
        known[known] = only[at[known]] == runs[known]
        mask = np.repeat(known, np.diff(self.part.run_starts))
        return mask if self.live is None else mask & self.live


def whole(part: Part, graph: Graph | None = None) -> Portion:
    """A portion in which every row lives."""
    return Portion(part, None, part.n_chunks, int(part.lengths.sum(dtype=np.int64)), graph)


def build_part(rows: Sequence[IndexRow], analyze: AnalyzeDocument) -> Part:
    """At least one catalog row, in order of seq, as a part; StoreCorruptError for a row that cannot be indexed."""
    vectors = _unit_vectors(rows)
    vocabulary: dict[str, int] = {}
    posting_terms: list[int] = []
    counts: list[int] = []
    n_terms: list[int] = []
    lengths: list[int] = []
    for row in rows:
        terms, extra = analyze(row.text)
        held = Counter(terms)
        held.update(extra)
        posting_terms += [vocabulary.setdefault(term, len(vocabulary)) for term in held]
        counts += held.values()
        n_terms.append(len(held))
        lengths.append(len(terms))
    chunk_ids = np.array([encode(row.chunk_id) for row in rows])
    run_documents, run_starts = document_runs(np.array([row.document_no for row in rows], np.int64))
    postings = _sorted_postings(
        [encode(term) for term in vocabulary],
        np.array(posting_terms, np.int32),
        np.repeat(np.arange(len(rows), dtype=np.int32), n_terms),
        np.array(counts, np.int64),
    )
    return Part(
        seqs=np.array([row.seq for row in rows], np.int64),
        chunk_ids=chunk_ids,
        id_order=id_order(chunk_ids),
        lengths=np.array(lengths, np.int32),
        run_documents=run_documents,
        run_starts=run_starts,
        vectors=vectors,
        vector_bits=sign_bits(vectors),
        term_hashes=postings.term_hashes,
        term_starts=postings.term_starts,
        term_blob=postings.term_blob,
        posting_starts=postings.starts,
        posting_rows=postings.rows,
        posting_counts=postings.counts,
        token_starts=starts_of([len(row.embedding.tokens.scales) for row in rows]),
        token_signs=np.concatenate([row.embedding.tokens.signs for row in rows]),
        token_scales=np.concatenate([row.embedding.tokens.scales for row in rows]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    term_hashes: NDArray[np.uint64]
    term_starts: NDArray[np.int64]
    term_blob: NDArray[np.uint8]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.integer]


def _sorted_postings(
    vocabulary: list[bytes], terms: NDArray[np.int32], rows: NDArray[np.int32], counts: NDArray[np.integer]
) -> _Postings:
    """Postings (numbers into `vocabulary`, rows ascending within each term) in the order of (hash, term).

    A term without postings is left out: its rows are deleted, and what is deleted must not stay in a file.
    """
    n_holding = np.bincount(terms, minlength=len(vocabulary)).astype(np.int64)
    ranked = sorted((term_hash(term), term, number) for number, term in enumerate(vocabulary) if n_holding[number])
    numbers = np.array([number for _, _, number in ranked], np.int64)
    rank = np.zeros(len(vocabulary), np.int32)
    rank[numbers] = np.arange(len(numbers))
    order = np.argsort(rank[terms], kind="stable")
    widest = np.iinfo(np.uint16).max
    narrow = not len(counts) or int(counts.max()) <= widest
    return _Postings(
        term_hashes=np.array([hashed for hashed, _, _ in ranked], np.uint64),
        term_starts=starts_of([len(term) for _, term, _ in ranked]),
        term_blob=blob_of(term for _, term, _ in ranked),
        starts=starts_of(n_holding[numbers]),
        rows=rows[order],
        counts=counts[order].astype(np.uint16 if narrow else np.int32),
    )


def id_order(chunk_ids: NDArray[np.bytes_]) -> NDArray[np.int32]:
    """Rows by chunk id; StoreCorruptError for one that is there twice."""
    order = np.argsort(chunk_ids, kind="stable").astype(np.int32)
    ordered = chunk_ids[order]
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(twice):
        raise StoreCorruptError(f"chunk {ordered[twice[0]].decode()} is there twice; run 'gawah doctor'")
    return order


def _unit_vectors(rows: Sequence[IndexRow]) -> NDArray[np.float32]:
    dimensions = len(rows[0].embedding.vector)
    for row in rows:
        vector = row.embedding.vector
        length = float(np.sqrt(np.vdot(vector, vector)))
        if len(vector) != dimensions or not abs(length - 1) <= UNIT_TOLERANCE:
            raise StoreCorruptError(
                f"chunk {row.chunk_id}: a vector of {len(vector)} dimensions and length {length:.4g}, where "
                f"{dimensions} and 1 are expected; ingest its document again"
            )
    return np.array([row.embedding.vector for row in rows], np.float32)
