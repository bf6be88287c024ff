"""One extraction under way, seen from the side that asked: its reply, its limits, and what became of its process."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time

from gawah.errors import ExtractionError
from gawah.extract.confine import Limits
from gawah.extract.frames import EXITED, PAGE_MARK, STATUS

_GRACE_S = 10.0  # for the server to kill a child and say so
_READ_BYTES = 1 << 20
_LONGEST_POLL_MS = 3_600_000


class ServerDiedError(Exception):
    """The server ended before it told how the child did."""


class Call:
    """What has come back so far, and why the child was stopped, if it was.

    `is_unheard` is set when the server did not even end the child when asked to; `n_pages` are those that the child said
    it reads by eye, as far as they were granted.
    """

    def __init__(self, reply: socket.socket, status: socket.socket, limits: Limits) -> None:
        self.reply = reply
        self.status = status
        self.limits = limits
        self.payload = bytearray()
        self.verdict = b""
        self.stopped_for = ""
        self.is_unheard = False
        self.n_pages = 0

    def wait(self, deadline: float) -> None:
        """Reads until the server has told how the child ended; over a limit, has the child killed and waits for that.

        The end of the reply is not waited for: a stray process that the child started may hold it open. What the child
        wrote is there by the time it has ended.
        """
        poll = select.poll()
        poll.register(self.reply, select.POLLIN)
        poll.register(self.status, select.POLLIN)
        while True:
            remaining_ms = max(0.0, (deadline - time.monotonic()) * 1000)
            for descriptor, _ in poll.poll(min(remaining_ms + 1, _LONGEST_POLL_MS)):
                if descriptor == self.reply.fileno():
                    if not self._read_reply():
                        poll.unregister(descriptor)
                elif not self._read_status():
                    while self._read_reply():
                        pass
                    self._grant_pages()
                    return
            if not self.stopped_for:
                deadline += self._grant_pages() * self.limits.page_wall_s
            if not self.stopped_for and len(self.payload) > self.limits.output_bytes:
                deadline = self._stop("output_limit")
            elif time.monotonic() >= deadline:
                if self.stopped_for:
                    self.is_unheard = True
                    return
                deadline = self._stop("timeout_wall")

    def result(self) -> bytearray:
        """The reply; raises ExtractionError when there is none, ServerDiedError when nobody knows why."""
        limits = self.limits
        if self.stopped_for == "timeout_wall":
            wall_s = limits.wall_s + self.n_pages * limits.page_wall_s
            reason = f"reading it took more than {wall_s:g} s; raise `extract_wall_s` to give it longer"
            raise ExtractionError("timeout_wall", reason)
        if self.stopped_for == "output_limit" or len(self.payload) > limits.output_bytes:
            reason = f"its text and structure are larger than {limits.output_bytes / 1e6:,.0f} MB"
            raise ExtractionError("output_limit", reason)
        if len(self.verdict) < STATUS.size:
            raise ServerDiedError
        kind, number = STATUS.unpack(self.verdict[: STATUS.size])
        if kind != EXITED:
            reason = f"no process could be started for it: {os.strerror(number)}; it is tried again"
            raise ExtractionError("extractor_crashed", reason, retryable=True)
        _require_clean_exit(os.waitstatus_to_exitcode(number), limits.cpu_s + self.n_pages * limits.page_cpu_s)
        return self.payload

    def _grant_pages(self) -> int:
        """Takes the marks of pages off the reply's beginning; how many of them may have more time."""
        if not self.payload.startswith(PAGE_MARK):
            return 0
        n_marks = len(self.payload) - len(self.payload.lstrip(PAGE_MARK))
        del self.payload[:n_marks]
        n_granted = min(n_marks, self.limits.most_pages - self.n_pages)
        self.n_pages += n_granted
        return n_granted

    def _stop(self, code: str) -> float:
        """Asks for the kill; returns the deadline for it."""
        self.stopped_for = code
        self.payload.clear()
        with contextlib.suppress(OSError):  # the server is gone, and with it the child
            self.status.sendall(b"k")
        return time.monotonic() + _GRACE_S

    def _read_reply(self) -> bool:
        """Takes what is there; whether more may come."""
        piece = _receive(self.reply)
        if not self.stopped_for:
            self.payload += piece
        return bool(piece)

    def _read_status(self) -> bool:
        piece = _receive(self.status)
        self.verdict += piece
        return bool(piece)


def _receive(connection: socket.socket) -> bytes:
    try:
        return connection.recv(_READ_BYTES, socket.MSG_DONTWAIT)
    except (ConnectionError, BlockingIOError):
        return b""


def _require_clean_exit(code: int, cpu_s: int) -> None:
    """`code` as subprocess gives it: negative for a signal."""
    if code == 0:
        return
    if code == -signal.SIGXCPU:
        reason = f"reading it took more than {cpu_s} s of processor time; raise `extract_wall_s` to give it more"
        raise ExtractionError("timeout_cpu", reason)
    if code == -signal.SIGKILL:
        reason = "its process was killed from outside, as a system short of memory does; it is tried again"
        raise ExtractionError("extractor_crashed", reason, retryable=True)
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    raise ExtractionError(
        "extractor_crashed", f"the file makes its reader fail ({how}); save it anew with another program"
    )
