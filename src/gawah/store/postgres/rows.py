"""Rows of PostgreSQL as the store reads them: by index, by column's name, and as a sequence of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import psycopg


class PostgresRow:
    """One row. Comparing and hashing are left to its values."""

    __slots__ = ("_places", "_values")

    def __init__(self, places: Mapping[str, int], values: Sequence[Any]) -> None:
        self._places = places
        self._values = tuple(values)

    def __getitem__(self, which: int | str) -> Any:
        return self._values[self._places[which] if isinstance(which, str) else which]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def keys(self) -> list[str]:
        return list(self._places)


def postgres_rows(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], PostgresRow]:
    """Psycopg's row factory for them."""
    places = {column.name: number for number, column in enumerate(cursor.description or ())}
    return lambda values: PostgresRow(places, values)
