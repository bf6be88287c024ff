"""A store that may be read but not written: an archive on a read-only mount, another user's store.

SQLite reads a write-ahead-log database without write permission in two cases: its `-shm` file is there or can be made
(then all its locks hold, also beside a writer), or the file is promised not to change (`immutable`). The second is
promised here only while the log is empty, and the promise is checked at the end of every read.
https://www.sqlite.org/wal.html#readonly
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import NamedTuple, TypeVar

from gawah.errors import StoreError


class FileState(NamedTuple):
    """What changes when a database is written: the file itself, or its log."""

    inode: int
    n_bytes: int
    mtime_ns: int
    n_log_bytes: int


def state_of(path: Path) -> FileState:
    status = path.stat()
    return FileState(status.st_ino, status.st_size, status.st_mtime_ns, _n_log_bytes(path))


def inode_of(path: Path) -> int:
    """Which file lies at a path; 0 when none does."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def is_writable(path: Path) -> bool:
    """Whether this process may write the database and the files SQLite puts beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


Made = TypeVar("Made", bound=sqlite3.Connection)


def open_read_only(path: Path, kind: type[Made]) -> tuple[Made, FileState | None]:
    """A connection that cannot write, and the state of the files it relies on; None when SQLite's own locks hold.

    Raises StoreError when there are changes in the log that nobody can read without writing.
    """
    connection = _opened(path, "mode=ro", kind)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        state = state_of(path)
        if state.n_log_bytes:
            raise StoreError(
                f"{path} was not closed: its newest changes are in {path.name}-wal, which cannot be read without write "
                f"permission; run `gawah status` once with it, or copy the folder {path.parent}"
            ) from error
        return _opened(path, "immutable=1", kind), state
    return connection, None


def _opened(path: Path, how: str, kind: type[Made]) -> Made:
    uri = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256, factory=kind
    )


def _n_log_bytes(path: Path) -> int:
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size
    except FileNotFoundError:
        return 0
