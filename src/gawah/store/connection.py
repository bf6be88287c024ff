"""Connections to the store's SQLite file: pragmas, transactions, migrations, and SQLite's errors in our own words.

WAL lets readers go on beside the one writer; synchronous=FULL makes an acknowledged commit survive a power cut.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gawah.errors import (
    ForeignStoreError,
    NotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
)
from gawah.store.migrations import APPLICATION_ID, MIGRATIONS, statements_of
from gawah.store.readonly import FileState, is_writable, open_read_only

FILE_NAME = "catalog.sqlite"
BUSY_TIMEOUT_MS = 15_000  # a document's commit holds the write lock for some milliseconds; large ones for seconds
_MMAP_BYTES = 1 << 30


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turns SQLite's exceptions into the store's."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(error, path) from error


def _translated(error: sqlite3.Error, path: Path) -> StoreError | ForeignStoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StoreFullError(
            f"no room left on the disk of {path}; free some and run the command again: nothing is lost"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreCorruptError(f"{path} is damaged ({error}); restore it from a backup or ingest into a new store")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return StoreCorruptError(f"{path} would hold rows that contradict each other ({error}); nothing was written")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusyError(f"{path} is locked by another process; try again when it is done")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(f"{path} cannot be written ({error}); check its permissions and its folder's")
    return StoreError(f"{path}: {error}")


class SqliteConnection(sqlite3.Connection):
    """Implements sql.Connection: a writer is alone, so no row needs a lock of its own."""

    lock_rows = ""
    take_free = ""


class Opened(NamedTuple):
    """A connection in autocommit mode; `relies_on` is the state of files that must not change while it reads."""

    connection: SqliteConnection
    relies_on: FileState | None


def connect(path: Path, *, create: bool = False) -> Opened:
    """Opens a store, migrated to this version of gawah; one that may not be written is opened to read.

    Raises NotFoundError (no store there), ForeignStoreError (another program's file, or a newer gawah's),
    StoreCorruptError, StoreError.
    """
    size = _size(path)
    if size is None:
        if not create:
            raise NotFoundError(f"no store at {path.parent}; make one with: gawah ingest FOLDER --store {path.parent}")
        with _os_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
    elif not create and not size:
        # An ingest that makes the store is in its first moment, or something has emptied the file.
        raise NotFoundError(f"no store at {path.parent} ({path.name} is empty); make one with: gawah ingest FOLDER")
    # The file is never opened but by SQLite: closing any other descriptor of it would drop this process's locks (POSIX),
    # and the next process to leave would take the write-ahead log for its own and delete it.
    with sqlite_errors(path):
        relies_on = None
        if size is not None and not is_writable(path):
            connection, relies_on = open_read_only(path, SqliteConnection)
        else:
            connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, cached_statements=256, factory=SqliteConnection
            )
        try:
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            _migrate(connection, path)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA mmap_size = {_MMAP_BYTES}")
        except BaseException:
            connection.close()
            raise
    return Opened(connection, relies_on)


def _size(path: Path) -> int | None:
    """The file's size in bytes, None when there is none; StoreError when nobody can tell, or the store is a file."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise StoreError(f"the store {path.parent} is a file, or below one; name a folder with --store") from error
    except OSError as error:
        raise StoreError(f"the store {path.parent} cannot be looked into: {error.strerror or error}") from error


@contextlib.contextmanager
def _os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {error.strerror or error}") from error


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    n_objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application_id != APPLICATION_ID and (application_id or version or n_objects):
        raise ForeignStoreError(f"{path} is another program's database; name another --store")
    if version > len(MIGRATIONS):
        raise ForeignStoreError(f"{path} was made by a newer gawah (store version {version}); upgrade gawah")
    if version == len(MIGRATIONS):
        return
    if version and not is_writable(path):
        raise StoreError(
            f"{path} is of an older gawah and cannot be written; run `gawah status` once with write permission"
        )
    connection.execute("PRAGMA journal_mode = WAL")
    with transaction(connection):
        version = connection.execute("PRAGMA user_version").fetchone()[0]  # another process may have been faster
        for number in range(version, len(MIGRATIONS)):
            for statement in statements_of(MIGRATIONS[number], "sqlite"):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
    """All or nothing; `kind` is IMMEDIATE for writers and DEFERRED for readers."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a COMMIT that failed leaves it open as well
            connection.execute("ROLLBACK")
        raise
