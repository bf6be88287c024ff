"""The local index: a catalog's feed to an immutable view, from segments on disk and an in-memory tail.

The catalog is the truth. Whatever is missing or damaged here is built again from the feed's rows; nothing is registered
here: `rewrite` writes files and says what they stand for, the caller puts that into the catalog in a transaction.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from threading import Lock

import numpy as np

from gawah.errors import StoreCorruptError
from gawah.index import copies
from gawah.index.build import AnalyzeDocument, Portion, build_part, whole
from gawah.index.folders import remove_unregistered, temporary_folder
from gawah.index.graph import require_usearch
from gawah.index.merge import joined, merge
from gawah.index.nearest import Pool
from gawah.index.policy import due_run, should_seal
from gawah.index.segment import (
    check_segment,
    open_graph,
    open_segment,
    write_segment,
)
from gawah.index.view import Contents, LocalView
from gawah.ports import IndexFeed, IndexRow, Rewritten, SegmentRecord

PREFILTER_ABOVE = 20_000  # chunks: an exact scan takes 3 ms there
GRAPH_FROM = 50_000  # chunks of a segment: under it sign bits find the neighbours in a millisecond
_VIEWS_KEPT, _ROWS_A_PIECE = 4, 8192  # views: the newest, and those that queries under way may still ask for


class LocalIndex:
    """Implements ports.Index over a directory of segments; safe to use from several threads.

    `analyze_document` gives of an embedded text (terms that count to its length, identifier terms that do not);
    `analyzer` names its version: segments that another one built are not used. `prefilter_above` is the number of
    admitted chunks from which the dense leg looks at sign bits first; None for always exact. `graph_from`: from how many
    chunks on a segment gets a graph of neighbours, which the dense leg then asks (needs usearch, or ConfigurationError).
    `keeps_copies`: other machines register segments too, and what is absent here is built and kept (copies.py).
    """

    def __init__(
        self,
        directory: Path,
        analyze_document: AnalyzeDocument,
        *,
        analyzer: str = "1",
        prefilter_above: int | None = PREFILTER_ABOVE,
        graph_from: int | None = None,
        keeps_copies: bool = False,
    ) -> None:
        if graph_from is not None:
            require_usearch()
        self._segments = directory / "segments"
        self._analyze = analyze_document
        self._analyzer = analyzer
        self._prefilter_above = prefilter_above
        self._graph_from = graph_from
        self._n_threads = len(os.sched_getaffinity(0))
        self._pool = Pool(self._n_threads)
        self._keeps_copies = keeps_copies
        self._copies = copies.Copies(self._segments, analyzer, graph_from=graph_from, n_threads=self._n_threads)
        self._views: list[LocalView] = []
        self._lock = Lock()

    def view(self, feed: IndexFeed) -> LocalView:
        """The index at the feed's epoch: the view made before, or one made from the nearest older one."""
        with self._lock:
            ours = [view for view in self._views if view.generation == feed.generation and _is_past(view, feed)]
            base = max(ours, key=lambda view: view.epoch, default=None)
            if base is not None and base.epoch == feed.epoch:
                return base
            made = self._refreshed(base, feed)
            self._views = [*self._views[1 - _VIEWS_KEPT :], made]
            return made

    def rewrite(self, feed: IndexFeed, *, whole_tail: bool = False, everything: bool = False) -> Rewritten | None:
        """Writes what is most due: a damaged segment, neighbours that have become many, the tail; None when nothing is.

        `whole_tail`: every chunk gets into a file; `everything`: and no file keeps a deleted one. Segments are read in
        full against their hashes first: what is damaged comes from the catalog instead.
        """
        contents = self.view(feed).contents
        run = self._due(contents, everything=everything)
        if run is not None:
            return self._rewritten(feed, contents, run)
        n_tail = sum(portion.n_live for portion in contents.tail)
        return self._sealed(feed, contents) if should_seal(n_tail) or (n_tail and (everything or whole_tail)) else None

    def seal(self, feed: IndexFeed) -> SegmentRecord | None:
        """Writes the tail as a segment, to be registered beside the others; None when no chunk is in it."""
        return sealed.new if (sealed := self._sealed(feed, self.view(feed).contents)) else None

    def compact(self, feed: IndexFeed) -> SegmentRecord | None:
        """Writes every live chunk as one segment, to be registered in place of all others; None when none lives."""
        contents = self.view(feed).contents
        tail = [portion for portion in contents.tail if portion.n_live]
        return self._written(feed, [*self._sound(feed, contents, contents.records), *tail])

    def check(self, feed: IndexFeed) -> tuple[str, ...]:
        """Reads every registered segment against its hashes; one line a fault."""
        return tuple(fault for record in feed.segments() for fault in self._faults_of(record))

    def _is_elsewhere(self, record: SegmentRecord) -> bool:
        return self._keeps_copies and self._copies.stand_in_for(record)

    def _faults_of(self, record: SegmentRecord) -> tuple[str, ...]:
        if self._is_elsewhere(record):
            return self._copies.faults_of(record)
        return check_segment(self._segments, record)

    def repair(self, feed: IndexFeed) -> list[tuple[SegmentRecord, SegmentRecord | None]]:
        """Writes anew, out of the catalog, every segment that is not what was written; (old, new) records to register.

        None in the place of a segment of which nothing lives.
        """
        with self._lock:
            self._views = []  # they may have the damaged files mapped
            repaired: list[tuple[SegmentRecord, SegmentRecord | None]] = []
            for record in feed.segments():
                if not self._faults_of(record):
                    continue
                if self._is_elsewhere(record):
                    self._copies.drop(record)  # the next view makes it anew
                    continue
                with self._pieces_of(feed, record) as portions:
                    repaired.append((record, self._written(feed, portions)))
            return repaired

    def remove_unregistered(self, registered: Iterable[str]) -> tuple[str, ...]:
        """Removes segments that the catalog does not know, of no generation, and what crashes left; returns their names."""
        kept = [*registered, copies.FOLDER]
        self._copies.remove_others(kept)
        return remove_unregistered(self._segments, kept)

    def drop_generation(self, generation: int) -> None:
        """Its files go as unregistered ones."""
        with self._lock:
            self._views = [view for view in self._views if view.generation != generation]

    def _due(self, contents: Contents, *, everything: bool) -> range | None:
        """Which of the registered segments are to be rewritten as one."""
        portions = [contents.segments.get(record) for record in contents.records]
        sizes = [
            (portion.n_live, record.n_chunks - portion.n_live) if portion else (0, record.n_chunks)
            for record, portion in zip(contents.records, portions, strict=True)
        ]
        for at, (record, portion) in enumerate(zip(contents.records, portions, strict=True)):
            n_live, n_dead = sizes[at]
            wants_graph = self._graph_from is not None and n_live >= self._graph_from
            lacks_graph = wants_graph and portion and not portion.graph and not self._is_elsewhere(record)
            if record in contents.faults or lacks_graph or (everything and n_dead):
                return range(at, at + 1)
        return due_run(sizes)

    def _rewritten(self, feed: IndexFeed, contents: Contents, run: range) -> Rewritten:
        old = contents.records[run.start : run.stop]
        first_seq = contents.records[run.start - 1].last_seq + 1 if run.start else 0
        new = self._written(feed, self._sound(feed, contents, old))
        return Rewritten(tuple(record.name for record in old), new, contents.mark, first_seq, old[-1].last_seq)

    def _sealed(self, feed: IndexFeed, contents: Contents) -> Rewritten | None:
        new = self._written(feed, [portion for portion in contents.tail if portion.n_live])
        first_seq = contents.records[-1].last_seq + 1 if contents.records else 0
        return Rewritten((), new, contents.mark, first_seq, new.last_seq) if new else None

    def _sound(self, feed: IndexFeed, contents: Contents, records: Sequence[SegmentRecord]) -> list[Portion]:
        """What lives of segments; from the catalog where the file is not what was written."""
        sound = []
        for record in records:
            portion = contents.segments.get(record)
            if portion is None or not portion.n_live:
                continue
            damaged = record in contents.faults
            if not damaged and self._faults_of(record):
                damaged, portion = True, self._from_rows(feed, record)
            if damaged:
                with self._lock:
                    self._views = []  # they know the record by the damaged file; a new one may have its name
            if portion:
                sound.append(portion)
        return sound

    def _written(self, feed: IndexFeed, portions: Sequence[Portion]) -> SegmentRecord | None:
        if not portions:
            return None
        return write_segment(
            self._segments,
            portions,
            feed.generation,
            self._analyzer,
            graph_from=self._graph_from,
            n_threads=self._n_threads,
        )

    def _refreshed(self, base: LocalView | None, feed: IndexFeed) -> LocalView:
        records = tuple(feed.segments())
        if base is not None and base.contents.records == records:
            before = base.contents
        else:
            segments, faults = self._opened(records, feed)
            last_seq = max((record.last_seq for record in records), default=0)
            # from mark 0: a compaction may have applied some deletions and forgotten them, but not all
            before = Contents(records, segments, tail=(), last_seq=last_seq, mark=0, faults=faults)
        gone, mark = feed.deleted(before.mark)
        gone = np.sort(gone)
        new = list(self._portions(feed.rows(before.last_seq)))
        contents = replace(
            before,
            segments={record: portion.without(gone) for record, portion in before.segments.items()},
            tail=joined([portion.without(gone) for portion in before.tail], new),
            last_seq=int(new[-1].part.seqs[-1]) if new else before.last_seq,
            mark=mark,
        )
        return LocalView(
            feed.generation,
            feed.epoch,
            contents,
            token=feed.token,
            prefilter_above=self._prefilter_above,
            pool=self._pool,
        )

    def _opened(
        self, records: Sequence[SegmentRecord], feed: IndexFeed
    ) -> tuple[dict[SegmentRecord, Portion], dict[SegmentRecord, str]]:
        """The portion of each record, nothing deleted yet, and why one does not come from its files."""
        known: dict[SegmentRecord, Portion] = {}
        faults: dict[SegmentRecord, str] = {}
        for view in self._views:
            # what a view of another time took from the catalog may lack chunks of this feed
            lacking = {} if _is_past(view, feed) else view.contents.faults
            known |= {
                record: whole(portion.part, portion.graph)
                for record, portion in view.contents.segments.items()
                if record not in lacking and self._copies.hold_for(record, feed)
            }
            faults |= view.contents.faults
        portions: dict[SegmentRecord, Portion] = {}
        for record in records:
            portion = known.get(record)
            if portion is None:
                try:
                    if self._is_elsewhere(record):
                        pieces, rows = partial(self._pieces_of, feed, record), partial(self._from_rows, feed, record)
                        portion = self._copies.portion(record, feed, pieces, rows)
                    else:
                        portion = self._from_file(record)
                except StoreCorruptError as error:
                    faults[record] = f"{error}; its chunks were indexed from the catalog"
                    portion = self._from_rows(feed, record)
            if portion is not None:
                portions[record] = portion
        return portions, {record: faults[record] for record in records if record in faults}

    def _from_file(self, record: SegmentRecord) -> Portion:
        part = open_segment(self._segments, record, self._analyzer)
        graph = open_graph(self._segments, record, part) if self._graph_from is not None else None
        return whole(part, graph)

    def _from_rows(self, feed: IndexFeed, record: SegmentRecord) -> Portion | None:
        """The live chunks that a segment was made from, out of the catalog; None when none lives."""
        portions = list(self._portions(_rows_of(feed, record)))
        return whole(merge(portions)) if len(portions) > 1 else next(iter(portions), None)

    @contextlib.contextmanager
    def _pieces_of(self, feed: IndexFeed, record: SegmentRecord) -> Iterator[list[Portion]]:
        """As `_from_rows`, in pieces that lie on the disk meanwhile: memory for one piece, however large the segment."""
        with temporary_folder(self._segments) as directory:
            pieces = []
            for portion in self._portions(_rows_of(feed, record)):
                written = write_segment(directory, [portion], feed.generation, self._analyzer)
                pieces.append(whole(open_segment(directory, written, self._analyzer)))
            yield pieces

    def _portions(self, rows: Iterator[IndexRow]) -> Iterator[Portion]:
        """Catalog rows as portions; in pieces, so that the rows' own objects are never all there at once."""
        while piece := list(islice(rows, _ROWS_A_PIECE)):
            yield whole(build_part(piece, self._analyze))


def _rows_of(feed: IndexFeed, record: SegmentRecord) -> Iterator[IndexRow]:
    """The live chunks that a segment was made from."""
    return takewhile(lambda row: row.seq <= record.last_seq, feed.rows(record.first_seq - 1))


def _is_past(view: LocalView, feed: IndexFeed) -> bool:
    """Whether the view is of a state that the feed's catalog came by: a restored one reaches the same numbers again."""
    return view.epoch <= feed.epoch and feed.knows(view.epoch, view.token)
