"""Collections and documents: list, upload, look at, try again, remove."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from gawah.api.access import Principal
from gawah.api.jobs import accepted, described, job_json
from gawah.api.logs import audit
from gawah.api.once import REPLAYED, IdempotencyKey, at_once, made_before, once_key
from gawah.api.pages import PAGE, Cursor, Limit, cursor_of, names_in
from gawah.api.problems import ProblemError, problems, request_id_of
from gawah.api.schemas import CollectionList, DocumentDetail, DocumentPage, JobBody, RemovedBody
from gawah.api.served import Ingester, Reader, Served, ServedStore
from gawah.api.upload import checked_name, document_name, receive_file
from gawah.envelope import collections_json
from gawah.errors import NotFoundError
from gawah.fingerprint import sha256_json
from gawah.store.originals import Incoming
from gawah.store.uploads import OnceKey
from gawah.types import DocumentRecord, Upload
from gawah.wire import to_json
from gawah.work import discard

router = APIRouter(prefix="/v1", tags=["documents"])
ROUTE = "documents"
States = Literal["", "queued", "extracting", "chunking", "embedding", "ready", "failed"]


@router.get("/collections", response_model=None, responses={200: {"model": CollectionList}, **problems()})
async def list_collections(*, store: ServedStore, who: Reader) -> Response:
    """Collections with their documents by state, chunks and bytes."""

    def counted() -> list[dict[str, Any]]:
        with store.app.catalog.snapshot() as snapshot:
            return collections_json(row for row in snapshot.counts() if who.sees(row[0]))

    return JSONResponse({"collections": await store.read(counted)})


@router.get("/documents", response_model=None, responses={200: {"model": DocumentPage}, **problems(404)})
async def list_documents(
    *,
    store: ServedStore,
    who: Reader,
    collection: Annotated[str, Query(max_length=1024)] = "",
    state: States = "",
    words: Annotated[str, Query(max_length=200, description="to stand in the name or the title")] = "",
    limit: Limit = PAGE,
    cursor: Cursor = "",
) -> Response:
    """Documents by collection and name, with state, reason, stamp, counters and what is stale about them."""
    if collection and not who.sees(collection):
        raise NotFoundError(f"there is no collection {collection}")
    collections = (collection,) if collection else who.collections
    after = names_in(cursor)

    def page() -> list[dict[str, Any]]:
        with store.app.catalog.snapshot() as snapshot:
            records = snapshot.page(collections, state, after, limit + 1, words)
        return [described(store, record) for record in records]

    found = await store.read(page)
    last = found[limit - 1] if len(found) > limit else None
    next_cursor = cursor_of(last["collection"], last["name"]) if last else None
    return JSONResponse({"documents": found[:limit], "next_cursor": next_cursor})


_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "collection": {"type": "string", "maxLength": 1024},
                        "name": {"type": "string", "maxLength": 1024, "description": "default: the file's own name"},
                    },
                }
            }
        },
    }
}


@router.post(
    "/documents",
    response_model=None,
    status_code=202,
    openapi_extra=_FORM,
    responses={202: {"model": JobBody}, **problems(404, 408, 409, 415, 507)},
)
async def upload_document(
    *, request: Request, store: ServedStore, who: Ingester, idempotency_key: IdempotencyKey = None
) -> Response:
    """Takes a file, a new document or a new version of one, and queues it.

    202 is given when file and job are on the disk: after that nothing short of losing the disk loses them.
    """
    with at_once(store, who.id, ROUTE, idempotency_key):
        incoming = await store.read(store.app.originals.incoming)
        try:
            form = await receive_file(request, store, incoming)
            name = document_name(form)
            collection = _collection(store, who, form.fields.get("collection"))
            request_sha256 = sha256_json([collection, name, incoming.sha256])
            once = once_key(who.id, ROUTE, idempotency_key, request_sha256)
            if made := await made_before(store, once):
                upload = await store.read(store.app.uploads.upload, int(made["upload"]))
                return accepted(await store.read(job_json, store, upload), REPLAYED)
            upload = await store.read(_keep, store, incoming, collection, name, once)
        except ClientDisconnect as error:
            raise ProblemError(400, "cut_off", "the upload was cut off; nothing of it is kept") from error
        finally:
            await store.read(incoming.discard)
    store.metrics.count("gawah_uploads_total")
    store.metrics.count("gawah_upload_bytes_total", upload.size_bytes)
    _note(request, who, "upload", upload)
    return accepted(await store.read(job_json, store, upload))


def _collection(store: Served, who: Principal, asked: str | None) -> str:
    """The collection to put a document in: the one that is named, or the only one they have, or the settings'."""
    own = who.collections[0] if len(who.collections) == 1 else store.app.settings.collection
    collection = own if asked is None else checked_name(asked, "collection")
    if not who.sees(collection):
        raise NotFoundError(f"there is no collection {collection}")
    return collection


def _keep(store: Served, incoming: Incoming, collection: str, name: str, once: OnceKey | None) -> Upload:
    app = store.app
    with app.originals.placing():
        path = app.originals.place(incoming, name)
        return app.uploads.accept(
            collection,
            name,
            path.as_uri(),
            sha256=incoming.sha256,
            size_bytes=incoming.size_bytes,
            path=str(path),
            once=once,
        )


@router.get(
    "/documents/{document_id}", response_model=None, responses={200: {"model": DocumentDetail}, **problems(404)}
)
async def get_document(*, store: ServedStore, who: Reader, document_id: str) -> Response:
    """One document, with what its extraction noted and the versions that were uploaded."""
    return JSONResponse(await store.read(_detail, store, who, document_id))


def _detail(store: Served, who: Principal, document_id: str) -> dict[str, Any]:
    record = own_document(store, who, document_id)
    body = described(store, record)
    uploads = [one for one in store.app.uploads.of_document(record.id) if one.sha256]
    body["versions"] = [
        {"sha256": one.sha256, "size_bytes": one.size_bytes, "created_at": one.created_at} for one in reversed(uploads)
    ]
    try:
        with store.app.catalog.snapshot() as snapshot:
            document = snapshot.load_document(record.no)
    except NotFoundError:  # it was never ready
        return {**body, "conservation": None, "n_removed": None}
    return {
        **body,
        "conservation": to_json(document.conservation),
        "n_removed": len(document.removed),
    }


@router.post(
    "/documents/{document_id}/retry",
    response_model=None,
    status_code=202,
    responses={202: {"model": JobBody}, **problems(404, 409, 507)},
)
async def retry_document(*, request: Request, store: ServedStore, who: Ingester, document_id: str) -> Response:
    """Queues a document once more: one that failed, or one that is stale."""

    def queued() -> Upload:
        record = own_document(store, who, document_id)
        accept = store.app.uploads.accept
        return accept(record.collection, record.name, record.uri, sha256="", size_bytes=0, path="")

    upload = await store.read(queued)
    _note(request, who, "retry", upload)
    return accepted(await store.read(job_json, store, upload))


@router.delete(
    "/documents/{document_id}", response_model=None, responses={200: {"model": RemovedBody}, **problems(404, 409, 507)}
)
async def delete_document(
    *, request: Request, store: ServedStore, who: Ingester, document_id: str, purge: bool = False
) -> Response:
    """Removes a document. Its originals stay for the answers that cite them; `purge` (scope admin) leaves no word of it."""
    if purge and not who.may("admin"):
        raise ProblemError(403, "forbidden", "to purge, a key needs the scope admin")
    record = await store.read(own_document, store, who, document_id)
    if purge:
        gone = await store.read(store.app.purge, [record])
        store.documents.clear()
        store.pictures.clear()
    else:
        gone = await store.read(discard, store.app, [record])
    audit("purge" if purge else "remove", key=who.id, request_id=request_id_of(request), document_id=record.id)
    body = {"removed": record.id, "chunks": gone.n_chunks, "purged": purge, "emptied_answers": gone.n_answers}
    return JSONResponse(body)


def own_document(store: Served, who: Principal, document_id: str) -> DocumentRecord:
    """A document by its id only; NotFoundError for what is not there or not theirs."""
    with store.app.catalog.snapshot() as snapshot:
        record = snapshot.document(document_id)
    return who.require_document(record)


def _note(request: Request, who: Principal, action: str, upload: Upload) -> None:
    audit(
        action,
        key=who.id,
        request_id=request_id_of(request),
        job=upload.no,
        document_id=upload.document_id,
        collection=upload.collection,
        name=upload.name,
        sha256=upload.sha256,
    )
