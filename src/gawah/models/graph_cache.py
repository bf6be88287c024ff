"""Keeps the graphs that were built, one folder per checkpoint and builder, and notices when one is damaged.

A graph is built in a folder of another name, flushed to disk and renamed: a folder with a graph's name is whole. A
lock file lets one process build while others wait. What is in use may be replaced: processes that have mapped the old
file keep it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from gawah.errors import ModelError
from gawah.fingerprint import sha256_file, sha256_json
from gawah.models.filehash import remembered_sha256
from gawah.models.graph_names import GRAPH_FILE, GRAPH_FORMAT, WEIGHTS_FILE, GraphSource

_MANIFEST = "manifest.json"
_BUILDING = ".building-"


def cached_graph(checkpoint: GraphSource, cache_directory: Path) -> Path:
    """The path of the checkpoint's graph file, built when it is not there or damaged.

    Raises ModelError when the weights cannot be read or the folder cannot be written.
    """
    try:
        cache_directory.mkdir(parents=True, exist_ok=True)
        cache = cache_directory.resolve()
        folder = cache / _graph_key(checkpoint)
        if not _is_whole(folder, cache):
            with _builders_lock(cache):
                if not _is_whole(folder, cache):  # another process may have built it meanwhile
                    _build(checkpoint, folder)
    except OSError as error:
        reason = error.strerror or error
        raise ModelError(
            f"cannot write the model cache {cache_directory}: {reason}; name another cache folder"
        ) from error
    return folder / GRAPH_FILE


def _graph_key(checkpoint: GraphSource) -> str:
    parts = ["graph", GRAPH_FORMAT, checkpoint.model_sha256, asdict(checkpoint.shape), checkpoint.head]
    return sha256_json(parts)[:32]


def _is_whole(folder: Path, cache: Path) -> bool:
    """Whether both files have the hashes they were written with."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        return bool(
            isinstance(manifest, dict)
            and sha256_file(folder / GRAPH_FILE) == manifest.get(GRAPH_FILE)
            and (folder / WEIGHTS_FILE).is_file()
            and remembered_sha256(folder / WEIGHTS_FILE, cache / "hashes") == manifest.get(WEIGHTS_FILE)
        )
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False


def _build(checkpoint: GraphSource, folder: Path) -> None:
    """Builds a graph and puts it in place of whatever has its name. The lock is held."""
    from gawah.models.graph import write_graph  # brings in onnx (0.2 s), which only building needs

    for left_by_a_crash in folder.parent.glob(_BUILDING + "*"):
        shutil.rmtree(left_by_a_crash)
    building = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_BUILDING))
    try:
        write_graph(checkpoint, building)
        # The graph is filed under the hash that was taken when the checkpoint was found; loading may come much later.
        if remembered_sha256(checkpoint.weights_path, folder.parent / "hashes") != checkpoint.model_sha256:
            raise ModelError(f"{checkpoint.weights_path} was replaced after it was hashed; start again")
        manifest = {name: sha256_file(building / name) for name in (GRAPH_FILE, WEIGHTS_FILE)}
        (building / _MANIFEST).write_text(json.dumps({**manifest, "checkpoint": checkpoint.name}), encoding="utf-8")
        for path in (*building.iterdir(), building):
            flush_to_disk(path)
        if folder.is_dir():
            folder.rename(building / "damaged")
        folder.unlink(missing_ok=True)
        building.rename(folder)
        flush_to_disk(folder.parent)
        shutil.rmtree(folder / "damaged", ignore_errors=True)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def flush_to_disk(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _builders_lock(cache: Path) -> Iterator[None]:
    with (cache / "lock").open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
