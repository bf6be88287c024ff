"""The page that people open: files of this package, under a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from fastapi import APIRouter, Request
from starlette.responses import Response

from gawah.api.ranges import is_known
from gawah.errors import NotFoundError

router = APIRouter(include_in_schema=False)
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
# Trusted types with no policy: a browser that knows them refuses to make elements out of any text.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    media_type: str
    etag: str


@cache
def _files() -> dict[str, _File]:
    """Every file of the page, by name."""
    found = {}
    for entry in resources.files("gawah.api").joinpath("page").iterdir():
        media_type = _TYPES.get(entry.name.rpartition(".")[2])
        if media_type is not None:
            content = entry.read_bytes()
            found[entry.name] = _File(content, media_type, f'"{hashlib.sha256(content).hexdigest()}"')
    return found


def style_of(name: str) -> tuple[str, str]:
    """A style sheet of the page, and the source expression that allows it inside a document of its own."""
    content = _files()[name].content
    return content.decode("utf-8"), "'sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode() + "'"


@router.get("/")
async def get_page(*, request: Request) -> Response:
    """The page itself; it holds no data, so it asks for no key."""
    return _sent(request, "index.html")


@router.get("/page/{name}")
async def get_page_file(*, request: Request, name: str) -> Response:
    return _sent(request, name)


@router.get("/favicon.ico")
async def get_icon(*, request: Request) -> Response:
    return _sent(request, "icon.svg")


def _sent(request: Request, name: str) -> Response:
    file = _files().get(name)
    if file is None:
        raise NotFoundError(f"the page has no file {name}")
    headers = {**_HEADERS, "ETag": file.etag}
    if is_known(request.headers.get("if-none-match"), file.etag):
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
