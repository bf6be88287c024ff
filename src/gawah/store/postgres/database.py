"""A PostgreSQL database as the catalog's: snapshots, ordered writes, locks between machines, its own care.

Whatever changes what is searchable holds one lock until it is visible, so a reader never sees a row before one with a
smaller number: an index reads those behind the last it saw. Claims hold row locks only, and pass each other.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gawah.errors import StoreBusyError, StoreError
from gawah.store import lock
from gawah.store.postgres import locks
from gawah.store.postgres.connection import Connections, PostgresConnection
from gawah.store.postgres.errors import TakenBackError, read_address
from gawah.store.postgres.schema import is_read_only, prepare
from gawah.store.sql import NUMBERED, Connection, Order

_TRIES = 6  # of a transaction that the server took back
_FIRST_PAUSE_S = 0.01
_REWRITE_TIMEOUT_S = 10  # until a purge gives up waiting for readers
# Tables that hold words of documents, in any form that is written over when they go.
_WORDY = ("documents", "contents", "chunks", "embeddings", "answers", "answer_documents", "uploads", "jobs")
_INVALID = """
SELECT 'index ' || c.relname || ' is not valid' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT (i.indisvalid AND i.indisready)
UNION ALL
SELECT 'constraint ' || conname || ' is not valid' FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND NOT convalidated
"""
# Of another role's session a plain user sees no snapshot, only that a transaction is under way: that may hold one.
_READERS = """
SELECT count(*) FROM pg_stat_activity a WHERE datname = current_database() AND pid <> pg_backend_pid()
AND (backend_type = 'client backend' AND backend_xmin IS NOT NULL
  OR backend_type IS NULL AND usesysid IS NOT NULL
  AND EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'virtualxid' AND l.granted))
"""
_REFERENCES = (
    ("contents", "document_no", "documents", "no"),
    ("chunks", "document_no", "documents", "no"),
    ("chunks", "generation", "generations", "id"),
    ("chunks", "embedding", "embeddings", "id"),
    ("jobs", "document_no", "documents", "no"),
    ("answer_documents", "answer_seq", "answers", "seq"),
)


class PostgresDatabase:
    """Implements sql.Database. Raises NotFoundError when there is no store and `create` is not given."""

    def __init__(self, written: str, *, create: bool = False) -> None:
        self.address = read_address(written)
        self.shown = self.address.shown
        self._signs = locks.WorkersSigns(self.address)
        self._connections = Connections(self.address, self._signs.renew)
        try:
            with self._connections.reading() as opened:
                prepare(opened, self.address.shown, create=create)
                self.read_only = is_read_only(opened)
        except BaseException:
            self._connections.close()
            raise

    def close(self) -> None:
        self._connections.close()

    def reading(self) -> contextlib.AbstractContextManager[PostgresConnection]:
        return self._connections.reading()

    def snapshot(self) -> contextlib.AbstractContextManager[PostgresConnection]:
        return self._connections.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    @contextlib.contextmanager
    def writing(self, *orders: Order) -> Iterator[PostgresConnection]:
        """A transaction; when it has ended, a power cut does not undo it."""
        if self.read_only:
            raise StoreError(
                f"{self.address.shown} takes no writes: it is a standby or set to read only; name the primary"
            )
        taken = [locks.order_lock(order) for order in sorted(orders, key=lambda order: order.value)]
        with self._connections.transaction("BEGIN ISOLATION LEVEL READ COMMITTED", taken) as opened:
            yield opened

    @contextlib.contextmanager
    def noting(self) -> Iterator[PostgresConnection]:
        """Does not wait for the disk. The log is written in order, so a `writing` that returns later has put it there too."""
        self._signs.renew()
        with self.writing() as opened:
            opened.execute("SET LOCAL synchronous_commit = off")
            yield opened

    def again(self, write: Callable[[], Any]) -> Any:
        """Makes it again when the server took it back (two that waited for each other); StoreBusyError after some tries."""
        for number in range(_TRIES - 1):
            try:
                return write()
            except TakenBackError:
                time.sleep(_FIRST_PAUSE_S * 2**number)
        return write()

    @contextlib.contextmanager
    def writer_lock(self, directory: Path) -> Iterator[None]:
        """One process of all machines, and for the files of this folder one of this machine."""
        doing = f"is writing to {self.address.shown}; wait until it is done or use another store"
        with lock.writer_lock(directory), locks.held_alone(self.address, locks.WRITER, doing):
            yield

    @contextlib.contextmanager
    def migration_lock(self, directory: Path) -> Iterator[None]:
        doing = f"is migrating {self.address.shown}; `gawah migrate --status` shows how far"
        with lock.migration_lock(directory), locks.held_alone(self.address, locks.MIGRATION, doing):
            yield

    def at_work(self, directory: Path, when_alone: Callable[[], object]) -> contextlib.AbstractContextManager[None]:
        """Whoever works on this database on whatever machine is seen; the folder plays no part."""
        del directory
        return self._signs.up(when_alone)

    def numbers(self, opened: Connection) -> dict[str, int]:
        found = {}
        for table, column in NUMBERED.items():
            sequence = opened.execute("SELECT pg_get_serial_sequence(?, ?)", (table, column)).fetchall()[0][0]
            last, was_given = opened.execute(f"SELECT last_value, is_called FROM {sequence}").fetchall()[0]  # noqa: S608
            found[table] = int(last) if was_given else 0
        return found

    def set_numbers(self, opened: Connection, numbers: Mapping[str, int]) -> None:
        for table, column in NUMBERED.items():
            last = numbers[table]
            opened.execute(
                "SELECT setval(pg_get_serial_sequence(?, ?), ?, CAST(? AS BIGINT) > 0)",
                (table, column, max(last, 1), last),
            )

    # --- care

    def vacuum(self) -> None:
        """Rewrites the tables, so that their files hold nothing of what was deleted.

        Raises StoreBusyError while a reader holds on to what was there before. The server's write-ahead log, its standbys
        and its backups keep what they have; they are its administrator's.
        """
        with self.reading() as opened:
            opened.execute(f"SET lock_timeout = '{_REWRITE_TIMEOUT_S}s'")
            try:
                self._require_no_readers(opened)
                for table in _WORDY:
                    opened.execute(f"VACUUM (FULL, ANALYZE) {table}")
                self._require_no_readers(opened)
            finally:
                opened.raw.close()  # with its settings

    def _require_no_readers(self, opened: PostgresConnection) -> None:
        """Waits a while: rows that an open snapshot may still see are copied by a rewrite."""
        for _ in range(_REWRITE_TIMEOUT_S * 10):
            if not opened.execute(_READERS).fetchall()[0][0]:
                return
            time.sleep(0.1)
        raise StoreBusyError(
            f"{self.address.shown}: a reader holds on to what was purged; end it and run: gawah rm --purge"
        )

    def integrity_errors(self) -> list[str]:
        """Indexes and constraints that do not hold, and rows that refer to nothing; empty when it is sound."""
        with self.snapshot() as opened:
            found = [str(row[0]) for row in opened.execute(_INVALID).fetchall()]
            for table, column, other, name in _REFERENCES:
                n_lost = opened.execute(
                    f"SELECT count(*) FROM {table} t WHERE NOT EXISTS "  # noqa: S608
                    f"(SELECT 1 FROM {other} o WHERE o.{name} = t.{column})"
                ).fetchall()[0][0]
                found += [f"{n_lost} rows of {table} refer to nothing"] if n_lost else []
            return found
