"""Real passages with real vectors, kept between runs: what recall is measured on, and what larger corpora are made from.

Embedding is the slow part, so it goes on where an earlier run stopped and ends after the minutes it was given.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bench.corpora import ROOT
from bench.scale.text import passages, questions
from gawah.models.encoder import load_encoder
from gawah.ports import QueryEmbedding

CACHE = ROOT / "bench" / "out" / "scale"
SHARD_TEXTS = 1000
SEED = 11


@dataclass(frozen=True, slots=True, eq=False)
class Real:
    """n passages: vectors float32 [n, d], token codes of all in order, and how many each has."""

    texts: list[str]
    vectors: NDArray[np.float32]
    signs: NDArray[np.uint8]
    scales: NDArray[np.float16]
    starts: NDArray[np.int64]


def draw() -> list[str]:
    """The evaluation sets' passages, then the system's in an order drawn at random once: a prefix is a fair sample."""
    kept = CACHE / "passages.json"
    if kept.exists():
        return list(json.loads(kept.read_text("utf-8")))
    first, rest = [], []
    for name, text in passages():
        (rest if name.startswith("/") else first).append(text)
    rest = list(dict.fromkeys(rest))
    np.random.default_rng(SEED).shuffle(rest)  # type: ignore[arg-type]
    drawn = list(dict.fromkeys([*first, *rest]))
    CACHE.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(drawn, ensure_ascii=False), "utf-8")
    return drawn


def embed(minutes: float, at_most: int) -> None:
    """Embeds further shards of `draw()` until the minutes are over or `at_most` texts have vectors."""
    CACHE.mkdir(parents=True, exist_ok=True)
    texts = draw()
    encoder = load_encoder("all-MiniLM-L6-v2")
    ends = time.monotonic() + 60 * minutes
    for number in range(min(len(texts), at_most) // SHARD_TEXTS):
        shard = CACHE / f"real-{number:03}.npz"
        if shard.exists():
            continue
        if time.monotonic() > ends:
            return
        mine = texts[number * SHARD_TEXTS : (number + 1) * SHARD_TEXTS]
        fitting = [text for text, n in zip(mine, encoder.count_tokens(mine), strict=True) if n <= 256]
        found = encoder.embed(fitting)
        part = shard.with_suffix(f".{os.getpid()}")
        with part.open("wb") as stream:
            np.savez(
                stream,
                texts=np.frombuffer(json.dumps(fitting).encode(), np.uint8),
                vectors=np.array([each.vector for each in found]),
                signs=np.concatenate([each.tokens.signs for each in found]),
                scales=np.concatenate([each.tokens.scales for each in found]),
                counts=np.array([len(each.tokens.scales) for each in found]),
            )
        part.rename(shard)


def load() -> Real:
    """All shards that are there; SystemExit when there is none."""
    shards = [np.load(path) for path in sorted(CACHE.glob("real-*.npz"))]
    if not shards:
        raise SystemExit("no vectors yet: python -m bench.scale.real --minutes 4")
    texts = [text for shard in shards for text in json.loads(shard["texts"].tobytes())]
    counts = np.concatenate([shard["counts"] for shard in shards])
    return Real(
        texts,
        np.concatenate([shard["vectors"] for shard in shards]),
        np.concatenate([shard["signs"] for shard in shards]),
        np.concatenate([shard["scales"] for shard in shards]),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )


def asked() -> list[tuple[str, QueryEmbedding]]:
    """The real questions with their embeddings, kept between runs."""
    kept = CACHE / "questions.npz"
    wanted = questions()
    if kept.exists():
        held = np.load(kept)
        rows = json.loads(held["rows"].tobytes())
        if [question for question, _ in rows] == wanted:
            cuts = pairwise(np.concatenate([[0], np.cumsum([len(words) for _, words in rows])]).tolist())
            vectors, tokens = held["vectors"], held["tokens"]
            return [
                (question, QueryEmbedding(vector, tokens[start:end], tuple(words)))
                for (question, words), vector, (start, end) in zip(rows, vectors, cuts, strict=True)
            ]
    encoder = load_encoder("all-MiniLM-L6-v2")
    pairs = [(question, encoder.embed_query(question)) for question in wanted]
    CACHE.mkdir(parents=True, exist_ok=True)
    np.savez(
        kept,
        rows=np.frombuffer(json.dumps([(question, query.words) for question, query in pairs]).encode(), np.uint8),
        vectors=np.array([query.vector for _, query in pairs]),
        tokens=np.concatenate([query.token_vectors for _, query in pairs]),
    )
    return pairs


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--at-most", type=int, default=40_000)
    arguments = parser.parse_args()
    asked()
    embed(arguments.minutes, arguments.at_most)
    print(len(load().texts), "passages with vectors in", CACHE)
