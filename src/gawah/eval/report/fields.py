"""A JSON object to its fields, each of the type that is wanted, or an error that names the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from gawah.eval.collection import CollectionError

T = TypeVar("T")
LARGEST = 1e12  # beyond, sums and axes overflow; no gate, clock or corpus gets there


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of a run's file; every method raises CollectionError for a field that is missing or of another type."""

    value: Mapping[str, Any]
    place: str

    def text(self, name: str) -> str:
        return self._of(name, str, "a string")

    def flag(self, name: str) -> bool:
        return self._of(name, bool, "true or false")

    def number(self, name: str) -> float:
        """A number of a size that distances, scores, shares and times have."""
        value = self.value.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            raise self._missing(name, "a number")
        return float(value)

    def whole(self, name: str) -> int:
        """A count, 0 or more."""
        value = self.value.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise self._missing(name, "a count")
        return value

    def items(self, name: str) -> list[Any]:
        return self._of(name, list, "a list")

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.items(name)
        if not all(isinstance(item, str) for item in found):
            raise self._missing(name, "a list of strings")
        return tuple(found)

    def objects(self, name: str) -> tuple[Fields, ...]:
        found = self.items(name)
        if not all(isinstance(item, dict) for item in found):
            raise self._missing(name, "a list of objects")
        return tuple(Fields(item, f"{self.place}, {name}") for item in found)

    def inside(self, name: str) -> Fields:
        return Fields(self._of(name, dict, "an object"), f"{self.place}, {name}")

    def each(self) -> Iterator[tuple[str, Fields]]:
        """Every field, which must be an object."""
        for name in self.value:
            yield name, self.inside(name)

    def wrong(self, why: str) -> CollectionError:
        return CollectionError(f"{self.place}: {why}; it is no run, or of an older gawah: measure it anew")

    def _of(self, name: str, kind: type[T], wanted: str) -> T:
        value = self.value.get(name)
        if not isinstance(value, kind):
            raise self._missing(name, wanted)
        return value

    def _missing(self, name: str, wanted: str) -> CollectionError:
        return self.wrong(f"the field {name!r} must be {wanted}")
