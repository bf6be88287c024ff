"""A ZIP file on disk as a folder: its members by name, and the bytes of one, counted and checked while they inflate.

Nothing is ever unpacked to disk, so that a member's name is a name and never a path. An archive inside is a file.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType

MOST_MEMBERS = 10_000
MOST_INFLATED_BYTES = (
    4 << 30
)  # of all members together, as the directory states them; no member may hold more than it says
ENDING = ".zip"
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MARK = b"PK\x03\x04"
_PIECE_BYTES = 1 << 20
_ENCRYPTED = 1
# An archive with one of these is a document of its own: OOXML, EPUB, ODF.
_FAULTS = (zipfile.BadZipFile, ValueError, struct.error, NotImplementedError)  # the last of a version nobody writes
_DOCUMENT_MARKS = frozenset({"[content_types].xml", "meta-inf/container.xml", "mimetype"})


class ArchiveError(Exception):
    """An archive or member that cannot be read: a stable code, and why."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: what the directory says about it."""

    name: str
    size_bytes: int
    packed_bytes: int
    crc32: int
    method: int
    is_encrypted: bool
    header_offset: int


@dataclass(frozen=True, slots=True)
class Directory:
    """The members that may be read, by name, and the names that may not, each with a code and a reason."""

    members: MappingProxyType[str, Member]
    refused: tuple[tuple[str, str, str], ...]
    n_hidden: int


def is_folder_like(path: Path) -> bool:
    """Whether a regular file is an archive to be read as a folder: by its name, unless it is a document of its own.

    A file that only claims to be an archive is folder-like too: reading its directory says what is wrong with it.
    """
    if path.suffix.lower() != ENDING:
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return not any(name.casefold() in _DOCUMENT_MARKS for name in archive.namelist())
    except (*_FAULTS, OSError):
        return True


def read_directory(path: Path) -> Directory:
    """Raises ArchiveError `damaged` or `zip_bomb`, OSError when the file cannot be opened."""
    status = path.stat()
    return _directory(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=8)
def _directory(path: Path, size_bytes: int, mtime_ns: int) -> Directory:  # noqa: ARG001 — a changed file is another key
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    except _FAULTS as error:
        raise ArchiveError("damaged", f"the archive is cut short or damaged ({error}); save it again") from error
    if len(entries) > MOST_MEMBERS:
        raise ArchiveError("zip_bomb", f"it holds {len(entries):,} files, more than the {MOST_MEMBERS:,} allowed")
    if sum(entry.compress_size for entry in entries) > size_bytes:
        raise ArchiveError("zip_bomb", "its files overlap each other, which no program writes")
    if sum(entry.file_size for entry in entries) > MOST_INFLATED_BYTES:
        raise ArchiveError("zip_bomb", f"its files inflate to more than {MOST_INFLATED_BYTES >> 30} GiB")
    members: dict[str, Member] = {}
    refused: list[tuple[str, str, str]] = []
    n_hidden = 0
    for entry in entries:
        name = entry.filename
        fault = _fault(entry, members)
        if fault:
            refused.append((name.encode("utf-8", "backslashreplace").decode(), *fault))
        elif any(part.startswith(".") or part == "__MACOSX" for part in name.split("/")):
            n_hidden += 1
        else:
            members[name] = Member(
                name, entry.file_size, entry.compress_size, entry.CRC, entry.compress_type,
                bool(entry.flag_bits & _ENCRYPTED), entry.header_offset,
            )  # fmt: skip
    return Directory(MappingProxyType(dict(sorted(members.items()))), tuple(refused), n_hidden)


def _fault(entry: zipfile.ZipInfo, taken: dict[str, Member]) -> tuple[str, str] | None:
    """Why a member is not taken, or None."""
    name = entry.filename
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0] or "/".join(parts) != name:
        return "unsafe_name", "its name leads out of the archive"
    if not name.isprintable():
        return "unsafe_name", "its name holds control characters"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "symlink", "it is a symbolic link; its target is not looked up"
    if name in taken:
        return "name_taken", "another file of the archive has its name"
    return None


def split_path(path: Path) -> tuple[Path, str] | None:
    """A path that goes on inside an archive as the archive and the member's name; None for any other."""
    for parent in path.parents:
        if parent.suffix.lower() == ENDING and parent.is_file() and not parent.is_symlink():
            return parent, path.relative_to(parent).as_posix()
    return None


def read_member(path: Path, name: str, max_bytes: int) -> bytes:
    """The bytes of a member, with their checksum checked.

    Raises ArchiveError `vanished`, `encrypted`, `too_large` or `damaged`, OSError when the archive cannot be read.
    """
    member = read_directory(path).members.get(name)
    if member is None:
        raise ArchiveError("vanished", "it is not in the archive any more")
    if member.is_encrypted:
        raise ArchiveError("encrypted", "it is protected by a password; pack it without one")
    if member.size_bytes > max_bytes:
        raise ArchiveError("too_large", f"it inflates to {member.size_bytes:,} bytes")
    if member.header_offset < 0:
        raise ArchiveError("damaged", "the archive has lost it; pack it again")
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 — a descriptor, not a path
        stream.seek(member.header_offset)
        header = stream.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(_LOCAL_MARK):
            raise ArchiveError("damaged", "the archive has lost it; pack it again")
        _, n_name, n_extra = _LOCAL_HEADER.unpack(header)
        stream.seek(n_name + n_extra, 1)
        packed = stream.read(min(member.packed_bytes, max_bytes + _PIECE_BYTES))
    data = _inflated(packed, member)
    if len(data) != member.size_bytes or zlib.crc32(data) != member.crc32:
        raise ArchiveError("damaged", "its bytes are not those that were packed; pack it again")
    return data


def _inflated(packed: bytes, member: Member) -> bytes:
    """At most what the directory says the member holds."""
    if member.method == zipfile.ZIP_STORED:
        return packed[: member.size_bytes]
    if member.method != zipfile.ZIP_DEFLATED:
        raise ArchiveError("damaged", f"it is packed by method {member.method}, which is not read; pack it as usual")
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, member.size_bytes + 1)
    except zlib.error as error:
        raise ArchiveError("damaged", f"it does not inflate ({error}); pack it again") from error
