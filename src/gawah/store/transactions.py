"""What every part of the catalog is made of: transactions over a database, made again where it took one back, and locks."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from gawah.store.sql import Connection, Database, Order

Given = ParamSpec("Given")
Result = TypeVar("Result")
Writer = TypeVar("Writer", bound="Transactions")


def again(
    method: Callable[Concatenate[Writer, Given], Result],
) -> Callable[Concatenate[Writer, Given], Result]:
    """A method that is one transaction, made again when the database took it back for another's sake."""

    @functools.wraps(method)
    def made(self: Writer, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return self.again(functools.partial(method, self, *map(_lasting, args), **kwargs))  # type: ignore[arg-type]

    return made


def _lasting(value: object) -> object:
    return list(value) if isinstance(value, Iterator) else value


class Transactions:
    """Transactions of a database. Threads may share it. `directory` is the store's folder."""

    def __init__(self, database: Database, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self.directory = directory
        self.clock = clock
        self._database = database

    @property
    def shown(self) -> str:
        """Where the rows are, for people: a file's path, or an address without its password."""
        return self._database.shown

    @property
    def read_only(self) -> bool:
        return self._database.read_only

    def close(self) -> None:
        self._database.close()

    def reading(self) -> contextlib.AbstractContextManager[Connection]:
        """A connection of this thread to read from, for the other keepers of this database (keyring.py, uploads.py)."""
        return self._database.reading()

    def writing(self, *orders: Order) -> contextlib.AbstractContextManager[Connection]:
        """A transaction for them; when it has ended, a power cut does not undo it."""
        return self._database.writing(*orders)

    def reading_one_moment(self) -> contextlib.AbstractContextManager[Connection]:
        """A connection for them on which all is as of one commit."""
        return self._database.snapshot()

    def numbers(self, opened: Connection) -> dict[str, int]:
        """The last number given out in each table that numbers its rows."""
        return self._database.numbers(opened)

    def set_numbers(self, opened: Connection, numbers: Mapping[str, int]) -> None:
        """Goes on counting where another store was."""
        self._database.set_numbers(opened, numbers)

    def again(self, write: Callable[[], Result]) -> Result:
        """What `write` returns, which is one transaction; it is called again where that was taken back for another's sake."""
        result: Result = self._database.again(write)
        return result

    def writer_lock(self) -> contextlib.AbstractContextManager[None]:
        """Held by who changes the index's files or a folder's documents; StoreBusyError while another does."""
        return self._database.writer_lock(self.directory)

    def migration_lock(self) -> contextlib.AbstractContextManager[None]:
        """Held by who builds a generation or switches to one; StoreBusyError while another does."""
        return self._database.migration_lock(self.directory)
