"""Locks between processes. The writer's: one at a time changes segment files or a folder's documents; readers, askers and
workers are not held up. The workers': many at once work off the queue, and the first to come knows that it is alone. The
migration's: one at a time builds a generation, for hours and beside everybody else.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from gawah.errors import StoreBusyError, StoreError

FILE_NAME = "writer.lock"
WORKERS_FILE_NAME = "workers.lock"
MIGRATION_FILE_NAME = "migration.lock"


@contextlib.contextmanager
def writer_lock(directory: Path) -> Iterator[None]:
    """Holds the lock, or raises StoreBusyError naming the process that does. The kernel frees it when a process dies."""
    with _held_alone(directory / FILE_NAME, f"is writing to {directory}; wait until it is done or use another --store"):
        yield


@contextlib.contextmanager
def migration_lock(directory: Path) -> Iterator[None]:
    """The same for who builds a generation or switches to one."""
    with _held_alone(
        directory / MIGRATION_FILE_NAME, f"is migrating {directory}; `gawah migrate --status` shows how far"
    ):
        yield


@contextlib.contextmanager
def _held_alone(path: Path, what: str) -> Iterator[None]:
    descriptor = _opened(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            raise StoreBusyError(f"process {holder or 'unknown'} {what}") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def at_work(directory: Path, when_alone: Callable[[], object]) -> Iterator[None]:
    """Shows that this process works off the queue. `when_alone` is called first if no other does: what is claimed then was
    left by the dead. The kernel takes the sign down when a process dies.
    """
    descriptor = _opened(directory / WORKERS_FILE_NAME)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            when_alone()
        except BlockingIOError:
            pass
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # waits for the moment another one calls `when_alone`
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}") from error
