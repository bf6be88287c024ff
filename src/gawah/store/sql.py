"""What the store's SQL is executed on: connections of either kind, and what a database must be able to do.

All statements are written once, for SQLite and PostgreSQL alike: `?` or `?1` for values, `ON CONFLICT` and `RETURNING`, no
rowids. The few words that differ are translated in one place (dialect.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

NUMBERED = {
    "generations": "id",
    "documents": "no",
    "embeddings": "id",
    "chunks": "seq",
    "deletions": "mark",
    "jobs": "id",
    "answers": "seq",
    "uploads": "no",
}
"""Tables whose rows the database numbers, and the column."""

Row = Any
"""A row by index and by column's name; iterating gives its values."""


class Order(Enum):
    """Kinds of writes of which only one may be under way: what they write becomes visible in the order of its numbers."""

    CONTENT = 1
    """Chunks and deletions: an index asks for those behind the last it saw. Also whatever changes several documents' jobs."""
    LOG = 2
    """Outcomes: each is chained to the one before."""


class Cursor(Protocol):
    """The rows of a statement, read to their end before the next statement is executed."""

    @property
    def rowcount(self) -> int: ...

    @property
    def description(self) -> Any:
        """A sequence for each column, its name first."""
        ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection of this thread, inside of a transaction when it comes from a `…writing` or `snapshot`."""

    @property
    def lock_rows(self) -> str:
        """Ends a SELECT whose rows are about to be changed: others wait for them."""
        ...

    @property
    def take_free(self) -> str:
        """Ends a SELECT of jobs as `j` of which one is about to be taken: those that others are taking are passed over."""
        ...

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Cursor: ...

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> Cursor: ...


class Database(Protocol):
    """Where the rows are. Threads may share it: each has connections of its own."""

    @property
    def shown(self) -> str: ...

    @property
    def read_only(self) -> bool: ...

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection to read from, statement by statement."""
        ...

    def snapshot(self) -> AbstractContextManager[Connection]:
        """One consistent view of all rows."""
        ...

    def writing(self, *orders: Order) -> AbstractContextManager[Connection]:
        """A transaction; when it has ended, a power cut does not undo it. Alone among those of the same order."""
        ...

    def noting(self) -> AbstractContextManager[Connection]:
        """A transaction of which nobody is told as done; a power cut may take it back, never leave half of it."""
        ...

    def again(self, write: Callable[[], Any]) -> Any:
        """What `write` returns, a whole transaction; made again when it met another and all of it was taken back."""
        ...

    def writer_lock(self, directory: Path) -> AbstractContextManager[None]: ...

    def migration_lock(self, directory: Path) -> AbstractContextManager[None]: ...

    def at_work(self, directory: Path, when_alone: Callable[[], object]) -> AbstractContextManager[None]: ...

    def numbers(self, opened: Connection) -> dict[str, int]:
        """The last number given out in each table that numbers its rows and uses none twice."""
        ...

    def set_numbers(self, opened: Connection, numbers: Mapping[str, int]) -> None: ...

    def vacuum(self) -> None: ...

    def integrity_errors(self) -> list[str]: ...

    def close(self) -> None: ...
