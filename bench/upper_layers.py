"""The packaged encoder in jax: texts to hidden states behind its lower layers, and through upper ones that may be tuned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gawah.models.checkpoint import Checkpoint, find_checkpoint
from gawah.models.weights import open_weights
from gawah.models.wordpieces import WordPieces

WHOLE_PIECES, STEP_PIECES, AT_ONCE = 256, 64, 16

Params = list[dict[str, Array]]


def layers_of(checkpoint: Checkpoint) -> tuple[dict[str, Any], Params]:
    shape, size = checkpoint.shape, checkpoint.shape.hidden_size
    with open_weights(checkpoint.weights_path) as weights:

        def read(name: str, *sizes: int) -> Array:
            return jnp.asarray(weights.tensor(name, *sizes))

        first = {
            "words": read("embeddings.word_embeddings.weight", shape.vocabulary_size, size),
            "places": read("embeddings.position_embeddings.weight", shape.n_positions, size)
            + read("embeddings.token_type_embeddings.weight", shape.n_token_types, size)[0],
            "norm": read("embeddings.LayerNorm.weight", size),
            "shift": read("embeddings.LayerNorm.bias", size),
        }
        names = {
            "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
            "o": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
        }  # fmt: skip
        layers = []
        for number in range(shape.n_layers):
            front, layer = f"encoder.layer.{number}.", {}
            for short, name in names.items():
                n_in = shape.intermediate_size if short == "down" else size
                n_out = shape.intermediate_size if short == "up" else size
                layer[short] = read(f"{front}{name}.weight", n_out, n_in).T
                layer[short + "_b"] = read(f"{front}{name}.bias", n_out)
            for short, name in (("n1", "attention.output.LayerNorm"), ("n2", "output.LayerNorm")):
                layer[short] = read(f"{front}{name}.weight", size)
                layer[short + "_b"] = read(f"{front}{name}.bias", size)
            layers.append(layer)
    return first, layers


def normed(x: Array, scale: Array, shift: Array) -> Array:
    centered = x - x.mean(-1, keepdims=True)
    return centered / jnp.sqrt((centered**2).mean(-1, keepdims=True) + 1e-12) * scale + shift


def through(layers: Params, x: Array, real: Array, n_heads: int) -> Array:
    """Hidden states [texts, pieces, dimensions] through some layers; `real` [texts, pieces] is 0 for padding."""
    n, length, size = x.shape
    hidden = jnp.where(real[:, None, None, :] > 0, 0.0, -1e9)
    for p in layers:
        q, k, v = ((x @ p[s] + p[s + "_b"]).reshape(n, length, n_heads, -1).transpose(0, 2, 1, 3) for s in "qkv")
        chance = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(size / n_heads) + hidden, axis=-1)
        seen = (chance @ v).transpose(0, 2, 1, 3).reshape(n, length, size)
        x = normed(x + seen @ p["o"] + p["o_b"], p["n1"], p["n1_b"])
        grown = jax.nn.gelu(x @ p["up"] + p["up_b"], approximate=False)
        x = normed(x + grown @ p["down"] + p["down_b"], p["n2"], p["n2_b"])
    return x


def units(x: Array) -> Array:
    return x / jnp.sqrt((x**2).sum(-1, keepdims=True) + 1e-12)


@dataclass(frozen=True)
class Read:
    """Some texts, by number, behind the frozen layers: states [texts, pieces, dimensions], what is real, what is kept."""

    texts: list[int]
    states: np.ndarray
    real: np.ndarray
    kept: np.ndarray


class Encoder:
    """The frozen lower layers, and how texts become their hidden states."""

    def __init__(self, n_tuned: int) -> None:
        checkpoint = find_checkpoint("all-MiniLM-L6-v2")
        self.pieces, self.n_heads = WordPieces(checkpoint), checkpoint.shape.n_heads
        self.first, layers = layers_of(checkpoint)
        self.frozen, self.upper = layers[: len(layers) - n_tuned], layers[len(layers) - n_tuned :]
        self._lower = jax.jit(lambda ids, real: through(self.frozen, self._begin(ids), real, self.n_heads))
        self.top = jax.jit(lambda tuned, x, real: units(through(tuned, x, real, self.n_heads)))

    def _begin(self, ids: Array) -> Array:
        x = self.first["words"][ids] + self.first["places"][: ids.shape[1]]
        return normed(x, self.first["norm"], self.first["shift"])

    def lower(self, texts: Sequence[str], most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hidden states [texts, most, dimensions], which pieces are real, and which are kept."""
        states, real = [], np.zeros((len(texts), most), np.float32)
        kept = np.zeros_like(real)
        ids = np.zeros((len(texts), most), np.int32)
        for at, text in enumerate(texts):
            pieces, _ = self.pieces.split_question(text)
            n = min(most, len(pieces.ids))
            ids[at, :n], real[at, :n] = pieces.ids[:n], 1
            kept[at, pieces.kept[pieces.kept < n]] = 1
        for start in range(0, len(texts), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            short = AT_ONCE - len(ids[part])
            padded, mask = (np.pad(x[part], ((0, short), (0, 0))) for x in (ids, real))
            states.append(np.asarray(self._lower(padded, mask))[: len(ids[part])])
        return np.concatenate(states), real, kept

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Texts of like length together, padded to the same one."""
        sizes = [len(self.pieces.split_question(text)[0].ids) for text in texts]
        order = sorted(range(len(texts)), key=lambda at: (sizes[at], at))
        found = []
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            most = min(WHOLE_PIECES, -(-max(sizes[at] for at in some) // STEP_PIECES) * STEP_PIECES)
            filled = [*(texts[at] for at in some), *[""] * (AT_ONCE - len(some))]
            found.append(Read(some, *self.lower(filled, most)))
        return found

    def tokens(self, tuned: Params, read: Sequence[Read]) -> list[np.ndarray]:
        """Unit vectors of the kept pieces of each text, in the texts' order."""
        found: dict[int, np.ndarray] = {}
        for one in read:
            vectors = np.asarray(self.top(tuned, one.states, one.real))
            found |= {at: vectors[n][one.kept[n] > 0] for n, at in enumerate(one.texts)}
        return [found[at] for at in sorted(found)]
