"""The outermost layer of every request: an id, the checks of the door, a limit on bodies, one line in the log, counting."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gawah.api.logs import log
from gawah.api.problems import REQUEST_ID, ProblemError, problem_response
from gawah.api.served import Served

MAX_BODY_BYTES = 1 << 20  # of JSON; uploads have a limit of their own
UPLOADS = ("POST", "/v1/documents")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "SAMEORIGIN",
}


class Edge:
    """ASGI middleware; streams pass through it as they are."""

    def __init__(self, app: ASGIApp, store: Served) -> None:
        self._app = app
        self._store = store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope[REQUEST_ID] = request_id
        sent = _Sent(send, request_id)
        started = time.perf_counter()
        try:
            if objection := self._objection(scope, headers):
                await problem_response(objection, request_id)(scope, receive, sent)
            else:
                await self._app(scope, _limited(receive, scope), sent)
        finally:
            self._note(scope, sent, time.perf_counter() - started)

    def _objection(self, scope: Scope, headers: Headers) -> ProblemError | None:
        objection = self._store.policy.objection(scope["method"], headers)
        if objection is None and not _is_upload(scope) and _declared(headers) > MAX_BODY_BYTES:
            return _too_large()
        return objection

    def _note(self, scope: Scope, sent: _Sent, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        status = sent.status or 499  # whoever asked left before there was an answer
        metrics = self._store.metrics
        metrics.count("gawah_requests_total", route=route, method=_known(scope["method"]), status=str(status))
        metrics.observe(route, seconds)
        fields: Mapping[str, Any] = {
            "request_id": scope[REQUEST_ID],
            "method": scope["method"],
            "path": scope["path"],
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "bytes": sent.n_bytes,
            "key": scope.get("gawah.key", ""),
        }
        log("request", **fields)


class _Sent:
    """Passes messages on, adds the headers that every answer has, and remembers what was sent."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0
        self.n_bytes = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self._request_id
            for name, value in _EVERYWHERE.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", "default-src 'none'; frame-ancestors 'self'")
            headers.setdefault("Cache-Control", "no-store")
        elif message["type"] == "http.response.body":
            self.n_bytes += len(message.get("body", b""))
        await self._send(message)


def _limited(receive: Receive, scope: Scope) -> Receive:
    """Counts a body while it comes: what was declared may be a lie, or nothing."""
    if _is_upload(scope):
        return receive
    n_bytes = 0

    async def counted() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > MAX_BODY_BYTES:
            raise HTTPException(413, _too_large().detail)  # the one kind that FastAPI lets through while it reads
        return message

    return counted


def _is_upload(scope: Scope) -> bool:
    return (scope["method"], scope["path"]) == UPLOADS


def _declared(headers: Headers) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def _too_large() -> ProblemError:
    return ProblemError(413, "too_large", f"a request like this may have {MAX_BODY_BYTES:,} bytes")


def _known(method: str) -> str:
    """Anything may be sent as a method; a label must not grow without end."""
    return method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else "other"
