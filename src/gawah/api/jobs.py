"""What became of files that were handed over: jobs, and events while they are worked on.

A job is a hand-over; its state is that of its document, unless a later hand-over has taken its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Path
from starlette.responses import JSONResponse, Response

from gawah.api import sse
from gawah.api.access import Principal
from gawah.api.pages import PAGE, Cursor, Limit, cursor_of, number_in
from gawah.api.problems import problems
from gawah.api.schemas import JobBody, JobPage
from gawah.api.served import Reader, Served, ServedStore
from gawah.envelope import document_json
from gawah.errors import NotFoundError
from gawah.types import DocumentRecord, DocumentState, Upload
from gawah.wire import to_json

router = APIRouter(prefix="/v1", tags=["jobs"])
POLL_S = 0.25
_BEHIND_S = 1.0  # commits may become visible in another order than their clocks were read


def job_json(store: Served, upload: Upload) -> dict[str, Any]:
    """A job as it stands; `done` as soon as nothing more will happen to it by itself."""
    with store.app.catalog.snapshot() as snapshot:
        try:
            record: DocumentRecord | None = snapshot.document(upload.document_id)
        except NotFoundError:
            record = None
    newest = store.app.uploads.of_document(upload.document_id)[-1:]
    is_newest = bool(newest) and newest[0].no == upload.no
    state = "removed" if record is None else record.state.value if is_newest else "superseded"
    shown = record if record is not None and is_newest else None
    failed_for_good = shown is not None and shown.state is DocumentState.FAILED and shown.next_try_at is None
    return {
        "id": upload.no,
        "document_id": upload.document_id,
        "collection": upload.collection,
        "document": upload.name,
        "state": state,
        "done": shown is None or shown.state is DocumentState.READY or failed_for_good,
        "failure": to_json(shown.failure) if shown else None,
        "attempts": shown.attempts if shown else 0,
        "next_try_at": shown.next_try_at if shown else None,
        "counters": to_json(shown.counters) if shown else None,
        "sha256": upload.sha256,
        "size_bytes": upload.size_bytes,
        "created_at": upload.created_at,
        "updated_at": shown.updated_at if shown else upload.created_at,
    }


def accepted(job: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    """202, with where the job can be watched."""
    return JSONResponse(job, 202, headers={"Location": f"/v1/jobs/{job['id']}", **(headers or {})})


JobNumber = Path(ge=1, lt=1 << 62)


@router.get("/jobs", response_model=None, responses={200: {"model": JobPage}, **problems()})
async def list_jobs(*, store: ServedStore, who: Reader, limit: Limit = PAGE, cursor: Cursor = "") -> Response:
    """Hand-overs, newest first."""

    def page() -> list[dict[str, Any]]:
        uploads = store.app.uploads.newest(number_in(cursor), limit + 1, who.collections)
        return [job_json(store, upload) for upload in uploads]

    jobs = await store.read(page)
    more = len(jobs) > limit
    return JSONResponse({"jobs": jobs[:limit], "next_cursor": cursor_of(jobs[limit - 1]["id"]) if more else None})


@router.get("/jobs/{job_id}", response_model=None, responses={200: {"model": JobBody}, **problems(404)})
async def get_job(*, store: ServedStore, who: Reader, job_id: int = JobNumber) -> Response:
    """One hand-over."""
    upload = await store.read(_own_upload, store, who, job_id)
    return JSONResponse(await store.read(job_json, store, upload))


_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {sse.EVENT_STREAM: {"schema": {"type": "string"}}}, "description": "Events"}
}


@router.get(
    "/jobs/{job_id}/events", response_model=None, response_class=Response, responses={**_EVENTS, **problems(404)}
)
async def watch_job(*, store: ServedStore, who: Reader, job_id: int = JobNumber) -> Response:
    """The job as it goes on: `progress` whenever it has changed, then one `done`."""
    upload = await store.read(_own_upload, store, who, job_id)

    async def events() -> AsyncIterator[bytes]:
        before: dict[str, Any] = {}
        while not store.stopping.is_set():
            job = await store.read(job_json, store, upload)
            if job["done"]:
                yield sse.event("done", job)
                return
            if job != before:
                yield sse.event("progress", job)
                before = job
            await pause(store)

    return sse.stream(events())


@router.get("/events", response_model=None, response_class=Response, responses={**_EVENTS, **problems()})
async def watch_documents(*, store: ServedStore, who: Reader) -> Response:
    """Everything that happens to documents from now on: a `document` whenever one has changed, a `removed` when it is gone."""
    return sse.stream(_changes(store, who))


async def _changes(store: Served, who: Principal) -> AsyncIterator[bytes]:
    watched = Changes(store)
    yield sse.event("watching", {"since": await store.read(watched.begin)})
    while not store.stopping.is_set():
        records, gone = await store.read(watched.look)
        for record in records:
            if who.sees(record.collection):
                yield sse.event("document", described(store, record))
        for document_id, (collection, name) in gone.items():
            if who.sees(collection):
                yield sse.event("removed", {"id": document_id, "collection": collection, "name": name})
        await pause(store)


class Changes:
    """What happens to documents, look by look. One reader's: it remembers what it has told."""

    def __init__(self, store: Served) -> None:
        self._store = store
        self._since = store.app.catalog.clock()
        self._told: set[tuple[str, DocumentState, float]] = set()
        self._known: dict[str, tuple[str, str]] = {}

    def begin(self) -> float:
        """Remembers what is there now; returns the time."""
        with self._store.app.catalog.snapshot() as snapshot:
            self._known = snapshot.names()
            self._told = {_mark(record) for record in snapshot.changed_since(self._since - _BEHIND_S)}
        return self._since

    def look(self) -> tuple[list[DocumentRecord], dict[str, tuple[str, str]]]:
        """Documents that have changed since, and collection and name of those that are gone, by id.

        A document that came and went between two looks is told in neither.
        """
        with self._store.app.catalog.snapshot() as snapshot:
            records = snapshot.changed_since(self._since - _BEHIND_S)
            self._known |= {record.id: (record.collection, record.name) for record in records}
            now = snapshot.names() if snapshot.count() < len(self._known) else self._known
        gone = {document_id: names for document_id, names in self._known.items() if document_id not in now}
        self._known = now
        changed = [record for record in records if _mark(record) not in self._told]
        self._told = {_mark(record) for record in records}
        self._since = max([self._since, *(record.updated_at for record in records)])
        return changed, gone


def _mark(record: DocumentRecord) -> tuple[str, DocumentState, float]:
    return record.id, record.state, record.updated_at


async def pause(store: Served) -> None:
    """A moment, or until the server stops."""
    try:
        async with asyncio.timeout(POLL_S):
            await store.stopping.wait()
    except TimeoutError:
        return


def described(store: Served, record: DocumentRecord) -> dict[str, Any]:
    """A document as every list shows it."""
    return {**document_json(record, store.app.stale(record)), "next_try_at": record.next_try_at}


def _own_upload(store: Served, who: Principal, job_id: int) -> Upload:
    upload = store.app.uploads.upload(job_id)
    if not who.sees(upload.collection):
        raise NotFoundError(f"there is no job {job_id}")
    return upload
