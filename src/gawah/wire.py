"""Frozen values to JSON and back: one encoding for the store, the answer log and every interface.

Dataclasses become objects, tuples lists, enums their values; a locator carries its `kind`, so that it can be read back.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from gawah import types

T = TypeVar("T")

_LOCATORS: dict[str, type] = {
    "char": types.CharRange,
    "csv": types.CsvCells,
    "page": types.PageBoxes,
    "time": types.TimeRange,
    "sheet": types.SheetRange,
    "slide": types.Slide,
    "image": types.ImageBox,
    "mail": types.MailPart,
    "epub": types.EpubPlace,
}
_LOCATOR_KINDS = {cls: kind for kind, cls in _LOCATORS.items()}


def to_json(value: object) -> Any:
    """A JSON value; raises TypeError for what has no JSON form."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        body = {f.name: to_json(getattr(value, f.name)) for f in fields(value)}
        kind = _LOCATOR_KINDS.get(type(value))
        return {"kind": kind, **body} if kind else body
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def from_json(cls: type[T], value: Any) -> T:
    """The value of type `cls` that `to_json` wrote; raises ValueError when the JSON does not fit."""
    return cast("T", _read(cls, value))


def _read(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, pytypes.UnionType):
        return _read_union(get_args(hint), value)
    if origin is tuple:
        return tuple(_read(get_args(hint)[0], item) for item in value)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _read(get_args(hint)[1], item) for key, item in value.items()}
    if origin is Literal:
        return value
    if is_dataclass(hint):
        return _read_dataclass(cast("type", hint), value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if hint is float and isinstance(value, int):
        return float(value)
    if isinstance(hint, type) and not isinstance(value, hint):
        raise ValueError(f"{value!r} is not {hint.__name__}")
    return value


def _read_union(options: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in options:
        return None
    if isinstance(value, dict) and "kind" in value:
        return _read_dataclass(_LOCATORS[value["kind"]], {k: v for k, v in value.items() if k != "kind"})
    chosen = [option for option in options if option is not type(None)]
    if len(chosen) != 1:
        raise ValueError(f"cannot tell which of {chosen} {value!r} is")
    return _read(chosen[0], value)


def _read_dataclass(cls: type, value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not an object for {cls.__name__}")
    hints = _hints(cls)
    unknown = set(value) - set(hints)
    if unknown:
        raise ValueError(f"{cls.__name__} has no {sorted(unknown)}")
    return cls(**{name: _read(hints[name], item) for name, item in value.items()})


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)
