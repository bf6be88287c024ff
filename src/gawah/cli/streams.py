"""The three standard streams, whatever they are connected to: a pipe nobody reads, a full disk, nothing at all.

What cannot be written to standard output is raised as OutputFailedError, told from every other broken pipe of the
program; what cannot be written to standard error has nowhere left to be said.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

READER_GONE = 141  # 128 + SIGPIPE, as shells report a program whose reader has left


class OutputFailedError(Exception):
    """Standard output takes no more; `reader_gone` when that is because whoever read it has enough."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.reader_gone = error.errno == errno.EPIPE


class _Output(io.FileIO):
    """Standard output. After the first failure it swallows the rest, so that nothing fails again while Python ends."""

    _has_failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        if not self._has_failed:
            try:
                return super().write(data) or 0
            except OSError as error:
                self._has_failed = True
                raise OutputFailedError(error) from error
        return memoryview(data).nbytes


class _Complaints(io.FileIO):
    """Standard error."""

    def write(self, data: ReadableBuffer, /) -> int:
        with contextlib.suppress(OSError):
            return super().write(data) or 0
        return memoryview(data).nbytes


def take_over() -> None:
    """Replaces `sys.stdout` and `sys.stderr`. Characters their encoding does not have are written as escapes."""
    _fill_gaps()
    sys.stdout = _text(_Output(1, "w", closefd=False), sys.__stdout__)
    sys.stderr = _text(_Complaints(2, "w", closefd=False), sys.__stderr__, line_buffering=True)


def _fill_gaps() -> None:
    """Opens what was closed before the start: else the next file opened, one of the store, would be standard output."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):  # 1 so that writing to it fails
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)


def _text(raw: io.FileIO, before: Any, *, line_buffering: bool = False) -> io.TextIOWrapper:
    encoding = getattr(before, "encoding", None) or "utf-8"
    line_buffering = line_buffering or raw.isatty()
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=line_buffering)
