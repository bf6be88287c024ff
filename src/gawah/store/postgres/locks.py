"""The locks of lock.py as the server's advisory locks, so that they hold between machines. They end with their session."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from gawah.errors import StoreBusyError, StoreError
from gawah.store.postgres.connection import Raw, has_ended, open_raw
from gawah.store.postgres.errors import Address, postgres_errors
from gawah.store.sql import Order

_FAMILY = 0x67617768  # "gawh": other programs' advisory locks are others
_NUMBERS = {Order.CONTENT: 1, Order.LOG: 2}
WRITER, WORKERS, SCHEMA, MIGRATION = 3, 4, 5, 6


def key(number: int) -> str:
    """The arguments that name a lock: ours, and of this schema, since a database may hold several stores."""
    return f"{_FAMILY}, (current_schema()::regnamespace::oid::bigint * 8 + {number})::bit(32)::integer"


def order_lock(order: Order) -> str:
    """Taken at the beginning of a transaction and held until what it wrote is visible."""
    return f"SELECT pg_advisory_xact_lock({key(_NUMBERS[order])})"


@contextlib.contextmanager
def held_alone(address: Address, number: int, doing: str) -> Iterator[None]:
    """Raises StoreBusyError naming the process that holds the lock, and what it is `doing`."""
    raw = open_raw(address)
    try:
        with postgres_errors(address):
            if not _first(raw, f"SELECT pg_try_advisory_lock({key(number)})"):
                holder = _first(
                    raw,
                    "SELECT max(a.application_name) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "  # noqa: S608
                    f"WHERE l.locktype = 'advisory' AND l.granted AND l.classid = {_FAMILY}::oid "
                    f"AND l.objid = (current_schema()::regnamespace::oid::bigint * 8 + {number})::bit(32)::integer::oid",
                )
                raise StoreBusyError(f"{holder or 'another process'} {doing}")
        yield
    finally:
        raw.close()


class WorkersSigns:
    """The signs of this process that it works off the queue; put up again when the server was away."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._signs: dict[int, Raw] = {}
        self._guard = threading.Lock()
        self._made = 0

    @contextlib.contextmanager
    def up(self, when_alone: Callable[[], object]) -> Iterator[None]:
        """`when_alone` is called first if no other process works: what is claimed then was left by the dead."""
        raw = open_raw(self._address)
        try:
            with postgres_errors(self._address):
                if _first(raw, f"SELECT pg_try_advisory_lock({key(WORKERS)})"):
                    when_alone()
                    raw.execute(f"SELECT pg_advisory_lock_shared({key(WORKERS)})")
                    raw.execute(f"SELECT pg_advisory_unlock({key(WORKERS)})")
                else:  # waits for the moment another one calls `when_alone`
                    raw.execute(f"SELECT pg_advisory_lock_shared({key(WORKERS)})")
            with self._guard:
                self._made += 1
                number = self._made
                self._signs[number] = raw
        except BaseException:
            raw.close()
            raise
        try:
            yield
        finally:
            with self._guard:
                self._signs.pop(number).close()

    def renew(self) -> None:
        """Puts up again what fell with a lost session. Meanwhile another may have thought itself alone: fences keep what it
        took over from being done twice.
        """
        with self._guard:
            for number, raw in self._signs.items():
                if has_ended(raw):
                    raw.close()
                    with contextlib.suppress(StoreError):  # the next look tries again
                        self._signs[number] = self._raised()

    def _raised(self) -> Raw:
        raw = open_raw(self._address)
        try:
            with postgres_errors(self._address):
                raw.execute(f"SELECT pg_advisory_lock_shared({key(WORKERS)})")
        except BaseException:
            raw.close()
            raise
        return raw


def _first(raw: Raw, question: str) -> object:
    row = raw.execute(question).fetchone()
    return None if row is None else row[0]
