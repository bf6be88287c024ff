"""What the viewer shows of an original: drawn pages with boxes and words, windows of sheets, harmless HTML, text by blocks.

Everything is of the version that is searchable, so that the places of a citation fit; pages also of other versions that are
kept. A file that was changed on the disk since it was read is a 409: its places are those of another text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse, Response

from gawah.api import grid, layout
from gawah.api.access import Principal
from gawah.api.documents import own_document
from gawah.api.problems import ProblemError, problems
from gawah.api.ranges import is_known
from gawah.api.served import Reader, Served, ServedStore
from gawah.api.sources import Offset, Sha256, own_uploads, stored_file
from gawah.api.tickets import LIFETIME_S
from gawah.api.viewer_schemas import BlocksBody, CellsBody, LayoutBody, TicketBody, TicketRequest
from gawah.api.web import style_of
from gawah.errors import NotFoundError, UsageError
from gawah.extract.showing import Shown, harmless_page, has_pages, shown_page
from gawah.fingerprint import sha256_bytes
from gawah.media_types import media_type_of
from gawah.sources import found_file, read_source
from gawah.types import Document, DocumentRecord, Span

router = APIRouter(prefix="/v1", tags=["viewer"])
_LONGEST_SIDE_PX = 4000  # of an image; a page's is bounded by its resolution
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "It is what is known"}}

PageNumber = Annotated[int, Path(ge=1, le=100_000)]
Dpi = Annotated[int, Query(ge=36, le=300, description="pixels an inch of a PDF's page; an image is as large as it is")]
Start = Annotated[Offset | None, Query(alias="from", description="the cited range of the canonical text")]
End = Annotated[Offset | None, Query(alias="to")]
Strong = Annotated[
    Sequence[str], Query(max_length=50, description="ranges within it, as from-to: what carries the claims")
]
_DIGITS = re.compile("[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn page, without its pixels, and the picture."""

    shown: Shown
    png: bytes


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document's file: its hash, its type, and where it lies."""

    document_id: str
    sha256: str
    media_type: str
    uri: str
    name: str


@router.post("/tickets", response_model=None, responses={200: {"model": TicketBody}, **problems()})
async def issue_ticket(*, request: Request, asked: TicketRequest, store: ServedStore, who: Reader) -> Response:  # noqa: ARG001
    """For `?ticket=`: opens the reading of one document or run by address alone, as pictures and recordings are loaded.

    It is null where no key is needed. A ticket stands for the key that asked for it, and ends with it.
    """
    token = request.scope.get("gawah.token")
    try:
        ticket = store.tickets.issue(asked.path, token) if token else None
    except ValueError as error:
        raise UsageError(str(error)) from error
    return JSONResponse({"ticket": ticket, "seconds": LIFETIME_S})


@router.get(
    "/documents/{document_id}/pages/{number}",
    response_model=None,
    response_class=Response,
    responses={200: {"description": "The page", "content": {"image/png": {}}}, **_NOT_MODIFIED, **problems(404, 409)},
)
async def get_page(
    *,
    request: Request,
    store: ServedStore,
    who: Reader,
    document_id: str,
    number: PageNumber,
    dpi: Dpi = 110,
    sha256: Sha256 | None = None,
) -> Response:
    """A page of a PDF, or an image, as a PNG. `sha256` asks for one version, as with the original."""
    version = await store.read(_version, store, who, document_id, sha256)
    etag = f'"{version.sha256}-{number}-{dpi}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if is_known(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    picture = await store.look(_picture, store, version, number, dpi)
    return Response(picture.png, media_type="image/png", headers=headers)


@router.get(
    "/documents/{document_id}/pages/{number}/layout",
    response_model=None,
    responses={200: {"model": LayoutBody}, **problems(404, 409)},
)
async def get_layout(
    *,
    store: ServedStore,
    who: Reader,
    document_id: str,
    number: PageNumber,
    dpi: Dpi = 110,
    start: Start = None,
    end: End = None,
) -> Response:
    """What lies where on a page: its words, and the boxes of the range `from` to `to`, in percent of its width and height."""
    version = await store.read(_version, store, who, document_id, None)
    picture = await store.look(_picture, store, version, number, dpi)

    def laid_out() -> dict[str, Any]:
        record, document = _document(store, who, document_id)
        span = span_of(start, end, document)
        return {
            "document_id": record.id,
            "file_sha256": version.sha256,
            "text_sha256": record.text_sha256,
            **layout.page_json(picture.shown, document, number, span),
        }

    return JSONResponse(await store.look(laid_out))


@router.get(
    "/documents/{document_id}/framed",
    response_model=None,
    response_class=Response,
    responses={200: {"description": "The page", "content": {"text/html": {}}}, **problems(404, 409)},
)
async def get_framed(
    *, store: ServedStore, who: Reader, document_id: str, start: Start = None, end: End = None, strong: Strong = ()
) -> Response:
    """An HTML document with nothing in it that acts or loads, and the range marked (`#cited`), for a frame."""
    within = [span_within(one) for one in strong]

    def framed() -> str:
        record, document = _document(store, who, document_id)
        if record.media_type != "text/html":
            raise UsageError(f"a file of the type {record.media_type} is no HTML page")
        version = _version(store, who, document_id, None)
        spans = [(span_of(start, end, document), "soft"), *((span_of(*one, document), "strong") for one in within)]
        ranges = [(*layout.words_and_rank(document, span), name) for span, name in spans if span]
        body, _ = harmless_page(store.app.sandbox, _bytes(store, version), ranges)
        return body

    body = await store.look(framed)
    style, allowed = style_of("frame.css")
    page = (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>Source</title><style>{style}</style></head>'
        f"<body>{body}</body></html>"
    )
    policy = (
        f"sandbox; default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
    headers = {"Content-Security-Policy": policy, "Cache-Control": "private, no-cache"}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


@router.get(
    "/documents/{document_id}/cells", response_model=None, responses={200: {"model": CellsBody}, **problems(404)}
)
async def get_cells(
    *,
    store: ServedStore,
    who: Reader,
    document_id: str,
    sheet: Annotated[str, Query(max_length=200, description="default: the cited one, or the first")] = "",
    row: Annotated[int, Query(ge=0, lt=1 << 32, description="the first to show; default: around the cited range")] = 0,
    start: Start = None,
    end: End = None,
) -> Response:
    """A window of a sheet, or of delimited text, with the real numbers of rows and names of columns; values as they were read."""

    def window() -> dict[str, Any]:
        record, document = _document(store, who, document_id)
        span = span_of(start, end, document)
        head = {"document_id": record.id, "text_sha256": record.text_sha256}
        return {**head, **grid.window(document, sheet, row, span)}

    return JSONResponse(await store.look(window))


@router.get(
    "/documents/{document_id}/blocks", response_model=None, responses={200: {"model": BlocksBody}, **problems(404)}
)
async def get_blocks(
    *,
    store: ServedStore,
    who: Reader,
    document_id: str,
    around: Annotated[Offset, Query(description="a code point that the window is to hold")] = 0,
    first: Annotated[Offset | None, Query(alias="from", description="where the window is to begin instead")] = None,
) -> Response:
    """A window of the canonical text with its blocks and, where the original has them, its parts: slides, times, messages."""

    def window() -> dict[str, Any]:
        record, document = _document(store, who, document_id)
        head = {"document_id": record.id, "text_sha256": record.text_sha256, "n_chars": len(document.text)}
        return {**head, **layout.blocks_json(document, around, first)}

    return JSONResponse(await store.look(window))


# --- documents and versions


def _document(store: Served, who: Principal, document_id: str) -> tuple[DocumentRecord, Document]:
    """The searchable version; NotFoundError for what is not there, not theirs, or was never ready."""
    with store.app.catalog.snapshot() as snapshot:
        record = who.require_document(snapshot.document(document_id))
        key = (record.no, record.text_sha256, record.indexed_sha256, record.stamp)
        return record, store.documents.get(key, lambda: snapshot.load_document(record.no))


def span_of(start: int | None, end: int | None, document: Document) -> Span | None:
    """The range within the text; None when none is asked for. UsageError for one that is none."""
    if start is None or end is None:
        return None
    if end < start:
        raise UsageError(f"from {start} to {end} is no range")
    n_chars = len(document.text)
    return Span(min(start, n_chars), min(end, n_chars))


def span_within(written: str) -> tuple[int, int]:
    """`10-20` to the two numbers; UsageError."""
    first, _, last = written.partition("-")
    if not (_DIGITS.fullmatch(first) and _DIGITS.fullmatch(last)):
        raise UsageError(f"{written[:40]!r} is no range; write from-to, as in 10-20")
    return int(first), int(last)


def _version(store: Served, who: Principal, document_id: str, sha256: str | None) -> Version:
    """The version with the hash, or the searchable one; NotFoundError."""
    try:
        record: DocumentRecord | None = own_document(store, who, document_id)
    except NotFoundError:
        record = None
    indexed = record.indexed_sha256 if record else ""
    wanted = sha256 or indexed
    if not wanted:
        raise NotFoundError(f"no version of document {document_id} was ever ready")
    if record is not None and wanted == indexed:
        kept = next((one for one in own_uploads(store, who, document_id) if one.sha256 == wanted), None)
        uri = stored_file(kept) if kept else record.uri
        return Version(document_id, wanted, record.media_type, uri, record.name)
    for upload in own_uploads(store, who, document_id):
        if upload.sha256 == wanted:
            return Version(document_id, wanted, media_type_of(upload.name), stored_file(upload), upload.name)
    raise NotFoundError(f"no original of document {document_id} with the hash {wanted} is there")


def _bytes(store: Served, version: Version) -> bytes:
    """The file's bytes; NotFoundError when it is gone, ProblemError 409 when it is another by now."""
    found = found_file(version.uri)
    if found is None:
        raise NotFoundError(f"the file of document {version.document_id} is gone")
    _, data = read_source(found, "", version.name, store.app.settings.max_file_mb * 1_000_000)
    if sha256_bytes(data) != version.sha256:
        detail = "the file was changed since it was read; ingest it again to see it with its places"
        raise ProblemError(409, "source_changed", detail)
    return data


def _picture(store: Served, version: Version, number: int, dpi: int) -> Picture:
    if not has_pages(version.media_type):
        raise UsageError(f"a file of the type {version.media_type} has no pages to draw; PDFs and images have")
    key = (version.sha256, version.media_type, number, dpi)
    return store.pictures.get(key, lambda: _drawn(store, version, number, dpi))


def _drawn(store: Served, version: Version, number: int, dpi: int) -> Picture:
    from PIL import Image

    shown = shown_page(store.app.sandbox, _bytes(store, version), version.media_type, number, dpi)
    picture = Image.frombytes("RGB", (shown.width, shown.height), shown.pixels)
    if max(picture.size) > _LONGEST_SIDE_PX:
        picture.thumbnail((_LONGEST_SIDE_PX, _LONGEST_SIDE_PX))
    written = io.BytesIO()
    picture.save(written, "PNG", compress_level=3)
    bare = Shown(shown.width, shown.height, b"", shown.drawing, shown.n_pages, shown.label)
    return Picture(bare, written.getvalue())
