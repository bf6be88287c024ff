"""Copies of segments that another machine wrote: made here from the catalog once, and kept beside one's own.

Where machines share a catalog but no folder, a registered segment may be absent. Its chunks are in the catalog; what is
built of them is kept below `segments/copies/`, under the registered name. A copy lacks what was deleted before it was made; one that lacks
something is used by feeds of later states only, and a catalog that was restored from a backup may be of none.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple
from pathlib import Path

from gawah.errors import StoreCorruptError, StoreError
from gawah.index.build import Portion, whole
from gawah.index.folders import remove_unregistered
from gawah.index.segment import check_segment, open_graph, open_segment, write_segment
from gawah.ports import IndexFeed, SegmentRecord

FOLDER = "copies"
_MADE = "copy.json"

_MadeAt = tuple[int, str]  # an epoch and its token


class Copies:
    """The copies of one folder of segments. With `graph_from`, those of so many chunks have a graph (hnsw)."""

    def __init__(self, segments: Path, analyzer: str, *, graph_from: int | None, n_threads: int) -> None:
        self._segments = segments
        self._analyzer = analyzer
        self._graph_from = graph_from
        self._n_threads = n_threads
        self._made_at: dict[SegmentRecord, _MadeAt] = {}

    def stand_in_for(self, record: SegmentRecord) -> bool:
        """Whether the segment itself is not here."""
        return not (self._segments / record.name).exists()

    def hold_for(self, record: SegmentRecord, feed: IndexFeed) -> bool:
        """Whether a part of this segment that is in memory lacks no chunk that the feed has."""
        return record not in self._made_at or _is_past(self._made_at[record], feed)

    def portion(
        self,
        record: SegmentRecord,
        feed: IndexFeed,
        pieces_of: Callable[[], AbstractContextManager[Sequence[Portion]]],
        from_rows: Callable[[], Portion | None],
    ) -> Portion | None:
        """What lives of a segment: from the copy, or from the catalog, and then kept. `pieces_of` gives it in pieces on
        the disk, `from_rows` in memory.
        """
        with contextlib.suppress(StoreCorruptError):
            return self._opened(record, feed)
        with contextlib.suppress(StoreError), pieces_of() as pieces:
            if not pieces:
                return None
            self._keep(record, pieces, feed)
            return self._opened(record, feed)
        self._made_at[record] = (feed.epoch, feed.token)
        return from_rows()  # a full disk or a folder that is only read: it serves from memory

    def faults_of(self, record: SegmentRecord) -> tuple[str, ...]:
        """Reads a copy against its hashes; one line a fault. Nothing where there is none: it is made when it is wanted."""
        if not (self._folder(record) / _MADE).exists():
            return ()
        try:
            _, made = self._made(record.name)
        except StoreCorruptError as error:
            return (str(error),)
        return check_segment(self._folder(record), made)

    def drop(self, record: SegmentRecord) -> None:
        shutil.rmtree(self._folder(record), ignore_errors=True)

    def remove_others(self, registered: Iterable[str]) -> None:
        """Removes the copies of segments that are not registered any more, and what is left of making others."""
        root = self._segments / FOLDER
        remove_unregistered(root, registered)
        for name in sorted(entry.name for entry in root.iterdir()) if root.is_dir() else ():
            kept = [_MADE]
            with contextlib.suppress(StoreCorruptError):  # none was ever made whole
                kept.append(self._made(name)[1].name)
            remove_unregistered(root / name, kept)

    def _keep(self, record: SegmentRecord, pieces: Sequence[Portion], feed: IndexFeed) -> None:
        folder, graphs = self._folder(record), self._graph_from
        made = write_segment(
            folder, pieces, record.generation, self._analyzer, graph_from=graphs, n_threads=self._n_threads
        )
        noted = folder / f".{_MADE}-{os.getpid()}-{os.urandom(4).hex()}"
        try:
            noted.write_text(json.dumps({"at": [feed.epoch, feed.token], "segment": astuple(made)}), encoding="utf-8")
            noted.replace(folder / _MADE)
        except OSError as error:
            raise StoreError(f"a copy in {folder} cannot be written: {error.strerror or error}") from error

    def _opened(self, record: SegmentRecord, feed: IndexFeed) -> Portion:
        """StoreCorruptError when there is none, none that holds for the feed, or it is damaged."""
        made_at, made = self._made(record.name)
        is_whole = made.n_chunks == record.n_chunks
        if not is_whole and not _is_past(made_at, feed):
            raise StoreCorruptError(f"the copy of segment {record.name} is newer than what is read")
        folder = self._folder(record)
        part = open_segment(folder, made, self._analyzer)
        portion = whole(part, open_graph(folder, made, part) if self._graph_from is not None else None)
        self._made_at.pop(record, None)
        if not is_whole:
            self._made_at[record] = made_at
        return portion

    def _made(self, name: str) -> tuple[_MadeAt, SegmentRecord]:
        try:
            noted = json.loads((self._segments / FOLDER / name / _MADE).read_text(encoding="utf-8"))
            epoch, token = noted["at"]
            return (int(epoch), str(token)), SegmentRecord(*noted["segment"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreCorruptError(f"the copy of segment {name} cannot be read: {error}") from error

    def _folder(self, record: SegmentRecord) -> Path:
        return self._segments / FOLDER / record.name


def _is_past(made_at: _MadeAt, feed: IndexFeed) -> bool:
    """Whether the feed's catalog was at that epoch, not long ago; one that was restored counts from an older one on."""
    epoch, token = made_at
    return epoch <= feed.epoch and feed.knows(epoch, token)
