"""The hash of a large file that rarely changes, remembered under what the file system says about it.

Hashing 90 MB costs about 0.1 s at every start. The hash is kept with the file's size, times, inode and device; when
any of them differs the file is read again. The change time cannot be set from user space, so a file that was
replaced, edited in place, or edited and given its old modification time back is noticed. What this does not see is a
disk that changes bits by itself.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path

from gawah.errors import ModelError
from gawah.fingerprint import sha256_file, sha256_text

# A file younger than this may still change within the same tick of a coarse file system's clock (FAT: 2 s).
_SETTLED_NS = 2_000_000_000


def remembered_sha256(path: Path, memory: Path, *, now_ns: int | None = None) -> str:
    """SHA-256 of a file's bytes, from `memory` (a folder, made when needed) or by reading the file.

    Raises ModelError when the file cannot be read or the folder cannot be written.
    """
    path = path.resolve()
    note = memory / f"{sha256_text(str(path))[:32]}.json"
    try:
        state = _state(path)
        known = _read_note(note)
        if known.get("path") == str(path) and known.get("state") == state:
            return str(known["sha256"])
        found = sha256_file(path)
        changed = _state(path) != state
    except OSError as error:
        raise ModelError(
            f"cannot read {path}: {error.strerror or error}; check the file and its permissions"
        ) from error
    if changed:
        raise ModelError(f"{path} changed while it was read; wait until it is complete and try again")
    now_ns = time.time_ns() if now_ns is None else now_ns
    if now_ns - max(state["mtime_ns"], state["ctime_ns"]) > _SETTLED_NS:
        write_atomically(note, json.dumps({"path": str(path), "state": state, "sha256": found}).encode())
    return found


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces a file so that a reader, or a crash, sees the old bytes or the new ones. Raises ModelError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise ModelError(f"cannot write the model cache {path.parent}: {reason}; name another cache folder") from error


def _state(path: Path) -> dict[str, int]:
    status = path.stat()
    return {
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "ctime_ns": status.st_ctime_ns,
        "inode": status.st_ino,
        "device": status.st_dev,
    }


def _read_note(note: Path) -> dict[str, object]:
    """The note, or an empty one when there is none or it is damaged: then the file is hashed again."""
    try:
        found = json.loads(note.read_bytes())
    except (OSError, ValueError):
        return {}
    if isinstance(found, dict) and isinstance(found.get("sha256"), str) and len(found["sha256"]) == 64:
        return found
    return {}
