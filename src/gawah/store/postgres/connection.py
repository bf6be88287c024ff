"""Connections to the store's database: opened, renewed when the server went away, and given out one transaction at a time."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from gawah.errors import ConfigurationError, GawahError, StoreBusyError, StoreError
from gawah.store.postgres.dialect import translated
from gawah.store.postgres.errors import Address, postgres_errors
from gawah.store.postgres.rows import PostgresRow, postgres_rows

LOCK_TIMEOUT_S = (
    60  # a document's commit holds the writers' lock for milliseconds; a book's over a slow line for seconds
)
_IDLE_AT_MOST = 8  # connections kept open between transactions; more come and go
_DEFAULTS = {"connect_timeout": "10", "keepalives_idle": "60", "keepalives_interval": "10", "keepalives_count": "6"}
# The server notices a client that lost its power, and gives up its locks, after two minutes instead of two hours.
_SESSION = (
    f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'; SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; "
    "SET tcp_keepalives_count = 6; SET client_min_messages = warning"
)

Raw = psycopg.Connection[PostgresRow]


def open_raw(address: Address) -> Raw:
    """A session in autocommit mode; raises StoreError when there is no server, ConfigurationError for another encoding."""
    name = f"gawah {socket.gethostname()}:{os.getpid()}"[:63]
    parameters: dict[str, Any] = {
        **_DEFAULTS,
        "application_name": name,
        **address.parameters,
        "client_encoding": "UTF8",
    }
    try:
        raw = psycopg.connect(
            "", autocommit=True, cursor_factory=psycopg.RawCursor, row_factory=postgres_rows, **parameters
        )
    except psycopg.Error as error:
        line = address.without_secrets(str(error))
        raise StoreError(
            f"{address.shown} cannot be reached ({line}); check that the server runs, the names of host, database and user, "
            "and the password (PGPASSWORD or ~/.pgpass)"
        ) from None
    try:
        _require_utf8(raw, address)
        raw.adapters.register_dumper(str, StrDumper)  # every text is said to be one, so that nothing is guessed
        raw.adapters.register_dumper(int, Int8Dumper)
        with postgres_errors(address):
            raw.execute(_SESSION)
    except BaseException:
        raw.close()
        raise
    return raw


def _require_utf8(raw: Raw, address: Address) -> None:
    encoding = raw.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ConfigurationError(
            f"{address.shown} is encoded as {encoding}, which cannot hold every text; make one with: createdb -E UTF8"
        )


class PostgresConnection:
    """Implements sql.Connection. Outside of a transaction a statement that finds the session gone is sent in a new one."""

    lock_rows = "FOR UPDATE"
    take_free = "FOR UPDATE OF j SKIP LOCKED"

    def __init__(self, raw: Raw, address: Address, renew: Callable[[], Raw]) -> None:
        self.raw = raw
        self._address = address
        self._renew = renew

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[PostgresRow]:
        with postgres_errors(self._address):
            return self._executed(sql, values)

    def _executed(self, sql: str, values: Sequence[Any]) -> psycopg.Cursor[PostgresRow]:
        begins = not self.in_transaction
        try:
            return self._sent(sql, values)
        except (psycopg.OperationalError, psycopg.InterfaceError):
            if not (begins and self.is_gone):
                raise
        self.raw.close()
        self.raw = self._renew()
        return self._sent(sql, values)

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> psycopg.Cursor[PostgresRow]:
        cursor = self.raw.cursor(binary=True)
        rows = list(values)
        if not rows:
            return cursor
        with postgres_errors(self._address):
            cursor.executemany(translated(sql), rows)  # in a pipeline: it does not wait for each
        return cursor

    def execute_as_it_is(self, definition: str) -> None:
        """A statement in PostgreSQL's own words, without values."""
        with postgres_errors(self._address):
            self.raw.execute(definition)

    def _sent(self, sql: str, values: Sequence[Any]) -> psycopg.Cursor[PostgresRow]:
        return self.raw.cursor(binary=True).execute(translated(sql), list(values))

    @property
    def in_transaction(self) -> bool:
        return self.raw.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)

    @property
    def is_gone(self) -> bool:
        return self.raw.closed or self.raw.broken


class Connections:
    """Connections to one database, each used by one thread at a time. `renewed` is told when a session had been lost."""

    def __init__(self, address: Address, renewed: Callable[[], None]) -> None:
        self._address = address
        self._renewed = renewed
        self._idle: list[PostgresConnection] = []
        self._in_use: dict[int, list[PostgresConnection]] = {}
        self._guard = threading.Lock()
        self._closed = False

    @contextlib.contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        """The one this thread is using, inside of its snapshot if one is open, or a free one."""
        used = self._in_use.get(threading.get_ident())
        if used:
            yield used[-1]
            return
        with self._given() as opened:
            yield opened

    @contextlib.contextmanager
    def transaction(self, begin: str, locks: Sequence[str] = ()) -> Iterator[PostgresConnection]:
        """All or nothing. `locks` are statements to begin with, before the first row is looked at."""
        with self._given() as opened:
            try:
                opened.execute(begin)
                for lock in locks:
                    opened.execute(lock)
                yield opened
                self._commit(opened)
            except BaseException:
                if not opened.is_gone and opened.in_transaction:
                    with contextlib.suppress(GawahError):
                        opened.execute("ROLLBACK")
                raise

    def _commit(self, opened: PostgresConnection) -> None:
        """A failed statement that somebody overlooked makes a ROLLBACK of it, without an error."""
        if opened.execute("COMMIT").statusmessage != "COMMIT":
            raise StoreError(f"{self._address.shown} took a transaction back that had failed; run the command again")

    @contextlib.contextmanager
    def _given(self) -> Iterator[PostgresConnection]:
        owner = threading.get_ident()
        opened = self._free() or PostgresConnection(open_raw(self._address), self._address, self._reopened)
        with self._guard:
            self._in_use.setdefault(owner, []).append(opened)
        try:
            yield opened
        finally:
            with self._guard:
                self._in_use[owner].remove(opened)
                if not self._in_use[owner]:
                    del self._in_use[owner]
                clean = not opened.is_gone and opened.raw.info.transaction_status == TransactionStatus.IDLE
                keep = clean and not self._closed and len(self._idle) < _IDLE_AT_MOST
                if keep:
                    self._idle.append(opened)
            if not keep:
                opened.raw.close()

    def _free(self) -> PostgresConnection | None:
        with self._guard:
            if self._closed:
                raise StoreBusyError(f"{self._address.shown} was closed by this process")
            return self._idle.pop() if self._idle else None

    def _reopened(self) -> Raw:
        raw = open_raw(self._address)
        self._renewed()
        return raw

    def close(self) -> None:
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.raw.close()


def has_ended(raw: Raw) -> bool:
    """Whether an idle session is over, as far as can be told without asking the server."""
    if raw.closed or raw.broken:
        return True
    readable, _, _ = select.select([raw.fileno()], [], [], 0)
    if not readable:
        return False
    try:
        raw.execute("SELECT 1")
    except psycopg.Error:
        return True
    return False
