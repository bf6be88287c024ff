"""Whether the encoder gains from what a corpus teaches without labels: its last layers tuned for late interaction, with jax.

python -m bench.tuning [--work DIR] [--layers N] [--steps N]     needs jax besides (pip install "jax[cpu]")

Pairs of a corpus and others than the one that is judged: a sentence and its passage without it (inverse cloze: Lee,
Chang and Toutanova, 2019), and the heading of a section and its passages. The loss is a softmax over the passages of a
batch, all of one corpus, of MaxSim as the product weighs it. Judged on the other corpus, with the product's legs and the
tuned token vectors for the final order; how much the tuned score counts is chosen on the corpus that was tuned on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from bench.corpora import ROOT, SHARED
from bench.expanding import SETS, chosen, line
from bench.held import Held, Search, held
from gawah.config import load_settings
from gawah.evaluate import workshop
from gawah.models.checkpoint import Checkpoint, find_checkpoint
from gawah.models.weights import open_weights
from gawah.models.wordpieces import WordPieces
from gawah.rerank import token_weights
from gawah.rerank.late import EXACT_WEIGHT
from gawah.text import analyze, sentences

N_PIECES, N_ASKED_PIECES = 96, 24  # of a passage and a question in training
BATCH, RATE, TEMPERATURE = 16, 1e-4, 0.05
LEAST_WORDS, LEAST_CHARS = 6, 120
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
WHOLE_PIECES, STEP_PIECES, AT_ONCE = 256, 32, 16

Params = list[dict[str, Array]]


@dataclass(frozen=True)
class Pair:
    asked: str
    passage: str
    document: str


def pairs_of(corpus: Held, rng: np.random.Generator) -> list[Pair]:
    """One or two of each passage, those of a document together."""
    found: list[Pair] = []
    for (document, section), content in zip(corpus.places, corpus.contents, strict=True):
        spans = [span for span in sentences(content) if len(span.slice(content).split()) >= LEAST_WORDS]
        if spans:
            span = spans[int(rng.integers(len(spans)))]
            rest = content[: span.start] + content[span.end :]
            if len(rest.strip()) >= LEAST_CHARS:
                found.append(Pair(span.slice(content), rest, document))
        if section:
            found.append(Pair(section.rpartition(" > ")[2], content, document))
    shuffled = [found[at] for at in rng.permutation(len(found))]
    return sorted(shuffled, key=lambda pair: pair.document)


# --- the model


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


def loss(tuned: Params, batch: dict[str, Array], n_heads: int) -> Array:
    asked = units(through(tuned, batch["asked"], batch["asked_real"], n_heads))
    passages = units(through(tuned, batch["passage"], batch["passage_real"], n_heads))
    similar = jnp.einsum("qtd,psd->qpts", asked, passages)
    best = jnp.where(batch["passage_kept"][None, :, None, :] > 0, similar, -1.0).max(-1)
    scores = (best * batch["weights"][:, None, :]).sum(-1)
    return -jnp.diagonal(jax.nn.log_softmax(scores / TEMPERATURE, axis=1)).mean()


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


def tuned_on(encoder: Encoder, corpora: Sequence[Held], steps: int) -> Params:
    """Adam (Kingma and Ba, 2015) over batches of one corpus each, neighbours in a document together."""
    rng = np.random.default_rng(0)
    batches = []
    for corpus in corpora:
        pairs = pairs_of(corpus, rng)
        batches += [(corpus, pairs[at : at + BATCH]) for at in range(0, len(pairs) - BATCH + 1, BATCH)]
    params, step_of = encoder.upper, jax.jit(jax.value_and_grad(lambda p, batch: loss(p, batch, encoder.n_heads)))
    mean = jax.tree.map(jnp.zeros_like, params)
    square, begun, losses = mean, time.monotonic(), []
    for step in range(1, steps + 1):
        corpus, pairs = batches[int(rng.integers(len(batches)))]
        value, slope = step_of(params, batch_of(encoder, corpus, pairs))
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, slope)
        square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, slope)
        rate = RATE * min(1.0, 10 * step / steps) * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        params = jax.tree.map(lambda p, m, s, r=rate: p - r * m / (jnp.sqrt(s) + 1e-8), params, mean, square)
        losses.append(float(value))
        if step % 20 == 0:
            print(f"step {step}: loss {np.mean(losses[-20:]):.3f}, {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return params


def batch_of(encoder: Encoder, corpus: Held, pairs: Sequence[Pair]) -> dict[str, Array]:
    asked, asked_real, kept = encoder.lower([pair.asked for pair in pairs], N_ASKED_PIECES)
    passage, passage_real, passage_kept = encoder.lower([pair.passage for pair in pairs], N_PIECES)
    weights = np.zeros_like(kept)
    for at, pair in enumerate(pairs):
        found = weights_of(encoder, corpus, pair.asked)[: int(kept[at].sum())]
        weights[at, np.flatnonzero(kept[at])] = found / (found.sum() or 1.0)
    parts = {"asked": asked, "asked_real": asked_real, "passage": passage, "passage_real": passage_real}
    return {key: jnp.asarray(x) for key, x in {**parts, "passage_kept": passage_kept, "weights": weights}.items()}


def weights_of(encoder: Encoder, corpus: Held, text: str) -> np.ndarray:
    _, words = encoder.pieces.split_question(text)
    return np.asarray(token_weights(words, corpus.document_frequency, len(corpus.ids), analyze=analyze))


@dataclass(frozen=True)
class Judged:
    """A corpus behind the frozen layers: its passages and its questions."""

    corpus: Held
    passages: list[Read]
    asked: list[Read]

    def late(self, encoder: Encoder, tuned: Params) -> np.ndarray:
        """[questions, chunks]: MaxSim with the given upper layers, in float32, and what is named letter for letter."""
        corpus, texts = self.corpus, encoder.tokens(tuned, self.passages)
        starts = np.cumsum([0, *map(len, texts[:-1])])
        every, rows = np.concatenate(texts).T, []
        for query, vectors in zip(corpus.questions, encoder.tokens(tuned, self.asked), strict=True):
            weights = weights_of(encoder, corpus, query.query)[: len(vectors)]
            best = np.maximum.reduceat(vectors @ every, starts, axis=1)
            rows.append(weights @ best / (weights.sum() or 1.0) + EXACT_WEIGHT * corpus.exact(query.query))
        return np.stack(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder of the indexes, kept for the next time")
    parser.add_argument("--layers", type=int, default=1, help="how many are tuned")
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    shop = workshop(load_settings(environment={}, options={"gate": "reference"}).settings, options.work)
    corpora = [held(shop, SHARED / name, checked=False) for name in SETS]  # bench.expanding checks them
    others = [
        held(shop, folder, checked=False) for folder in (SHARED / "unanswerable", ROOT / "examples") if folder.is_dir()
    ]
    encoder = Encoder(options.layers)
    tickets = np.concatenate([[query.phrasing == "ticket" for query in corpus.questions] for corpus in corpora])
    before = np.concatenate([corpus.ranks(lambda _: Search()) for corpus in corpora])
    print(line("as it is", before, before, tickets, ""))
    judges = [Judged(corpus, encoder.read(corpus.texts), encoder.read(corpus.asked_as)) for corpus in corpora]
    plain = [judge.late(encoder, encoder.upper) for judge in judges]
    same = np.concatenate(
        [c.ranks(lambda at, late=late: Search(final=late[at])) for c, late in zip(corpora, plain, strict=True)]
    )
    print(line("the same in float32", same, before, tickets, ""), flush=True)
    results = []
    for judged in (1, 0):
        teacher = corpora[1 - judged]
        tuned = tuned_on(encoder, [teacher, *others], options.steps)
        late = {at: judges[at].late(encoder, tuned) for at in (0, 1)}

        def ranks(at: int, share: float, late: dict[int, np.ndarray] = late) -> np.ndarray:
            mixed = share * late[at] + (1 - share) * plain[at]
            return corpora[at].ranks(lambda n: Search(final=mixed[n]))

        share = SHARES[chosen([ranks(1 - judged, one) for one in SHARES])]
        results.append((judged, share, ranks(judged, share), ranks(judged, 1.0)))
        print(f"{corpora[judged].name}: share {share:g}", file=sys.stderr, flush=True)
    results.sort(key=lambda one: one[0])
    note = "; ".join(f"{corpora[at].name}: {share:g}" for at, share, *_ in results)
    print(line("tuned, its share chosen", np.concatenate([one[2] for one in results]), before, tickets, note))
    print(line("tuned alone", np.concatenate([one[3] for one in results]), before, tickets, ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
