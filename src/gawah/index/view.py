"""Portions at one epoch to answers of both legs: an immutable view that any number of threads may read.

N, document frequencies and the mean length are summed over all live chunks whatever a filter admits, so a chunk's score
does not depend on how the index is laid out, nor on who asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gawah.errors import NotFoundError, StampMismatchError
from gawah.fingerprint import sha256_parts
from gawah.index import bm25, nearest
from gawah.index.build import Portion
from gawah.index.part import encode, term_hash
from gawah.index.scored import PostingLists, Postings, best_rows, positions
from gawah.ports import SegmentRecord, TokenCodes, Vector

_TERMS_KEPT = 10_000  # of questions; a view lives until the next commit but three


class _Found(NamedTuple):
    """How many live chunks hold a term, and its postings in each portion."""

    n_holding: int
    by_portion: list[Postings]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a view is made of: the registered segments' portions and, after them in order of seq, the tail's.

    `segments` has no entry for a record of which nothing lives. `faults` says of a segment that could not be read why;
    its chunks were taken from the catalog instead: results are the same, starting is slower. `last_seq` is the largest
    seq seen, `mark` the last deletion applied.
    """

    records: tuple[SegmentRecord, ...]
    segments: Mapping[SegmentRecord, Portion]
    tail: tuple[Portion, ...]
    last_seq: int
    mark: int
    faults: Mapping[SegmentRecord, str]


class LocalView:
    """Implements ports.IndexView. Above `prefilter_above` admitted chunks the dense leg looks at sign bits first."""

    def __init__(
        self,
        generation: int,
        epoch: int,
        contents: Contents,
        *,
        token: str,
        prefilter_above: int | None,
        pool: nearest.Pool | None = None,
    ) -> None:
        self.generation = generation
        self.epoch = epoch
        self.token = token
        self.contents = contents
        portions = (*contents.segments.values(), *contents.tail)
        self.n_chunks = sum(portion.n_live for portion in portions)
        self.n_tail = sum(portion.n_live for portion in contents.tail)
        self.n_deleted = sum(portion.part.n_chunks - portion.n_live for portion in contents.segments.values())
        self._prefilter_above = prefilter_above
        self._pool = pool
        self._found: dict[str, _Found] = {}
        self._portions = tuple(portion for portion in portions if portion.n_live)
        self._parts = tuple(portion.part for portion in self._portions)

    @property
    def degraded(self) -> tuple[str, ...]:
        """A line for each segment that had to be built from the catalog."""
        return tuple(self.contents.faults.values())

    # --- the legs

    def dense(self, vector: Vector, cutoff: int, only: NDArray[np.int64] | None = None) -> list[tuple[str, float]]:
        """(chunk id, cosine similarity), by (-score, chunk id), among the documents whose sorted numbers are `only`."""
        query = self._query(vector)
        masks = [portion.admitted(only) for portion in self._portions]
        n_admitted = [
            portion.part.n_chunks if mask is None else int(np.count_nonzero(mask))
            for portion, mask in zip(self._portions, masks, strict=True)
        ]
        if cutoff < 1 or not sum(n_admitted):
            return []
        rows: list[NDArray[np.int64] | None] = [None] * len(self._parts)
        asked = [
            (at, nearest.later(self._pool, nearest.rows_by_graph, portion.graph, mask, n, query, cutoff))
            for at, (portion, mask, n) in enumerate(zip(self._portions, masks, n_admitted, strict=True))
            if portion.graph is not None and nearest.suits_graph(portion.part, n, cutoff)
        ]
        by_graph = {at for at, _ in asked}
        self._look_at([at for at in range(len(rows)) if at not in by_graph], rows, masks, n_admitted, query, cutoff)
        for at, answer in asked:
            rows[at] = answer()
        self._look_at([at for at, found in enumerate(rows) if found is None], rows, masks, n_admitted, query, cutoff)
        near = nearest.refined(self._parts, [some for some in rows if some is not None], query, cutoff)
        scores = [nearest.exact_dots(part.vectors, some, query) for part, some in zip(self._parts, near, strict=True)]
        return self._ranked(near, scores, cutoff)

    def _look_at(
        self,
        which: Sequence[int],
        rows: list[NDArray[np.int64] | None],
        masks: Sequence[nearest.Mask],
        n_admitted: Sequence[int],
        query: NDArray[np.float64],
        cutoff: int,
    ) -> None:
        """Fills in the rows of some portions that may be the nearest: all admitted ones, or those sign bits name."""
        parts, admitted = [self._parts[at] for at in which], [masks[at] for at in which]
        if self._prefilter_above is not None and sum(n_admitted[at] for at in which) > self._prefilter_above:
            found = nearest.rows_by_bits(parts, admitted, query, cutoff, self._pool)
        else:
            found = [nearest.every_row(part, mask) for part, mask in zip(parts, admitted, strict=True)]
        for at, some in zip(which, found, strict=True):
            rows[at] = some

    def bm25(self, terms: Sequence[str], cutoff: int, only: NDArray[np.int64] | None = None) -> list[tuple[str, float]]:
        """(chunk id, BM25 score > 0), by (-score, chunk id); a term that is given twice counts twice."""
        if cutoff < 1:
            return []
        weights, postings = self._weighted_postings(terms)
        lists = [
            PostingLists(portion.part.lengths, portion.admitted(only), postings[number])
            for number, portion in enumerate(self._portions)
        ]
        rows, scores = best_rows(lists, weights, self._mean_length, cutoff)
        return self._ranked(rows, scores, cutoff)

    # --- of given chunks

    def cosine(self, vector: Vector, chunk_ids: Sequence[str]) -> list[float]:
        """Cosine similarity of given chunks, to the bit as `dense` gives it; NotFoundError for one that is not here."""
        query = self._query(vector)
        numbers, rows = self._places(chunk_ids)
        result = np.empty(len(chunk_ids))
        for number, part in enumerate(self._parts):
            here = numbers == number
            result[here] = nearest.exact_dots(part.vectors, rows[here], query)
        return [float(score) for score in result]

    def tokens(self, chunk_ids: Sequence[str]) -> list[TokenCodes]:
        """Token codes of given chunks; NotFoundError for one that is not here."""
        numbers, rows = self._places(chunk_ids)
        return [self._parts[number].tokens(row) for number, row in zip(numbers.tolist(), rows.tolist(), strict=True)]

    def holds(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[tuple[bool, ...]]:
        """Per given chunk which of the terms it holds; NotFoundError for one that is not here."""
        numbers, rows = self._places(chunk_ids)
        held = np.zeros((len(chunk_ids), len(terms)), np.bool_)
        for column, term in enumerate(terms):
            found = self._postings(term).by_portion
            for number in range(len(self._parts)):
                here = np.flatnonzero(numbers == number)
                if len(here):
                    held[here, column] = positions(found[number][0], rows[here])[1]
        return [tuple(of_chunk) for of_chunk in held.tolist()]

    def document_frequency(self, terms: Sequence[str]) -> list[int]:
        """How many live chunks hold each term."""
        return [self._postings(term).n_holding for term in terms]

    def sample(self, size: int) -> list[str]:
        """The first `size` live chunk ids in order: a draw at random, for ids are hashes."""
        firsts: list[bytes] = []
        for portion in self._portions:
            firsts += portion.part.chunk_ids[_first_live(portion, max(0, size))].tolist()
        return [chunk_id.decode() for chunk_id in sorted(firsts)[: max(0, size)]]

    def fingerprint(self) -> str:
        """SHA-256 over (chunk id, vector, token codes) of the live chunks by id: the same in any layout of segments."""
        return self._fingerprint

    # --- private

    @cached_property
    def _fingerprint(self) -> str:
        return sha256_parts(chain.from_iterable(self._contents()))

    def _contents(self) -> Iterator[tuple[bytes, ...]]:
        if not self._parts:
            return
        rows = [portion.live_rows() for portion in self._portions]
        ids = np.concatenate([part.chunk_ids[some] for part, some in zip(self._parts, rows, strict=True)])
        numbers = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        together = np.concatenate(rows)
        for at in np.argsort(ids, kind="stable"):
            part, row = self._parts[numbers[at]], int(together[at])
            codes = part.tokens(row)
            yield bytes(ids[at]), part.vectors[row].tobytes(), codes.signs.tobytes(), codes.scales.tobytes()

    @cached_property
    def _mean_length(self) -> float:
        total = sum(portion.total_length for portion in self._portions)
        return total / self.n_chunks if self.n_chunks else 0.0

    def _query(self, vector: Vector) -> NDArray[np.float64]:
        """The vector in float64; it must be finite and as wide as the index, if there is anything in it."""
        query = np.asarray(vector, np.float64)
        if query.ndim != 1 or not np.isfinite(query).all():
            raise ValueError(f"a query vector must be finite numbers in one row, not an array of shape {query.shape}")
        if self._parts and self._parts[0].dimensions != query.size:
            raise StampMismatchError(
                f"a query vector of {query.size} dimensions in an index of {self._parts[0].dimensions}: "
                "they come from different models; name the model the index was built with"
            )
        return query

    def _weighted_postings(self, terms: Sequence[str]) -> tuple[list[float], list[list[Postings]]]:
        """The weight of each different term that some chunk holds, in the order of asking, and per portion their postings."""
        weights = []
        by_portion: list[list[Postings]] = [[] for _ in self._parts]
        for term, n_times in Counter(terms).items():
            found = self._postings(term)
            if found.n_holding:
                weights.append(n_times * bm25.idf(self.n_chunks, found.n_holding))
                for held, postings in zip(by_portion, found.by_portion, strict=True):
                    held.append(postings)
        return weights, by_portion

    def _postings(self, term: str) -> _Found:
        """A term's postings, kept: every stage of a query asks for them."""
        found = self._found.get(term)
        if found is None:
            encoded = encode(term)
            hashed = term_hash(encoded)
            by_portion = [part.postings(encoded, hashed) for part in self._parts]
            n_holding = sum(
                len(held) if portion.live is None else int(np.count_nonzero(portion.live[held]))
                for portion, (held, _) in zip(self._portions, by_portion, strict=True)
            )
            found = _Found(n_holding, by_portion)
            if len(self._found) < _TERMS_KEPT:
                self._found[term] = found
        return found

    def _places(self, chunk_ids: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(portion numbers, rows) of live chunks. A deleted chunk and a live one may share an id: only one lives."""
        wanted = np.array([encode(chunk_id) for chunk_id in chunk_ids], np.bytes_)
        numbers, rows = np.full(len(wanted), -1, np.int64), np.zeros(len(wanted), np.int64)
        for number, portion in enumerate(self._portions):
            found = portion.part.rows_of(wanted)
            here = found >= 0
            if portion.live is not None:
                here[here] = portion.live[found[here]]
            numbers[here], rows[here] = number, found[here]
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            raise NotFoundError(
                f"chunk {chunk_ids[missing[0]]} is not in the index at epoch {self.epoch}; search again"
            )
        return numbers, rows

    def _ranked(
        self, rows: Sequence[NDArray[np.int64]], scores: Sequence[NDArray[np.float64]], cutoff: int
    ) -> list[tuple[str, float]]:
        """The best `cutoff` of the given rows of each part, by (-score, chunk id)."""
        if not rows:
            return []
        ids = np.concatenate([part.chunk_ids[some] for part, some in zip(self._parts, rows, strict=True)])
        together = np.concatenate(scores)
        order = np.lexsort((ids, -together))[:cutoff]
        return [
            (chunk_id.decode(), score)
            for chunk_id, score in zip(ids[order].tolist(), together[order].tolist(), strict=True)
        ]


def _first_live(portion: Portion, size: int) -> NDArray[np.int32]:
    """Up to `size` live rows in order of their ids, without looking at all of them."""
    order = portion.part.id_order
    if portion.live is None:
        return order[:size]
    looked_at = size
    while True:
        some = order[:looked_at]
        live = some[portion.live[some]]
        if len(live) >= size or looked_at >= len(order):
            return live[:size]
        looked_at = 2 * looked_at + 16
