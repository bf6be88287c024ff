"""Files that were gathered to a model in its place, so that a kill at any moment leaves the model before or the new one.

Two folders change places in one call of the kernel where it has that (Linux, `renameat2(2)`). Elsewhere the old one steps
aside first; a kill between the two renames leaves none, and whoever fetches next puts it back.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from gawah.errors import ModelError
from gawah.models.graph_cache import flush_to_disk
from gawah.models.shelf.place import MANIFEST, Manifest, manifest_bytes

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_SUPPORTED = (
    errno.ENOSYS,
    errno.EINVAL,
    errno.EPERM,
)  # no such call, not on this file system, forbidden in a sandbox

Exchange = Callable[[Path, Path], bool]
"""Two folders to each other's names at once; False, and nothing done, where that is not possible."""


def building_of(folder: Path) -> Path:
    """Where a model's files are gathered before they are in its place."""
    return folder.with_name(f".fetching-{folder.name}")


def _aside(folder: Path) -> Path:
    return folder.with_name(f".replaced-{folder.name}")


def exchange_folders(one: Path, other: Path) -> bool:
    """Implements Exchange by the kernel. Raises OSError for what is wrong with the folders."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_SUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(one))


def install(folder: Path, manifest: Manifest, *, exchange: Exchange = exchange_folders) -> None:
    """Puts what was gathered in place of whatever has its name. Raises ModelError for a disk that does not take it."""
    building = building_of(folder)
    try:
        for path in sorted(building.rglob("*"), reverse=True):
            if path.is_file() and path.relative_to(building).as_posix() not in manifest.files:
                path.unlink()  # left by an earlier fetch that broke off
        (building / MANIFEST).write_bytes(manifest_bytes(manifest))
        for path in (*building.rglob("*"), building):
            flush_to_disk(path)
        if folder.exists() and not exchange(building, folder):
            shutil.rmtree(_aside(folder), ignore_errors=True)
            folder.rename(_aside(folder))
        if not folder.exists():
            building.rename(folder)
        flush_to_disk(folder.parent)
    except OSError as error:
        raise ModelError(
            f"cannot write {folder}: {error.strerror or error}; check the disk and name another cache folder"
        ) from error
    tidy(folder)


def restore(folder: Path) -> None:
    """Puts a model back that stepped aside for one which never came. Raises ModelError."""
    aside = _aside(folder)
    if aside.is_dir() and not folder.exists():
        try:
            aside.rename(folder)
        except OSError as error:
            raise ModelError(f"cannot write {folder}: {error.strerror or error}; check the disk") from error


def tidy(folder: Path) -> None:
    """Removes what fetches left beside a model that is whole."""
    for path in (building_of(folder), _aside(folder)):
        shutil.rmtree(path, ignore_errors=True)
