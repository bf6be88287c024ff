"""A multipart body to one file on the disk, hashed while it comes: memory stays the same whatever its size.

The form has one file and, beside it, `collection` and `name`. The name that a client gives is a name, never a path.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from email.message import Message
from urllib.parse import unquote

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from gawah import naming
from gawah.api.problems import ProblemError
from gawah.api.served import Served
from gawah.errors import UsageError
from gawah.store.originals import Incoming

_PIECE_BYTES = 1 << 20  # written at once, in a thread
_FIELD_BYTES = 8192
_HEADER_BYTES = 16_384
_OVERHEAD_BYTES = 1 << 16  # of the form around the file
_MOST_PARTS = 16
SILENCE_S = 60.0
_FIELDS = ("collection", "name")


@dataclass(slots=True)
class Form:
    """What arrived: fields, and the file with the name its part had."""

    fields: dict[str, str] = field(default_factory=dict)
    file_name: str = ""
    n_files: int = 0


async def receive_file(request: Request, store: Served, incoming: Incoming) -> Form:
    """Reads the whole body into `incoming`.

    Raises ProblemError: 415 for another kind of body, 400 for a broken form, 413 for a file over the limit, 408 when
    nothing comes for a minute; starlette's ClientDisconnect when the sender has left.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise ProblemError(415, "not_multipart", "send the file as multipart/form-data")
    limit = store.app.settings.max_file_mb * 1_000_000
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > limit + _OVERHEAD_BYTES:
        raise too_large(limit)
    reader = _FormReader(boundary, limit)
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(SILENCE_S):
                piece = await anext(stream, None)
        except TimeoutError as error:
            raise ProblemError(408, "silence", f"nothing came for {SILENCE_S:g} s; send the file again") from error
        if piece is None:
            break
        reader.feed(piece)
        if reader.n_waiting >= _PIECE_BYTES:
            await store.read(incoming.write, reader.taken())
    reader.finish()
    await store.read(incoming.write, reader.taken())
    if reader.form.n_files != 1:
        raise ProblemError(
            400, "one_file", f"the form holds {reader.form.n_files} files; send exactly one, in the field file"
        )
    return reader.form


class _FormReader:
    """The parser's callbacks: file bytes are held until somebody takes them, fields are kept."""

    def __init__(self, boundary: bytes, limit: int) -> None:
        self.form = Form()
        self._limit = limit
        self._n_file_bytes = 0
        self._waiting: list[bytes] = []
        self.n_waiting = 0
        self._n_parts = 0
        self._is_over = False
        self._header_name, self._header_value = b"", b""
        self._disposition = b""
        self._n_header_bytes = 0
        self._field = ""
        self._value = b""
        callbacks = {
            "on_part_begin": self._on_part_begin,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_part_data": self._on_part_data,
            "on_part_end": self._on_part_end,
            "on_end": self._on_end,
        }
        self._parser = MultipartParser(boundary, callbacks)  # type: ignore[arg-type]

    def feed(self, piece: bytes) -> None:
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise ProblemError(400, "malformed", "the form is broken; send it again") from error

    def finish(self) -> None:
        if not self._is_over:
            raise ProblemError(400, "malformed", "the form ends before its last boundary; send it again")

    def taken(self) -> bytes:
        joined, self._waiting, self.n_waiting = b"".join(self._waiting), [], 0
        return joined

    def _on_part_begin(self) -> None:
        self._n_parts += 1
        if self._n_parts > _MOST_PARTS:
            raise ProblemError(400, "malformed", f"the form has more than {_MOST_PARTS} parts")
        self._disposition, self._value, self._field = b"", b"", ""
        self._n_header_bytes = 0

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]
        self._count_header(end - start)

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]
        self._count_header(end - start)

    def _count_header(self, n_bytes: int) -> None:
        self._n_header_bytes += n_bytes
        if self._n_header_bytes > _HEADER_BYTES:
            raise ProblemError(400, "malformed", "a part of the form has too long a head")

    def _on_header_end(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header_name, self._header_value = b"", b""

    def _on_headers_finished(self) -> None:
        self._field, file_name = _disposition(self._disposition)
        if file_name is not None or self._field == "file":
            self._field = "file"
            self.form.n_files += 1
            self.form.file_name = file_name or ""
        elif self._field not in _FIELDS:
            raise ProblemError(400, "unknown_field", f"the form may have file, {' and '.join(_FIELDS)}")

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._field == "file":
            self._n_file_bytes += end - start
            if self._n_file_bytes > self._limit:
                raise too_large(self._limit)
            self._waiting.append(data[start:end])
            self.n_waiting += end - start
        else:
            self._value += data[start:end]
            if len(self._value) > _FIELD_BYTES:
                raise ProblemError(400, "malformed", f"the field {self._field} is too long")

    def _on_part_end(self) -> None:
        if self._field in _FIELDS:
            try:
                self.form.fields[self._field] = self._value.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ProblemError(400, "malformed", f"the field {self._field} is not UTF-8") from error

    def _on_end(self) -> None:
        self._is_over = True


def _disposition(header: bytes) -> tuple[str, str | None]:
    """The field's name and the file's; UTF-8 as browsers send it, or RFC 8187's form."""
    message = Message()
    message["content-disposition"] = header.decode("utf-8", "replace").replace("\r", " ").replace("\n", " ")
    found = {key.lower(): value for key, value in message.get_params([], header="content-disposition", unquote=True)}
    name = found.get("name", "")
    plain, extended = found.get("filename"), found.get("filename*")
    if isinstance(extended, str) and extended.lower().startswith("utf-8'"):
        plain = unquote(extended.split("'", 2)[-1], errors="replace")
    return str(name), None if plain is None else str(plain)


def document_name(form: Form) -> str:
    """The name of the document: as the field says, or the last part of the file's. ProblemError for what is no name."""
    if "name" in form.fields:
        return checked_name(form.fields["name"], "name")
    return checked_name(re.split(r"[/\\]", form.file_name)[-1], "file name")


def checked_name(name: str, what: str) -> str:
    """The name as `naming.checked_name` gives it; ProblemError for what is none."""
    try:
        return naming.checked_name(name, what)
    except UsageError as error:
        raise ProblemError(400, "bad_name", str(error)) from error


def too_large(limit: int) -> ProblemError:
    return ProblemError(413, "too_large", f"a file may have {limit:,} bytes; the setting max_file_mb says so")
