"""Whatever goes wrong to RFC 9457 problem details, in one place: status, a stable code, one line a person can act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from gawah.api.logs import log
from gawah.errors import GawahError

PROBLEM_TYPE = "application/problem+json"
REQUEST_ID = "gawah.request_id"  # its place in the ASGI scope
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 400: "malformed"}


class ProblemError(Exception):
    """Something that is wrong with a request, or that a server says for itself; GawahErrors say the rest."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        errors: Sequence[Any] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})
        self.errors = list(errors)


def problem(error: BaseException) -> ProblemError:
    """What an exception is called at this border; what nobody foresaw is a 500 that tells nothing."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, GawahError):
        headers = {"Retry-After": "1"} if error.http_status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        return ProblemError(error.http_status, error.code, " ".join(str(error).split()), headers=headers)
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        return ProblemError(
            error.status_code, _CODES.get(error.status_code, "http"), str(error.detail), headers=error.headers
        )
    return ProblemError(500, "internal", "something went wrong here; the log has it under this request's id")


def problem_json(found: ProblemError, request_id: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": f"urn:gawah:problem:{found.code}",
        "title": HTTPStatus(found.status).phrase,
        "status": found.status,
        "detail": found.detail,
        "code": found.code,
        "request_id": request_id,
    }
    if found.errors:
        body["errors"] = found.errors
    return body


def problem_response(found: ProblemError, request_id: str) -> Response:
    body = problem_json(found, request_id)
    return JSONResponse(body, found.status, headers=found.headers, media_type=PROBLEM_TYPE)


def request_id_of(request: Request) -> str:
    return str(request.scope.get(REQUEST_ID, ""))


def map_errors(app: FastAPI, methods_at: Callable[[str], Sequence[str]]) -> None:
    """Installs the one handler of every exception. `methods_at` names what may be done at a path, for 405's Allow."""

    async def answer(request: Request, error: Exception) -> Response:
        found = problem(error)
        if found.code == "internal":
            log("error", request_id=request_id_of(request), error=f"{type(error).__name__}: {error}")
        if found.status == HTTPStatus.METHOD_NOT_ALLOWED:
            found.headers["Allow"] = ", ".join(methods_at(request.url.path))
        return problem_response(found, request_id_of(request))

    for kind in (ProblemError, GawahError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)


def _invalid(error: RequestValidationError) -> ProblemError:
    """Names the places and what is wrong there, never the values: they may be secret, and they may not be JSON."""
    found = [
        {"where": "/".join(str(part) for part in one["loc"]), "what": str(one["msg"]), "code": str(one["type"])}
        for one in error.errors()[:20]
    ]
    if any(one["code"] == "json_invalid" for one in found):
        return ProblemError(400, "malformed", "the body is not JSON", errors=found)
    if any(one["where"] == "body" and one["code"] == "model_attributes_type" for one in found):
        asked = "the body must be a JSON object, sent with Content-Type: application/json"
        return ProblemError(422, "invalid", asked, errors=found)
    detail = "; ".join(f"{one['where']}: {one['what']}" for one in found[:3])
    return ProblemError(422, "invalid", detail or "the request does not fit", errors=found)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route documents: these, and what any route may answer."""
    content = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in sorted({400, 401, 403, 413, 422, 429, 500, 503, *statuses})
    }
