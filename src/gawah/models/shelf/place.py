"""Where a fetched model lies, and the manifest beside its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gawah.errors import ModelError
from gawah.fingerprint import sha256_file
from gawah.models.jsonfile import read_object

MANIFEST = "gawah-model.json"
_SCHEMA = "gawah.model/1"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file as it was received. `pinned`: its hash was known beforehand, and not only recorded then."""

    sha256: str
    size_bytes: int
    pinned: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was fetched: from where (`origin`), at which commit ("" where nobody said), and each file."""

    repository: str
    origin: str
    revision: str
    files: Mapping[str, FileRecord]

    @property
    def size_bytes(self) -> int:
        return sum(record.size_bytes for record in self.files.values())


def shelf_of(cache_directory: Path) -> Path:
    """The folder of all fetched models."""
    return cache_directory / "models"


def model_folder(shelf: Path, repository: str) -> Path:
    return shelf / repository.replace("/", "--")


def manifest_bytes(manifest: Manifest) -> bytes:
    files = {
        name: {"sha256": record.sha256, "size_bytes": record.size_bytes, "pinned": record.pinned}
        for name, record in sorted(manifest.files.items())
    }
    body = {
        "schema": _SCHEMA,
        "repository": manifest.repository,
        "origin": manifest.origin,
        "revision": manifest.revision,
        "files": files,
    }
    return (json.dumps(body, indent=1) + "\n").encode()


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a fetched model; None when none was fetched to there. ModelError when it is damaged."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    body = read_object(path)
    if body.get("schema") != _SCHEMA:
        raise ModelError(f"{path} is no manifest ({_SCHEMA}); remove {folder} and fetch the model again")
    try:
        files = {str(name): _record(entry) for name, entry in body["files"].items()}
        return Manifest(str(body["repository"]), str(body["origin"]), str(body["revision"]), files)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path} is damaged; remove {folder} and fetch the model again") from error


def _record(entry: Any) -> FileRecord:
    sha256, size_bytes, pinned = entry["sha256"], entry["size_bytes"], entry["pinned"]
    if not isinstance(sha256, str) or len(sha256) != 64 or not isinstance(size_bytes, int):
        raise ValueError(entry)
    return FileRecord(sha256, size_bytes, bool(pinned))


@dataclass(frozen=True, slots=True)
class Fault:
    """A file of a model that is not as it was fetched."""

    file: str
    what: str


def faults_in(folder: Path, manifest: Manifest) -> list[Fault]:
    """Reads every byte of a fetched model; what is gone, unreadable or another is named."""
    faults = []
    for name, record in manifest.files.items():
        path = folder / name
        try:
            found = sha256_file(path)
        except FileNotFoundError:
            faults.append(Fault(name, "is gone"))
        except OSError as error:
            faults.append(Fault(name, f"cannot be read: {error.strerror or error}"))
        else:
            if found != record.sha256:
                faults.append(Fault(name, f"hashes to {found}, not {record.sha256}"))
    return faults
