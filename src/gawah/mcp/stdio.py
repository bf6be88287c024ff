"""The tools on standard input and output, for one program on this machine that started this one. Only the protocol is written to
standard output; everything else goes to standard error.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError

from gawah.app import Application
from gawah.cite import Hear
from gawah.errors import GawahError
from gawah.mcp.protocol import make_server
from gawah.mcp.tools import Body, Desk, Tool
from gawah.principal import LOCAL_PRINCIPAL
from gawah.types import Filter, Outcome
from gawah.work import drain

THREADS = 4
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Streams:
    """A host for whoever started this process: they may do what the command line may, and write only when that was said."""

    app: Application
    pool: ThreadPoolExecutor
    may_write: bool

    def desk(self, request: Any, heard: Hear) -> Desk:  # noqa: ARG002 — there is no request but the line itself
        return Desk(
            self.app, LOCAL_PRINCIPAL, self._ask, heard, _note, may_write=self.may_write, after_adding=self._work_off
        )

    def start(self, tool: Tool, work: Callable[[], Body]) -> asyncio.Future[Body]:  # noqa: ARG002 — one kind of thread
        return asyncio.get_running_loop().run_in_executor(self.pool, work)

    def explain(self, request: Any, error: BaseException) -> str:  # noqa: ARG002
        if isinstance(error, GawahError):
            return f"{error.code}: {' '.join(str(error).split())}"
        _LOGGER.error("a tool failed", exc_info=error)
        return "internal: something went wrong here; standard error has the whole story"

    def _ask(self, question: str, only: Filter | None, heard: Hear) -> Outcome:
        return self.app.ask(question, only=only, heard=heard)

    def _work_off(self) -> None:
        """Nobody else may be there to read what was added."""
        drain(self.app)


def _note(action: str, **fields: Any) -> None:
    _LOGGER.info("%s %s", action, fields)


def serve_streams(app: Application, *, may_write: bool = False) -> None:
    """Serves until standard input ends; what is asked then is not waited for."""
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="tool")
    try:
        asyncio.run(_serve(_Streams(app, pool, may_write)))
    except* BrokenPipeError:  # whoever read has left, and nobody else is served
        _LOGGER.info("nobody reads standard output any more")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


async def _serve(host: _Streams) -> None:
    server = make_server(host)
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    async with stdio_server() as (read_stream, write_stream), anyio.create_task_group() as group:

        async def sort() -> None:
            """A line that is no message is answered as JSON-RPC 2.0 says (5, id null), and the next one is read."""
            async with sender:
                async for item in read_stream:
                    if isinstance(item, Exception):
                        _LOGGER.warning("a line of standard input is no message of the protocol")
                        error = ErrorData(code=PARSE_ERROR, message="a line was no JSON-RPC message")
                        await write_stream.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
                    else:
                        await sender.send(item)

        group.start_soon(sort)
        await server.run(receiver, write_stream, server.create_initialization_options())
        group.cancel_scope.cancel()
