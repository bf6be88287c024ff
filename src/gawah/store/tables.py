"""The store's tables as lines of JSON and back: what moves when a store moves, in an order that its references allow.

A row is one JSON array, its columns' names stand in the first line; bytes are {"b64": …}. The same rows give the same lines,
whichever kind of database they come from. Segments and the deletions they wait for are derived, and stay behind.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gawah.errors import StoreCorruptError
from gawah.store.sql import Connection

_BATCH_CHARS = 4_000_000  # of lines read before their rows are written


@dataclass(frozen=True, slots=True)
class Table:
    """`key` is what rows are ordered and paged by; `page` as many rows as fit into memory, however large each may be."""

    name: str
    key: tuple[str, ...]
    page: int = 512


TABLES = (
    Table("meta", ("key",)),
    Table("epochs", ("epoch",)),
    Table("generations", ("id",)),
    Table("documents", ("no",)),
    Table("contents", ("document_no",), page=4),
    Table("generation_documents", ("generation", "document_no")),
    Table("embeddings", ("id",)),
    Table("chunks", ("seq",)),
    Table("jobs", ("id",)),
    Table("answers", ("seq",), page=64),
    Table("answer_documents", ("answer_seq", "document_id")),
    Table("uploads", ("no",)),
    Table("api_keys", ("id",)),
    Table("askers", ("answer_id",)),
    Table("requests_done", ("key_id", "route", "idempotency")),
)
DERIVED = ("segments", "deletions")
OF_EVERY_STORE = ("meta", "epochs")  # an empty store has rows in these


def rows_of(opened: Connection, table: Table) -> Iterator[Sequence[Any]]:
    """The columns' names, then every row by key."""
    keys = ", ".join(table.key)
    behind = f"WHERE ({keys}) > ({', '.join('?' * len(table.key))})"
    names = columns_of(opened, table)
    places = [names.index(key) for key in table.key]
    yield names
    last: list[Any] = []
    while True:
        page = opened.execute(
            f"SELECT {', '.join(names)} FROM {table.name} {behind if last else ''} ORDER BY {keys} LIMIT {table.page}",  # noqa: S608
            last,
        ).fetchall()
        yield from page
        if len(page) < table.page:
            return
        last = [page[-1][place] for place in places]


def columns_of(opened: Connection, table: Table) -> list[str]:
    """In alphabetical order: that of their making differs where a migration added some."""
    description = opened.execute(f"SELECT * FROM {table.name} LIMIT 0").description  # noqa: S608
    return sorted(column[0] for column in description or ())


def lines_of(opened: Connection, table: Table) -> Iterator[bytes]:
    for row in rows_of(opened, table):
        yield (json.dumps([_written(value) for value in row], ensure_ascii=False) + "\n").encode("utf-8")


def digest_of(opened: Connection, table: Table) -> tuple[int, str]:
    """How many rows a table has, and the SHA-256 of its lines."""
    n_lines, digest = 0, hashlib.sha256()
    for line in lines_of(opened, table):
        digest.update(line)
        n_lines += 1
    return n_lines - 1, digest.hexdigest()


def put_lines(opened: Connection, table: Table, lines: Iterable[bytes]) -> None:
    """Inserts rows; raises StoreCorruptError for columns that the table does not have, and for what is no row."""
    given = iter(lines)
    names = _read(next(given, b""), table)
    if names != columns_of(opened, table):
        raise StoreCorruptError(f"the table {table.name} has other columns than this gawah's")
    insert = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608
    while batch := _batch(given, table, len(names)):
        try:
            opened.executemany(insert, batch)
        except OverflowError as error:
            raise StoreCorruptError(f"a row of the table {table.name} holds what no row can ({error})") from error


def is_empty(opened: Connection) -> bool:
    """Whether nothing was ever put into this store."""
    return not any(
        opened.execute(f"SELECT 1 FROM {table.name} LIMIT 1").fetchall()  # noqa: S608
        for table in TABLES
        if table.name not in OF_EVERY_STORE
    )


def _batch(lines: Iterator[bytes], table: Table, n_columns: int) -> list[list[Any]]:
    rows, n_chars = [], 0
    for line in islice(lines, 1000):
        row = [_value(value) for value in _read(line, table)]
        if len(row) != n_columns:
            raise StoreCorruptError(f"a row of the table {table.name} has {len(row)} of {n_columns} columns")
        rows.append(row)
        n_chars += len(line)
        if n_chars > _BATCH_CHARS:
            break
    return rows


def _read(line: bytes, table: Table) -> list[Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise StoreCorruptError(f"a line of the table {table.name} is no row: {error}") from error
    if not isinstance(row, list):
        raise StoreCorruptError(f"a line of the table {table.name} is no row")
    return row


def _written(value: object) -> object:
    return {"b64": base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _value(written: Any) -> Any:
    return base64.b64decode(written["b64"]) if isinstance(written, dict) else written
