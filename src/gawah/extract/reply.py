"""A document or an error, as bytes from the process that read a hostile file to the one that must not believe it.

`document_parts` writes, `read_reply` reads: JSON and text, every type and offset checked, never a pickle. What the
reader knows itself (id, name, hash) is not taken from the reply.

Layout: one letter, D, E or L; for D the length of the JSON in eight bytes, the JSON, the text in UTF-8; for E the JSON;
for L what `looking` says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from gawah.errors import ExtractionError
from gawah.fingerprint import document_id
from gawah.types import (
    Advance,
    Block,
    BlockKind,
    Box,
    CharRange,
    Conservation,
    CsvCells,
    Document,
    EpubPlace,
    ImageBox,
    Locator,
    MailPart,
    PageBoxes,
    Place,
    Removal,
    SheetRange,
    Slide,
    SourceFile,
    Span,
    TimeRange,
)

_LENGTH_BYTES = 8
_LOOK = b"L"
_LOCATORS = (CharRange, CsvCells, PageBoxes, TimeRange, SheetRange, Slide, ImageBox, MailPart, EpubPlace)
_LOCATOR_NUMBERS = {cls: number for number, cls in enumerate(_LOCATORS)}
_DIRECTIONS = frozenset({"right", "left", "up", "down"})
_SAME_WORDS = 1  # stands for the words of a place that are the canonical text itself
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*")
_EXTRACTOR = re.compile(r"[\w-]{1,80}/\d{1,9}")
_CODE = re.compile(r"[a-z_]{1,40}")
_LONGEST_LINE_CHARS = 500


class MalformedReplyError(ValueError):
    """The process sent something that is no document."""


# --- writing


def document_parts(document: Document) -> Iterator[bytes]:
    """The reply's bytes in order; the text is not copied into the JSON."""
    text = document.text
    body = {
        "title": document.title,
        "language": document.language,
        "media_type": document.source.media_type,
        "extractor": document.extractor,
        "blocks": [[b.kind.value, b.span.start, b.span.end, b.level, b.title] for b in document.blocks],
        "places": [[p.span.start, p.span.end, _advance_row(p), *_locator_row(p, text)] for p in document.places],
        "read": document.conservation.read,
        "kept": document.conservation.kept,
        "dropped": dict(document.conservation.dropped),
        "added": dict(document.conservation.added),
        "warnings": document.warnings,
        "removed": [[item.reason, item.text, _removal_row(item)] for item in document.removed],
        "quality": dict(document.quality),
    }
    encoded = _json(body)
    yield b"D" + len(encoded).to_bytes(_LENGTH_BYTES, "big")
    yield encoded
    yield text.encode("utf-8")


def error_part(code: str, reason: str, *, retryable: bool = False) -> bytes:
    line = " ".join(reason.split())[:_LONGEST_LINE_CHARS]
    return b"E" + _json({"code": code, "reason": line, "retryable": retryable})


def look_part() -> bytes:
    """The mark before an answer about a file that is looked at."""
    return _LOOK


def _json(value: object) -> bytes:
    # A title or warning that quotes broken input may hold half a surrogate pair; the file's own text never does.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _advance_row(place: Place) -> list[object]:
    return [] if place.advance is None else [place.advance.toward, place.advance.tenths]


def _removal_row(removal: Removal) -> list[object]:
    return [] if removal.locator is None else _locator_row(Place(Span(0, 0), removal.locator), "")


def _locator_row(place: Place, text: str) -> list[object]:
    locator = place.locator
    row: list[object] = [_LOCATOR_NUMBERS[type(locator)]]
    for item in fields(locator):
        value = getattr(locator, item.name)
        if isinstance(value, tuple):
            row.append([[box.page, box.x0, box.y0, box.x1, box.y1] for box in value])
        elif item.name == "words" and value and value == text[place.span.start : place.span.end]:
            row.append(_SAME_WORDS)
        else:
            row.append(value)
    return row


# --- reading


def read_reply(source: SourceFile, payload: memoryview) -> Document:
    """The document, checked; raises the ExtractionError that was sent, or MalformedReplyError."""
    letter = bytes(payload[:1])
    if letter not in (b"D", b"E"):
        raise MalformedReplyError("it is empty" if not payload else "it begins with no known letter")
    try:
        if letter == b"D":
            return _document(source, payload[1:])
        error = _error(payload[1:])
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as fault:
        raise MalformedReplyError(str(fault)) from fault
    raise error


def read_look(payload: memoryview) -> memoryview:
    """What follows the mark, unchecked; raises the ExtractionError that was sent, or MalformedReplyError."""
    letter = bytes(payload[:1])
    if letter == _LOOK:
        return payload[1:]
    if letter != b"E":
        raise MalformedReplyError("it begins with no known letter")
    try:
        error = _error(payload[1:])
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as fault:
        raise MalformedReplyError(str(fault)) from fault
    raise error


def _error(payload: memoryview) -> ExtractionError:
    body = _object(json.loads(bytes(payload)))
    code, reason = _text(body["code"]), _text(body["reason"])
    if not _CODE.fullmatch(code) or len(reason) > _LONGEST_LINE_CHARS:
        raise ValueError("an error without a code or with a novel")
    return ExtractionError(code, reason, retryable=body["retryable"] is True)


def _document(source: SourceFile, payload: memoryview) -> Document:
    length = int.from_bytes(payload[:_LENGTH_BYTES], "big")
    text_at = _LENGTH_BYTES + length
    body = _object(json.loads(bytes(payload[_LENGTH_BYTES:text_at])))
    text = str(payload[text_at:], "utf-8")
    media_type, extractor = _text(body["media_type"]), _text(body["extractor"])
    if not _MEDIA_TYPE.fullmatch(media_type) or not _EXTRACTOR.fullmatch(extractor):
        raise ValueError(f"{media_type!r} and {extractor!r} are no media type and extractor")
    return Document(
        id=document_id(source.collection, source.name),
        source=replace(source, media_type=media_type),
        title=_text(body["title"]),
        language=_text(body["language"]),
        text=text,
        blocks=tuple(_blocks(body["blocks"], len(text))),
        places=tuple(_places(body["places"], text)),
        extractor=extractor,
        conservation=Conservation(
            _count(body["read"]), _count(body["kept"]), _counts(body["dropped"]), _counts(body["added"])
        ),
        warnings=tuple(_text(item) for item in _list(body["warnings"])),
        removed=tuple(_removal(*row) for row in _list(body["removed"])),
        quality=_counts(body["quality"]),
    )


def _blocks(rows: Any, n_chars: int) -> Iterator[Block]:
    last = 0
    for kind, start, end, level, title in _list(rows):
        if not last <= _count(start) <= _count(end) <= n_chars:
            raise ValueError(f"block {start},{end} is out of order or outside of the text")
        last = end
        yield Block(BlockKind(kind), Span(start, end), _count(level), _text(title))


def _places(rows: Any, text: str) -> Iterator[Place]:
    last = 0
    for start, end, advance, number, *values in _list(rows):
        if not last <= _count(start) <= _count(end) <= len(text):
            raise ValueError(f"place {start},{end} is out of order or outside of the text")
        last = start
        locator = _locator(_count(number), values, text[start:end])
        yield Place(Span(start, end), locator, _advance(advance, end - start))


def _advance(row: Any, n_chars: int) -> Advance | None:
    if row == []:
        return None
    toward, tenths = _list(row)
    widths = tuple(_list(tenths))
    if toward not in _DIRECTIONS or len(widths) != n_chars or not all(type(width) is int for width in widths):
        raise ValueError(f"no advance of {n_chars} characters")
    return Advance(toward, widths)


def _removal(reason: Any, words: Any, row: Any) -> Removal:
    number, *values = [*_list(row), None] if row == [] else _list(row)
    return Removal(_text(reason), _text(words), None if number is None else _locator(_count(number), values, ""))


def _locator(number: int, values: list[Any], words: str) -> Locator:
    readers = _FIELD_READERS[number]
    if len(values) != len(readers):
        raise ValueError(f"{len(values)} fields for {_LOCATORS[number].__name__}")
    if number == 0 and values[-1] == _SAME_WORDS:
        values[-1] = words
    return _LOCATORS[number](*[read(value) for read, value in zip(readers, values, strict=True)])


def _boxes(value: Any) -> tuple[Box, ...]:
    return tuple(Box(_count(page), *(_number(edge) for edge in edges)) for page, *edges in _list(value))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("no object where one belongs")
    return value


def _list(value: Any) -> Iterable[Any]:
    if not isinstance(value, list):
        raise ValueError("no list where one belongs")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _counts(value: Any) -> dict[str, int]:
    return {_text(reason): _count(n) for reason, n in _object(value).items()}


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    if not value.isascii():
        value.encode("utf-8")  # half a surrogate pair is a UnicodeEncodeError, which is a ValueError
    return value


_READERS: dict[str, Callable[[Any], Any]] = {"int": _count, "float": _number, "str": _text, "tuple[Box, ...]": _boxes}
_FIELD_READERS = [[_READERS[str(item.type)] for item in fields(cls)] for cls in _LOCATORS]
