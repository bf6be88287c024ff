"""Evaluation runs that lie below the store, in `runs/NAME/` (`gawah eval SET --out STORE/runs/NAME`): their figures and reports."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from gawah.api.access import Principal
from gawah.api.problems import ProblemError, problems
from gawah.api.schemas import RunList
from gawah.api.served import Reader, Served, ServedStore
from gawah.errors import NotFoundError

router = APIRouter(prefix="/v1", tags=["evaluation"])
FOLDER = "runs"
METRICS = "metrics.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TYPES = {
    ".json": "application/json",
    ".jsonl": "text/plain; charset=utf-8",
    ".run": "text/plain; charset=utf-8",
    ".html": "text/html; charset=utf-8",
}
_MOST_BYTES = 64_000_000
# A report has no script; should a document's words ever become one, it would not run.
_REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@router.get("/runs", response_model=None, responses={200: {"model": RunList}, **problems()})
async def list_runs(*, store: ServedStore, who: Reader) -> Response:
    """The runs, newest first, with their figures and files."""
    _require_all(who)
    return JSONResponse({"runs": await store.read(_runs, store)})


@router.get(
    "/runs/{name}/{file}",
    response_model=None,
    response_class=Response,
    responses={
        200: {"description": "The file", "content": {kind.split(";")[0]: {"schema": {}} for kind in _TYPES.values()}},
        **problems(404),
    },
)
async def get_run_file(*, store: ServedStore, who: Reader, name: str, file: str) -> Response:
    """A file of a run: metrics.json, questions.jsonl, a report."""
    _require_all(who)
    content = await store.read(_content, store, name, file)
    headers = {"Content-Security-Policy": _REPORT_POLICY}
    return Response(content, media_type=_TYPES[Path(file).suffix], headers=headers)


def _require_all(who: Principal) -> None:
    """A run has questions over every collection of a set: keys of single collections do not see it."""
    if who.collections:
        raise ProblemError(403, "forbidden", "runs are shown to keys of all collections only")


def _runs(store: Served) -> list[dict[str, Any]]:
    root = store.app.settings.store / FOLDER
    found = []
    for folder in root.iterdir() if root.is_dir() else ():
        metrics = folder / METRICS
        if not _NAME.fullmatch(folder.name) or folder.is_symlink() or not metrics.is_file():
            continue
        try:
            figures = json.loads(metrics.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            figures = None  # it is shown all the same: a run that cannot be read is a finding
        files = sorted(path.name for path in folder.iterdir() if path.suffix in _TYPES and _NAME.fullmatch(path.name))
        found.append({"name": folder.name, "written_at": metrics.stat().st_mtime, "files": files, "metrics": figures})
    return sorted(found, key=lambda run: (-float(str(run["written_at"])), str(run["name"])))


def _content(store: Served, name: str, file: str) -> bytes:
    path = store.app.settings.store / FOLDER / name / file
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(file)) or path.suffix not in _TYPES or path.parent.is_symlink():
        raise NotFoundError(f"there is no file {file} of a run {name}")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise NotFoundError(f"there is no file {file} of a run {name}") from error
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(_MOST_BYTES)
