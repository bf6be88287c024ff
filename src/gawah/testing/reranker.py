"""A fake reranker and the contract that every reranker keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gawah.ports import Candidate, QueryEmbedding, Reranker, RerankScores
from gawah.testing.embedder import ODD_TEXTS, FakeEmbedder
from gawah.types import Chunk, Span


class FakeReranker:
    """The share of the question's words that a passage has; passages of more than `window` words are read in part."""

    def __init__(self, name: str = "fake-reranker", *, window_words: int = 50) -> None:
        self._name = name
        self._window_words = window_words

    @property
    def name(self) -> str:
        return self._name

    def score(
        self, question: str, query: QueryEmbedding, candidates: Sequence[Candidate], weights: Sequence[float]
    ) -> RerankScores:
        del query, weights
        asked = set(question.casefold().split())
        words = [candidate.chunk.text.casefold().split() for candidate in candidates]
        shares = tuple(len(asked & set(those[: self._window_words])) / len(asked) if asked else 0.0 for those in words)
        n_cut = sum(len(those) > self._window_words for those in words)
        return RerankScores(shares, (f"{n_cut} passages were read in part",) if n_cut else ())


def candidates_of(texts: Sequence[str]) -> list[Candidate]:
    """A candidate for each text, with the token codes of a fake embedder of 384 dimensions."""
    embedded = FakeEmbedder(dimensions=384, window_tokens=100_000).embed(texts)
    return [
        Candidate(f"c{at}", Chunk(f"c{at}", "d", at, "", text, text, Span(0, len(text)), 9), embedding.tokens)
        for at, (text, embedding) in enumerate(zip(texts, embedded, strict=True))
    ]


class RerankerContract:
    """What every reranker keeps. Inherit in a test class and override `make_reranker`."""

    def make_reranker(self) -> Reranker:
        raise NotImplementedError

    def scores(self, question: str, candidates: Sequence[Candidate]) -> tuple[float, ...]:
        query = FakeEmbedder(dimensions=384).embed_query(question)
        return self.make_reranker().score(question, query, candidates, [1.0] * len(query.words)).values

    def test_it_has_a_name_that_stays(self) -> None:
        assert self.make_reranker().name == self.make_reranker().name != "none"

    def test_nothing_in_gives_nothing_out(self) -> None:
        assert self.scores("a question", []) == ()

    def test_every_candidate_however_odd_has_a_finite_score(self) -> None:
        candidates = candidates_of([text for text in ODD_TEXTS if text])
        for question in ("restore the backup", "?!", "हिन्दी", "x" * 5000, "word " * 3000):
            found = self.scores(question, candidates)
            assert len(found) == len(candidates)
            assert all(isinstance(score, float) and math.isfinite(score) for score in found), question

    def test_a_score_has_the_same_bits_alone_in_company_and_in_any_order(self) -> None:
        candidates = candidates_of([f"{text} restore a backup " * 5 for text in ODD_TEXTS])
        together = self.scores("how to restore a backup", candidates)
        alone = tuple(self.scores("how to restore a backup", [candidate])[0] for candidate in candidates)
        backwards = self.scores("how to restore a backup", candidates[::-1])[::-1]
        assert together == alone == backwards
