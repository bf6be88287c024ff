"""PostgreSQL's errors in our own words. No message holds a password."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from psycopg import conninfo

from gawah.errors import (
    ConfigurationError,
    GawahError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    UsageError,
)


class TakenBackError(StoreBusyError):
    """The server took a transaction back, all of it, for another's sake: it can be made again."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is. `shown` is for people: without the password."""

    parameters: dict[str, str]
    shown: str

    def without_secrets(self, message: str) -> str:
        """A server's message as one line."""
        secret = self.parameters.get("password")
        line = " ".join(message.split())
        return line.replace(secret, "…") if secret else line


def read_address(written: str) -> Address:
    """A URL or a libpq connection string; raises ConfigurationError, which does not repeat it."""
    try:
        given = conninfo.conninfo_to_dict(written)
    except psycopg.ProgrammingError:
        raise ConfigurationError(
            "catalog: this is no address of a PostgreSQL database; write postgresql://user@host:port/database"
        ) from None
    parameters = {key: str(value) for key, value in given.items() if value is not None}
    host, port = parameters.get("host", ""), parameters.get("port", "")
    place = f"{host}:{port}" if host and port and not host.startswith("/") else host or "localhost"
    user = f"{parameters['user']}@" if "user" in parameters else ""
    return Address(parameters, f"postgresql://{user}{place}/{parameters.get('dbname', '')}")


@contextlib.contextmanager
def postgres_errors(address: Address) -> Iterator[None]:
    """Turns psycopg's exceptions into the store's."""
    try:
        yield
    except psycopg.Error as error:
        raise _translated(error, address) from None  # the cause may quote what was sent
    except UnicodeEncodeError:
        raise UsageError(f"half of a surrogate pair is no text that {address.shown} can keep") from None


def _translated(error: psycopg.Error, address: Address) -> GawahError:
    state, where = error.sqlstate or "", address.shown
    line = address.without_secrets(error.diag.message_primary or str(error))
    if state in ("40001", "40P01"):
        return TakenBackError(f"{where}: another process changed the same rows; run the command again")
    if state in ("55P03", "57014"):
        return StoreBusyError(f"{where} is locked by another process; try again when it is done")
    if state == "53100":
        return StoreFullError(
            f"no room left on the disk of {where}; free some and run the command again: nothing is lost"
        )
    if state in ("XX001", "XX002"):
        return StoreCorruptError(f"{where} is damaged ({line}); restore it from a backup")
    if state.startswith("23"):
        return StoreCorruptError(f"{where} would hold rows that contradict each other ({line}); nothing was written")
    if state == "25006":
        return StoreError(f"{where} takes no writes: it is a standby or set to read only; name the primary")
    if state == "42P01":
        return StoreError(
            f"{where} holds no store any more ({line}); restore it from a backup, or make one with: gawah ingest FOLDER"
        )
    if state == "42501":
        return StoreError(f"{where}: {line}; let this user own the database, or grant it CREATE on its schema")
    if isinstance(error, psycopg.DataError):
        return UsageError(
            f"text with U+0000 or half of a surrogate pair cannot be looked up or kept in {where} ({line})"
        )
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreError(
            f"the connection to {where} was lost ({line}); what was acknowledged is there: run it again when the server is"
        )
    return StoreError(f"{where}: {line}")
