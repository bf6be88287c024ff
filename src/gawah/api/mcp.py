"""The tools of a language model at `/mcp` (Model Context Protocol, streamable HTTP), behind the same door as every route.

Each request stands alone: there is no session that could be lost, taken over or left open. The protocol's library is loaded
when it is first asked for, so that a server starts no slower for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gawah.api.answers import Question, answered, noted
from gawah.api.edge import MAX_BODY_BYTES
from gawah.api.logs import audit, log
from gawah.api.problems import ProblemError, problem, request_id_of
from gawah.api.served import Anyone, Served
from gawah.cite import Hear
from gawah.principal import Principal
from gawah.types import Filter, Outcome

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from gawah.mcp.tools import Body, Desk, Tool

router = APIRouter(tags=["mcp"])
_PRINCIPAL = "gawah.principal"  # its place in the ASGI scope


@router.post("/mcp", include_in_schema=False)
async def call(*, request: Request, who: Anyone) -> Response:
    """One message of the protocol, and its answer."""
    room: Room = request.app.state.mcp
    return _Handed(await room.manager(), who)


class _Handed(Response):
    """A request that the protocol's library answers, with who sends it beside it."""

    def __init__(self, manager: StreamableHTTPSessionManager, who: Principal) -> None:
        super().__init__()
        self._manager = manager
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request({**scope, _PRINCIPAL: self._who}, receive, send)


class Room:
    """The protocol's side of a served store."""

    def __init__(self, store: Served, *, may_write: bool) -> None:
        self._store = store
        self._may_write = may_write
        self._wanted = asyncio.Event()
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """While the server runs; what is under way when it ends is cancelled."""
        self._manager = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(self._manager))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def manager(self) -> StreamableHTTPSessionManager:
        """Raises ProblemError where the library is not installed, or too old."""
        assert self._manager is not None
        self._wanted.set()
        return await asyncio.shield(self._manager)

    async def _run(self, made: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        await self._wanted.wait()
        try:
            manager = await self._store.read(_manager_of, _Host(self._store, self._may_write))
        except ImportError as error:
            log("warning", error=f"the tools at /mcp are not there: {error}")
            made.set_exception(
                ProblemError(501, "mcp_missing", "the server lacks the tools; install: pip install 'gawah[mcp]'")
            )
            return
        async with manager.run():
            made.set_result(manager)
            await asyncio.Event().wait()  # until cancelled


def _manager_of(host: _Host) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from gawah.mcp.protocol import make_server

    # Host and Origin were looked at by the edge, with the names of the settings; here nothing is left to check.
    return StreamableHTTPSessionManager(make_server(host), stateless=True, max_request_body_size=MAX_BODY_BYTES)


class _Host:
    """Where the tools run here: in the server's threads, as whoever the key says."""

    def __init__(self, store: Served, may_write: bool) -> None:  # noqa: FBT001
        self._store = store
        self._may_write = may_write

    def desk(self, request: Any, heard: Hear) -> Desk:
        from gawah.mcp.tools import Desk

        who: Principal = request.scope[_PRINCIPAL]

        def ask(question: str, only: Filter | None, heard: Hear) -> Outcome:
            outcome = answered(self._store, who, Question(question, only), heard)
            noted(request, who, outcome)
            return outcome

        def note(action: str, **fields: Any) -> None:
            audit(action, key=who.id, request_id=request_id_of(request), **fields)

        return Desk(self._store.app, who, ask, heard, note, may_write=self._may_write)

    def start(self, tool: Tool, work: Callable[[], Body]) -> asyncio.Future[Body]:
        if not tool.takes_long:
            return asyncio.get_running_loop().run_in_executor(self._store.reading, work)
        try:
            return self._store.ask(work)
        except ProblemError as busy:
            failed: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
            failed.set_exception(busy)
            return failed

    def explain(self, request: Any, error: BaseException) -> str:
        found = problem(error)
        if found.code == "internal":
            log("error", request_id=request_id_of(request), error=f"{type(error).__name__}: {error}")
        return f"{found.code}: {found.detail}"
