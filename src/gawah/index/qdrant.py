"""The Qdrant index: a catalog's feed to a collection of points, and to views of it.

The catalog is the truth. Point 0 of a collection, its *state*, says what of the catalog is in it; who finds it behind
brings it up to date, a piece at a time, and writes the state after each. Points and states are written whole and their
values depend on the catalog alone, so a sync that was killed, or that two processes do at once, is only done twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from gawah.errors import StoreError
from gawah.index import qdrant_points as points
from gawah.index.build import AnalyzeDocument
from gawah.index.qdrant_requests import Connection
from gawah.index.qdrant_view import EXACT_UP_TO, Contents, QdrantView
from gawah.index.segment import remove_unregistered
from gawah.ports import IndexFeed, IndexRow, Rewritten, SegmentRecord

if TYPE_CHECKING:
    from qdrant_client.http import models as qdrant

FORMAT = 1  # of points and state; another number is another collection
_ROWS_A_PIECE = 256  # about 3 MB of JSON: a tenth of what a server takes at once
_IDS_A_REQUEST = 5000
_VIEWS_KEPT = 4
_THREADS = 8  # counts of terms under way at a time
_DEAD_AT_LEAST, _DEAD_SHARE = 1000, 0.2  # when dead points are removed
_DRIFT = 2.0  # times the reference length, either way: then so many candidates must be fetched that a new build pays


@dataclass(frozen=True, slots=True)
class State:
    """What a collection holds: the live chunks up to `last_seq` after the deletions up to `mark`, `n_chunks` of them.

    `epoch`, of this `token`, is the newest of which everything is in. `total_length` counts their terms; `reference_length`: qdrant_points.
    """

    epoch: int = -1
    last_seq: int = 0
    mark: int = 0
    n_chunks: int = 0
    total_length: int = 0
    reference_length: float = 0.0
    dimensions: int = 0
    token: str = ""


class QdrantIndex:
    """Implements ports.Index and upkeep.MaintainedIndex; safe to use from several threads.

    `name` tells this store's collections from those of others on the server. `directory` is the store's: segments that
    another index left there are removed when the store is compacted. `analyzer` names the version of `analyze_document`.
    """

    def __init__(
        self,
        connection: Connection,
        name: str,
        analyze_document: AnalyzeDocument,
        directory: Path,
        *,
        analyzer: str = "1",
        exact_up_to: int = EXACT_UP_TO,
    ) -> None:
        self._connection = connection
        self._prefix = f"{name}-g"
        self._analyze = analyze_document
        self._suffix = f"-a{analyzer}f{FORMAT}"
        self._segments = directory / "segments"
        self._exact_up_to = exact_up_to
        self._views: list[Contents] = []
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="qdrant")

    def close(self) -> None:
        self._pool.shutdown(wait=True)
        self._connection.close()

    def alias(self, generation: int) -> str:
        """The name that requests use for the collection of a generation."""
        return f"{self._prefix}{generation}{self._suffix}"

    # --- ports.Index

    def view(self, feed: IndexFeed) -> QdrantView:
        """The index at the feed's epoch, brought up to date before if need be. StoreError when the server fails."""
        with self._lock:
            for known in self._views:
                if (known.generation, known.epoch, known.token) == (feed.generation, feed.epoch, feed.token):
                    break
            else:
                known = self._contents(feed)
                self._views = [*self._views[1 - _VIEWS_KEPT :], known]
        return QdrantView(known, self._connection, feed, self._pool, exact_up_to=self._exact_up_to, failed=self._forget)

    def _forget(self) -> None:
        """After a failure the next question looks anew what is there: a server may come back without its collections."""
        with self._lock:
            self._views = []

    # --- upkeep.MaintainedIndex

    def rewrite(self, feed: IndexFeed, *, whole_tail: bool = False, everything: bool = False) -> Rewritten | None:
        """Does what is due; there is nothing to register, but another index's segments leave the register with `everything`."""
        del whole_tail  # every chunk is in the collection
        if everything and (names := tuple(record.name for record in feed.segments())):
            return Rewritten(names, None, 0, 0, 0)
        due = "compact" if everything else self.due(feed)
        if due == "compact":
            self.compact(feed)
        elif due == "seal":
            self.seal(feed)
        return None

    def due(self, feed: IndexFeed) -> Literal["seal", "compact"] | None:
        """`seal` where dead points should go, `compact` where the mean length has moved too far to search well."""
        contents = self.view(feed).contents
        if not contents.collection:
            return None
        if not 1 / _DRIFT <= contents.mean_length / max(contents.reference_length, 1.0) <= _DRIFT and contents.n_chunks:
            return "compact"
        n_dead = self._connection.count(contents.collection, _dead_up_to(contents.mark))
        return "seal" if n_dead > max(_DEAD_AT_LEAST, _DEAD_SHARE * contents.n_chunks) else None

    def seal(self, feed: IndexFeed) -> SegmentRecord | None:
        """Removes the points of chunks that are deleted; there is nothing to register.

        A question of another process that still reads an older epoch may miss them from then on.
        """
        contents = self.view(feed).contents
        if contents.collection:
            self._connection.delete(contents.collection, _dead_up_to(contents.mark))
        return None

    def compact(self, feed: IndexFeed) -> SegmentRecord | None:
        """Builds the collection again from the catalog, lets it take the old one's place, and drops the generation's others.

        The server keeps bytes of deleted points until its optimizer runs; it keeps none of a collection that is dropped.
        """
        with self._lock:
            self._built_anew(feed)
            self._views = []
        return None

    def _built_anew(self, feed: IndexFeed) -> None:
        alias = self.alias(feed.generation)
        _, collections = self._connection.names(self._prefix)
        built = ""
        if feed.n_chunks():
            built = f"{alias}.{uuid4().hex[:12]}"
            self._built(built, feed)
            self._connection.point_alias(alias, built)
        for other in collections:
            if other != built and self._is_of(other, feed.generation):
                self._connection.drop(other)

    def drop_generation(self, generation: int) -> None:
        """Removes what is there of a generation that the catalog has dropped."""
        with self._lock:
            _, collections = self._connection.names(self._prefix)
            for name in collections:
                if self._is_of(name, generation):
                    self._connection.drop(name)
            self._views = [view for view in self._views if view.generation != generation]

    def _is_of(self, collection: str, generation: int) -> bool:
        return collection.startswith(f"{self._prefix}{generation}-")

    def check(self, feed: IndexFeed) -> tuple[str, ...]:
        """Compares every point's number with the catalog's; one line a fault."""
        contents = self.view(feed).contents
        held = self._held(contents.collection) if contents.collection else {}
        seqs = set(feed.seqs().tolist())
        missing = len(seqs - held.keys())
        extra = sum(1 for seq in held.keys() - seqs if seq <= contents.last_seq)
        faults = [f"{missing} chunks are missing in the Qdrant collection"] if missing else []
        return (*faults, f"{extra} points of the Qdrant collection are of no chunk") if extra else tuple(faults)

    def repair(self, feed: IndexFeed) -> list[tuple[SegmentRecord, SegmentRecord | None]]:
        """Adds the points that are missing and removes those of no chunk; nothing is registered, so nothing is returned."""
        contents = self.view(feed).contents
        if contents.collection:
            with self._lock:
                self._views = []
                self._reconciled(contents.collection, feed, self._read_state(contents.collection) or State())
        return []

    def remove_unregistered(self, registered: Iterable[str]) -> tuple[str, ...]:
        """Removes collections that a broken-off build left, and segments on disk that are not registered; their names."""
        aliases, collections = self._connection.names(self._prefix)
        left = [name for name in collections if name not in aliases.values() and not name.endswith(".1")]
        for name in left:
            self._connection.drop(name)
        return (*left, *remove_unregistered(self._segments, registered))

    def drop(self) -> None:
        """Removes every collection of this store from the server; the next question builds what it needs."""
        with self._lock:
            _, collections = self._connection.names(self._prefix)
            for name in collections:
                self._connection.drop(name)
            self._views = []

    # --- bringing a collection up to date

    def _contents(self, feed: IndexFeed) -> Contents:
        alias = self.alias(feed.generation)
        n_chunks = feed.n_chunks()
        aliases, _ = self._connection.names(self._prefix)
        state = self._read_state(alias) if alias in aliases else None
        if state is not None and not self._is_of_this_past(alias, feed, state):
            self._built_anew(feed)
            state = self._read_state(alias) if n_chunks else None
        if state is None and not n_chunks:
            return Contents("", feed.generation, feed.epoch, 0, 0, 0, 0, 0.0, 0, feed.token)
        if state is None:
            self._built(f"{alias}.1", feed, until_alias=alias)
            state = self._read_state(alias) or State()
        if state.epoch < feed.epoch:
            state = self._applied(alias, feed, state)
        if state.epoch == feed.epoch and state.n_chunks != n_chunks:
            state = self._reconciled(alias, feed, state)
        last_seq, mark, total = state.last_seq, state.mark, state.total_length
        if state.epoch > feed.epoch:
            last_seq, mark, total = self._as_it_was(alias, feed, state)
        return Contents(
            alias,
            feed.generation,
            feed.epoch,
            last_seq,
            mark,
            n_chunks,
            total,
            state.reference_length,
            state.dimensions,
            feed.token,
        )

    def _is_of_this_past(self, collection: str, feed: IndexFeed, state: State) -> bool:
        """Whether this catalog came by what the collection holds: one that was restored reaches the same numbers again.

        A collection that is ahead is told by the newest chunk: under its number another catalog has another one.
        """
        if state.epoch < 0:
            return True  # its first build is not at its end
        if state.epoch <= feed.epoch:
            return feed.knows(state.epoch, state.token)
        seqs = feed.seqs()
        if not len(seqs):
            return True
        newest = int(seqs[-1])
        held = self._connection.retrieve(collection, [newest], [points.CHUNK]).get(newest)
        return held is None or held[points.CHUNK] == next(iter(feed.rows(newest - 1))).chunk_id

    def _built(self, collection: str, feed: IndexFeed, until_alias: str = "") -> State:
        """A collection with everything that lives; with `until_alias`, under that name as soon as it can be used."""
        first = next(iter(feed.rows(0)))
        self._connection.create(collection, len(first.embedding.vector))
        start = State(mark=feed.deleted(0)[1], dimensions=len(first.embedding.vector))
        self._write_first_state(collection, start)
        if until_alias:
            self._connection.point_alias(until_alias, collection)
        return self._applied(collection, feed, start)

    def _applied(self, collection: str, feed: IndexFeed, state: State) -> State:
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

    def _reconciled(self, collection: str, feed: IndexFeed, state: State) -> State:
        """The state of a collection whose points were compared with the catalog one by one, and made to agree.

        Needed where its deletions were forgotten meanwhile (another index had compacted the store), or points were lost.
        """
        from qdrant_client.http import models as qdrant

        held = self._held(collection)
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

    def _held(self, collection: str) -> dict[int, int]:
        """Lengths by seq of the points that are not marked dead."""
        found = self._connection.scroll(collection, None, [points.LENGTH, points.DEAD])
        return {
            seq: int(payload[points.LENGTH])
            for seq, payload in found
            if seq != points.STATE_POINT and points.DEAD not in payload
        }

    def _as_it_was(self, collection: str, feed: IndexFeed, state: State) -> tuple[int, int, int]:
        """(last seq, mark, total length) at the feed's epoch, in a collection that is ahead of it."""
        from qdrant_client.http import models as qdrant

        seqs = feed.seqs()
        last_seq = int(seqs[-1]) if len(seqs) else 0
        mark = feed.deleted(0)[1]
        newer = qdrant.Filter(must=[_range(points.SEQ, gt=last_seq)], must_not=[_range(points.DEAD, lte=state.mark)])
        since = qdrant.Filter(
            must=[_range(points.SEQ, lte=last_seq), _range(points.DEAD, gt=mark), _range(points.DEAD, lte=state.mark)]
        )
        too_many, gone = (
            [int(payload[points.LENGTH]) for _, payload in self._connection.scroll(collection, where, [points.LENGTH])]
            for where in (newer, since)
        )
        if state.n_chunks - len(too_many) + len(gone) != len(seqs):
            raise StoreError(f"the Qdrant collection {collection} does not hold epoch {feed.epoch} any more; ask again")
        return last_seq, mark, state.total_length - sum(too_many) + sum(gone)

    # --- the state point

    def _read_state(self, collection: str) -> State | None:
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
            must=[qdrant.HasIdCondition(has_id=[points.STATE_POINT]), _range(points.EPOCH, lte=epoch)]
        )
        self._connection.set_payload(collection, asdict(state), where)


def _pieces(rows: Iterator[IndexRow]) -> Iterator[list[IndexRow]]:
    while piece := list(islice(rows, _ROWS_A_PIECE)):
        yield piece


def _dead_up_to(mark: int) -> qdrant.Filter:
    from qdrant_client.http import models as qdrant

    return qdrant.Filter(must=[_range(points.DEAD, lte=mark)])


def _range(key: str, *, gt: int | None = None, lte: int | None = None) -> qdrant.FieldCondition:
    from qdrant_client.http import models as qdrant

    return qdrant.FieldCondition(key=key, range=qdrant.Range(gt=gt, lte=lte))
