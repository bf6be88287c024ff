"""Files that were handed over, kept below the store by the hash of their bytes: a citation's source stays for ever.

`originals/ab/abcd…/name`: the folder is the SHA-256, the name a harmless form of the document's. Nothing is overwritten: a
new version of a document has another hash and lies beside the old one. A file is on the disk before its place is told.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from gawah.errors import StoreCorruptError, StoreError, StoreFullError

FOLDER = "originals"
_INCOMING = "incoming"
_NAME = re.compile(r"[0-9a-f]{2}/([0-9a-f]{64})/(?!\.{1,2}$)[^/\x00]+")
_LOCK = "originals.lock"
_UNSAFE = re.compile(r"[^\w.-]+")
_NAME_CHARS = 80
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Incoming:
    """A file that is still arriving: hashed while it is written; it is gone unless it is kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size_bytes = 0
        self._digest = hashlib.sha256()
        self._stream = path.open("xb")
        fcntl.flock(self._stream, fcntl.LOCK_EX)  # as long as somebody writes it, nobody clears it away

    def write(self, data: bytes) -> None:
        """Raises StoreFullError, StoreError."""
        with _os_errors(self.path):
            self._stream.write(data)
        self._digest.update(data)
        self.size_bytes += len(data)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def sync(self) -> None:
        with _os_errors(self.path):
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.close()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


class Originals:
    """The originals of a store."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._root = store / FOLDER

    def incoming(self) -> Incoming:
        """A new file to write to. Raises StoreError."""
        folder = self._root / _INCOMING
        with _os_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            return Incoming(folder / secrets.token_hex(16))

    def place(self, incoming: Incoming, name: str) -> Path:
        """Puts a file where it stays, with all of it on the disk; returns its absolute path. Call it inside `placing`."""
        incoming.sync()
        sha256 = incoming.sha256
        folder = self._root.resolve() / sha256[:2] / sha256
        target = folder / _harmless(name)
        with _os_errors(target):
            folder.mkdir(parents=True, exist_ok=True)
            incoming.path.replace(target)  # the same bytes under the same name: nothing changes
            for above in (folder, folder.parent, self._root, self._store):
                _sync_folder(above)
        return target

    @contextlib.contextmanager
    def placing(self) -> Iterator[None]:
        """From a file's move to the row that refers to it: no sweep comes between the two."""
        with self._locked(fcntl.LOCK_SH):
            yield

    def find(self, sha256: str) -> Path | None:
        """A file with these bytes, if one is kept."""
        folder = self._root.resolve() / sha256[:2] / sha256
        with contextlib.suppress(OSError):
            for path in sorted(folder.iterdir()):
                return path
        return None

    @property
    def root(self) -> Path:
        return self._root.resolve()

    def all(self) -> list[tuple[str, Path]]:
        """Every original by its place below `root`, in order."""
        names = [path.relative_to(self.root).as_posix() for path in self._files(self.root)]
        return [(name, self.root / name) for name in names if _NAME.fullmatch(name)]

    def restore(self, name: str, sha256: str, pieces: Iterable[bytes]) -> None:
        """Puts a file back under the name that `all` gave it. Raises StoreCorruptError when it is not the one."""
        named = _NAME.fullmatch(name)
        incoming = self.incoming()
        try:
            for piece in pieces:
                incoming.write(piece)
            if named is None or not named.group(1) == sha256 == incoming.sha256:
                raise StoreCorruptError(f"the original {name!r} is not the one that was kept")
            incoming.sync()
            target = self.root / name
            with _os_errors(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                incoming.path.replace(target)
                for above in (target.parent, target.parent.parent, self._root, self._store):
                    _sync_folder(above)
        finally:
            incoming.discard()

    def remove(self, names: Iterable[str]) -> None:
        """Takes files away again that `restore` put there, and their folders where nothing else is in them."""
        for name in names:
            path = self.root / name
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
                path.parent.rmdir()
                path.parent.parent.rmdir()

    def clear_incoming(self) -> int:
        """Removes what uploads that were cut off left behind; returns how many files."""
        n_removed = 0
        for path in self._files(self._root / _INCOMING):
            with contextlib.suppress(OSError), path.open("rb") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
                n_removed += 1
        return n_removed

    @contextlib.contextmanager
    def sweeping(self) -> Iterator[None]:
        """While nobody places a file: read which are referred to, then `sweep`."""
        with self._locked(fcntl.LOCK_EX):
            yield

    def sweep(self, kept: Collection[str]) -> int:
        """Removes every original that is not among the paths to keep; returns how many. Call it inside `sweeping`."""
        n_removed = 0
        for path in self._files(self._root.resolve()):
            if path.parent.name == _INCOMING or str(path) in kept:
                continue
            with _os_errors(path):
                path.unlink(missing_ok=True)
            n_removed += 1
            with contextlib.suppress(OSError):  # not empty: the same bytes under another name
                path.parent.rmdir()
        return n_removed

    def _files(self, folder: Path) -> list[Path]:
        return [path for path in sorted(folder.rglob("*")) if path.is_file()] if folder.is_dir() else []

    @contextlib.contextmanager
    def _locked(self, kind: int) -> Iterator[None]:
        path = self._store / _LOCK
        with _os_errors(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, kind)
            yield
        finally:
            os.close(descriptor)


def _harmless(name: str) -> str:
    """A file name for any document name: its last part without anything a shell, a path or a header could stumble over."""
    last = _UNSAFE.sub("_", name.rsplit("/", 1)[-1]).strip("._")
    stem, dot, suffix = last.rpartition(".")
    shortened = f"{stem[:_NAME_CHARS]}{dot}{suffix[:16]}" if dot else last[:_NAME_CHARS]
    while len(os.fsencode(shortened)) > 200:  # a file name has at most 255 bytes
        shortened = shortened[1:]
    return shortened or "file"


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFullError(
                f"no room left on the disk of {path.parent}; free some and send the file again"
            ) from error
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
