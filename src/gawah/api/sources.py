"""Where a citation leads: the original's bytes, windows of the canonical text, and the place of a span in the original."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from gawah.api.access import Principal
from gawah.api.documents import own_document
from gawah.api.problems import problems
from gawah.api.ranges import SHOWN_TYPES, FileAnswer, OpenedFile, is_known
from gawah.api.schemas import PlaceBody, TextWindow
from gawah.api.served import Reader, Served, ServedStore
from gawah.errors import ExtractionError, NotFoundError, UsageError
from gawah.fragment import build, label
from gawah.media_types import media_type_of
from gawah.sources import FoundFile, found_file, read_source
from gawah.types import DocumentRecord, Span, Upload
from gawah.wire import to_json

router = APIRouter(prefix="/v1", tags=["sources"])
MAX_WINDOW_CHARS = 200_000
_READ_BYTES = 1 << 20
# Links are not followed and a pipe does not hold the reader up: the file may have been swapped since it was found.
_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

Sha256 = Annotated[str, Query(pattern="^[0-9a-f]{64}$", description="the version that is meant; default: the newest")]
Offset = Annotated[int, Query(ge=0, lt=1 << 40)]
_BYTES = {
    "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in SHOWN_TYPES},
    "description": "The file's bytes, as a type that cannot run",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: _BYTES,
    206: _BYTES,
    304: {"description": "It is the version that is known"},
    **problems(404, 416),
}


@router.get("/documents/{document_id}/original", response_model=None, response_class=Response, responses=_RESPONSES)
@router.head("/documents/{document_id}/original", response_model=None, include_in_schema=False)
async def get_original(
    *, request: Request, store: ServedStore, who: Reader, document_id: str, sha256: Sha256 | None = None
) -> Response:
    """The original, or a range of it; its ETag is its SHA-256. `sha256` asks for one version: that of a citation, say.

    Versions that were uploaded are kept for ever, also of documents that were removed since.
    """
    file = await store.read(_open_version, store, who, document_id, sha256)
    return FileAnswer(store, file, head_only=request.method == "HEAD")


def _open_version(store: Served, who: Principal, document_id: str, sha256: str | None) -> OpenedFile:
    most_bytes = store.app.settings.max_file_mb * 1_000_000
    with contextlib.suppress(NotFoundError):
        record = own_document(store, who, document_id)
        file = _open(record.uri, record.name, record.media_type, most_bytes)
        if file is not None:
            if sha256 in (None, file.sha256):
                return file
            os.close(file.descriptor)
        elif sha256 is None:
            raise NotFoundError(f"the file of document {document_id} is gone, or is no file any more")
    for upload in reversed(own_uploads(store, who, document_id)):
        if sha256 in (None, upload.sha256):
            file = _open(stored_file(upload), upload.name, "", most_bytes)
            if file is not None and file.sha256 == upload.sha256:
                return file
            if file is not None:
                os.close(file.descriptor)
    version = f" with the hash {sha256}" if sha256 else ""
    raise NotFoundError(f"no original of document {document_id}{version} is there")


def own_uploads(store: Served, who: Principal, document_id: str) -> list[Upload]:
    """The versions of a document that were handed over, oldest first, as far as they may see them."""
    return [one for one in store.app.uploads.of_document(document_id) if one.sha256 and who.sees(one.collection)]


def stored_file(upload: Upload) -> str:
    """The address of the file that an upload is kept in."""
    return Path(upload.path).as_uri()


def _open(uri: str, name: str, media_type: str, most_bytes: int) -> OpenedFile | None:
    """None when there is no such file, or none that can be read."""
    found = found_file(uri)
    if found is None:
        return None
    try:
        descriptor = os.open(found.path, _OPEN_FLAGS)
    except NotADirectoryError:
        return _open_member(found, name, media_type, most_bytes)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            return None
        os.set_blocking(descriptor, True)
        key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        sha256 = _hash_of(_Descriptor(descriptor, key))
    except BaseException:
        os.close(descriptor)
        raise
    return OpenedFile(descriptor, status.st_size, sha256, name, media_type or media_type_of(name))


def _open_member(found: FoundFile, name: str, media_type: str, most_bytes: int) -> OpenedFile | None:
    """A file of an archive, unpacked to where it can be read by ranges."""
    try:
        source, data = read_source(found, "", name, most_bytes)
    except ExtractionError:
        return None
    with tempfile.TemporaryFile() as unpacked:
        unpacked.write(data)
        unpacked.flush()
        return OpenedFile(os.dup(unpacked.fileno()), len(data), source.sha256, name, media_type or media_type_of(name))


class _Descriptor(int):
    """A descriptor that is known by its file and the file's times, so that a hash is made once."""

    key: tuple[int, ...]

    def __new__(cls, descriptor: int, key: tuple[int, ...]) -> Self:
        made = super().__new__(cls, descriptor)
        made.key = key
        return made

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descriptor) and other.key == self.key


@lru_cache(maxsize=4096)
def _hash_of(descriptor: _Descriptor) -> str:
    digest = hashlib.sha256()
    at = 0
    while piece := os.pread(descriptor, _READ_BYTES, at):
        digest.update(piece)
        at += len(piece)
    return digest.hexdigest()


@router.get(
    "/documents/{document_id}/text",
    response_model=None,
    responses={200: {"model": TextWindow}, 304: {"description": "It is the text that is known"}, **problems(404)},
)
async def get_text(
    *,
    request: Request,
    store: ServedStore,
    who: Reader,
    document_id: str,
    start: Annotated[Offset, Query(alias="from")] = 0,
    end: Annotated[Offset | None, Query(alias="to")] = None,
) -> Response:
    """Code points `from` to before `to` of the canonical text: those that citations count in. At most 200,000 at once.

    The ETag is the text's SHA-256: when it is not a citation's `text_sha256`, the source has changed since the answer.
    """
    record, body = await store.read(_window, store, who, document_id, (start, end))
    etag = f'"{record.text_sha256}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if is_known(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    return JSONResponse(body, headers=headers)


def _window(
    store: Served, who: Principal, document_id: str, asked: tuple[int, int | None]
) -> tuple[DocumentRecord, dict[str, Any]]:
    with store.app.catalog.snapshot() as snapshot:
        record = who.require_document(snapshot.document(document_id))
        start, end = _span(asked, record)
        text = snapshot.text_window(record.no, start, min(end - start, MAX_WINDOW_CHARS))
    body = {
        "document_id": record.id,
        "text_sha256": record.text_sha256,
        "n_chars": record.counters.n_chars,
        "from": start,
        "to": start + len(text),
        "text": text,
    }
    return record, body


def _span(asked: tuple[int, int | None], record: DocumentRecord) -> tuple[int, int]:
    """The range within the text; UsageError for one that is none."""
    start, end = asked
    n_chars = record.counters.n_chars
    end = n_chars if end is None else min(end, n_chars)
    start = min(start, n_chars)
    if end < start:
        raise UsageError(f"from {start} to {end} is no range")
    return start, end


@router.get(
    "/documents/{document_id}/place", response_model=None, responses={200: {"model": PlaceBody}, **problems(404)}
)
async def get_place(
    *,
    store: ServedStore,
    who: Reader,
    document_id: str,
    start: Annotated[Offset, Query(alias="from")],
    end: Annotated[Offset, Query(alias="to")],
) -> Response:
    """Where a span of the canonical text is in the original: page and boxes, cells, slide, time, lines."""

    def placed() -> dict[str, Any]:
        with store.app.catalog.snapshot() as snapshot:
            record = who.require_document(snapshot.document(document_id))
            first, last = _span((start, end), record)
            found = snapshot.locate(record.id, record.text_sha256, [Span(first, last)])
        if found is None:
            raise NotFoundError(f"document {document_id} has no text: no version of it was ever ready")
        (locator,) = found
        return {
            "document_id": record.id,
            "text_sha256": record.text_sha256,
            "from": first,
            "to": last,
            "locator": to_json(locator),
            "label": label(locator),
            "fragment": build(locator),
        }

    return JSONResponse(await store.read(placed))
