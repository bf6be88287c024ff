"""Portions to a segment's folder of .npy files and back, mapped into memory.

A segment is written under a temporary name, every file synced, then the folder renamed: under its own name it is whole
or not there. Its manifest lists every file with size and SHA-256; the catalog keeps the manifest's SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gawah.errors import StoreCorruptError
from gawah.fingerprint import canonical_json, sha256_bytes, sha256_file
from gawah.index.build import Portion
from gawah.index.folders import storage_errors, sync_directory, temporary_folder
from gawah.index.graph import FILE_NAME as GRAPH
from gawah.index.graph import Graph, build_graph
from gawah.index.merge import Merger
from gawah.index.part import ARRAY_NAMES, LARGE_ARRAYS, Part
from gawah.ports import SegmentRecord

FORMAT = 1  # of the arrays and the manifest; another number is rebuilt from the catalog
MANIFEST = "manifest.json"
_NAME_HEX_CHARS = 12
_READ_HERE_AND_THERE = (
    "vectors",
    "token_signs",
    "token_scales",
)  # a row of a question's shortlist: nothing is read ahead
_ROWS_A_PIECE = 8192  # of vectors that go into a graph: 12 MiB of 384 float32


def write_segment(
    directory: Path,
    portions: Sequence[Portion],
    generation: int,
    analyzer: str,
    *,
    graph_from: int | None = None,
    n_threads: int = 1,
) -> SegmentRecord:
    """Writes the live rows of portions (in order of seq, at least one) below `directory`; returns the record to register.

    A segment of `graph_from` chunks or more gets a graph too, built by `n_threads`. But for that, the same rows give the
    same name and the same bytes. Raises StoreFullError or StoreError; then nothing is left.
    """
    with storage_errors(directory), temporary_folder(directory) as folder:
        files = _write_arrays(folder, portions)
        n_chunks, dimensions = files["vectors"]["shape"]
        if graph_from is not None and n_chunks >= graph_from:
            vectors = np.load(folder / "vectors.npy", mmap_mode="r")
            build_graph(folder / GRAPH, dimensions, _in_pieces(vectors), n_threads)
            files[GRAPH] = _entry(folder / GRAPH)
        record = _write_manifest(folder, files, generation, analyzer)
        _put_in_place(folder, directory / record.name, record)
        return record


def open_segment(directory: Path, record: SegmentRecord, analyzer: str) -> Part:
    """Maps a registered segment. Checks the manifest's hash, sizes and shapes; StoreCorruptError when anything is off."""
    folder = directory / record.name
    manifest = _manifest(folder, record)
    built_by = (manifest.get("format"), manifest.get("analyzer"))
    if built_by != (FORMAT, analyzer):
        raise StoreCorruptError(f"segment {record.name} is of format and analyzer {built_by}, not {(FORMAT, analyzer)}")
    try:
        return Part(**{name: _mapped(folder / f"{name}.npy", manifest["files"]) for name in ARRAY_NAMES})
    except OSError as error:
        raise StoreCorruptError(f"segment {record.name} cannot be mapped: {error.strerror or error}") from error
    except ValueError as error:
        raise StoreCorruptError(f"segment {record.name} cannot be mapped: {error}") from error


def open_graph(directory: Path, record: SegmentRecord, part: Part) -> Graph | None:
    """The graph of a segment that `open_segment` has mapped, where it has one of the size that was written."""
    entry = _manifest(directory / record.name, record)["files"].get(GRAPH)
    path = directory / record.name / GRAPH
    if entry is None:
        return None
    try:
        n_bytes = path.stat().st_size
    except OSError as error:
        raise StoreCorruptError(f"segment {record.name} cannot be mapped: {GRAPH}: {error.strerror}") from error
    if n_bytes != entry["bytes"]:
        raise StoreCorruptError(
            f"segment {record.name} cannot be mapped: {GRAPH} has {n_bytes} bytes, not {entry['bytes']}"
        )
    return Graph(path, part.n_chunks, part.dimensions)


def check_segment(directory: Path, record: SegmentRecord) -> tuple[str, ...]:
    """Reads every file of a segment against its hash; one line a fault, nothing when it is whole."""
    folder = directory / record.name
    try:
        files = _manifest(folder, record)["files"]
    except StoreCorruptError as error:
        return (str(error),)
    faults = []
    for name, expected in sorted(files.items()):
        try:
            if sha256_file(folder / name) != expected["sha256"]:
                faults.append(f"segment {record.name}: {name} is not what was written")
        except OSError as error:
            faults.append(f"segment {record.name}: {name} cannot be read: {error.strerror}")
    return tuple(faults)


def _write_arrays(folder: Path, portions: Sequence[Portion]) -> dict[str, Any]:
    """Their entries in the manifest, by the array's name."""
    merger = Merger(portions)
    files = {name: _save(folder, name, array.shape, array.dtype, [array]) for name, array in merger.small.items()}
    for name in LARGE_ARRAYS:
        files[name] = _save(folder, name, merger.shapes[name], merger.dtypes[name], merger.pieces(name))
    return files


def _in_pieces(vectors: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(vectors), _ROWS_A_PIECE):
        yield np.ascontiguousarray(vectors[start : start + _ROWS_A_PIECE])


def _entry(path: Path) -> dict[str, object]:
    """Of a file that something else wrote; syncs it."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
    return {"bytes": path.stat().st_size, "sha256": sha256_file(path)}


def _write_manifest(folder: Path, files: dict[str, Any], generation: int, analyzer: str) -> SegmentRecord:
    seqs = np.load(folder / "seqs.npy", mmap_mode="r")
    first_seq, last_seq, n_chunks = int(seqs[0]), int(seqs[-1]), len(seqs)
    manifest = canonical_json(
        {
            "format": FORMAT,
            "analyzer": analyzer,
            "generation": generation,
            "first_seq": first_seq,
            "last_seq": last_seq,
            "n_chunks": n_chunks,
            "files": {name if name == GRAPH else f"{name}.npy": entry for name, entry in files.items()},
        }
    ).encode()
    with (folder / MANIFEST).open("wb") as stream:
        stream.write(manifest)
        _sync_stream(stream)
    sync_directory(folder)
    sha256 = sha256_bytes(manifest)
    name = f"g{generation}-{first_seq}-{last_seq}-{sha256[:_NAME_HEX_CHARS]}"
    return SegmentRecord(name, generation, first_seq, last_seq, n_chunks, sha256)


def _save(
    folder: Path, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], blocks: Iterable[NDArray[Any]]
) -> dict[str, object]:
    """Writes blocks one after the other as one .npy file, synced; returns its entry in the manifest."""
    digest = hashlib.sha256()
    with (folder / f"{name}.npy").open("xb") as stream:
        written = _Hashed(stream, digest)
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(written, header)
        for block in blocks:
            written.write(np.ascontiguousarray(block, dtype).data)
        _sync_stream(stream)
        return {"bytes": stream.tell(), "sha256": digest.hexdigest(), "dtype": dtype.str, "shape": list(shape)}


class _Hashed:
    """What is written goes into a file and a digest."""

    def __init__(self, stream: BinaryIO, digest: Any) -> None:
        self._stream, self._digest = stream, digest

    def write(self, data: Any) -> int:
        self._digest.update(data)
        return self._stream.write(data)


def _put_in_place(folder: Path, final: Path, record: SegmentRecord) -> None:
    if final.exists():
        if not check_segment(final.parent, record):
            return  # the same rows, written before
        shutil.rmtree(final)
    folder.rename(final)
    sync_directory(final.parent)


def _manifest(folder: Path, record: SegmentRecord) -> dict[str, Any]:
    try:
        data = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise StoreCorruptError(f"segment {record.name} cannot be read: {error.strerror}") from error
    if sha256_bytes(data) != record.manifest_sha256:
        raise StoreCorruptError(f"the manifest of segment {record.name} is not the one that was registered")
    manifest: dict[str, Any] = json.loads(data)
    return manifest


def _mapped(path: Path, files: dict[str, Any]) -> NDArray[Any]:
    """The file's array, if it has the size, type and shape that the manifest gives it; else ValueError."""
    expected = files[path.name]
    n_bytes = path.stat().st_size
    if n_bytes != expected["bytes"]:
        raise ValueError(f"{path.name} has {n_bytes} bytes, not {expected['bytes']}")
    array = np.load(path, allow_pickle=False) if 0 in expected["shape"] else _map(path)
    if [array.dtype.str, list(array.shape)] != [expected["dtype"], expected["shape"]]:
        raise ValueError(f"{path.name} holds {array.dtype.str} {array.shape}, not what was written")
    return array


def _map(path: Path) -> NDArray[Any]:
    """A .npy file that is not empty as an array over its mapped pages; ValueError when it is none."""
    with path.open("rb") as stream:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError(f"{path.name} is of another format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        if path.stem in _READ_HERE_AND_THERE and hasattr(mmap, "MADV_RANDOM"):
            mapped.madvise(mmap.MADV_RANDOM)
        return np.frombuffer(mapped, dtype, offset=stream.tell()).reshape(shape)


def _sync_stream(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())
