"""What a store that is served needs done beside answering: the queue worked off for ever, folders watched, documents removed
while others work. Several processes may do it at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gawah.app import Application
from gawah.errors import NotFoundError, StoreBusyError, StoreError
from gawah.ingest import worker_name
from gawah.sources import discover
from gawah.types import DocumentRecord, DocumentState
from gawah.upkeep import Removed, finish_purge, tidy

POLL_S = 0.5
TROUBLED_S = 5.0  # until the next try when the store was busy or full
TIDY_EVERY_CHUNKS = 4096

Wait = Callable[[float], bool]
"""Waits that many seconds; True as soon as the work shall end."""


def work_off(app: Application, wait: Wait, trouble: Callable[[StoreError], None]) -> Generator[DocumentRecord]:
    """Works off the queue, and waits for more, until `wait` says that it is time to stop; yields documents as they end.

    A store that is busy or full is told to `trouble` and tried again: what was claimed is given back meanwhile. Raises
    ConfigurationError, StampMismatchError among them, which no waiting mends.
    """
    with app.catalog.at_work():
        pause_s, holds_jobs = 0.0, False
        while not wait(pause_s):
            pause_s = POLL_S
            try:
                if holds_jobs:  # a store that was away could not take them back
                    app.catalog.release(worker_name(os.getpid()))
                    holds_jobs = False
                app.catalog.requeue_due()
                yield from _tidied(app, app.worked_off())
            except StoreError as error:
                trouble(error)
                pause_s, holds_jobs = TROUBLED_S, True


def _tidied(app: Application, ended: Iterator[DocumentRecord]) -> Iterator[DocumentRecord]:
    n_new = 0
    n_ended = 0
    for record in ended:
        n_new += record.counters.n_chunks
        n_ended += 1
        if n_new >= TIDY_EVERY_CHUNKS:
            tidy_if_free(app)
            n_new = 0
        yield record
    if n_ended:
        tidy_if_free(app)


def drain(app: Application) -> None:
    """Works off what is queued now, beside whoever else does, and returns. Raises StoreError."""
    with app.catalog.at_work():
        for _ in _tidied(app, app.worked_off()):
            pass


def tidy_if_free(app: Application) -> None:
    """Puts the index's files in order; leaves it to whoever holds the writer's lock now."""
    with contextlib.suppress(StoreBusyError), app.catalog.writer_lock():
        tidy(app.catalog, app.index)
        finish_purge(app.catalog, app.index)


def discard(app: Application, records: Sequence[DocumentRecord]) -> Removed:
    """Removes documents, whoever else is at work; recorded answers keep their quotes, and originals stay for them."""
    n_chunks = app.catalog.delete_documents([record.no for record in records])
    tidy_if_free(app)
    return Removed(n_chunks, 0)


@dataclass(slots=True)
class Watched:
    """A folder that is looked at again and again; every file of it is queued once it has come to rest."""

    app: Application
    root: Path
    collection: str
    _queued: dict[str, tuple[int, int]] = field(default_factory=dict)
    _seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    def look(self) -> int:
        """Queues what is new or changed; returns how many files. A file counts when two looks found the same size and time:
        others may go on coming and growing beside it.

        Files that vanished stay documents: `gawah rm --vanished` removes them. Raises NotFoundError without the folder.
        """
        found = {file.name: (file.size_bytes, file.mtime_ns) for file in discover(self.root, self.collection).files}
        at_rest = {name: mark for name, mark in found.items() if self._seen.get(name) == mark}
        self._seen = found
        fresh = {name for name, mark in at_rest.items() if self._queued.get(name) != mark}
        self._queued = {name: mark for name, mark in self._queued.items() if found.get(name) == mark}
        if not fresh:
            return 0
        waiting = {record.uri for record in self.app.documents() if record.state is DocumentState.QUEUED}
        plan = self.app.plan(self.root, self.collection, among=fresh)
        # What is queued or failed is the queue's own matter: queued anew, its attempts would begin from nothing.
        work = [item for item in plan.work if item.why != "retry" and item.uri not in waiting]
        self.app.catalog.enqueue([(plan.collection, item.name, item.uri) for item in work])
        self._queued |= {name: at_rest[name] for name in fresh}
        return len(work)


def watched_folder(app: Application, root: Path, collection: str | None = None) -> Watched:
    """Raises NotFoundError unless the folder is there."""
    if not root.is_dir():
        raise NotFoundError(f"no such folder: {str(root)!r}; check the path")
    return Watched(app, root, collection or app.settings.collection)
