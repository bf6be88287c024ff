"""A claim and statements to how well each word of the claim is met: late interaction with the encoder's token vectors.

As the reranker does: every token of the claim looks for its best match, rare words weigh more (MaxSim). Words that the
encoder cannot read are met when the statement has them, to the letter of their beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from gawah.ports import Embedder, QueryEmbedding
from gawah.support.quotes import Statement
from gawah.text import stems

Weigh = Callable[[Sequence[str]], Sequence[float]]
"""The weight of each word: how rare it is in the corpus."""

_READABLE_FROM = 0.5  # ports.Embedder.coverage: under one half vectors mean nothing
_EMBEDDED_STATEMENTS = 8  # the likeliest by their words; each costs some milliseconds
_MOST_EMBEDDED = 400  # texts of one answer, some seconds; what a generator writes beyond is compared by letters
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+")
_IN_HEADING = 0.8  # a word of the section's title is as good as met: "It means …" below the heading "GSM-E17"
_LEAST_WEIGHT = 1e-6


@dataclass(frozen=True, slots=True)
class Matches:
    """best: float64 [n statements, n words], how well each word of the claim is met, 0 to 1; weights: [n words], sum 1."""

    statements: tuple[Statement, ...]
    best: NDArray[np.float64]
    weights: NDArray[np.float64]

    def score(self, chosen: Sequence[int]) -> float:
        """How well the claim is met by the chosen statements together, 0 to 1."""
        if not chosen or not len(self.weights):
            return 0.0
        return float(self.best[list(chosen)].max(axis=0) @ self.weights)


class Likeness:
    """Compares claims with statements; what was read once is kept. For one answer, and one thread."""

    def __init__(self, embedder: Embedder, weigh: Weigh) -> None:
        self._embedder = embedder
        self._weigh = weigh
        self._read: dict[str, QueryEmbedding] = {}
        self._readable: dict[str, bool] = {}

    def matches(self, claim: str, among: Sequence[Statement]) -> Matches:
        """How the likeliest of the statements meet the claim, in the order given."""
        words = _WORD.findall(claim)
        weights = np.maximum(np.asarray(self._weigh(words), np.float64), _LEAST_WEIGHT)
        held = _held(words, among)
        likely = _likeliest(held @ weights)
        chosen = tuple(among[at] for at in likely)
        read = [at for at, word in enumerate(words) if self._is_readable(word)]
        if not read or len(self._read) >= _MOST_EMBEDDED or self._is_too_long(claim):
            telling = np.where([bool(stems(word)) for word in words], weights, _LEAST_WEIGHT)
            return Matches(chosen, held[likely], telling / telling.sum() if words else telling)
        return self._by_vectors(claim, chosen, held[likely], weights, set(range(len(words))) - set(read))

    def _by_vectors(
        self,
        claim: str,
        chosen: tuple[Statement, ...],
        held: NDArray[np.float64],
        weights: NDArray[np.float64],
        unread: set[int],
    ) -> Matches:
        query = self._embedding(claim)
        tokens = [at for at, word in enumerate(query.words) if self._is_readable(word)]
        vectors = query.token_vectors[tokens].astype(np.float64)
        token_weights = np.asarray(self._weigh([query.words[at] for at in tokens]), np.float64)
        best = np.zeros((len(chosen), len(tokens)))
        for row, statement in enumerate(chosen):
            theirs = self._embedding(statement.text).token_vectors.astype(np.float64)
            if len(theirs) and tokens:
                best[row] = (vectors @ theirs.T).max(axis=1)
            titled = [stems(query.words[at]) <= statement.quote.heading_stems for at in tokens]
            best[row] = np.maximum(best[row], np.where(titled, _IN_HEADING, 0.0))
        by_letter = sorted(unread)
        together = np.maximum(np.concatenate([token_weights, weights[by_letter]]), _LEAST_WEIGHT)
        return Matches(
            chosen,
            np.clip(np.concatenate([best, held[:, by_letter]], axis=1), 0.0, 1.0),
            together / together.sum() if len(together) else together,
        )

    def _embedding(self, text: str) -> QueryEmbedding:
        if text not in self._read:
            self._read[text] = self._embedder.embed_query(text)
        return self._read[text]

    def _is_too_long(self, claim: str) -> bool:
        """Whether the encoder would cut the claim, and so pass over its end."""
        window = self._embedder.stamp.window_tokens
        return len(claim) > window and self._embedder.count_tokens([claim])[0] > window

    def _is_readable(self, word: str) -> bool:
        if word not in self._readable:
            self._readable[word] = self._embedder.coverage(word) >= _READABLE_FROM
        return self._readable[word]


def _held(words: Sequence[str], among: Sequence[Statement]) -> NDArray[np.float64]:
    """float64 [n statements, n words]: 1 where the statement has the word, by its beginning."""
    of_each = [statement.quote.heading_stems | stems(statement.text) for statement in among]
    held = np.zeros((len(among), len(words)))
    for column, word in enumerate(words):
        wanted = stems(word)
        for row, theirs in enumerate(of_each):
            held[row, column] = float(not wanted or wanted <= theirs)
    return held


def _likeliest(overlap: NDArray[np.float64]) -> list[int]:
    """The statements that share most with the claim, in their own order."""
    best = sorted(range(len(overlap)), key=lambda at: (-overlap[at], at))[:_EMBEDDED_STATEMENTS]
    return sorted(best)
