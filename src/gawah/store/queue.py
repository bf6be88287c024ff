"""The queue of ingest work, each step of it one transaction (jobs.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from gawah.store import jobs
from gawah.store.sql import Order
from gawah.store.transactions import Transactions, again
from gawah.types import DocumentState, Failure, Job

LEASE_S = 600.0  # longer than the wall limit of an extraction; embedding renews it batch by batch


class Queue(Transactions):
    """The part of ports.Catalog that hands out work."""

    def at_work(self) -> contextlib.AbstractContextManager[None]:
        """Shows that this process works off the queue; who finds nobody else there queues anew what the dead left."""
        return self._database.at_work(self.directory, self.reclaim)

    @again
    def enqueue(self, files: Iterable[tuple[str, str, str]]) -> list[str]:
        """Queues (collection, name, uri); returns document ids."""
        with self._database.writing(Order.CONTENT) as opened:
            return jobs.enqueue(opened, files, self.clock())

    @again
    def claim(self, owner: str) -> Job | None:
        with self._database.noting() as opened:
            return jobs.claim(opened, owner, LEASE_S, self.clock())

    @again
    def advance(self, job: Job, state: DocumentState) -> None:
        with self._database.noting() as opened:
            jobs.advance(opened, job, state, LEASE_S, self.clock())

    @again
    def fail(self, job: Job, failure: Failure, *, retry_after_s: float | None = None) -> None:
        now = self.clock()
        with self._database.writing() as opened:
            jobs.fail(opened, job, failure, now + retry_after_s if retry_after_s is not None else None, now)

    @again
    def release(self, owner: str) -> int:
        with self._database.writing(Order.CONTENT) as opened:
            return jobs.release(opened, owner, self.clock())

    @again
    def reclaim(self, owner: str | None = None) -> int:
        """Queues again what that dead worker left; without one what all have left, if none is alive (lock.at_work)."""
        with self._database.writing(Order.CONTENT) as opened:
            return jobs.reclaim(opened, self.clock(), owner)

    @again
    def requeue_due(self) -> int:
        """Queues failed documents whose time for another try has come; returns how many."""
        now = self.clock()
        with self._database.reading() as opened:
            if not jobs.are_due(opened, now):
                return 0
        with self._database.writing(Order.CONTENT) as opened:
            return jobs.requeue_due(opened, now)
