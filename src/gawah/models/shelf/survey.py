"""Which models there are for this installation: known, fetched, packaged, or named by a setting; where each lies."""

from __future__ import annotations

import base64
import importlib.metadata
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gawah.errors import ModelError
from gawah.models.folder import folder_here, licence_of
from gawah.models.hub import hub_cached
from gawah.models.shelf.known import KNOWN, PACKAGED, KnownModel, PackagedModel, Purpose
from gawah.models.shelf.place import (
    MANIFEST,
    Fault,
    FileRecord,
    Manifest,
    faults_in,
    model_folder,
    read_manifest,
    shelf_of,
)

State = Literal["fetched", "package", "hub cache", "folder", "damaged", "missing"]


@dataclass(frozen=True, slots=True)
class Shelved:
    """A model and where it lies. `get` is the command that gets it; the size is rounded unless `size_is_known`.

    `used_by` are the settings that name it; `revision` is the hub's commit, "" where it is not known.
    """

    name: str
    repository: str
    purpose: Purpose
    what: str
    licence: str
    size_bytes: int
    get: str
    size_is_known: bool = False
    state: State = "missing"
    folder: Path | None = None
    revision: str = ""
    used_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of reading a model's files again. `n_held` files have the hash that is `pinned` or was recorded; of
    `n_unknown` none is known.
    """

    model: Shelved
    faults: tuple[Fault, ...]
    n_pinned: int
    n_held: int
    n_unknown: int


def survey(cache_directory: Path, uses: Mapping[str, str]) -> list[Shelved]:
    """Every model, the packaged and the known ones first. `uses` gives by setting the model's name or folder that it asks for."""
    found = [*_packaged(), *_known(cache_directory), *_others(cache_directory)]
    used: dict[int, list[str]] = {}
    for setting, asked in uses.items():
        at = next((at for at, model in enumerate(found) if _is_meant(model, asked)), None)
        if at is None:
            found.append(_named(asked))
            at = len(found) - 1
        used.setdefault(at, []).append(setting)
    return [replace(model, used_by=tuple(used.get(at, ()))) for at, model in enumerate(found)]


def verify(model: Shelved) -> Verdict:
    """Reads every file of a model that has hashes; ModelError for a manifest that is damaged. A missing model has no faults.

    Hashes are those of the manifest, of the record that the installer of a package keeps, and those that are pinned.
    """
    folder = model.folder
    if folder is None:
        return Verdict(model, (), 0, 0, 0)
    known, pinned = read_manifest(folder), _pinned(model)
    if known is None:
        records = {name: FileRecord(sha256, 0, pinned=False) for name, sha256 in _installed(model, folder).items()}
        records |= {name: FileRecord(sha256, 0, pinned=True) for name, sha256 in pinned.items()}
        known = Manifest(model.repository, model.state, model.revision, records)
    faults = tuple(faults_in(folder, known))
    n_pinned = sum(record.pinned for record in known.files.values())
    n_unknown = sum(
        path == folder or path.relative_to(folder).as_posix() not in known.files for path in _files_in(folder)
    )
    return Verdict(model, faults, n_pinned, len(known.files) - len(faults), n_unknown)


def _pinned(model: Shelved) -> Mapping[str, str]:
    every: tuple[KnownModel | PackagedModel, ...] = (*KNOWN, *PACKAGED)
    return next((known.pinned for known in every if known.name == model.name), {})


def _installed(model: Shelved, folder: Path) -> dict[str, str]:
    """SHA-256 by file of a packaged model, as its installer recorded them; none where it kept no record."""
    packaged = next((known for known in PACKAGED if known.name == model.name and model.state == "package"), None)
    if packaged is None:
        return {}
    try:
        files = importlib.metadata.distribution(packaged.distribution).files or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    hashes = {}
    for file in files:
        path = Path(str(file.locate()))
        if file.hash is not None and file.hash.mode == "sha256" and path.is_relative_to(folder):
            padded = file.hash.value + "=" * (-len(file.hash.value) % 4)
            hashes[path.relative_to(folder).as_posix()] = base64.urlsafe_b64decode(padded).hex()
    return hashes


def _files_in(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST and "__pycache__" not in path.parts
    ]


def _known(cache_directory: Path) -> Iterator[Shelved]:
    """Where a package has it, the package is what is used: it is listed there."""
    packaged = {model.name for model in PACKAGED if _package_folder(model)}
    for model in KNOWN:
        shelved = _fetched(model, cache_directory) or _cached(model)
        if shelved or model.name not in packaged:
            yield shelved or _missing(model)


def _fetched(model: KnownModel, cache_directory: Path) -> Shelved | None:
    folder = model_folder(shelf_of(cache_directory), model.repository)
    if not (folder / MANIFEST).exists():
        return None
    try:
        manifest = read_manifest(folder)
    except ModelError:
        manifest = None
    whole = manifest is not None and all((folder / name).is_file() for name in manifest.files)
    size = manifest.size_bytes if manifest else model.about_bytes
    return replace(
        _missing(model),
        licence=licence_of(folder) or model.licence,
        size_bytes=size,
        size_is_known=manifest is not None,
        state="fetched" if whole else "damaged",
        folder=folder,
        revision=manifest.revision if manifest else "",
    )


def _cached(model: KnownModel) -> Shelved | None:
    folder = hub_cached(model.repository)
    if folder is None or not all((folder / name).is_file() for name in model.files):
        return None
    return replace(_at(_missing(model), folder), state="hub cache", revision=folder.name)


def _missing(model: KnownModel) -> Shelved:
    get = f"gawah models fetch {model.name}"
    return Shelved(model.name, model.repository, model.purpose, model.what, model.licence, model.about_bytes, get)


def _packaged() -> Iterator[Shelved]:
    for model in PACKAGED:
        missing = Shelved(model.name, "", model.purpose, model.what, model.licence, model.about_bytes, model.install)
        folder = _package_folder(model)
        if folder is not None:
            yield replace(_at(missing, folder), state="package")
        elif all(model.name != known.name for known in KNOWN):
            yield missing


def _package_folder(model: PackagedModel) -> Path | None:
    """Found, not imported."""
    spec = importlib.util.find_spec(model.module)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / model.path
    return folder if folder.exists() else None


def _others(cache_directory: Path) -> Iterator[Shelved]:
    """Fetched models of which nothing was known beforehand."""
    known = {model.repository for model in KNOWN}
    for path in sorted(shelf_of(cache_directory).glob(f"*/{MANIFEST}")):
        if path.parent.name.startswith("."):
            continue
        repository = path.parent.name.replace("--", "/")
        if repository not in known:
            shelved = _fetched(KnownModel(repository, repository, "any", "", "", 0), cache_directory)
            if shelved is not None:
                yield shelved


def _named(asked: str) -> Shelved:
    """A model that only a setting knows: a folder, a file, or a name that is nowhere."""
    here = folder_here(asked)
    missing = Shelved(asked, "", "any", "", "", 0, f"gawah models fetch {asked}")
    if here is None:
        return missing
    if here.directory.is_file():
        size = here.directory.stat().st_size
        return replace(missing, folder=here.directory, state="folder", get="", size_bytes=size, size_is_known=True)
    if not here.directory.is_dir():
        return replace(missing, folder=here.directory, get="")
    return replace(_at(missing, here.directory), state="folder", get="")


def _at(model: Shelved, folder: Path) -> Shelved:
    size = sum(path.stat().st_size for path in _files_in(folder))
    return replace(
        model, folder=folder, size_bytes=size, size_is_known=True, licence=licence_of(folder) or model.licence
    )


def _is_meant(model: Shelved, asked: str) -> bool:
    if asked in (model.name, model.repository):
        return True
    here = folder_here(asked)
    if here is None or model.folder is None:
        return False
    return model.folder.resolve() in (here.directory, here.directory.parent)
