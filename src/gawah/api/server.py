"""The server: routes put together, a socket, workers beside it, and an end in good order."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from gawah import __version__
from gawah.api import answers, care, chat, documents, jobs, mcp, runs, sources, viewer, web
from gawah.api.access import DoorPolicy, is_loopback, names_of
from gawah.api.edge import Edge
from gawah.api.logs import log, set_up
from gawah.api.problems import map_errors
from gawah.api.schemas import Problem
from gawah.api.served import Served
from gawah.api.workers import keep_workers
from gawah.app import Application
from gawah.config import Settings
from gawah.errors import ConfigurationError, GawahError
from gawah.work import Watched

_GRACE_S = 10
_WATCH_S = 1.0
_BACKLOG = 512
ROUTERS = (
    care.router,
    documents.router,
    jobs.router,
    answers.router,
    sources.router,
    viewer.router,
    chat.router,
    runs.router,
    mcp.router,
    web.router,
)


@dataclass(frozen=True, slots=True)
class Beside:
    """What runs beside the server: how many workers and the words one is started with, folders to watch, and whether tools of
    language models may change documents.
    """

    worker_arguments: Sequence[str] = ()
    watched: Sequence[Watched] = ()
    n_workers: int = 0
    mcp_may_write: bool = False


def policy_of(settings: Settings) -> DoorPolicy:
    return DoorPolicy(is_loopback(settings.host), tuple(names_of(settings.allowed_hosts)), settings.require_key)


def create_app(store: Served, beside: Beside | None = None) -> FastAPI:
    """The ASGI application over one store: the API, described by `/openapi.json`, and the page at `/`."""
    beside = beside or Beside()
    room = mcp.Room(store, may_write=beside.mcp_may_write)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(keep_workers(store, beside.worker_arguments))]
        tasks += [asyncio.create_task(_watch(store, folder)) for folder in beside.watched]
        try:
            async with room.open():
                yield
        finally:
            store.stopping.set()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    app = FastAPI(
        title="gawah", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.state.served = store
    app.state.mcp = room
    for router in ROUTERS:
        app.include_router(router)
    map_errors(app, _methods_at)
    app.add_middleware(Edge, store=store)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _methods_at(path: str) -> list[str]:
    """All methods of the routes that a path has: the framework names those of the first only."""
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return sorted({method for route in routes if route.path_regex.match(path) for method in route.methods or ()})


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        parts = schema.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
        parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"key": []}, {}]
        app.openapi_schema = schema
    return app.openapi_schema


async def _watch(store: Served, folder: Watched) -> None:
    """Looks at a folder again and again; a folder that cannot be read is told once."""
    told = ""
    while not store.stopping.is_set():
        try:
            if n_queued := await store.read(folder.look):
                log("watched", folder=str(folder.root), queued=n_queued)
            told = ""
        except GawahError as error:
            if str(error) != told:
                log("warning", folder=str(folder.root), error=str(error))
            told = str(error)
        await asyncio.sleep(_WATCH_S)


class _Server(uvicorn.Server):
    """Tells long streams that the end has come as soon as it is asked for, not when all connections are closed."""

    def __init__(self, config: uvicorn.Config, store: Served, loop_ready: float) -> None:
        super().__init__(config)
        self._store = store
        self._started_at = loop_ready
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        assert sockets is not None
        self._store.is_ready = True
        host, port = sockets[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        log("ready", url=f"http://{shown}:{port}", seconds=round(time.monotonic() - self._started_at, 2))

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._store.stopping.set)


def serve(app: Application, beside: Beside, *, started_at: float) -> None:
    """Serves until SIGTERM or SIGINT; requests that are under way are finished, jobs are handed back.

    Raises ConfigurationError when the address is not loopback and no key works, StampMismatchError for another model's
    store, and OSError for an address that cannot be listened at.
    """
    settings = app.settings
    require_keys(app)
    listening = _listen(settings.host, settings.port)
    set_up()
    _warm(app)
    store = Served(app, policy_of(settings), n_workers_wanted=beside.n_workers)
    app.originals.clear_incoming()
    config = uvicorn.Config(
        create_app(store, beside),
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=30,
    )
    before = signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises it again when all is done
    try:
        _Server(config, store, started_at).run([listening])
    finally:
        signal.signal(signal.SIGTERM, before)
        store.close()
        log("stopped")


def require_keys(app: Application) -> None:
    """Raises ConfigurationError when anybody on the network could ask without a key, or nobody could with one."""
    settings = app.settings
    if is_loopback(settings.host) and not settings.require_key:
        return
    if not any(app.keys.works(key) for key in app.keys.all()):
        raise ConfigurationError(
            f"{settings.host} can be reached by others and no API key works; make one with: gawah keys create NAME, "
            "or listen at 127.0.0.1"
        )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; choose another"
        ) from error


def _warm(app: Application) -> None:
    """Makes every part before the first question: parts are made once, and not by two threads at a time."""
    app.open_generation()
    app.embedder.embed_query("warm")
    _ = (app.assistant, app.intake, app.keys, app.uploads, app.originals, app.sandbox)
    with app.catalog.snapshot() as snapshot:
        app.index.view(snapshot)
