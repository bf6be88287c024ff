"""The local index: a catalog's feed to an immutable view, from segments on disk and an in-memory tail.

The catalog is the truth. Whatever is missing or damaged here is built again from the feed's rows; nothing is registered
here: `seal` and `compact` write files and return the record, the caller puts it into the catalog in a transaction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from threading import Lock
from typing import Literal

import numpy as np

from gawah.errors import StoreCorruptError, StoreError
from gawah.index import copies
from gawah.index.build import AnalyzeDocument, Portion, build_part, merge, whole
from gawah.index.segment import check_segment, open_segment, remove_unregistered, write_segment
from gawah.index.view import Contents, LocalView
from gawah.ports import IndexFeed, IndexRow, SegmentRecord

PREFILTER_ABOVE = 20_000  # chunks: an exact scan takes 3 ms there
_VIEWS_KEPT = 4  # the newest, and those that queries under way may still ask for
_TAIL_RATIO = 4  # a tail part is merged into one less than four times as large: at most five of them below 1,000 rows
_ROWS_A_PIECE = 8192
_SEALED_AT_CHUNKS = 1_000  # analysing that many rows at start takes a quarter of a second
_SEGMENTS_AT_LEAST = 8
_CHUNKS_A_SEGMENT_MORE = 50_000  # a larger index may have more segments, or it would be rewritten all the time
_DELETED_SHARE = 0.2


def should_seal(n_tail: int) -> bool:
    """Whether the tail is worth a segment."""
    return n_tail >= _SEALED_AT_CHUNKS


def should_compact(n_segments: int, n_deleted: int, n_chunks: int) -> bool:
    """Whether segments (with `n_deleted` dead rows in them) should be rewritten as one. `n_chunks` are the live ones."""
    too_many = n_segments > _SEGMENTS_AT_LEAST + n_chunks // _CHUNKS_A_SEGMENT_MORE
    return too_many or n_deleted > _DELETED_SHARE * (n_chunks + n_deleted)


class LocalIndex:
    """Implements ports.Index over a directory of segments; safe to use from several threads.

    `analyze_document` gives of an embedded text (terms that count to its length, identifier terms that do not);
    `analyzer` names its version: segments that another one built are not used. `prefilter_above` is the number of
    admitted chunks from which the dense leg looks at sign bits first; None for always exact. `keeps_copies`: other machines
    register segments too, and what is absent here is built and kept (copies.py).
    """

    def __init__(
        self,
        directory: Path,
        analyze_document: AnalyzeDocument,
        *,
        analyzer: str = "1",
        prefilter_above: int | None = PREFILTER_ABOVE,
        keeps_copies: bool = False,
    ) -> None:
        self._segments = directory / "segments"
        self._analyze = analyze_document
        self._analyzer = analyzer
        self._prefilter_above = prefilter_above
        self._keeps_copies = keeps_copies
        self._copied_at: dict[SegmentRecord, int] = {}
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

    def seal(self, feed: IndexFeed) -> SegmentRecord | None:
        """Writes the tail as a segment, to be registered beside the others; None when no chunk is in it."""
        view = self.view(feed)
        live = [portion for portion in view.contents.tail if portion.n_live]
        return write_segment(self._segments, live, feed.generation, self._analyzer) if live else None

    def compact(self, feed: IndexFeed) -> SegmentRecord | None:
        """Writes every live chunk as one segment, to be registered in place of all others; None when none lives.

        Segments are read in full against their hashes first: what is damaged comes from the catalog instead.
        """
        view = self.view(feed)
        portions: list[Portion | None] = []
        for record, portion in view.contents.segments.items():
            trusted = record in view.contents.faults or not self._faults_of(record)
            portions.append(portion if trusted else self._from_rows(feed, record))
        live = [portion for portion in (*portions, *view.contents.tail) if portion and portion.n_live]
        return write_segment(self._segments, live, feed.generation, self._analyzer) if live else None

    def due(self, feed: IndexFeed) -> Literal["seal", "compact"] | None:
        """What the tail's length, the number of segments and of dead rows ask for, or a damaged segment."""
        contents = self.view(feed).contents
        n_tail = sum(portion.n_live for portion in contents.tail)
        n_live = sum(portion.n_live for portion in contents.segments.values())
        n_dead = sum(portion.part.n_chunks - portion.n_live for portion in contents.segments.values())
        if contents.faults or should_compact(len(contents.segments), n_dead, n_live + n_tail):
            return "compact"
        return "seal" if should_seal(n_tail) else None

    def check(self, feed: IndexFeed) -> tuple[str, ...]:
        """Reads every registered segment against its hashes; one line a fault."""
        return tuple(fault for record in feed.segments() for fault in self._faults_of(record))

    def _faults_of(self, record: SegmentRecord) -> tuple[str, ...]:
        if self._keeps_copies and copies.is_absent(self._segments, record):
            return copies.check_copy(self._segments, record)
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
                if self._keeps_copies and copies.is_absent(self._segments, record):
                    copies.drop_copy(self._segments, record)  # the next view makes it anew
                    continue
                portion = self._from_rows(feed, record)
                new = write_segment(self._segments, [portion], feed.generation, self._analyzer) if portion else None
                repaired.append((record, new))
            return repaired

    def remove_unregistered(self, registered: Iterable[str]) -> tuple[str, ...]:
        """Removes segments that the catalog does not know, of no generation, and what crashes left; returns their names."""
        registered = list(registered)
        copies.remove_others(self._segments, registered)
        return remove_unregistered(self._segments, [*registered, copies.FOLDER])

    def drop_generation(self, generation: int) -> None:
        """Forgets a generation that the catalog has dropped; its files go as unregistered ones."""
        with self._lock:
            self._views = [view for view in self._views if view.generation != generation]

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
        new = self._portions(feed.rows(before.last_seq))
        contents = replace(
            before,
            segments={record: portion.without(gone) for record, portion in before.segments.items()},
            tail=_joined([portion.without(gone) for portion in before.tail], new),
            last_seq=int(new[-1].part.seqs[-1]) if new else before.last_seq,
            mark=mark,
        )
        return LocalView(feed.generation, feed.epoch, contents, token=feed.token, prefilter_above=self._prefilter_above)

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
                record: whole(portion.part)
                for record, portion in view.contents.segments.items()
                if record not in lacking and self._copied_at.get(record, 0) <= feed.epoch
            }
            faults |= view.contents.faults
        portions: dict[SegmentRecord, Portion] = {}
        for record in records:
            portion = known.get(record)
            if portion is None:
                try:
                    if self._keeps_copies and copies.is_absent(self._segments, record):
                        portion = self._copied(feed, record)
                    else:
                        portion = whole(open_segment(self._segments, record, self._analyzer))
                except StoreCorruptError as error:
                    faults[record] = f"{error}; its chunks were indexed from the catalog"
                    portion = self._from_rows(feed, record)
            if portion is not None:
                portions[record] = portion
        return portions, {record: faults[record] for record in records if record in faults}

    def _copied(self, feed: IndexFeed, record: SegmentRecord) -> Portion | None:
        """What another machine sealed: from the copy that is kept here, or from the catalog, and then kept."""
        with contextlib.suppress(StoreCorruptError):
            part, self._copied_at[record] = copies.open_copy(self._segments, record, feed.epoch, self._analyzer)
            return whole(part)
        portion = self._from_rows(feed, record)
        if portion is None:
            return None
        self._copied_at[record] = feed.epoch
        with contextlib.suppress(StoreError):  # a full disk or a folder that is only read: it serves from memory
            copies.keep_copy(self._segments, record, portion, feed.epoch, self._analyzer)
            part, _ = copies.open_copy(self._segments, record, feed.epoch, self._analyzer)
            return whole(part)
        return portion

    def _from_rows(self, feed: IndexFeed, record: SegmentRecord) -> Portion | None:
        """The live chunks that a segment was made from, out of the catalog; None when none lives."""
        rows = takewhile(lambda row: row.seq <= record.last_seq, feed.rows(record.first_seq - 1))
        portions = self._portions(rows)
        return whole(merge(portions)) if len(portions) > 1 else next(iter(portions), None)

    def _portions(self, rows: Iterator[IndexRow]) -> list[Portion]:
        """Catalog rows as portions; in pieces, so that the rows' own objects are never all there at once."""
        portions = []
        while piece := list(islice(rows, _ROWS_A_PIECE)):
            portions.append(whole(build_part(piece, self._analyze)))
        return portions


def _is_past(view: LocalView, feed: IndexFeed) -> bool:
    """Whether the view is of a state that the feed's catalog came by: a restored one reaches the same numbers again."""
    return view.epoch <= feed.epoch and feed.knows(view.epoch, view.token)


def _joined(tail: Sequence[Portion], new: Sequence[Portion]) -> tuple[Portion, ...]:
    """The tail's portions with new ones behind, small neighbours merged, dead portions dropped."""
    joined = [portion for portion in (*tail, *new) if portion.n_live]
    while len(joined) > 1 and joined[-2].n_live < _TAIL_RATIO * joined[-1].n_live:
        joined[-2:] = [whole(merge(joined[-2:]))]
    return tuple(joined)
