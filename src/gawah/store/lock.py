"""The writer's lock: one process at a time changes documents and segment files; readers and askers are not held up."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from gawah.errors import StoreBusyError, StoreError

FILE_NAME = "writer.lock"


@contextlib.contextmanager
def writer_lock(directory: Path) -> Iterator[None]:
    """Holds the lock, or raises StoreBusyError naming the process that does. The kernel frees it when a process dies."""
    path = directory / FILE_NAME
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            raise StoreBusyError(
                f"process {holder or 'unknown'} is writing to {directory}; wait until it is done or use another --store"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.close(descriptor)
