"""From a cross-encoder's name or folder to a checkpoint: a BERT with a pooler and a classifier of one label.

The layout is that of transformers' BertForSequenceClassification. What would be computed differently here than there is
refused, not approximated.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from gawah.errors import ModelError, ModelMissingError
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
from gawah.models.hub import hub_cached
from gawah.models.jsonfile import read_object
from gawah.models.shape import BertShape, bert_shape
from gawah.models.shelf.known import known_model

ARCHITECTURE = "BertForSequenceClassification"
_MOST_TOKENS = 512  # what every BERT was trained on; longer pairs are cut
_LEAST_TOKENS = 8  # three specials, and a few pieces of each side
_NAMED_CHARS = 12  # of the hash that tells two checkpoints of one name apart

Activation = Literal["identity", "sigmoid"]


@dataclass(frozen=True, slots=True)
class CrossCheckpoint:
    """A checked model folder. `name` ends in "@" and a hash of all that decides a score: weights, tokenizer, shape,
    window, activation. `window_tokens`: longer pairs are cut. `source` says where it was found.
    """

    name: str
    directory: Path
    model_sha256: str
    shape: BertShape
    window_tokens: int
    activation: Activation
    source: str
    licence: str

    @property
    def head(self) -> Literal["score"]:
        """What the graph ends in."""
        return "score"

    @property
    def weights_path(self) -> Path:
        return self.directory / WEIGHTS

    @property
    def tokenizer_path(self) -> Path:
        return self.directory / "tokenizer.json"


def find_cross_encoder(name_or_path: str, *, cache_directory: Path | None = None) -> CrossCheckpoint:
    """The checkpoint of that folder or name. Nothing is fetched.

    Raises ModelMissingError for a name that is not on this machine, ModelError for a folder that is not there, and for a
    checkpoint that is broken or not supported; UsageError for what is neither a path nor a name.
    """
    cache = default_cache_directory() if cache_directory is None else cache_directory
    folder = _locate(name_or_path, cache)
    require_files(folder.directory)
    path = folder.directory / "config.json"
    config = read_object(path)
    _require_one_label(config, path)
    shape = bert_shape(folder.directory)
    if shape.n_token_types < 2:
        raise ModelError(f"{path}: type_vocab_size is {shape.n_token_types}; a pair needs two, use a cross-encoder")
    window_tokens = _window_tokens(folder.directory, shape)
    activation = _activation(config, path)
    model_sha256 = weights_sha256(folder, cache)
    tokenizer = sha256_file(folder.directory / "tokenizer.json")
    recipe = sha256_json([model_sha256, tokenizer, asdict(shape), window_tokens, activation])
    return CrossCheckpoint(
        name=f"{folder.name}@{recipe[:_NAMED_CHARS]}",
        directory=folder.directory,
        model_sha256=model_sha256,
        shape=shape,
        window_tokens=window_tokens,
        activation=activation,
        source=folder.source,
        licence=licence_of(folder.directory),
    )


def _locate(name_or_path: str, cache_directory: Path) -> ModelFolder:
    if here := folder_here(name_or_path):
        return here
    repository = known_model(name_or_path).repository
    if fetched := fetched_folder(repository, cache_directory):
        return fetched
    if cached := hub_cached(repository):
        return ModelFolder(cached, f"hub {repository}", repository)
    raise ModelMissingError(f"the model {repository} is not on this machine; {fetch_advice(name_or_path)}")


def _require_one_label(config: dict[str, Any], path: Path) -> None:
    architectures = config.get("architectures")
    if architectures not in (None, [ARCHITECTURE]):
        raise ModelError(f"{path}: it is a {architectures}, not a {ARCHITECTURE}; use a cross-encoder")
    labels = config.get("id2label")
    n_labels = config.get(
        "num_labels", len(labels) if isinstance(labels, dict) else 2
    )  # 2 is what transformers assumes
    if n_labels != 1:
        raise ModelError(f"{path}: it has {n_labels} labels; a reranker has one, its score: use another cross-encoder")


def _window_tokens(directory: Path, shape: BertShape) -> int:
    """At most 512, the positions there are, and what the tokenizer's own configuration says."""
    if shape.n_positions < _LEAST_TOKENS:
        raise ModelError(
            f"{directory / 'config.json'}: max_position_embeddings is {shape.n_positions}; no question and passage fit, "
            "use another cross-encoder"
        )
    path = directory / "tokenizer_config.json"
    limits = [_MOST_TOKENS, shape.n_positions]
    if path.is_file():
        longest = read_object(path).get("model_max_length")
        if (
            isinstance(longest, int | float) and longest >= _LEAST_TOKENS
        ):  # often an enormous number that means "not known"
            limits.append(int(min(longest, _MOST_TOKENS)))
    return min(limits)


def _activation(config: dict[str, Any], path: Path) -> Activation:
    """What sentence-transformers applies to the logit, where the configuration names it; without a name, nothing."""
    newer = config.get("sentence_transformers")
    named = newer.get("activation_fn") if isinstance(newer, dict) else None
    named = named or config.get("sbert_ce_default_activation_function")
    if named is None:
        return "identity"
    kind = str(named).rpartition(".")[2].lower()
    if kind == "identity":
        return "identity"
    if kind == "sigmoid":
        return "sigmoid"
    raise ModelError(f"{path}: the activation {named!r} is not supported, only Identity and Sigmoid")
