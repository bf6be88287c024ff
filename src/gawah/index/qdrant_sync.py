"""A catalog's feed to the points of a collection, and to its state: what of the catalog is in it.

Points and states are written whole and their values depend on the catalog alone, so a sync that was killed, or that two
processes do at once, is only done twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gawah.errors import StoreError
from gawah.index import qdrant_points as points
from gawah.index.build import AnalyzeDocument
from gawah.index.qdrant_requests import Connection
from gawah.ports import IndexFeed, IndexRow

if TYPE_CHECKING:
    from qdrant_client.http import models as qdrant

_ROWS_A_PIECE = 256  # about 3 MB of JSON: a tenth of what a server takes at once
_IDS_A_REQUEST = 5000


@dataclass(frozen=True, slots=True)
class State:
    """What a collection holds: the live chunks up to `last_seq` after the deletions up to `mark`, `n_chunks` of them.

    `epoch`, of this `token`, is the newest of which everything is in. `total_length` counts their terms;
    `reference_length`: see qdrant_points.
    """

    epoch: int = -1
    last_seq: int = 0
    mark: int = 0
    n_chunks: int = 0
    total_length: int = 0
    reference_length: float = 0.0
    dimensions: int = 0
    token: str = ""


class Sync:
    """What brings a collection up to date, over one connection. All of it may be done again, by anyone."""

    def __init__(self, connection: Connection, analyze_document: AnalyzeDocument) -> None:
        self._connection = connection
        self._analyze = analyze_document

    def built(self, collection: str, feed: IndexFeed, *, until_alias: str = "", reference_length: float = 0.0) -> State:
        """A collection with everything that lives; with `until_alias`, under that name as soon as it can be used.

        Without a reference length, the mean of the first chunks is one.
        """
        first = next(iter(feed.rows(0)))
        self._connection.create(collection, len(first.embedding.vector))
        start = State(
            mark=feed.deleted(0)[1], dimensions=len(first.embedding.vector), reference_length=reference_length
        )
        self._write_first_state(collection, start)
        if until_alias:
            self._connection.point_alias(until_alias, collection)
        return self.applied(collection, feed, start)

    def applied(self, collection: str, feed: IndexFeed, state: State) -> State:
        """The collection at the feed's epoch: what was deleted since its state marked dead, what is new added."""
        gone, mark = feed.deleted(state.mark)
        if len(gone):
            lengths = self._mark_dead(collection, gone, mark, state)
            state = replace(
                state,
                mark=mark,
                n_chunks=state.n_chunks - len(lengths),
                total_length=state.total_length - sum(lengths),
            )
            self._write_state(collection, state, feed.epoch)
        for piece in _pieces(feed.rows(state.last_seq)):
            state = self._added(collection, piece, state)
            self._write_state(collection, state, feed.epoch)
        state = replace(state, epoch=feed.epoch, token=feed.token)
        self._write_state(collection, state, feed.epoch)
        return state

    def _mark_dead(self, collection: str, gone: NDArray[np.int64], mark: int, state: State) -> list[int]:
        """Marks deleted chunks' points dead; returns the lengths of those that the state counts among the living."""
        from qdrant_client.http import models as qdrant

        counted = gone[gone <= state.last_seq].tolist()
        payloads = self._connection.retrieve(collection, counted, [points.LENGTH])
        for start in range(0, len(gone), _IDS_A_REQUEST):
            ids = gone[start : start + _IDS_A_REQUEST].tolist()
            where = qdrant.Filter(must=[qdrant.HasIdCondition(has_id=ids)])
            self._connection.set_payload(collection, {points.DEAD: mark}, where)
        return [int(payload[points.LENGTH]) for payload in payloads.values()]

    def _added(self, collection: str, rows: list[IndexRow], state: State) -> State:
        """The state after these rows, which are in the collection then."""
        from qdrant_client.http import models as qdrant

        reference = state.reference_length
        if not reference:
            reference = max(1.0, sum(len(self._analyze(row.text)[0]) for row in rows) / len(rows))
        terms = [points.term_point(row.text, self._analyze, reference) for row in rows]
        batch = qdrant.Batch(
            ids=[row.seq for row in rows],
            vectors={
                points.DENSE: [points.checked_vector(row, state.dimensions) for row in rows],
                points.TERMS: [qdrant.SparseVector(indices=each.indices, values=each.values) for each in terms],
            },
            payloads=[points.payload_of(row, each) for row, each in zip(rows, terms, strict=True)],
        )
        self._connection.upsert(collection, batch)
        return replace(
            state,
            last_seq=max(state.last_seq, rows[-1].seq),
            n_chunks=state.n_chunks + len(rows),
            total_length=state.total_length + sum(each.length for each in terms),
            reference_length=reference,
        )

    def reconciled(self, collection: str, feed: IndexFeed, state: State) -> State:
        """The state of a collection whose points were compared with the catalog one by one, and made to agree.

        Needed where its deletions were forgotten meanwhile (another index had compacted the store), or points were lost.
        """
        from qdrant_client.http import models as qdrant

        held = self.held_lengths(collection)
        seqs = feed.seqs()
        last_seq = int(seqs[-1]) if len(seqs) else 0
        living = set(seqs.tolist())
        extra = [seq for seq in held if seq not in living]
        for start in range(0, len(extra), _IDS_A_REQUEST):
            ids = extra[start : start + _IDS_A_REQUEST]
            self._connection.delete(collection, qdrant.Filter(must=[qdrant.HasIdCondition(has_id=list(ids))]))
        kept = [seq for seq in held if seq in living]
        state = replace(
            state,
            mark=feed.deleted(state.mark)[1],
            last_seq=last_seq,
            n_chunks=len(kept),
            total_length=sum(held[seq] for seq in kept),
        )
        missing = living - held.keys()
        if missing:
            rows = (row for row in feed.rows(min(missing) - 1) if row.seq in missing)
            for piece in _pieces(rows):
                state = self._added(collection, piece, state)
        state = replace(state, epoch=feed.epoch, token=feed.token)
        self._write_state(collection, state, feed.epoch)
        return state

    def held_lengths(self, collection: str) -> dict[int, int]:
        """Lengths by seq of the points that are not marked dead."""
        found = self._connection.scroll(collection, None, [points.LENGTH, points.DEAD])
        return {
            seq: int(payload[points.LENGTH])
            for seq, payload in found
            if seq != points.STATE_POINT and points.DEAD not in payload
        }

    def as_it_was(self, collection: str, feed: IndexFeed, state: State) -> tuple[int, int, int]:
        """(last seq, mark, total length) at the feed's epoch, in a collection that is ahead of it."""
        from qdrant_client.http import models as qdrant

        seqs = feed.seqs()
        last_seq = int(seqs[-1]) if len(seqs) else 0
        mark = feed.deleted(0)[1]
        newer = qdrant.Filter(must=[between(points.SEQ, gt=last_seq)], must_not=[between(points.DEAD, lte=state.mark)])
        since = qdrant.Filter(
            must=[
                between(points.SEQ, lte=last_seq),
                between(points.DEAD, gt=mark),
                between(points.DEAD, lte=state.mark),
            ]
        )
        too_many, gone = (
            [int(payload[points.LENGTH]) for _, payload in self._connection.scroll(collection, where, [points.LENGTH])]
            for where in (newer, since)
        )
        if state.n_chunks - len(too_many) + len(gone) != len(seqs):
            raise StoreError(f"the Qdrant collection {collection} does not hold epoch {feed.epoch} any more; ask again")
        return last_seq, mark, state.total_length - sum(too_many) + sum(gone)

    def read_state(self, collection: str) -> State | None:
        payload = self._connection.retrieve(collection, [points.STATE_POINT], list(asdict(State()))).get(0)
        return State(**payload) if payload else None

    def _write_first_state(self, collection: str, state: State) -> None:
        from qdrant_client.http import models as qdrant

        point = qdrant.PointStruct(id=points.STATE_POINT, vector={}, payload=asdict(state))
        self._connection.upsert(collection, [point])

    def _write_state(self, collection: str, state: State, epoch: int) -> None:
        """Writes the state unless the collection is at a newer epoch already: who was slow must not take it back."""
        from qdrant_client.http import models as qdrant

        where = qdrant.Filter(
            must=[qdrant.HasIdCondition(has_id=[points.STATE_POINT]), between(points.EPOCH, lte=epoch)]
        )
        self._connection.set_payload(collection, asdict(state), where)


def _pieces(rows: Iterator[IndexRow]) -> Iterator[list[IndexRow]]:
    while piece := list(islice(rows, _ROWS_A_PIECE)):
        yield piece


def dead_up_to(mark: int) -> qdrant.Filter:
    from qdrant_client.http import models as qdrant

    return qdrant.Filter(must=[between(points.DEAD, lte=mark)])


def between(key: str, *, gt: int | None = None, lte: int | None = None) -> qdrant.FieldCondition:
    from qdrant_client.http import models as qdrant

    return qdrant.FieldCondition(key=key, range=qdrant.Range(gt=gt, lte=lte))
