"""One file over HTTP to a folder: resumed where an earlier try ended, and held against every hash that is known of it.

What has arrived lies in `NAME.part`, beside it `NAME.etag` says of which version it is: the rest is asked for with a range,
and only taken when the server still means the same version and begins where the file ends.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from gawah.errors import HubError, ModelError
from gawah.fingerprint import sha256_file
from gawah.models.shelf.place import FileRecord

_MOST_REDIRECTS = 5
_MOST_TRIES = 5  # in a row, as long as each brings something
_CHUNK_BYTES = 1 << 18
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_SHA1 = re.compile(r"[0-9a-f]{40}")
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")

Progress = Callable[[str, int, int], None]
"""Told the file's name, the bytes that have arrived, and how many there will be (0 where nobody says)."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file: its name, where it is, what it must hash to ("" where that is not known) and the most bytes it may have."""

    name: str
    url: str
    sha256: str
    most_bytes: int


@dataclass(slots=True)
class _Said:
    """What the servers of a chain of redirects said of a file. The hub's own words come before those of where it lies.

    `announced` is a SHA-256 or git's name of the bytes: what a hub says of a file, while an ETag of any other server only
    tells versions apart.
    """

    commit: str = ""
    announced: str = ""
    size_bytes: int = 0

    def note(self, headers: Mapping[str, str]) -> None:
        self.commit = self.commit or headers.get("x-repo-commit", "")
        self.announced = self.announced or _validator(headers.get("x-linked-etag", ""))
        self.size_bytes = self.size_bytes or _number(headers.get("x-linked-size", ""))


@dataclass(frozen=True, slots=True)
class Received:
    """A file that is whole. `commit`: of the repository, "" where the server names none."""

    record: FileRecord
    commit: str


class NotThereError(HubError):
    """The server has no such file."""

    code = "hub_no_file"


@dataclass(slots=True)
class _Arriving:
    """The part of a file that is here already."""

    wanted: Wanted
    part: Path
    note: Path
    progress: Progress
    said: _Said = field(default_factory=_Said)

    @property
    def n_bytes(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    @property
    def version(self) -> str:
        return self.note.read_text(encoding="utf-8", errors="replace") if self.note.exists() else ""

    def restart(self) -> None:
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def transfer(client: httpx.Client, wanted: Wanted, folder: Path, progress: Progress) -> Received:
    """The file in the folder, whole and checked. What arrived stays for the next try when the connection breaks.

    Raises NotThereError; HubError when the server cannot be reached or refuses; ModelError when the bytes are not those that
    were announced, or are more than may be, or the disk does not take them.
    """
    target = folder / wanted.name
    part, note = (target.with_name(target.name + ending) for ending in (".part", ".etag"))
    arriving = _Arriving(wanted, part, note, progress)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _receive(client, arriving)
        record = _checked(arriving)
        part.replace(target)
        note.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(
            f"cannot write {target}: {error.strerror or error}; check the disk and name another cache folder"
        ) from error
    return Received(record, arriving.said.commit)


def _receive(client: httpx.Client, arriving: _Arriving) -> None:
    """Tries until the file is whole, or a try brings nothing more."""
    for number in range(1, _MOST_TRIES + 1):
        before = arriving.n_bytes
        try:
            if _try(client, arriving):
                return
        except httpx.TransportError as error:
            if number == _MOST_TRIES or arriving.n_bytes <= before:
                raise HubError(_broken(arriving, error)) from error
        except (httpx.InvalidURL, httpx.DecodingError, httpx.StreamError) as error:
            raise HubError(f"{arriving.wanted.url} cannot be read ({error}); check HF_ENDPOINT") from error
    raise HubError(f"{arriving.wanted.url} changed while it was read; try again")


def _try(client: httpx.Client, arriving: _Arriving) -> bool:
    """One request. False when what is here is of another version: it is gone then, the next try begins anew."""
    start = arriving.n_bytes if arriving.version else 0
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
    arriving.said = _Said()
    with _Followed(client, arriving.wanted.url, headers, arriving.said) as response:
        etag = _validator(response.headers.get("etag", ""))
        validator = arriving.said.announced or etag
        out_of_range = start and response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE
        if not out_of_range:
            _require_file(response, arriving)
        if out_of_range or (start and validator != arriving.version):
            arriving.restart()
            return False
        if response.status_code == httpx.codes.PARTIAL_CONTENT:
            found = _RANGE.fullmatch(response.headers.get("content-range", ""))
            if not start or found is None or int(found[1]) != start:
                arriving.restart()
                return False
            total = int(found[3]) if found[3] != "*" else 0
        else:
            start, total = 0, _number(response.headers.get("content-length", ""))
            arriving.part.unlink(missing_ok=True)  # before the note is another version's
        arriving.said.size_bytes = arriving.said.size_bytes or total
        arriving.said.announced = arriving.said.announced or (etag if arriving.said.commit else "")
        arriving.note.write_text(validator, encoding="utf-8")
        _store(response, arriving, start)
    return True


class _Followed:
    """The response at the end of the redirects, open while in the block; httpx would not show what those before it said."""

    def __init__(self, client: httpx.Client, url: str, headers: Mapping[str, str], said: _Said) -> None:
        self._client, self._url, self._headers, self._said = client, url, dict(headers), said
        self._open: httpx.Response | None = None

    def __enter__(self) -> httpx.Response:
        url = httpx.URL(self._url)
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._client.send(self._client.build_request("GET", url, headers=self._headers), stream=True)
            self._open = response
            self._said.note(response.headers)
            if response.status_code not in _REDIRECTS:
                return response
            response.close()
            onward = url.join(response.headers.get("location", ""))
            if onward.scheme not in ("http", "https") or (url.scheme == "https" and onward.scheme != "https"):
                raise HubError(f"{url} leads to {onward}, which is not encrypted; check HF_ENDPOINT")
            url = onward
        raise HubError(f"{self._url} leads from place to place without end; check HF_ENDPOINT")

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            self._open.close()


def _require_file(response: httpx.Response, arriving: _Arriving) -> None:
    url, status = arriving.wanted.url, response.status_code
    if status in (httpx.codes.OK, httpx.codes.PARTIAL_CONTENT):
        return
    if status in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
        raise NotThereError(
            f"there is no {url} ({status}); check the model's name, or take its files from elsewhere with --from"
        )
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        raise HubError(
            f"{url} is not given to everybody ({status}): the model does not exist, or its licence must be accepted first; "
            "download its files by hand and name the folder with --from"
        )
    raise HubError(f"{url} is not given now (status {status}); try again later")


def _store(response: httpx.Response, arriving: _Arriving, start: int) -> None:
    wanted, n_bytes = arriving.wanted, start
    with arriving.part.open("ab" if start else "wb") as stream:
        for piece in response.iter_raw():  # with a size it would hold back, and lose, what came before a break
            n_bytes += len(piece)
            if n_bytes > wanted.most_bytes:
                break
            stream.write(piece)
            arriving.progress(wanted.name, n_bytes, arriving.said.size_bytes)
        stream.flush()
        os.fsync(stream.fileno())
    if n_bytes > wanted.most_bytes:
        arriving.restart()
        raise ModelError(
            f"{wanted.url} has more than {wanted.most_bytes:,} bytes; that is not the file, it is not taken"
        )


def _checked(arriving: _Arriving) -> FileRecord:
    """The record of what arrived; what is wrong is thrown away, so that the next try does not build on it."""
    wanted, said, n_bytes = arriving.wanted, arriving.said, arriving.n_bytes
    sha256 = sha256_file(arriving.part)
    wrong = ""
    if said.size_bytes and n_bytes != said.size_bytes:
        wrong = f"has {n_bytes:,} bytes, not {said.size_bytes:,} as announced"
    elif _SHA256.fullmatch(said.announced) and sha256 != said.announced:
        wrong = f"hashes to {sha256}, not {said.announced} as announced"
    elif _GIT_SHA1.fullmatch(said.announced) and (found := _git_sha1(arriving.part)) != said.announced:
        wrong = f"has the git hash {found}, not {said.announced} as announced"
    elif wanted.sha256 and sha256 != wanted.sha256:
        wrong = f"hashes to {sha256}, not {wanted.sha256} as recorded"
    if wrong:
        arriving.restart()
        raise ModelError(
            f"{wanted.url} {wrong}; nothing was installed, try again or take the files from elsewhere with --from"
        )
    return FileRecord(sha256, n_bytes, pinned=bool(wanted.sha256))


def _git_sha1(path: Path) -> str:
    """How git names a file's bytes; the hub gives it as the ETag of small files. Not for security: against a bad line."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while piece := stream.read(_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def _number(text: str) -> int:
    """A count of bytes, 0 for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0


def _validator(etag: str) -> str:
    """A strong ETag without its quotes; "" for a weak one, which promises no equal bytes."""
    return "" if etag.startswith("W/") else etag.strip('"')


def _broken(arriving: _Arriving, error: httpx.TransportError) -> str:
    reason = str(error).strip().partition("\n")[0] or type(error).__name__
    have = f"; {arriving.n_bytes:,} bytes are kept, the same command goes on from there" if arriving.n_bytes else ""
    return (
        f"{arriving.wanted.url} cannot be read ({reason}){have}; without network, --from takes a folder with the files"
    )
