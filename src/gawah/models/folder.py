"""From a model's name or path to a folder with its files: a folder here, else one that was fetched, else the hub's cache."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gawah.errors import ModelError
from gawah.models.filehash import remembered_sha256
from gawah.models.shelf.known import KNOWN, is_repository
from gawah.models.shelf.place import model_folder, read_manifest, shelf_of

WEIGHTS = "model.safetensors"
_NEEDED = ("config.json", "tokenizer.json", WEIGHTS)


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder, where it was found, and the name that was asked for. `weights_sha256`: what the weights must hash to."""

    directory: Path
    source: str
    name: str
    weights_sha256: str = ""


def default_cache_directory() -> Path:
    """`$XDG_CACHE_HOME` (when absolute, as its specification demands) or `~/.cache`, then `gawah/graphs`."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(configured) if Path(configured).is_absolute() else Path.home() / ".cache"
    return root / "gawah" / "graphs"


def folder_here(name_or_path: str) -> ModelFolder | None:
    """The folder of a path; None for what is spelled like a name. A folder that exists goes before a name."""
    path = Path(name_or_path).expanduser()
    if not (name_or_path.startswith((".", "~", os.sep)) or (name_or_path and path.is_dir())):
        return None
    resolved = path.resolve()
    return ModelFolder(snapshot_in(resolved), f"directory {resolved}", resolved.name)


def fetched_folder(name: str, cache_directory: Path) -> ModelFolder | None:
    """The folder that `gawah models fetch` made of a known name or a repository; None when there is none."""
    repository = next((model.repository for model in KNOWN if name == model.name), name)
    if not is_repository(repository):
        return None
    folder = model_folder(shelf_of(cache_directory), repository)
    manifest = read_manifest(folder)
    if manifest is None or manifest.repository != repository:
        return None
    record = manifest.files.get(WEIGHTS)
    return ModelFolder(folder, f"fetched {folder}", repository, record.sha256 if record else "")


def fetch_advice(name: str) -> str:
    """What to do about a model that is not here."""
    if is_repository(name) or any(name == model.name for model in KNOWN):
        return f"`gawah models fetch {name}` fetches it, or name a folder that holds it"
    return "name a folder that holds it"


def require_files(directory: Path) -> None:
    """ModelError, with what to do, when a file that every checkpoint has is missing."""
    if not directory.is_dir():
        raise ModelError(f"no model folder at {directory}; name a folder with {WEIGHTS}, or a model's name")
    for needed in _NEEDED:
        if not (directory / needed).is_file():
            raise ModelError(f"{directory} lacks {needed}{_advice(directory)}")


def weights_sha256(folder: ModelFolder, cache_directory: Path) -> str:
    """The hash of the folder's weights; ModelError when a fetched model's are not those that were fetched."""
    found = remembered_sha256(folder.directory / WEIGHTS, cache_directory / "hashes")
    if folder.weights_sha256 and found != folder.weights_sha256:
        raise ModelError(
            f"{folder.directory / WEIGHTS} hashes to {found}, not {folder.weights_sha256} as fetched; "
            f"`gawah models fetch {folder.name}` mends it"
        )
    return found


def licence_of(directory: Path) -> str:
    """The `license:` of the model card's front matter, "" when there is none."""
    card = directory / "README.md"
    if not card.is_file():
        return ""
    with card.open(encoding="utf-8", errors="replace") as stream:
        for number, line in zip(range(100), stream, strict=False):
            if number and line.strip() == "---":
                break
            if line.startswith("license:"):
                return line.partition(":")[2].strip()
    return ""


def snapshot_in(directory: Path) -> Path:
    """The folder of the files where a hub client's cache of one repository was named: that of `main`, or the only one."""
    snapshots = directory / "snapshots"
    if (directory / "config.json").exists() or not snapshots.is_dir():
        return directory
    main = directory / "refs" / "main"
    if main.is_file() and (named := snapshots / main.read_text(encoding="utf-8", errors="replace").strip()).is_dir():
        return named
    found = sorted(path for path in snapshots.iterdir() if path.is_dir())
    if len(found) != 1:
        raise ModelError(f"{directory} holds {len(found)} snapshots of a model; name the folder of one of them")
    return found[0]


def _advice(directory: Path) -> str:
    if (directory / "model.safetensors.index.json").exists():
        return " (it is split into parts); save the model as one safetensors file"
    if (directory / "pytorch_model.bin").exists():
        return " (it has pytorch_model.bin, which can run code when loaded); save the model as safetensors"
    return "; a model folder holds config.json, tokenizer.json and model.safetensors"
