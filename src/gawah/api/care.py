"""What an operator asks a server: does it live, is it ready, what has it counted, who am I."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse, Response

from gawah import __version__
from gawah.api.metrics import CONTENT_TYPE, Labels
from gawah.api.problems import ProblemError, problems
from gawah.api.schemas import StateBody, WhoBody
from gawah.api.served import Admin, Anyone, Served, ServedStore
from gawah.types import DocumentState

router = APIRouter(tags=["care"])


@router.get("/healthz", response_model=None, responses={200: {"model": StateBody}})
async def health() -> Response:
    """The process answers."""
    return JSONResponse({"status": "alive"})


@router.get("/readyz", response_model=None, responses={200: {"model": StateBody}, **problems()})
async def readiness(*, store: ServedStore) -> Response:
    """Questions can be answered: the encoder is loaded, the catalog can be read."""
    if not store.is_ready or store.stopping.is_set():
        raise ProblemError(503, "not_ready", "the server is starting or stopping", headers={"Retry-After": "1"})
    return JSONResponse({"status": "ready", "generation": await store.read(_generation, store)})


def _generation(store: Served) -> int:
    with store.app.catalog.snapshot() as snapshot:
        return snapshot.generation


@router.get(
    "/metrics",
    response_model=None,
    response_class=Response,
    responses={
        200: {"description": "Counters", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **problems(),
    },
)
async def metrics(*, store: ServedStore, who: Admin) -> Response:  # noqa: ARG001 — only an admin
    """What happened since the start, and how the store stands, for Prometheus."""
    gauges = await store.read(_gauges, store)
    return PlainTextResponse(store.metrics.exposition(gauges), media_type=CONTENT_TYPE)


def _gauges(store: Served) -> dict[tuple[str, Labels], float]:
    with store.app.catalog.snapshot() as snapshot:
        by_state = snapshot.n_documents()
        n_chunks = sum(snapshot.n_chunks_by_document().values())
        n_jobs = snapshot.n_jobs()
        generation, model = snapshot.generation, snapshot.model
    found: dict[tuple[str, Labels], float] = {
        ("gawah_documents", (("state", state.value),)): by_state.get(state.value, 0) for state in DocumentState
    }
    found["gawah_chunks", ()] = n_chunks
    if model is not None:
        found["gawah_generation", (("model", model.name),)] = generation
    found["gawah_jobs", ()] = n_jobs
    found["gawah_workers", ()] = store.n_workers
    return found


@router.get("/v1/me", response_model=None, responses={200: {"model": WhoBody}, **problems()})
async def who_am_i(*, store: ServedStore, who: Anyone) -> Response:
    """Who this server takes the sender for, and what they may do."""
    return JSONResponse(
        {
            "id": who.id,
            "scopes": sorted(who.scopes),
            "collections": list(who.collections),
            "version": __version__,
            "max_upload_bytes": store.app.settings.max_file_mb * 1_000_000,
        }
    )
