"""The numbers of a BERT encoder, read from its `config.json`; what would be computed differently here is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gawah.errors import ModelError
from gawah.models.jsonfile import positive_number, read_object


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


def bert_shape(directory: Path) -> BertShape:
    """The shape that `config.json` gives; ModelError for what would be computed differently here."""
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
