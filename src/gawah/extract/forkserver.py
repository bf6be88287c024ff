"""A small process that forks one confined process for every file: `python -m gawah.extract.forkserver`.

It is started once, has one thread and the extractors loaded, so that a fork costs a few milliseconds and nothing of
the program that asks is in it. It speaks over the Unix socket that is its standard input:

- it sends one line of JSON when it is ready;
- for each request it gets one byte and two sockets: data and status. It forks; the child reads the request from the
  data socket and writes the reply there (reply.py), after a mark for every page it reads by eye; the server sends the child's wait status to the status socket;
- a byte on the status socket, or its end, kills the child and all it started;
- the end of the control socket ends the server and every child.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

from gawah.errors import ExtractionError
from gawah.extract.confine import allow_page, confine, die_with_parent, gain_no_privileges, isolate_network
from gawah.extract.frames import EXITED, NOT_FORKED, PAGE_MARK, receive_request, send_status
from gawah.extract.looking import look_parts
from gawah.extract.registry import extract, preload
from gawah.extract.reply import document_parts, error_part

if TYPE_CHECKING:
    from gawah.ports import Extractor

    Extra = list[tuple[str, Extractor]]

_OUT_OF_MEMORY = error_part("memory_limit", "reading it takes more memory than `extract_memory_mb` allows")


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until the control socket ends."""
    parser = argparse.ArgumentParser(prog="python -m gawah.extract.forkserver", allow_abbrev=False)
    parser.add_argument("--extractor", action="append", default=[], metavar="ENDING=MODULE:ATTRIBUTE")
    extra = [_load_extractor(option) for option in parser.parse_args(arguments).extractor]
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    preload()
    is_isolated = isolate_network()
    gc.collect()
    gc.disable()  # a child lives for one document, and collecting would touch the pages it shares with the server
    control.sendall(json.dumps({"isolated_network": is_isolated}).encode() + b"\n")
    os.dup2(null, 2)
    _Server(control, extra).serve()


def _load_extractor(option: str) -> tuple[str, Extractor]:
    ending, _, where = option.partition("=")
    module, _, attribute = where.partition(":")
    extractor: Extractor = getattr(importlib.import_module(module), attribute)
    return ending, extractor


class _Server:
    def __init__(self, control: socket.socket, extra: Extra) -> None:
        self.control = control
        self.extra = extra
        self.pid = os.getpid()
        self.children: dict[int, socket.socket] = {}
        self.selector = selectors.DefaultSelector()
        self.woken, self.wake = socket.socketpair()
        for end in (self.woken, self.wake):
            end.settimeout(0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole terminal; the program decides
        signal.signal(signal.SIGCHLD, _do_nothing)
        signal.set_wakeup_fd(self.wake.fileno(), warn_on_full_buffer=False)
        self.selector.register(control, selectors.EVENT_READ, 0)
        self.selector.register(self.woken, selectors.EVENT_READ, 0)

    def serve(self) -> None:
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is self.control:
                    if not self._accept():
                        self._kill_all()
                        return
                elif key.fileobj is self.woken:
                    self._drain()
                    self._reap()
                else:
                    self._hear(key.data)

    def _accept(self) -> bool:
        """Forks for a request; False when the control socket has ended."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self.control, 1, 2)
        except ConnectionError:
            return False
        if not message or len(descriptors) != 2:
            return False
        data, status = descriptors
        try:
            pid = os.fork()
        except OSError as error:
            os.close(data)
            with socket.socket(fileno=status) as reply:
                send_status(reply, NOT_FORKED, error.errno or errno.EAGAIN)
            return True
        if pid == 0:
            _run_child(data, self.pid, self.extra)
        os.close(data)
        with contextlib.suppress(OSError):  # the child does the same: whoever comes first
            os.setpgid(pid, pid)
        listener = socket.socket(fileno=status)
        self.children[pid] = listener
        self.selector.register(listener, selectors.EVENT_READ, pid)
        return True

    def _hear(self, pid: int) -> None:
        """Whatever comes from the one who asked, or its end, means that nobody waits for the child any more."""
        listener = self.children.get(pid)
        if listener is None:
            return
        try:
            is_over = not listener.recv(16)
        except OSError:
            is_over = True
        if is_over:
            self.selector.unregister(listener)
        _kill_group(pid)

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self.woken.recv(4096):
                pass

    def _reap(self) -> None:
        """Ends the group of each child that has ended while its number is still taken, then tells and forgets it."""
        for pid, listener in list(self.children.items()):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            _kill_group(pid)
            _, status = os.waitpid(pid, 0)
            del self.children[pid]
            if listener.fileno() in self.selector.get_map():
                self.selector.unregister(listener)
            with listener:
                send_status(listener, EXITED, status)

    def _kill_all(self) -> None:
        for pid in self.children:
            _kill_group(pid)
        for pid in self.children:
            os.waitpid(pid, 0)


def _do_nothing(_signal: int, _frame: object) -> None:
    """A signal handler: only with one does the signal wake the selector."""


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):  # the group may not be there yet
        try:
            kill(pid, signal.SIGKILL)
        except OSError:
            continue


# --- the child


def _run_child(data: int, server_pid: int, extra: Extra) -> NoReturn:
    """Reads one request, answers it, and ends this process without unwinding what belongs to the server."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setpgid(0, 0)
        die_with_parent(server_pid)
        gain_no_privileges()
        os.closerange(3, data)
        os.closerange(data + 1, os.sysconf("SC_OPEN_MAX"))
        connection = socket.socket(fileno=data)
        with _Report(connection):
            request, descriptor = receive_request(connection)
            confine(request.limits)
            with os.fdopen(descriptor, "rb", buffering=0) as stream:
                content = stream.readall()

            def before_page() -> None:
                allow_page(request.limits)
                connection.sendall(PAGE_MARK)

            if request.look is not None:
                parts = look_parts(request.source.media_type, content, request.look)
            else:
                document = extract(request.source, content, extra, request.options, before_page)
                del content
                parts = list(document_parts(document))  # all of it before the first byte goes out, or an error instead
            for part in parts:
                connection.sendall(part)
        os._exit(0)
    finally:
        os._exit(70)


class _Report:
    """Sends what an extractor raised, whatever it is, to the one who asked; this process ends in any case."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None or isinstance(error, ConnectionError):
            return error is None
        del traceback
        if isinstance(error, MemoryError):
            part = _OUT_OF_MEMORY
        elif isinstance(error, ExtractionError):
            part = error_part(error.reason_code, str(error), retryable=error.retryable)
        else:
            part = error_part("extractor_crashed", f"the extractor failed: {type(error).__name__}: {error}")
        self.connection.sendall(part)
        return True


if __name__ == "__main__":
    main(sys.argv[1:])
