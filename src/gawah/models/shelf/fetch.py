"""A known model's name to its files on this machine, from the hub or from a folder: whole, checked, and at once.

Files are gathered in a folder of another name; only when all are there, hold against their hashes and can be used as what
they are, the folder is renamed. An interrupted fetch goes on where it ended.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from gawah.errors import HubError, ModelError, NotFoundError
from gawah.fingerprint import sha256_file
from gawah.models.folder import snapshot_in
from gawah.models.shelf.install import building_of, install, restore, tidy
from gawah.models.shelf.known import KnownModel
from gawah.models.shelf.place import (
    FileRecord,
    Manifest,
    faults_in,
    model_folder,
    read_manifest,
)
from gawah.models.shelf.transfer import NotThereError, Progress, Wanted, transfer

ENDPOINT_ENV = "HF_ENDPOINT"  # the hub client's own variable, for mirrors
_ENDPOINT = "https://huggingface.co"
_TIMEOUT_S = httpx.Timeout(30.0, connect=10.0)
_MOST_BYTES = 8 << 30  # of a model of which nothing is known
_MOST_SMALL_BYTES = 64 << 20  # of a file that is not the weights

Check = Callable[[Path], object]
"""Raises ModelError when a folder cannot be used as the model that it is to be."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where a model lies now, and whether it was there before."""

    folder: Path
    manifest: Manifest
    was_there: bool


def fetch(model: KnownModel, shelf: Path, *, source: Path | None, check: Check, progress: Progress) -> Fetched:
    """The model below the shelf, from the folder `source` or, without one, from the hub ($HF_ENDPOINT).

    What is there and whole stays as it is. Hashes are those that are pinned, else those that an earlier fetch recorded, else
    those that arrive now. Raises HubError when the hub does not give it, NotFoundError when the folder lacks a file,
    ModelError for other bytes than expected, what `check` refuses, or a disk that does not take it.
    """
    folder = model_folder(shelf, model.repository)
    with _shelf_lock(shelf, folder.name):
        restore(folder)
        recorded = read_manifest(folder)
        if recorded is not None and not faults_in(folder, recorded) and recorded.repository == model.repository:
            tidy(folder)
            return Fetched(folder, recorded, was_there=True)
        hashes = {name: record.sha256 for name, record in recorded.files.items()} if recorded else {}
        hashes |= model.pinned
        building = building_of(folder)
        building.mkdir(exist_ok=True)
        if source is not None:
            manifest = _from_folder(model, snapshot_in(source), building, hashes)
        else:
            revision = (recorded.revision if recorded else "") or model.revision
            manifest = _from_hub(model, revision, building, hashes, progress)
        pinned = {name: replace(record, pinned=name in model.pinned) for name, record in manifest.files.items()}
        manifest = replace(manifest, files=pinned)
        check(building)
        install(folder, manifest)
    return Fetched(folder, manifest, was_there=False)


def _from_hub(
    model: KnownModel, revision: str, building: Path, hashes: Mapping[str, str], progress: Progress
) -> Manifest:
    """All files of one commit: that of the first one, where the hub names it. The weights come last:
    when they break off, only small files are asked for again.
    """
    endpoint = os.environ.get(ENDPOINT_ENV, "").rstrip("/") or _ENDPOINT
    files = {}
    most = 2 * model.about_bytes or _MOST_BYTES
    with _client() as client:
        for name in sorted((*model.files, *model.besides), key=_is_weights):
            url = f"{endpoint}/{model.repository}/resolve/{revision}/{name}"
            wanted = Wanted(name, url, hashes.get(name, ""), most if _is_weights(name) else _MOST_SMALL_BYTES)
            try:
                received = transfer(client, wanted, building, progress)
            except NotThereError:
                if name in model.files or name in hashes:
                    raise
                continue
            files[name] = received.record
            revision = received.commit if _is_commit(received.commit) else revision
    named = revision if _is_commit(revision) else ""
    return Manifest(model.repository, f"{endpoint}/{model.repository}", named, files)


def _client() -> httpx.Client:
    """A client by the environment's proxies and certificates, which it reads and opens at once."""
    try:
        return httpx.Client(
            timeout=_TIMEOUT_S,
            headers={"User-Agent": "gawah"},
            # A server may close a connection just as the next file is asked for on it: that would break for no reason.
            limits=httpx.Limits(max_keepalive_connections=0),
        )
    except (ImportError, ValueError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise HubError(
            f"the environment's proxy or certificates cannot be used ({reason}); check HTTPS_PROXY, ALL_PROXY and "
            "SSL_CERT_FILE, or take the files from a folder with --from"
        ) from error


def _from_folder(model: KnownModel, source: Path, building: Path, hashes: Mapping[str, str]) -> Manifest:
    files = {}
    for name in (*model.files, *model.besides):
        path = source / name
        if not path.is_file():
            if name in model.files or name in hashes:
                raise NotFoundError(f"{source} has no file {name}; name the folder that holds {model.name}")
            continue
        target = building / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            found = sha256_file(target)
        except OSError as error:
            raise ModelError(f"cannot copy {path}: {error.strerror or error}; check both disks") from error
        if hashes.get(name, found) != found:
            target.unlink()
            raise ModelError(f"{path} hashes to {found}, not {hashes[name]} as recorded; nothing was installed")
        files[name] = FileRecord(found, target.stat().st_size, pinned=False)
    return Manifest(model.repository, str(source), "", files)


def _is_weights(name: str) -> bool:
    return name.endswith((".safetensors", ".gguf"))


def _is_commit(name: str) -> bool:
    return len(name) == 40 and all(character in "0123456789abcdef" for character in name)


@contextmanager
def _shelf_lock(shelf: Path, name: str) -> Iterator[None]:
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        stream = (shelf / f".lock-{name}").open("a")
    except OSError as error:
        raise ModelError(f"cannot write {shelf}: {error.strerror or error}; name another cache folder") from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ModelError(f"another process is fetching {name} into {shelf}; wait for it") from error
        yield
