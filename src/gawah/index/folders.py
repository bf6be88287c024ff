"""Folders on the way to a segment: seen to be in use while their writer lives, removed when it broke off.

Whoever writes holds the folder locked, and the lock falls with the process. So who tidies tells a copy that a server beside
it is making from what a crash left, in whatever container either of them runs.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from gawah.errors import StoreError, StoreFullError

TEMPORARY_PREFIX = ".new-"


@contextlib.contextmanager
def temporary_folder(directory: Path) -> Iterator[Path]:
    """A new folder below, gone with its contents afterwards unless it was renamed. Raises StoreFullError, StoreError."""
    folder = directory / f"{TEMPORARY_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    with storage_errors(directory):
        folder.mkdir(parents=True)
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: then nobody tidies beside a server
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)


def remove_unregistered(directory: Path, registered: Iterable[str]) -> tuple[str, ...]:
    """Removes what is in `directory` and not registered, leftovers of crashes included; returns the names.

    What is being written stays. Only the process that may write segments calls this. Readers keep what they have mapped.
    """
    if not directory.is_dir():
        return ()
    kept = set(registered)
    removed = sorted(entry.name for entry in directory.iterdir() if entry.name not in kept and not _is_in_use(entry))
    with storage_errors(directory):
        for name in removed:
            doomed = directory / name
            shutil.rmtree(doomed) if doomed.is_dir() and not doomed.is_symlink() else doomed.unlink()
        if removed:
            sync_directory(directory)
    return tuple(removed)


def _is_in_use(entry: Path) -> bool:
    if not entry.name.startswith(TEMPORARY_PREFIX) or not entry.is_dir():
        return False
    try:
        descriptor = os.open(entry, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def storage_errors(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFullError(f"no room for a segment in {directory}; free some and run it again") from error
        raise StoreError(f"a segment in {directory} cannot be written: {error.strerror or error}") from error
