"""As many chunks as are asked for, made from real ones: chunk i is a function of i, so nothing of it is kept.

The first chunks are the real passages with their own vectors and words. The others: a vector between a real passage's and a
near neighbour's, moved by the difference of another such pair, so that its distances are those of real neighbours; words from
sentences of both passages and of any passage of the machine, and now and then an identifier that no other chunk has, as often
as a real passage brings a new word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.scale.real import CACHE, Real, draw, load
from bench.scale.text import sentences_of
from gawah.app import analyze_document
from gawah.fingerprint import sha256_text
from gawah.ports import Embedding, IndexRow, TokenCodes

BLOCK = 4096
CHUNKS_A_DOCUMENT = 20
NEIGHBOURS = 8
NEW_WORDS_A_CHUNK = 0.5  # the last thousand of the real passages bring some half a word a passage that none before had


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Every sentence of the machine's passages, analysed: vocabulary, and per sentence its terms and identifier terms."""

    vocabulary: NDArray[np.object_]
    starts: NDArray[np.int64]
    n_counted: NDArray[np.int64]
    terms: NDArray[np.int32]
    passage_starts: NDArray[np.int64]
    texts: list[str]

    def of(self, sentence: int) -> tuple[list[str], list[str]]:
        start, end = self.starts[sentence], self.starts[sentence + 1]
        words = self.vocabulary[self.terms[start:end]].tolist()
        n = self.n_counted[sentence]
        return words[:n], words[n:]


class Made:
    """n chunks for `rows`, `text` and `analyze`. `tokens_a_chunk` is how many token codes a made chunk has at most."""

    def __init__(self, tokens_a_chunk: int) -> None:
        self.real: Real = load()
        self.n_real = len(self.real.texts)
        self.words = load_words()
        passages = {text: number for number, text in enumerate(draw())}
        self._near = _neighbours(self.real.vectors)
        self._passage_of = [passages[text] for text in self.real.texts]
        self._near_list = self._near.tolist()
        self._starts = self.words.passage_starts.tolist()
        self._tokens_a_chunk = tokens_a_chunk

    def rows(self, first_seq: int, last_seq: int) -> Iterator[IndexRow]:
        """Rows first_seq … last_seq; a row's text is the list of its sentences, which `analyze` knows."""
        for block in range((first_seq - 1) // BLOCK, (last_seq - 1) // BLOCK + 1):
            numbers = np.arange(block * BLOCK, (block + 1) * BLOCK)
            parents, vectors = self._vectors(block, numbers)
            draws = np.random.default_rng([8, block]).random((len(numbers), 5)).tolist()
            for number, parent, vector, shares in zip(numbers.tolist(), parents.tolist(), vectors, draws, strict=True):
                if first_seq <= number + 1 <= last_seq:
                    yield IndexRow(
                        number + 1,
                        chunk_id(number),
                        number // CHUNKS_A_DOCUMENT + 1,
                        self._key(number, parent, shares),
                        Embedding(vector, self._tokens(number, parent)),
                    )

    def analyze(self, key: str) -> tuple[list[str], list[str]]:
        counted: list[str] = []
        extra: list[str] = []
        for name in key.split():
            if name.startswith("x"):
                counted.append(name)
                continue
            terms, whole = self.words.of(int(name))
            counted += terms
            extra += whole
        return counted, extra

    def text(self, key: str) -> str:
        return " ".join(name if name.startswith("x") else self.words.texts[int(name)] for name in key.split())

    def _vectors(self, block: int, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        rng = np.random.default_rng([7, block])
        vectors, near = self.real.vectors, self._near
        parents = rng.integers(0, self.n_real, len(numbers))
        others = near[parents, rng.integers(0, NEIGHBOURS, len(numbers))]
        elsewhere = rng.integers(0, self.n_real, len(numbers))
        beside = near[elsewhere, rng.integers(0, NEIGHBOURS, len(numbers))]
        along, away = rng.uniform(0, 0.5, (2, len(numbers), 1)).astype(np.float32)
        made = vectors[parents] + along * (vectors[others] - vectors[parents])
        made += (0.4 + away) * (vectors[beside] - vectors[elsewhere])
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        is_real = numbers < self.n_real
        parents[is_real] = numbers[is_real]
        made[is_real] = vectors[numbers[is_real]]
        return parents, made

    def _tokens(self, number: int, parent: int) -> TokenCodes:
        start, end = int(self.real.starts[parent]), int(self.real.starts[parent + 1])
        if number >= self.n_real:
            end = min(end, start + self._tokens_a_chunk)
        return TokenCodes(self.real.signs[start:end], self.real.scales[start:end])

    def _key(self, number: int, parent: int, shares: list[float]) -> str:
        """A real passage's sentences, or two of the parent's, one of a neighbour's, one of any, and perhaps a new word."""
        passage = self._passage_of[parent]
        if number < self.n_real:
            return " ".join(map(str, range(self._starts[passage], self._starts[passage + 1])))
        other = self._passage_of[self._near_list[parent][number % NEIGHBOURS]]
        anywhere = int(shares[4] * (len(self._starts) - 1))
        chosen = [
            self._one_of(at, share) for at, share in zip((passage, passage, other, anywhere), shares, strict=False)
        ]
        new = f" x{number:07x}" if number % round(1 / NEW_WORDS_A_CHUNK) == 0 else ""
        return " ".join(map(str, dict.fromkeys(chosen))) + new

    def _one_of(self, passage: int, share: float) -> int:
        first, past = self._starts[passage], self._starts[passage + 1]
        return first + int(share * (past - first))


def chunk_id(number: int) -> str:
    return "c" + sha256_text(f"made {number}")[:24]


def _neighbours(vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """Of each vector the rows of the nearest others, the very nearest left out: a passage is often there twice."""
    kept = CACHE / f"neighbours-{len(vectors)}.npy"
    if not kept.exists():
        near = np.empty((len(vectors), NEIGHBOURS), np.int64)
        for start in range(0, len(vectors), 1024):
            scores = vectors[start : start + 1024] @ vectors.T
            best = np.argpartition(-scores, NEIGHBOURS + 2, axis=1)[:, : NEIGHBOURS + 2]
            order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1)
            near[start : start + 1024] = np.take_along_axis(best, order, 1)[:, 2:]
        np.save(kept, near)
    return np.asarray(np.load(kept))


def load_words() -> Words:
    """The sentences and their terms, kept between runs: analysing them takes a minute."""
    kept, texts = CACHE / "words.npz", CACHE / "sentences.json"
    if not kept.exists():
        _make_words(kept, texts)
    held = np.load(kept)
    return Words(
        np.array(json.loads(held["vocabulary"].tobytes()), object),
        held["starts"],
        held["n_counted"],
        held["terms"],
        held["passage_starts"],
        json.loads(texts.read_text("utf-8")),
    )


def _make_words(kept: Path, texts: Path) -> None:
    vocabulary: dict[str, int] = {}
    sentences: list[str] = []
    terms: list[NDArray[np.int32]] = []
    n_counted, passage_starts = [], [0]
    for passage in draw():
        for sentence in sentences_of(passage):
            counted, extra = analyze_document(sentence)
            found = [vocabulary.setdefault(word, len(vocabulary)) for word in (*counted, *extra)]
            terms.append(np.array(found, np.int32))
            n_counted.append(len(counted))
            sentences.append(sentence)
        passage_starts.append(len(sentences))
    texts.write_text(json.dumps(sentences, ensure_ascii=False), "utf-8")
    np.savez(
        kept,
        vocabulary=np.frombuffer(json.dumps(list(vocabulary)).encode(), np.uint8),
        starts=np.concatenate([[0], np.cumsum([len(found) for found in terms])]).astype(np.int64),
        n_counted=np.array(n_counted),
        terms=np.concatenate(terms),
        passage_starts=np.array(passage_starts),
    )
