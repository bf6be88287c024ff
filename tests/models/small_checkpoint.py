"""Small random checkpoints, and BERT written down plainly in float64: the oracle for the graph."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
VOCABULARY = [
    *SPECIALS,
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    *"!?.,-_|",
    "backup",
    "restore",
    "##s",
    "न",
    "##म",
]
CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "type_vocab_size": 2,
    "vocab_size": len(dict.fromkeys(VOCABULARY)),
    "layer_norm_eps": 1e-12,
}
MODULES = ["Transformer", "Pooling", "Normalize"]


def write_checkpoint(
    folder: Path, *, seed: int = 0, config: dict[str, Any] | None = None, pooling: str = "mean", prefix: str = ""
) -> dict[str, np.ndarray]:
    """Writes a whole checkpoint folder and returns its tensors by their names without the prefix."""
    full = {**CONFIG, **(config or {})}
    tensors = random_tensors(full, seed)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({prefix + name: value for name, value in tensors.items()}, folder / "model.safetensors")
    write_json(folder / "config.json", full)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": False})
    paths = ["", "1_Pooling", "2_Normalize"]
    kinds = [f"sentence_transformers.models.{kind}" for kind in MODULES]
    write_json(
        folder / "modules.json",
        [
            {"idx": n, "name": str(n), "path": path, "type": kind}
            for n, (path, kind) in enumerate(zip(paths, kinds, strict=False))
        ],
    )
    modes = {f"pooling_mode_{mode}": mode.startswith(pooling) for mode in ("cls_token", "mean_tokens", "max_tokens")}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": full["hidden_size"], **modes})
    small_tokenizer().save(str(folder / "tokenizer.json"))
    return tensors


CROSS_CONFIG: dict[str, Any] = {**CONFIG, "architectures": ["BertForSequenceClassification"], "num_labels": 1}


def write_cross_encoder(
    folder: Path,
    *,
    seed: int = 0,
    config: dict[str, Any] | None = None,
    tokenizer: Tokenizer | None = None,
    spread: float = 0.3,
) -> dict[str, np.ndarray]:
    """Writes a checkpoint as BertForSequenceClassification saves it; returns its tensors, those of BERT without prefix."""
    full = {**CROSS_CONFIG, **(config or {})}
    tensors = cross_tensors(full, seed, spread)
    folder.mkdir(parents=True, exist_ok=True)
    names = {name: name if name.startswith("classifier.") else f"bert.{name}" for name in tensors}
    save_file({names[name]: value for name, value in tensors.items()}, folder / "model.safetensors")
    write_json(folder / "config.json", full)
    (tokenizer or pair_tokenizer()).save(str(folder / "tokenizer.json"))
    return tensors


def cross_tensors(config: dict[str, Any], seed: int, spread: float = 0.3) -> dict[str, np.ndarray]:
    """Random weights of an encoder, a pooler and a classifier of one label."""
    size = config["hidden_size"]
    tensors = random_tensors(config, seed)
    rng = np.random.default_rng([seed, 1])
    for name, shape in {"pooler.dense": (size, size), "classifier": (1, size)}.items():
        tensors[f"{name}.weight"] = rng.normal(0, 0.3, shape).astype(np.float32)
        tensors[f"{name}.bias"] = rng.normal(0, 0.3, shape[:1]).astype(np.float32)
    if spread != 0.3:  # wide models saturate with weights that suit narrow ones
        scale = np.float32(spread / 0.3)
        tensors = {name: value if "LayerNorm" in name else value * scale for name, value in tensors.items()}
    return tensors


def pair_tokenizer() -> Tokenizer:
    """The small tokenizer, made for pairs as BERT's is."""
    tokenizer = small_tokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def small_tokenizer() -> Tokenizer:
    """A BERT tokenizer over a few pieces, with the truncation and padding that published files carry."""
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(VOCABULARY))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(SPECIALS)
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    return tokenizer


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def random_tensors(config: dict[str, Any], seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    size, inner = config["hidden_size"], config["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], size),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], size),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], size),
    }
    norms = ["embeddings.LayerNorm"]
    for n in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{n}."
        dense = {f"attention.self.{part}": (size, size) for part in ("query", "key", "value")}
        dense |= {
            "attention.output.dense": (size, size),
            "intermediate.dense": (inner, size),
            "output.dense": (size, inner),
        }
        for name, shape in dense.items():
            shapes[f"{layer}{name}.weight"] = shape
            shapes[f"{layer}{name}.bias"] = shape[:1]
        norms += [layer + "attention.output.LayerNorm", layer + "output.LayerNorm"]
    tensors = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    for name in norms:
        tensors[name + ".weight"] = rng.normal(1, 0.2, size).astype(np.float32)
        tensors[name + ".bias"] = rng.normal(0, 0.2, size).astype(np.float32)
    return tensors


def plain_logit(tensors: dict[str, np.ndarray], config: dict[str, Any], ids: list[int], types: list[int]) -> float:
    """The logit of one pair: the first token through a dense layer, tanh, and the classifier; float64."""
    first = plain_bert(tensors, config, ids, types)[0]
    weights = {name: value.astype(np.float64) for name, value in tensors.items() if not name.startswith("encoder.")}
    pooled = np.tanh(first @ weights["pooler.dense.weight"].T + weights["pooler.dense.bias"])
    return float((pooled @ weights["classifier.weight"].T + weights["classifier.bias"])[0])


def plain_bert(
    tensors: dict[str, np.ndarray], config: dict[str, Any], ids: list[int], types: list[int] | None = None
) -> np.ndarray:
    """Hidden states [n, dimensions] of one text, formula by formula (Devlin et al. 2019), float64."""
    full = {**CONFIG, **config}
    weights = {name: value.astype(np.float64) for name, value in tensors.items()}

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    def layer_norm(name: str, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + full["layer_norm_eps"])
        return centred / spread * weights[name + ".weight"] + weights[name + ".bias"]

    gelu = np.vectorize(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2))))
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = layer_norm(
        "embeddings.LayerNorm", x + weights["embeddings.token_type_embeddings.weight"][types or [0] * len(ids)]
    )
    n_heads = full["num_attention_heads"]
    width = full["hidden_size"] // n_heads
    for n in range(full["num_hidden_layers"]):
        layer = f"encoder.layer.{n}."
        query, key, value = (linear(f"{layer}attention.self.{part}", x) for part in ("query", "key", "value"))
        context = np.empty_like(x)
        for head in range(n_heads):
            columns = slice(head * width, (head + 1) * width)
            scores = query[:, columns] @ key[:, columns].T / math.sqrt(width)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            context[:, columns] = shares / shares.sum(axis=1, keepdims=True) @ value[:, columns]
        x = layer_norm(layer + "attention.output.LayerNorm", linear(layer + "attention.output.dense", context) + x)
        grown = gelu(linear(layer + "intermediate.dense", x))
        x = layer_norm(layer + "output.LayerNorm", linear(layer + "output.dense", grown) + x)
    return np.asarray(x)
