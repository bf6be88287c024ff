"""An open file to an answer: whole or a range of it (RFC 9110, 14), with validators; nothing in it runs in a browser."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gawah.api.problems import ProblemError
from gawah.api.served import Served

_PIECE_BYTES = 256 * 1024
_RANGE = re.compile(r"bytes=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*", re.ASCII)
_SANDBOX = "sandbox; default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'"
_OCTETS = "application/octet-stream"
# What a browser shows and cannot run. Everything else is a download of unknown bytes, HTML, SVG and XML among it.
_SHOWN = frozenset({
    "application/pdf", "image/png", "image/jpeg", "image/gif", "image/webp",
    "audio/mpeg", "audio/wav", "audio/ogg", "audio/flac", "video/mp4",
})  # fmt: skip
SHOWN_TYPES = (*sorted(_SHOWN), "text/plain", _OCTETS)
_ACTIVE_TEXT = frozenset({"text/html", "text/xml", "text/xsl"})
_TEXT = frozenset({"application/json", "application/jsonl", "application/yaml", "application/toml", "application/sql"})


class ByteRange(NamedTuple):
    """Bytes from `start` to before `end`."""

    start: int
    end: int


class OpenedFile(NamedTuple):
    """A file that is being served; whoever sends it closes the descriptor."""

    descriptor: int
    size: int
    sha256: str
    name: str
    media_type: str


def parse_range(header: str | None, size: int) -> ByteRange | None:
    """The one range that is asked for; None when all is to be sent, as for several ranges. ProblemError 416."""
    if header is None or not (match := _RANGE.fullmatch(header)):
        return None
    first, last = match.groups()
    if not first and not last:
        return None
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None
    if start >= size or end <= start:
        headers = {"Content-Range": f"bytes */{size}"}
        raise ProblemError(416, "range", f"the file has {size} bytes", headers=headers)
    return ByteRange(start, end)


def is_known(validators: str | None, etag: str) -> bool:
    """Whether an If-None-Match names the ETag."""
    if validators is None:
        return False
    return any(one.strip().removeprefix("W/") in (etag, "*") for one in validators.split(","))


def file_headers(file: OpenedFile) -> dict[str, str]:
    """Headers under which a file can do nothing: shown in a sandbox, or handed over as a download."""
    shown = shown_type(file.media_type)
    kind = "attachment" if shown == _OCTETS else "inline"
    return {
        "ETag": f'"{file.sha256}"',
        "Accept-Ranges": "bytes",
        "Content-Type": shown,
        "Content-Disposition": f"{kind}; {_file_name(file.name)}",
        "Content-Security-Policy": _SANDBOX,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
    }


def shown_type(media_type: str) -> str:
    """The type that a browser is told. Scripts and data are plain text: no page can be made to run them."""
    if media_type in _SHOWN:
        return media_type
    if media_type in _TEXT or (media_type.startswith("text/") and media_type not in _ACTIVE_TEXT):
        return "text/plain; charset=utf-8"
    return _OCTETS


def _file_name(name: str) -> str:
    """RFC 6266: an ASCII name for the old, the whole one percent-encoded; no character of it ends the header."""
    last = name.rsplit("/", 1)[-1]
    plain = re.sub(r"[^A-Za-z0-9 ._-]", "_", last)
    return f"filename=\"{plain}\"; filename*=UTF-8''{quote(last, safe='')}"


class FileAnswer(Response):
    """Sends a file; 304, 206 and 416 as the request's headers ask. The descriptor is closed whatever happens."""

    def __init__(self, store: Served, file: OpenedFile, *, head_only: bool) -> None:
        super().__init__()
        self._store = store
        self._file = file
        self._head_only = head_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        try:
            await self._answer(Headers(scope=scope), send)
        except OSError:  # whoever asked has left; the file itself is open already
            return
        finally:
            os.close(self._file.descriptor)

    async def _answer(self, asked: Mapping[str, str], send: Send) -> None:
        file = self._file
        headers = file_headers(file)
        if is_known(asked.get("if-none-match"), headers["ETag"]):
            await _start(send, 304, headers, None)
            await send({"type": "http.response.body", "body": b""})
            return
        fits = asked.get("if-range") in (None, headers["ETag"])
        chosen = parse_range(asked.get("range"), file.size) if fits else None
        start, end = chosen or (0, file.size)
        if chosen:
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
        await _start(send, 206 if chosen else 200, headers, end - start)
        while start < end and not self._head_only:
            piece = await self._store.read(os.pread, file.descriptor, min(_PIECE_BYTES, end - start), start)
            if not piece:
                raise OSError("the file was cut short while it was sent")  # the connection ends short of its length
            start += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": start < end})
        if self._head_only or start == 0:
            await send({"type": "http.response.body", "body": b""})


async def _start(send: Send, status: int, headers: Mapping[str, str], length: int | None) -> None:
    sized = headers if length is None else {**headers, "Content-Length": str(length)}
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in sized.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
