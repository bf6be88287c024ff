"""What the sandbox and its fork server say to each other besides the reply: a request, and how a child ended.

A request is source, limits, options and, where a file is to be looked at and not read, what of it, as JSON behind its length,
with a descriptor of the file's bytes, which both processes share and neither sends.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from gawah.extract.confine import Limits
from gawah.extract.options import Options
from gawah.types import SourceFile

STATUS = struct.Struct("!Bi")  # what the number is, and the number
EXITED = 0  # a wait status, as os.waitpid gives it
NOT_FORKED = 1  # an errno
PAGE_MARK = b"+"  # before the reply, for each page that is read by eye when its turn comes; no reply begins so
_LENGTH = struct.Struct("!I")


class Request(NamedTuple):
    """What a child is asked: a document of the source, or, with a `look`, what `looking.look_parts` makes of it."""

    source: SourceFile
    limits: Limits
    options: Options
    look: Mapping[str, Any] | None = None


def send_request(connection: socket.socket, request: Request, data: bytes) -> None:
    """Sends one request; when nobody is there to take it, the status will say so."""
    parts = {"source": asdict(request.source), "limits": asdict(request.limits), "options": asdict(request.options)}
    body = json.dumps({**parts, "look": request.look}).encode()
    shared = _shared_memory(data)
    try:
        with contextlib.suppress(ConnectionError):
            socket.send_fds(connection, [_LENGTH.pack(len(body))], [shared])
            connection.sendall(body)
    finally:
        os.close(shared)


def receive_request(connection: socket.socket) -> tuple[Request, int]:
    """The request and a descriptor of the bytes; raises ConnectionError when it ends early."""
    message, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, 1)
    if not descriptors:
        raise ConnectionError("the request has no descriptor")
    message += _receive_exactly(connection, _LENGTH.size - len(message))
    body = json.loads(_receive_exactly(connection, _LENGTH.unpack(message)[0]))
    limits, options = Limits(**body["limits"]), Options(**body["options"])
    return Request(SourceFile(**body["source"]), limits, options, body["look"]), descriptors[0]


def send_status(connection: socket.socket, kind: int, number: int) -> None:
    """Tells how a child ended; the one who asked may have gone."""
    with contextlib.suppress(OSError):
        connection.sendall(STATUS.pack(kind, number))


def _receive_exactly(connection: socket.socket, n_bytes: int) -> bytes:
    received = bytearray()
    while len(received) < n_bytes:
        piece = connection.recv(n_bytes - len(received))
        if not piece:
            raise ConnectionError("the request ended early")
        received += piece
    return bytes(received)


def _shared_memory(data: bytes) -> int:
    """A descriptor of a file without a name that holds the bytes, at its start."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("gawah-source", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as stream:
            descriptor = os.dup(stream.fileno())
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
