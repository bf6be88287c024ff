"""Copies of segments that another machine wrote: made here from the catalog once, and kept beside one's own.

Where machines share a catalog but no folder, a registered segment may be absent. Its chunks are in the catalog; what is
built of them is kept below `segments/copies/`, under the registered name. A copy lacks what was deleted before it was made.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path

from gawah.errors import StoreCorruptError, StoreError
from gawah.index.build import Portion
from gawah.index.part import Part
from gawah.index.segment import check_segment, open_segment, remove_unregistered, write_segment
from gawah.ports import IndexFeed, SegmentRecord

FOLDER = "copies"
_MADE = "copy.json"

MadeAt = tuple[int, str]
"""An epoch and its token."""


def is_absent(directory: Path, record: SegmentRecord) -> bool:
    return not (directory / record.name).exists()


def keep_copy(directory: Path, record: SegmentRecord, portion: Portion, feed: IndexFeed, analyzer: str) -> None:
    """Writes the live chunks of a segment as the feed has them. Raises StoreError; then another look tries again."""
    folder = directory / FOLDER / record.name
    made = write_segment(folder, [portion], record.generation, analyzer)
    noted = folder / f".{_MADE}-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        noted.write_text(json.dumps({"at": [feed.epoch, feed.token], "segment": astuple(made)}), encoding="utf-8")
        noted.replace(folder / _MADE)
    except OSError as error:
        raise StoreError(f"a copy in {folder} cannot be written: {error.strerror or error}") from error


def open_copy(directory: Path, record: SegmentRecord, feed: IndexFeed, analyzer: str) -> tuple[Part, MadeAt]:
    """The copy and when it was made; StoreCorruptError when there is none, none of the feed's past, or it is damaged."""
    folder, made_at, made = _made(directory, record)
    if not is_past(made_at, feed):
        raise StoreCorruptError(f"the copy of segment {record.name} is newer than what is read")
    return open_segment(folder, made, analyzer), made_at


def is_past(made_at: MadeAt, feed: IndexFeed) -> bool:
    """Whether the feed's catalog was at that epoch, not long ago; one that was restored counts from an older one on."""
    epoch, token = made_at
    return epoch <= feed.epoch and feed.knows(epoch, token)


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


def _made(directory: Path, record: SegmentRecord) -> tuple[Path, MadeAt, SegmentRecord]:
    folder = directory / FOLDER / record.name
    try:
        noted = json.loads((folder / _MADE).read_text(encoding="utf-8"))
        epoch, token = noted["at"]
        return folder, (int(epoch), str(token)), SegmentRecord(*noted["segment"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreCorruptError(f"the copy of segment {record.name} cannot be read: {error}") from error
