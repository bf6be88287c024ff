"""Whether the encoder gains from what a corpus teaches without labels: its last layers tuned for late interaction, with jax.

python -m bench.tuning [--work DIR] [--layers N] [--steps N]     needs jax besides (pip install "jax[cpu]")

Pairs of a corpus and others than the one that is judged: a sentence and its passage without it (inverse cloze: Lee,
Chang and Toutanova, 2019), and the heading of a section and its passages. The loss is a softmax over the passages of a
batch, all of one corpus, of MaxSim as the product weighs it. Judged on the other corpus, with the product's legs and the
tuned token vectors for the order of the first ten; how much the tuned score counts is chosen on the corpus that was tuned on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from bench.corpora import ROOT, SHARED
from bench.expanding import SETS, chosen, line
from bench.held import Held, Search, held
from bench.upper_layers import Encoder, Params, Read, through, units
from gawah.config import load_settings
from gawah.evaluate import workshop
from gawah.rerank import token_weights
from gawah.rerank.late import EXACT_WEIGHT
from gawah.text import analyze, sentences

N_PIECES, N_ASKED_PIECES = 96, 24  # of a passage and a question in training
BATCH, RATE, TEMPERATURE = 16, 1e-4, 0.05
LEAST_WORDS, LEAST_CHARS = 6, 120
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
N_ORDERED = 10  # of each question's results are read by the tuned layers and ordered anew


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


def loss(tuned: Params, batch: dict[str, Array], n_heads: int) -> Array:
    asked = units(through(tuned, batch["asked"], batch["asked_real"], n_heads))
    passages = units(through(tuned, batch["passage"], batch["passage_real"], n_heads))
    similar = jnp.einsum("qtd,psd->qpts", asked, passages)
    best = jnp.where(batch["passage_kept"][None, :, None, :] > 0, similar, -1.0).max(-1)
    scores = (best * batch["weights"][:, None, :]).sum(-1)
    return -jnp.diagonal(jax.nn.log_softmax(scores / TEMPERATURE, axis=1)).mean()


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
        if step % 10 == 0:
            print(f"step {step}: loss {np.mean(losses[-10:]):.3f}, {time.monotonic() - begun:.0f} s", file=sys.stderr)
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
    """A corpus behind the frozen layers: those of its passages that some question has among its first, and its questions."""

    corpus: Held
    numbers: list[int]
    passages: list[Read]
    asked: list[Read]

    def ranks(self, late: np.ndarray) -> np.ndarray:
        """Of the needle, with the first results of each question ordered by `late`."""

        def one(at: int) -> Search:
            first = self.corpus.order[at][:N_ORDERED]
            final = self.corpus.late[at] - 10
            final[first] = late[at][first]
            return Search(final=final)

        return self.corpus.ranks(one)

    def late(self, encoder: Encoder, tuned: Params) -> np.ndarray:
        """[questions, chunks]: MaxSim with the given upper layers, in float32, and what is named letter for letter."""
        corpus, texts = self.corpus, encoder.tokens(tuned, self.passages)
        starts = np.cumsum([0, *map(len, texts[:-1])])
        every, rows = np.concatenate(texts).T, []
        for query, vectors in zip(corpus.questions, encoder.tokens(tuned, self.asked), strict=True):
            weights = weights_of(encoder, corpus, query.query)[: len(vectors)]
            best = np.maximum.reduceat(vectors @ every, starts, axis=1)
            row = EXACT_WEIGHT * corpus.exact(query.query)
            row[self.numbers] += weights @ best / (weights.sum() or 1.0)
            rows.append(row)
        return np.stack(rows)


def judged_of(encoder: Encoder, corpus: Held) -> Judged:
    numbers = sorted({int(at) for order in corpus.order for at in order[:N_ORDERED]})
    return Judged(corpus, numbers, encoder.read([corpus.texts[at] for at in numbers]), encoder.read(corpus.asked_as))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder of the indexes, kept for the next time")
    parser.add_argument("--layers", type=int, default=1, help="how many are tuned")
    parser.add_argument("--steps", type=int, default=40)
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
    judges = [judged_of(encoder, corpus) for corpus in corpora]
    plain = [judge.late(encoder, encoder.upper) for judge in judges]
    same = np.concatenate([judge.ranks(late) for judge, late in zip(judges, plain, strict=True)])
    print(line("the same in float32", same, before, tickets, ""), flush=True)
    results = []
    for judged in (1, 0):
        teacher = corpora[1 - judged]
        tuned = tuned_on(encoder, [teacher, *others], options.steps)
        late = {at: judges[at].late(encoder, tuned) for at in (0, 1)}

        def ranks(at: int, share: float, late: dict[int, np.ndarray] = late) -> np.ndarray:
            return judges[at].ranks(share * late[at] + (1 - share) * plain[at])

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
