"""A catalog in memory for indexes to read, a brute-force index, and the contract that every index keeps.

`FakeIndex` is the oracle: plain loops over all live chunks, sums rounded once. `IndexContract` needs no test runner.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from gawah.errors import NotFoundError
from gawah.ports import Embedder, Embedding, IndexFeed, IndexRow, IndexView, SegmentRecord, TokenCodes, Vector
from gawah.testing.embedder import FakeEmbedder
from gawah.types import Filter

_TERM = re.compile(r"[a-z0-9]+")
_IDENTIFIER = re.compile(r"(?<![a-z0-9])[a-z0-9]+(?:[-_.][a-z0-9]+)+")
_TOLERANCE = 1e-12  # float64 sums in another order
_TOKENS = itertools.count()  # never the same twice, in a copy of a catalog neither


def analyze_plain(text: str) -> tuple[list[str], list[str]]:
    """Lower-cased ASCII terms, and beside them identifiers whole (`err_conn-17`)."""
    return _TERM.findall(text.lower()), _IDENTIFIER.findall(text.lower())


@dataclass
class FakeIndexCatalog:
    """What an index reads, in memory. `feed` gives a snapshot that later changes do not touch."""

    embedder: Embedder = field(default_factory=FakeEmbedder)
    generation: int = 1
    epoch: int = 0
    rows: list[IndexRow] = field(default_factory=list)
    records: list[SegmentRecord] = field(default_factory=list)
    deletions: list[tuple[int, int]] = field(default_factory=list)
    collections: dict[int, str] = field(default_factory=dict)
    n_seqs: int = 0
    n_marks: int = 0
    tokens: dict[int, str] = field(default_factory=lambda: {0: f"t{next(_TOKENS)}"})

    def add(self, document_no: int, texts: dict[str, str], collection: str = "default") -> None:
        """Commits chunks (id to text) of a document."""
        for (chunk_id, text), embedding in zip(texts.items(), self.embedder.embed(list(texts.values())), strict=True):
            self.n_seqs += 1
            self.rows.append(IndexRow(self.n_seqs, chunk_id, document_no, text, embedding))
        self.collections[document_no] = collection
        self.next_epoch()

    def delete(self, document_no: int) -> None:
        """Removes a document's chunks."""
        for row in self.rows:
            if row.document_no == document_no:
                self.n_marks += 1
                self.deletions.append((self.n_marks, row.seq))
        self.rows = [row for row in self.rows if row.document_no != document_no]
        self.collections.pop(document_no, None)
        self.next_epoch()

    def register(
        self,
        record: SegmentRecord | None,
        *,
        instead_of: Sequence[SegmentRecord] = (),
        applied_mark: int = 0,
        applied_seqs: tuple[int, int] = (0, 1 << 62),
    ) -> None:
        """Registers a sealed segment, or a rewritten one in place of others; deletions that are in it are forgotten."""
        first, last = applied_seqs
        self.records = [other for other in self.records if other not in instead_of]
        if record is not None:
            self.records = sorted([*self.records, record], key=lambda each: each.first_seq)
        self.deletions = [
            (mark, seq) for mark, seq in self.deletions if mark > applied_mark or not first <= seq <= last
        ]
        self.next_epoch()

    def next_epoch(self) -> None:
        self.epoch += 1
        self.tokens[self.epoch] = f"t{next(_TOKENS)}"

    def feed(self) -> FakeIndexFeed:
        return FakeIndexFeed(
            self.generation,
            self.epoch,
            tuple(self.rows),
            tuple(self.records),
            tuple(self.deletions),
            dict(self.collections),
            dict(self.tokens),
            self.tokens[self.epoch],
        )


@dataclass
class FakeIndexFeed:
    """Implements ports.IndexFeed. A document's name is its number."""

    generation: int
    epoch: int
    all_rows: tuple[IndexRow, ...]
    records: tuple[SegmentRecord, ...] = ()
    deletions: tuple[tuple[int, int], ...] = ()
    collections: dict[int, str] = field(default_factory=dict)
    tokens: dict[int, str] = field(default_factory=dict)
    token: str = ""

    def knows(self, epoch: int, token: str) -> bool:
        return self.tokens.get(epoch) == token

    def segments(self) -> Sequence[SegmentRecord]:
        return self.records

    def rows(self, after_seq: int) -> Iterator[IndexRow]:
        return (row for row in self.all_rows if row.seq > after_seq)

    def deleted(self, after: int) -> tuple[NDArray[np.int64], int]:
        new = [(mark, seq) for mark, seq in self.deletions if mark > after]
        return np.array([seq for _, seq in new], np.int64), max((mark for mark, _ in new), default=after)

    def document_numbers(self, only: Filter) -> NDArray[np.int64]:
        admitted = [
            number
            for number, collection in self.collections.items()
            if (not only.collections or collection in only.collections)
            and (not only.documents or str(number) in only.documents)
        ]
        return np.array(sorted(admitted), np.int64)

    def n_chunks(self) -> int:
        return len(self.all_rows)

    def seqs(self) -> NDArray[np.int64]:
        return np.array([row.seq for row in self.all_rows], np.int64)

    def chunk_ids_of(self, seqs: Sequence[int]) -> dict[int, str]:
        wanted = set(seqs)
        return {row.seq: row.chunk_id for row in self.all_rows if row.seq in wanted}

    def embeddings_of(self, chunk_ids: Sequence[str]) -> dict[str, Embedding]:
        wanted = set(chunk_ids)
        return {row.chunk_id: row.embedding for row in self.all_rows if row.chunk_id in wanted}

    def first_chunk_ids(self, size: int) -> list[str]:
        return sorted(row.chunk_id for row in self.all_rows)[:size]


class FakeIndex:
    """Implements ports.Index without an index."""

    def view(self, feed: IndexFeed) -> FakeIndexView:
        return FakeIndexView(feed)


class FakeIndexView:
    """Implements ports.IndexView by looking at every chunk for every question."""

    def __init__(self, feed: IndexFeed) -> None:
        self.generation, self.epoch = feed.generation, feed.epoch
        self._rows = list(feed.rows(0))
        self._analyzed = [analyze_plain(row.text) for row in self._rows]
        self.n_chunks = len(self._rows)

    def dense(self, vector: Vector, cutoff: int, only: NDArray[np.int64] | None = None) -> list[tuple[str, float]]:
        return _best([(row.chunk_id, _dot(row.embedding.vector, vector)) for row in self._admitted(only)], cutoff)

    def bm25(self, terms: Sequence[str], cutoff: int, only: NDArray[np.int64] | None = None) -> list[tuple[str, float]]:
        mean = sum(len(counted) for counted, _ in self._analyzed) / max(1, self.n_chunks)
        frequencies = dict(zip(terms, self.document_frequency(terms), strict=True))
        admitted = {row.seq for row in self._admitted(only)}
        scored = []
        for row, (counted, extra) in zip(self._rows, self._analyzed, strict=True):
            held = Counter(counted + extra)
            norm = 1.2 * (0.25 + 0.75 * len(counted) / mean) if mean else 0.3
            score = math.fsum(
                math.log(1 + (self.n_chunks - frequencies[term] + 0.5) / (frequencies[term] + 0.5))
                * (held[term] * 2.2 / (held[term] + norm))
                for term in terms
            )
            if score > 0 and row.seq in admitted:
                scored.append((row.chunk_id, score))
        return _best(scored, cutoff)

    def cosine(self, vector: Vector, chunk_ids: Sequence[str]) -> list[float]:
        return [_dot(self._row(chunk_id).embedding.vector, vector) for chunk_id in chunk_ids]

    def tokens(self, chunk_ids: Sequence[str]) -> list[TokenCodes]:
        return [self._row(chunk_id).embedding.tokens for chunk_id in chunk_ids]

    def holds(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[tuple[bool, ...]]:
        held = [set(chain(*analyze_plain(self._row(chunk_id).text))) for chunk_id in chunk_ids]
        return [tuple(term in of_chunk for term in terms) for of_chunk in held]

    def document_frequency(self, terms: Sequence[str]) -> list[int]:
        return [sum(term in counted or term in extra for counted, extra in self._analyzed) for term in terms]

    def sample(self, size: int) -> list[str]:
        return sorted(row.chunk_id for row in self._rows)[: max(0, size)]

    def _admitted(self, only: NDArray[np.int64] | None) -> list[IndexRow]:
        return [row for row in self._rows if only is None or row.document_no in only.tolist()]

    def _row(self, chunk_id: str) -> IndexRow:
        for row in self._rows:
            if row.chunk_id == chunk_id:
                return row
        raise NotFoundError(f"chunk {chunk_id} is not in the index")


def _dot(one: Vector, other: Vector) -> float:
    return math.fsum(a * b for a, b in zip(one.tolist(), other.tolist(), strict=True))


def _best(scored: list[tuple[str, float]], cutoff: int) -> list[tuple[str, float]]:
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[: max(0, cutoff)]


def assert_same_hits(found: Sequence[tuple[str, float]], everything: Sequence[tuple[str, float]], cutoff: int) -> None:
    """Hits are the best `cutoff` of an oracle's full list, ordered by (-score, id), up to the last bits of a sum."""
    expected = dict(everything)
    assert len(found) == min(max(0, cutoff), len(everything))
    assert list(found) == sorted(found, key=lambda pair: (-pair[1], pair[0]))
    assert len(dict(found)) == len(found)
    for (chunk_id, score), (_, at_rank) in zip(found, everything, strict=False):
        assert abs(score - expected[chunk_id]) <= _TOLERANCE * max(1, abs(score))
        assert abs(score - at_rank) <= _TOLERANCE * max(1, abs(score))


def assert_same_answers(
    view: IndexView, oracle: IndexView, question: str, cutoff: int, only: NDArray[np.int64] | None
) -> None:
    """Both legs and all look-ups agree with the oracle's."""
    vector, terms = FakeEmbedder().embed([question])[0].vector, _TERM.findall(question.lower())
    everything = max(1, oracle.n_chunks)
    assert view.n_chunks == oracle.n_chunks
    near = oracle.dense(vector, everything, only)
    assert_same_hits(view.dense(vector, cutoff, only), near, cutoff)
    assert_same_hits(view.bm25(terms, cutoff, only), oracle.bm25(terms, everything, only), cutoff)
    assert view.document_frequency(terms) == oracle.document_frequency(terms)
    assert [view.sample(size) for size in (-1, 0, 3, everything)] == [oracle.sample(n) for n in (-1, 0, 3, everything)]
    ids = [chunk_id for chunk_id, _ in near]
    assert view.cosine(vector, ids) == [dict(view.dense(vector, everything, only))[chunk_id] for chunk_id in ids]
    assert view.holds([*terms, "zebra"], ids) == oracle.holds([*terms, "zebra"], ids)
    for ours, theirs in zip(view.tokens(ids), oracle.tokens(ids), strict=True):
        assert ours.signs.tobytes() == theirs.signs.tobytes()
        assert ours.scales.tobytes() == theirs.scales.tobytes()


TEXTS: tuple[str, ...] = (
    "restore the database from a backup",
    "restore the database from a backup",
    "backup backup backup of the ERR_CONN-17 database",
    "cats sleep on warm windows",
    "",
    "…!?",
    "the the the the",
    "यह एक हिन्दी वाक्य है।",
    "a warm database sleeps",
    "err conn 17 is not err_conn",
)
QUESTIONS: tuple[str, ...] = ("how to restore a database backup", "err_conn-17 err", "the", "", "zebra", "sleep sleep")
