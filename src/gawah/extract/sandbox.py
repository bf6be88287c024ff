"""A file to a document, or to a picture of it, in a process of its own, so that no file can hang, fill or crash the program that reads it.

A Sandbox owns one fork server (forkserver.py). Each call gets a fresh process from it, with limits on memory, processor
time, wall time and output. Several threads may call at once.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from gawah.errors import ConfigurationError, ExtractionError
from gawah.extract.allowance import limits_for
from gawah.extract.call import Call, ServerDiedError
from gawah.extract.confine import Limits
from gawah.extract.detect import detect
from gawah.extract.frames import Request, send_request
from gawah.extract.options import Options
from gawah.extract.reply import MalformedReplyError, read_look, read_reply
from gawah.types import Document, SourceFile

__all__ = ["Limits", "Options", "Sandbox"]

_START_S = 60.0
_STOP_S = 5.0
# Somebody waits for a picture, and others behind them: nobody looks at a page that takes longer.
_LOOK_CPU_S = 20
_LOOK_WALL_S = 60.0
# Nothing else of the environment goes to processes that read hostile files: it may hold keys.
_ENVIRONMENT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "TESSDATA_PREFIX",
)


class Sandbox:
    """Runs `registry.extract` in limited processes. Use it as a context manager; it starts at the first call.

    `limits` are those of text; what a type needs beyond them is in allowance.py. `extra` are further extractors for the server to load, as "ENDING=MODULE:ATTRIBUTE", for names with that ending.
    """

    def __init__(
        self, limits: Limits | None = None, options: Options | None = None, *, extra: Sequence[str] = ()
    ) -> None:
        self.limits = limits or Limits()
        self.options = options or Options()
        self._extra = tuple(extra)
        self._lock = threading.Lock()
        self._server: _ForkServer | None = None
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the server and every extraction that runs."""
        with self._lock:
            self._is_closed = True
            server, self._server = self._server, None
        if server is not None:
            server.stop()

    @property
    def isolated_network(self) -> bool:
        """Whether the processes are without a network; starts the server."""
        return self._running().is_network_isolated

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The document of a file.

        Raises the extractor's ExtractionError, or one with the code `timeout_wall`, `timeout_cpu`, `memory_limit`,
        `output_limit` or `extractor_crashed`; ConfigurationError when the server cannot be started.
        """
        limits = limits_for(detect(source.media_type, data).media_type, len(data), self.limits, self.options)
        payload = self._asked(Request(source, limits, self.options), data)
        try:
            return read_reply(source, memoryview(payload))
        except MalformedReplyError as error:
            raise ExtractionError("extractor_crashed", f"the extractor's answer is no document: {error}") from error

    def look(self, media_type: str, data: bytes, what: Mapping[str, Any]) -> memoryview:
        """What `looking.look_parts` makes of a file, unchecked: the process that made it may have been taken over.

        Raises as `extract` does.
        """
        limits = limits_for(media_type, len(data), self.limits, self.options)
        limits = replace(limits, cpu_s=min(limits.cpu_s, _LOOK_CPU_S), wall_s=min(limits.wall_s, _LOOK_WALL_S))
        source = SourceFile("", "", "", media_type, len(data), "")
        payload = self._asked(Request(source, limits, self.options, what), data)
        try:
            return read_look(memoryview(payload))
        except MalformedReplyError as error:
            raise ExtractionError("extractor_crashed", f"the answer about the file makes no sense: {error}") from error

    def _asked(self, request: Request, data: bytes) -> bytearray:
        for _ in range(2):
            server = self._running()
            try:
                return server.ask(request, data)
            except ServerDiedError:
                self._discard(server)
        reason = "the extraction server ended twice while this file was read; try again"
        raise ExtractionError("extractor_crashed", reason, retryable=True)

    def _running(self) -> _ForkServer:
        with self._lock:
            if self._is_closed:
                raise ConfigurationError("the sandbox is closed")
            if self._server is None:
                self._server = _ForkServer(self._extra)
            return self._server

    def _discard(self, server: _ForkServer) -> None:
        with self._lock:
            if self._server is server:
                self._server = None
        server.stop()


class _ForkServer:
    """One server process and the socket to it."""

    def __init__(self, extra: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as complaints:
            options = [part for option in extra for part in ("--extractor", option)]
            self._process = subprocess.Popen(
                # -P: a folder full of documents, were it the current one, must not be imported from
                [sys.executable, "-P", "-m", "gawah.extract.forkserver", *options],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                env=bare_environment(),
                cwd="/",
                start_new_session=True,
            )
            theirs.close()
            try:
                ready = _read_line(self._control, _START_S)
                self.is_network_isolated = json.loads(ready)["isolated_network"] is True
            except (OSError, ValueError, KeyError) as error:
                self.stop()
                complaints.seek(0)
                lines = complaints.read().decode("utf-8", "replace").strip().splitlines() or [str(error)]
                raise ConfigurationError(f"the extraction server does not start: {lines[-1]}") from error

    def stop(self) -> None:
        """Ends the server and its children; may be called more than once, from any thread."""
        with self._lock:
            self._control.close()
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def ask(self, request: Request, data: bytes) -> bytearray:
        """The child's reply; raises ExtractionError when it gives none, ServerDiedError when the server is gone."""
        limits = request.limits
        deadline = time.monotonic() + limits.wall_s
        reply, data_theirs = socket.socketpair()
        status, status_theirs = socket.socketpair()
        with reply, status:
            with data_theirs, status_theirs:
                try:
                    with self._lock:
                        socket.send_fds(self._control, [b"x"], [data_theirs.fileno(), status_theirs.fileno()])
                except OSError as error:
                    raise ServerDiedError from error
            send_request(reply, request, data)
            call = Call(reply, status, limits)
            call.wait(deadline)
            if call.is_unheard:
                self._process.kill()
            return call.result()


def _read_line(connection: socket.socket, timeout_s: float) -> bytes:
    connection.settimeout(timeout_s)
    line = b""
    while not line.endswith(b"\n"):
        piece = connection.recv(1024)
        if not piece:
            raise OSError("it ended before it was ready")
        line += piece
    connection.settimeout(None)
    return line


def bare_environment() -> dict[str, str]:
    """What a process that reads a hostile file gets of the environment."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    search = [os.path.abspath(path) for path in sys.path if path]  # noqa: PTH100 — no work on the disk
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(search),
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Address space is limited: no arena of 64 MB for every thread, no threads for sums over a page.
        "MALLOC_ARENA_MAX": "2",
        "OPENBLAS_NUM_THREADS": "1",
    }
