"""The Qdrant index: a catalog's feed to a collection of points, and to views of it.

The catalog is the truth. Point 0 of a collection, its *state*, says what of the catalog is in it; who finds it behind
brings it up to date, a piece at a time, and writes the state after each (qdrant_sync).
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Literal
from uuid import uuid4

from gawah.index import qdrant_points as points
from gawah.index.build import AnalyzeDocument
from gawah.index.folders import remove_unregistered
from gawah.index.qdrant_requests import Connection
from gawah.index.qdrant_sync import State, Sync, dead_up_to
from gawah.index.qdrant_view import EXACT_UP_TO, Contents, QdrantView
from gawah.ports import IndexFeed, Rewritten, SegmentRecord

FORMAT = 1  # of points and state; another number is another collection
_VIEWS_KEPT = 4
_THREADS = 8  # counts of terms under way at a time
_DEAD_AT_LEAST, _DEAD_SHARE = 1000, 0.2  # when dead points are removed
_DRIFT = 2.0  # times the reference length, either way: then so many candidates must be fetched that a new build pays


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
        self._sync = Sync(connection, analyze_document)
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
        n_dead = self._connection.count(contents.collection, dead_up_to(contents.mark))
        return "seal" if n_dead > max(_DEAD_AT_LEAST, _DEAD_SHARE * contents.n_chunks) else None

    def seal(self, feed: IndexFeed) -> SegmentRecord | None:
        """Removes the points of chunks that are deleted; there is nothing to register.

        A question of another process that still reads an older epoch may miss them from then on.
        """
        contents = self.view(feed).contents
        if contents.collection:
            self._connection.delete(contents.collection, dead_up_to(contents.mark))
        return None

    def compact(self, feed: IndexFeed) -> SegmentRecord | None:
        """Builds the collection again from the catalog, lets it take the old one's place, and drops the generation's others.

        The server keeps bytes of deleted points until its optimizer runs; it keeps none of a collection that is dropped.
        """
        mean_length = self.view(feed).contents.mean_length
        with self._lock:
            self._built_anew(feed, max(1.0, mean_length))
            self._views = []
        return None

    def _built_anew(self, feed: IndexFeed, reference_length: float = 0.0) -> None:
        alias = self.alias(feed.generation)
        _, collections = self._connection.names(self._prefix)
        built = ""
        if feed.n_chunks():
            built = f"{alias}.{uuid4().hex[:12]}"
            self._sync.built(built, feed, reference_length=reference_length)
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
        held = self._sync.held_lengths(contents.collection) if contents.collection else {}
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
                self._sync.reconciled(contents.collection, feed, self._sync.read_state(contents.collection) or State())
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

    # --- what a view is made of

    def _contents(self, feed: IndexFeed) -> Contents:
        alias = self.alias(feed.generation)
        n_chunks = feed.n_chunks()
        aliases, _ = self._connection.names(self._prefix)
        state = self._sync.read_state(alias) if alias in aliases else None
        if state is not None and not self._is_of_this_past(alias, feed, state):
            self._built_anew(feed)
            state = self._sync.read_state(alias) if n_chunks else None
        if state is None and not n_chunks:
            return Contents("", feed.generation, feed.epoch, 0, 0, 0, 0, 0.0, 0, feed.token)
        if state is None:
            self._sync.built(f"{alias}.1", feed, until_alias=alias)
            state = self._sync.read_state(alias) or State()
        if state.epoch < feed.epoch:
            state = self._sync.applied(alias, feed, state)
        if state.epoch == feed.epoch and state.n_chunks != n_chunks:
            state = self._sync.reconciled(alias, feed, state)
        last_seq, mark, total = state.last_seq, state.mark, state.total_length
        if state.epoch > feed.epoch:
            last_seq, mark, total = self._sync.as_it_was(alias, feed, state)
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
