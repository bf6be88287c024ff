"""The SQLite file as a database of the catalog: a connection a thread, transactions, its own care."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gawah.errors import StoreBusyError, StoreError
from gawah.store import lock
from gawah.store.connection import SqliteConnection, connect, sqlite_errors, transaction
from gawah.store.readonly import FileState, inode_of, is_writable, state_of
from gawah.store.sql import NUMBERED, Connection, Order


class SqliteDatabase:
    """Implements sql.Database over one file; SQLite has one writer at a time, so every order holds by itself."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self.shown = str(path)
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        connect(path, create=create).connection.close()
        self.read_only = not is_writable(path)

    def close(self) -> None:
        with self._guard:
            for opened in self._opened:
                opened.close()
            self._opened.clear()

    def connection(self) -> SqliteConnection:
        """This thread's."""
        found: SqliteConnection | None = getattr(self._local, "connection", None)
        if found is not None and not found.in_transaction and self._local.inode != inode_of(self.path):
            with self._guard:  # the file was replaced, by a backup most likely: what is open is no store any more
                self._opened.remove(found)
            self._local.connection = None  # first, for there may be no file just now
            found.close()
            found = None
        if found is None:
            inode = inode_of(self.path)
            found, relies_on = connect(self.path)
            found.row_factory = sqlite3.Row
            self._local.connection, self._local.relies_on, self._local.inode = found, relies_on, inode
            with self._guard:
                self._opened.append(found)
        return found

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[SqliteConnection]:
        """One consistent view; do not write from the same thread while it is open."""
        with self.reading() as opened, transaction(opened, "DEFERRED"):
            yield opened

    @contextlib.contextmanager
    def reading(self) -> Iterator[SqliteConnection]:
        """A connection to read from; StoreBusyError when files that were relied on changed meanwhile (readonly.py)."""
        with sqlite_errors(self.path):
            opened = self.connection()
            if self._has_changed():  # since an earlier read of a process that lives long
                self._local.connection = None
                opened = self.connection()
            yield opened
            if self._has_changed():
                raise StoreBusyError(f"{self.path} was written to while it was read; run the command again")

    def _has_changed(self) -> bool:
        relies_on: FileState | None = self._local.relies_on
        return relies_on is not None and state_of(self.path) != relies_on

    @contextlib.contextmanager
    def writing(self, *_orders: Order) -> Iterator[SqliteConnection]:
        """A transaction; when it has ended, a power cut does not undo it."""
        if self.read_only:
            raise StoreError(
                f"{self.path} cannot be written; check its permissions, its folder's and the file system's"
            )
        opened = self.connection()
        with sqlite_errors(self.path), transaction(opened):
            yield opened

    @contextlib.contextmanager
    def noting(self) -> Iterator[SqliteConnection]:
        """Does not wait for the disk. The log is written in order, so the next `writing` that returns has put it there
        too; a power cut before that takes notes back to an earlier state and never leaves half of one.
        """
        opened = self.connection()
        opened.execute("PRAGMA synchronous = NORMAL")
        try:
            with self.writing():
                yield opened
        finally:
            opened.execute("PRAGMA synchronous = FULL")

    def again(self, write: Callable[[], Any]) -> Any:
        """Writers wait for each other and never meet: once is enough."""
        return write()

    def writer_lock(self, directory: Path) -> contextlib.AbstractContextManager[None]:
        return lock.writer_lock(directory)

    def migration_lock(self, directory: Path) -> contextlib.AbstractContextManager[None]:
        return lock.migration_lock(directory)

    def at_work(self, directory: Path, when_alone: Callable[[], object]) -> contextlib.AbstractContextManager[None]:
        return lock.at_work(directory, when_alone)

    def numbers(self, opened: Connection) -> dict[str, int]:
        kept = {row[0]: row[1] for row in opened.execute("SELECT name, seq FROM sqlite_sequence").fetchall()}
        for table, column in NUMBERED.items():
            greatest = opened.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()[0]  # noqa: S608
            kept[table] = max(kept.get(table, 0), greatest)
        return kept

    def set_numbers(self, opened: Connection, numbers: Mapping[str, int]) -> None:
        """Of the tables that are declared so; in the others a number is used again only when the greatest was deleted."""
        opened.execute("DELETE FROM sqlite_sequence")
        declared = opened.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'").fetchall()
        opened.executemany(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
            [(row[0], numbers[row[0]]) for row in declared if row[0] in NUMBERED],
        )

    # --- care

    def vacuum(self) -> None:
        """Rewrites the file without what was deleted and empties the write-ahead log.

        Raises StoreBusyError while a reader holds on to what was there before.
        """
        with sqlite_errors(self.path):
            opened = self.connection()
            self._truncate_log(opened)
            opened.execute("VACUUM")
            self._truncate_log(opened)

    def _truncate_log(self, opened: sqlite3.Connection) -> None:
        busy = opened.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreBusyError(f"{self.path}: a reader holds on to what was purged; end it and run: gawah rm --purge")

    def integrity_errors(self) -> list[str]:
        """What SQLite's own check finds; empty when the file is sound."""
        with self.reading() as opened:
            found = [row[0] for row in opened.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
            found += [f"{row[0]} row {row[1]} refers to nothing" for row in opened.execute("PRAGMA foreign_key_check")]
            return found
