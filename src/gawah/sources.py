"""A folder or a file to found files, and a found file to its bytes with the hash of exactly those bytes.

A ZIP archive is a folder: "docs/a.zip/inner/b.md" names a file in it, and no path on disk. Nothing is skipped silently: what is not taken is refused with a code and a reason, or counted. Content is not looked
at here: the media type of a SourceFile is what its name says, and extraction checks it against the bytes.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from gawah.archive import ArchiveError, is_folder_like, read_directory, read_member, split_path
from gawah.errors import ExtractionError, NotFoundError
from gawah.fingerprint import sha256_bytes, sha256_file
from gawah.media_types import media_type_of
from gawah.types import SourceFile

_MEGABYTE = 1_000_000
# A file that is swapped for a link or a fifo after it was found must neither be followed nor block the reader.
_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file. `name` is relative to the root, with "/" between its parts, and always valid Unicode."""

    path: Path
    name: str
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """Something that is not taken: symlink, special_file, folder, unreadable or vanished, and why."""

    name: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a root holds for a collection, by name. `n_hidden` counts hidden files and folders, these as one each."""

    collection: str
    files: tuple[FoundFile, ...]
    refused: tuple[RefusedFile, ...]
    n_hidden: int
    is_folder: bool


def discover(root: Path, collection: str) -> Discovery:
    """Walks a folder, or takes one file; raises NotFoundError when there is nothing at `root`.

    Symbolic links are refused below the root; the root itself may be one, since it was named on purpose.
    """
    try:
        status = root.stat()
    except (OSError, ValueError) as error:
        raise NotFoundError(f"no such file or folder: {str(root)!r}; check the path") from error
    if stat.S_ISDIR(status.st_mode):
        found, refused, n_hidden = _walk(root)
        return Discovery(collection, found, refused, n_hidden, is_folder=True)
    name = _printable(root.name or str(root))
    if not stat.S_ISREG(status.st_mode):
        return Discovery(collection, (), (_not_regular(name, status.st_mode),), 0, is_folder=False)
    one = FoundFile(root.resolve(), name, status.st_size, status.st_mtime_ns)
    if is_folder_like(one.path):
        found, refused, n_hidden = _unfolded([one])
        return Discovery(collection, found, refused, n_hidden, is_folder=True)
    return Discovery(collection, (one,), (), 0, is_folder=False)


def discover_files(paths: list[Path], collection: str) -> Discovery:
    """Takes a list of files; names are relative to the folder they have in common. A folder in the list is refused."""
    absolute = [path.absolute() for path in paths]
    common = Path(os.path.commonpath([path.parent for path in absolute])) if absolute else Path()
    found: dict[str, FoundFile] = {}
    refused: list[RefusedFile] = []
    for path in absolute:
        name = _printable(path.relative_to(common).as_posix())
        one = _inspect(path, name)
        if isinstance(one, FoundFile):
            found[name] = one
        else:
            refused.append(one)
    files = tuple(found[name] for name in sorted(found))
    return Discovery(collection, files, tuple(sorted(refused, key=lambda item: item.name)), 0, is_folder=False)


def found_file(uri: str) -> FoundFile | None:
    """The regular file behind a file URI as it is now; None when there is none."""
    path = _path_of(uri)
    try:
        status = path.lstat()
    except NotADirectoryError:
        return _found_member(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FoundFile(path, _printable(path.name), status.st_size, status.st_mtime_ns)


def _found_member(path: Path) -> FoundFile | None:
    split = split_path(path)
    if split is None:
        return None
    archive, name = split
    try:
        member = read_directory(archive).members.get(name)
        mtime_ns = archive.stat().st_mtime_ns
    except (ArchiveError, OSError):
        return None
    return FoundFile(path, _printable(path.name), member.size_bytes, mtime_ns) if member is not None else None


def is_gone(uri: str) -> bool:
    """Whether nothing is there any more. What cannot be reached (permissions, a lost mount's errors) is not gone."""
    path = _path_of(uri)
    try:
        path.lstat()
    except NotADirectoryError:
        return _member_is_gone(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def _member_is_gone(path: Path) -> bool:
    """A damaged archive may still hold it: it is not gone."""
    split = split_path(path)
    if split is None:
        return True
    try:
        return split[1] not in read_directory(split[0]).members
    except (ArchiveError, OSError):
        return False


def _path_of(uri: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(urlsplit(uri).path)))


def fingerprint_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in pieces; raises OSError."""
    split = split_path(path)
    if split is None:
        return sha256_file(path)
    archive, name = split
    try:
        member = read_directory(archive).members[name]
        return sha256_bytes(read_member(archive, name, member.size_bytes))
    except (ArchiveError, KeyError) as error:
        raise OSError(str(error)) from error


def read_source(found: FoundFile, collection: str, name: str, max_bytes: int) -> tuple[SourceFile, bytes]:
    """Reads a file once and hashes what it read, so that hash and bytes agree.

    Raises ExtractionError: `vanished`, `unreadable` and `changed_while_read` (trying again can help), `too_large`; for a
    file in an archive also `encrypted` and `damaged`.
    """
    split = split_path(found.path)
    try:
        data = _read_whole(found.path, name, max_bytes) if split is None else _read_member(*split, name, max_bytes)
    except FileNotFoundError as error:
        reason = f"{name!r} was there when the folder was listed and is gone now; `gawah rm` removes it for good"
        raise ExtractionError("vanished", reason, retryable=True) from error
    except OSError as error:
        reason = f"{name!r} cannot be read: {error.strerror or error}; check its permissions"
        raise ExtractionError("unreadable", reason, retryable=True) from error
    source = SourceFile(
        collection=collection,
        name=name,
        uri=found.path.absolute().as_uri(),
        media_type=media_type_of(name),
        size_bytes=len(data),
        sha256=sha256_bytes(data),
    )
    return source, data


# --- walking


def _walk(root: Path) -> tuple[tuple[FoundFile, ...], tuple[RefusedFile, ...], int]:
    files: list[FoundFile] = []
    refused: list[RefusedFile] = []
    n_hidden = 0
    pending: list[tuple[Path, str]] = [(root.absolute(), "")]
    while pending:
        folder, prefix = pending.pop()
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 — names only; the entries are inspected one by one
        except OSError as error:
            refused.append(_refused_for(prefix.rstrip("/") or _printable(root.name), error))
            continue
        for entry in names:
            if entry.startswith("."):
                n_hidden += 1
                continue
            path, name = folder / entry, prefix + _printable(entry)
            one = _inspect(path, name)
            if isinstance(one, FoundFile):
                files.append(one)
            elif one.code == "folder":
                pending.append((path, name + "/"))
            else:
                refused.append(one)
    found, inside, n_hidden_inside = _unfolded(files)
    return found, tuple(sorted([*refused, *inside], key=lambda item: item.name)), n_hidden + n_hidden_inside


def _unfolded(files: list[FoundFile]) -> tuple[tuple[FoundFile, ...], tuple[RefusedFile, ...], int]:
    """The files with those of archives in their archives' places, what of the archives is refused, and what is hidden."""
    found: list[FoundFile] = []
    refused: list[RefusedFile] = []
    n_hidden = 0
    for one in files:
        if not is_folder_like(one.path):
            found.append(one)
            continue
        try:
            directory = read_directory(one.path)
        except ArchiveError as error:
            refused.append(RefusedFile(one.name, error.code, f"{one.name!r}: {error}"))
            continue
        except OSError as error:
            refused.append(_refused_for(one.name, error))
            continue
        if not (directory.members or directory.refused or directory.n_hidden):
            refused.append(RefusedFile(one.name, "empty", f"{one.name!r}: there is no file in the archive"))
        n_hidden += directory.n_hidden
        refused.extend(
            RefusedFile(f"{one.name}/{n}", code, f"{n!r} in {one.name!r}: {why}") for n, code, why in directory.refused
        )
        found.extend(
            FoundFile(one.path / member.name, f"{one.name}/{member.name}", member.size_bytes, one.mtime_ns)
            for member in directory.members.values()
        )
    return tuple(sorted(found, key=lambda item: item.name)), tuple(refused), n_hidden


def _inspect(path: Path, name: str) -> FoundFile | RefusedFile:
    try:
        status = path.lstat()
    except OSError as error:
        return _refused_for(name, error)
    if not stat.S_ISREG(status.st_mode):
        return _not_regular(name, status.st_mode)
    return FoundFile(path, name, status.st_size, status.st_mtime_ns)


def _not_regular(name: str, mode: int) -> RefusedFile:
    if stat.S_ISLNK(mode):
        return RefusedFile(name, "symlink", f"{name!r} is a symbolic link; name its target to read it")
    if stat.S_ISDIR(mode):
        return RefusedFile(name, "folder", f"{name!r} is a folder, not a file")
    kinds = (
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISBLK, "a block device"),
        (stat.S_ISCHR, "a character device"),
    )
    kind = next((word for test, word in kinds if test(mode)), "no regular file")
    return RefusedFile(name, "special_file", f"{name!r} is {kind}; only regular files are read")


def _refused_for(name: str, error: OSError) -> RefusedFile:
    if isinstance(error, FileNotFoundError):
        return RefusedFile(name, "vanished", f"{name!r} vanished while the folder was listed; run again")
    return RefusedFile(name, "unreadable", f"{name!r} cannot be read: {error.strerror}; check its permissions")


def _printable(name: str) -> str:
    r"""The name as valid Unicode: bytes that are not UTF-8 are written as \xNN, since ids and JSON are made of it."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


# --- reading


def _read_whole(path: Path, name: str, max_bytes: int) -> bytes:
    descriptor = os.open(path, _OPEN_FLAGS)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 — a descriptor, not a path
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise ExtractionError("unreadable", f"{name!r} is no regular file any more; run again", retryable=True)
        if before.st_size > max_bytes:
            raise _too_large(name, before.st_size, max_bytes)
        data = stream.read(max_bytes + 1)
        after = os.fstat(descriptor)
    if len(data) > max_bytes:
        raise _too_large(name, max(after.st_size, len(data)), max_bytes)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(data) != after.st_size:
        reason = f"{name!r} was written to while it was read; it is read again later"
        raise ExtractionError("changed_while_read", reason, retryable=True)
    return data


def _read_member(archive: Path, member: str, name: str, max_bytes: int) -> bytes:
    before = archive.stat()
    try:
        data = read_member(archive, member, max_bytes)
    except ArchiveError as error:
        if error.code == "vanished":
            raise FileNotFoundError(str(error)) from error
        hint = "; raise `max_file_mb` to read it" if error.code == "too_large" else ""
        raise ExtractionError(error.code, f"{name!r}: {error}{hint}") from error
    after = archive.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise ExtractionError(
            "changed_while_read", f"{name!r}: its archive was written to; it is read again later", retryable=True
        )
    return data


def _too_large(name: str, size: int, max_bytes: int) -> ExtractionError:
    sizes = f"{size / _MEGABYTE:,.1f} MB, more than the {max_bytes / _MEGABYTE:,.1f} MB allowed"
    return ExtractionError("too_large", f"{name!r} has {sizes}; raise `max_file_mb` to read it")
