"""A folder or a file to found files, and a found file to its bytes with the hash of exactly those bytes.

Nothing is skipped silently: what is not taken is refused with a code and a reason, or counted. Content is not looked
at here: the media type of a SourceFile is what its name says, and extraction checks it against the bytes.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from gawah.errors import ExtractionError, NotFoundError
from gawah.fingerprint import sha256_bytes, sha256_file
from gawah.types import SourceFile

_MEGABYTE = 1_000_000
UNKNOWN_TYPE = "application/octet-stream"
_TYPES_BY_SUFFIX = {
    suffix: media_type
    for media_type, suffixes in {
        "text/plain": "txt text log rst adoc asciidoc org tex srt vtt",
        "text/markdown": "md markdown mdown mkd mdx",
        "text/html": "html htm xhtml",
        "text/csv": "csv",
        "text/tab-separated-values": "tsv tab",
        "application/json": "json geojson ipynb webmanifest",
        "application/jsonl": "jsonl ndjson",
        "application/xml": "xml xsd xsl xslt svg rss atom plist",
        "application/yaml": "yaml yml",
        "application/toml": "toml",
        "application/sql": "sql",
        "text/css": "css scss sass less",
        "text/javascript": "js mjs cjs jsx",
        "text/x-typescript": "ts tsx mts cts",
        "text/x-python": "py pyi pyw",
        "text/x-java": "java",
        "text/x-kotlin": "kt kts",
        "text/x-scala": "scala",
        "text/x-go": "go",
        "text/x-rust": "rs",
        "text/x-c": "c h",
        "text/x-c++": "cc cpp cxx hh hpp hxx",
        "text/x-csharp": "cs",
        "text/x-swift": "swift",
        "text/x-ruby": "rb",
        "text/x-php": "php",
        "text/x-perl": "pl pm",
        "text/x-lua": "lua",
        "text/x-r": "r",
        "text/x-shell": "sh bash zsh fish",
        "text/x-powershell": "ps1 psm1",
        "text/x-proto": "proto",
        "text/x-terraform": "tf hcl",
        "text/x-ini": "ini cfg conf properties env editorconfig",
        "text/x-diff": "diff patch",
        "application/pdf": "pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
        "application/vnd.oasis.opendocument.text": "odt",
        "application/epub+zip": "epub",
        "application/rtf": "rtf",
        "application/zip": "zip",
        "message/rfc822": "eml",
        "image/png": "png",
        "image/jpeg": "jpg jpeg",
        "image/gif": "gif",
        "image/webp": "webp",
        "image/tiff": "tif tiff",
        "audio/mpeg": "mp3",
        "audio/wav": "wav",
        "audio/ogg": "ogg oga opus",
        "audio/flac": "flac",
        "audio/mp4": "m4a m4b",
        "audio/aac": "aac",
        "audio/aiff": "aif aiff aifc",
        "audio/amr": "amr",
        "audio/x-matroska": "mka",
        "audio/x-ms-wma": "wma",
        "video/mp4": "mp4 m4v 3gp",
        "video/ogg": "ogv",
        "video/quicktime": "mov",
        "video/webm": "webm",
        "video/x-matroska": "mkv",
        "video/x-msvideo": "avi",
        "video/x-flv": "flv",
        "video/x-ms-wmv": "wmv",
        "video/mpeg": "mpg mpeg vob",
        "video/mp2t": "mts m2ts",
    }.items()
    for suffix in suffixes.split()
}
_TYPES_BY_NAME = {"makefile": "text/x-make", "dockerfile": "text/x-docker", "cmakelists.txt": "text/x-cmake"}
# The stream in which Windows marks a download; copied to another file system it becomes a file beside the original.
_ZONE_MARK = ":zone.identifier"
ZONE_TYPE = "application/x-zone-identifier"
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
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FoundFile(path, _printable(path.name), status.st_size, status.st_mtime_ns)


def is_gone(uri: str) -> bool:
    """Whether nothing is there any more. What cannot be reached (permissions, a lost mount's errors) is not gone."""
    try:
        _path_of(uri).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _path_of(uri: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(urlsplit(uri).path)))


def fingerprint_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in pieces; raises OSError."""
    return sha256_file(path)


def read_source(found: FoundFile, collection: str, name: str, max_bytes: int) -> tuple[SourceFile, bytes]:
    """Reads a file once and hashes what it read, so that hash and bytes agree.

    Raises ExtractionError: `vanished`, `unreadable` and `changed_while_read` (trying again can help), `too_large`.
    """
    try:
        data = _read_whole(found.path, name, max_bytes)
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


def media_type_of(name: str) -> str:
    """The media type that a file's name promises, letter case aside; UNKNOWN_TYPE when it promises nothing."""
    last = name.rsplit("/", 1)[-1].lower()
    if last.endswith(_ZONE_MARK):
        return ZONE_TYPE
    suffix = last.rpartition(".")[2] if "." in last else ""
    return _TYPES_BY_NAME.get(last) or _TYPES_BY_SUFFIX.get(suffix, UNKNOWN_TYPE)


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
    files.sort(key=lambda item: item.name)
    refused.sort(key=lambda item: item.name)
    return tuple(files), tuple(refused), n_hidden


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


def _too_large(name: str, size: int, max_bytes: int) -> ExtractionError:
    sizes = f"{size / _MEGABYTE:,.1f} MB, more than the {max_bytes / _MEGABYTE:,.1f} MB allowed"
    return ExtractionError("too_large", f"{name!r} has {sizes}; raise `max_file_mb` to read it")
