"""Copies of segments that another machine wrote: made here from the catalog once, and kept beside one's own.

Where machines share a catalog but no folder, a registered segment may be absent. Its chunks are in the catalog; what is
built of them is kept below `segments/copies/`, under the registered name. A copy lacks what was deleted before it was made.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from pathlib import Path

from gawah.errors import StoreCorruptError, StoreError
from gawah.index.build import Portion, whole
from gawah.index.segment import check_segment, open_graph, open_segment, remove_unregistered, write_segment
from gawah.ports import SegmentRecord

FOLDER = "copies"
_MADE = "copy.json"


def is_absent(directory: Path, record: SegmentRecord) -> bool:
    return not (directory / record.name).exists()


def keep_copy(
    directory: Path,
    record: SegmentRecord,
    portions: Sequence[Portion],
    epoch: int,
    analyzer: str,
    *,
    graph_from: int | None,
    n_threads: int,
) -> None:
    """Writes the live chunks of a segment as they were at an epoch. Raises StoreError; then another look tries again."""
    folder = directory / FOLDER / record.name
    made = write_segment(folder, portions, record.generation, analyzer, graph_from=graph_from, n_threads=n_threads)
    noted = folder / f".{_MADE}-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        noted.write_text(json.dumps({"epoch": epoch, "segment": astuple(made)}), encoding="utf-8")
        noted.replace(folder / _MADE)
    except OSError as error:
        raise StoreError(f"a copy in {folder} cannot be written: {error.strerror or error}") from error


def open_copy(
    directory: Path, record: SegmentRecord, epoch: int, analyzer: str, *, with_graph: bool
) -> tuple[Portion, int]:
    """The copy and the epoch it is of; StoreCorruptError when there is none, none as old as `epoch`, or it is damaged."""
    folder, made_at, made = _made(directory, record)
    if made_at > epoch:
        raise StoreCorruptError(f"the copy of segment {record.name} is newer than what is read")
    part = open_segment(folder, made, analyzer)
    return whole(part, open_graph(folder, made, part) if with_graph else None), made_at


def check_copy(directory: Path, record: SegmentRecord) -> tuple[str, ...]:
    """Reads a copy against its hashes; one line a fault. Nothing where there is none: it will be made when it is wanted."""
    if is_absent(directory / FOLDER, record):
        return ()
    try:
        folder, _, made = _made(directory, record)
    except StoreCorruptError as error:
        return (str(error),)
    return check_segment(folder, made)


def drop_copy(directory: Path, record: SegmentRecord) -> None:
    shutil.rmtree(directory / FOLDER / record.name, ignore_errors=True)


def remove_others(directory: Path, registered: Iterable[str]) -> None:
    """Removes the copies of segments that are not registered any more."""
    remove_unregistered(directory / FOLDER, registered)


def _made(directory: Path, record: SegmentRecord) -> tuple[Path, int, SegmentRecord]:
    folder = directory / FOLDER / record.name
    try:
        noted = json.loads((folder / _MADE).read_text(encoding="utf-8"))
        return folder, int(noted["epoch"]), SegmentRecord(*noted["segment"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreCorruptError(f"the copy of segment {record.name} cannot be read: {error}") from error
