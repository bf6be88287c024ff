"""Late interaction against plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.ports import Candidate, QueryEmbedding, TokenCodes
from gawah.rerank import LateInteraction, maxsim, maxsim_of_each, reorder, token_weights
from gawah.rerank.late import EXACT_WEIGHT
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.index import analyze_plain
from gawah.types import Chunk, Hit, Ranking, Span


def plain_loops(query: np.ndarray, weights: Sequence[float], codes: TokenCodes) -> float:
    if not len(codes.scales) or not sum(weights):
        return 0.0
    total = 0.0
    for vector, weight in zip(query, weights, strict=True):
        best = -math.inf
        for signs, scale in zip(codes.signs, codes.scales, strict=True):
            bits = np.unpackbits(signs)
            match = sum(float(q) * (1 if bit else -1) for q, bit in zip(vector, bits, strict=True)) * float(scale)
            best = max(best, match)
        total += weight * best
    return total / sum(weights)


def tokens(rng: np.random.Generator, n: int, dimensions: int) -> TokenCodes:
    vectors = rng.standard_normal((n, dimensions))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return TokenCodes(np.packbits(vectors > 0, axis=1), np.abs(vectors).mean(axis=1).astype(np.float16))


def unit_rows(rng: np.random.Generator, n: int, dimensions: int) -> np.ndarray:
    vectors = rng.standard_normal((n, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_worked_example() -> None:
    query = np.array([[1, 0, 0, 0, 0, 0, 0, 0], [0, -1, 0, 0, 0, 0, 0, 0]], np.float32)
    codes = TokenCodes(np.array([[0b10000000], [0b01000000]], np.uint8), np.array([0.25, 0.5], np.float16))
    # token 1 matches best the first (1 * .25 against -1 * .5), token 2 also (1 * .25 against -1 * .5)
    assert maxsim(query, [3.0, 1.0], codes) == pytest.approx(0.25, abs=1e-7)
    swapped = TokenCodes(codes.signs, np.array([0.25, -0.5], np.float16))  # the second now speaks for its opposite
    assert maxsim(query, [3.0, 1.0], swapped) == pytest.approx(0.5, abs=1e-7)


@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.lists(st.integers(0, 6), max_size=6))
def test_scores_are_those_of_plain_loops(seed: int, n_query: int, lengths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    query, weights = unit_rows(rng, n_query, 48), rng.random(n_query).tolist()
    codes = [tokens(rng, length, 48) for length in lengths]
    expected = [plain_loops(query, weights, code) for code in codes]
    assert maxsim_of_each(query, weights, codes) == pytest.approx(expected, abs=2e-6)


@given(st.integers(0, 2**32 - 1))
def test_a_candidate_has_the_same_score_to_the_bit_in_any_company(seed: int) -> None:
    rng = np.random.default_rng(seed)
    query, weights = unit_rows(rng, 11, 384), rng.random(11).tolist()
    codes = [tokens(rng, int(length), 384) for length in rng.integers(0, 70, 9)]
    together = maxsim_of_each(query, weights, codes)
    assert [maxsim(query, weights, code) for code in codes] == together
    assert maxsim_of_each(query, weights, codes[::-1])[::-1] == together


def test_rounding_of_the_query_moves_a_score_by_millionths_at_full_width() -> None:
    rng = np.random.default_rng(2)
    query, weights, codes = unit_rows(rng, 6, 384), [1.0] * 6, tokens(rng, 40, 384)
    assert maxsim(query, weights, codes) == pytest.approx(plain_loops(query, weights, codes), abs=3e-6)
    spiky = np.zeros((1, 384), np.float32)
    spiky[0, 5] = 1
    assert maxsim(spiky, [1.0], codes) == pytest.approx(plain_loops(spiky, [1.0], codes), abs=1e-6)


def test_nothing_to_compare_scores_zero() -> None:
    rng = np.random.default_rng(3)
    codes = [tokens(rng, 3, 16), tokens(rng, 0, 16)]
    assert maxsim_of_each(np.zeros((0, 16), np.float32), [], codes) == [0.0, 0.0]
    assert maxsim_of_each(unit_rows(rng, 2, 16), [0.0, 0.0], codes) == [0.0, 0.0]
    assert maxsim_of_each(unit_rows(rng, 2, 16), [1.0, 1.0], []) == []
    assert maxsim_of_each(unit_rows(rng, 2, 16), [1.0, 1.0], codes)[1] == 0.0
    assert maxsim_of_each(np.zeros((1, 16), np.float32), [1.0], codes[:1]) == [0.0]
    with pytest.raises(ValueError, match="1 weights for 2 query tokens"):
        maxsim_of_each(unit_rows(rng, 2, 16), [1.0], codes)


def test_the_reranker_prefers_the_chunk_that_says_it() -> None:
    embedder = FakeEmbedder(dimensions=384)
    texts = ["cats sleep on warm windows", "the database is restored from its backup", "a database"]
    candidates = [
        Candidate(f"c{at}", Chunk(f"c{at}", "d", at, "", text, text, Span(0, len(text)), 9), embedding.tokens)
        for at, (text, embedding) in enumerate(zip(texts, embedder.embed(texts), strict=True))
    ]
    question = "database backup"
    query = embedder.embed_query(question)
    scores = LateInteraction().score(question, query, candidates, [1.0] * len(query.words)).values
    assert scores[1] > scores[2] > scores[0]
    exact = [replace(candidates[2], exact=1.0), *candidates[:2]]
    assert LateInteraction().score(question, query, exact, [1.0] * len(query.words)).values == pytest.approx(
        (scores[2] + EXACT_WEIGHT, scores[0], scores[1])
    )
    empty = embedder.embed_query("?!")
    assert LateInteraction().score("?!", empty, candidates, []).values == (0.0, 0.0, 0.0)
    assert isinstance(empty, QueryEmbedding)


def test_worked_weights_of_rare_unseen_and_compound_words() -> None:
    frequency = {"the": 90, "backup": 4, "err": 20, "conn": 30, "17": 8, "err_conn-17": 2}

    def analyze(word: str) -> list[str]:
        terms, whole = analyze_plain(word)
        return terms + whole

    words = ("The", "backup", "bakcup", "ERR_CONN-17", "ERR_CONN-17", "€")
    weights = token_weights(words, lambda terms: [frequency.get(term, 0) for term in terms], 100, analyze=analyze)
    expected = [90, 4, 1, 2, 2, 1]  # unseen words and signs weigh as if one chunk held them
    assert weights == pytest.approx([math.log(1 + (100 - d + 0.5) / (d + 0.5)) for d in expected], abs=1e-12)
    assert token_weights((), lambda terms: [0] * len(terms), 100, analyze=analyze) == []


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_weights_are_positive_and_rarer_words_never_weigh_less(n_chunks: int, frequency: int) -> None:
    n_holding = min(frequency, n_chunks)
    common, rare = (
        token_weights(["w"], lambda terms, d=d: [d for _ in terms], n_chunks, analyze=lambda word: [word])[0]
        for d in (n_holding, n_holding // 2)
    )
    assert 0 < common <= rare


def test_a_reranked_shortlist_comes_first_and_the_rest_follows_in_order() -> None:
    ranking = Ranking("rrf", tuple(Hit(f"c{at}", 0.03 - at / 1000, at + 1) for at in range(5)), 100)
    new = reorder(ranking, [0.2, -0.4, 0.2], "late-interaction")
    assert [hit.chunk_id for hit in new.hits] == ["c0", "c2", "c1", "c3", "c4"]
    assert [hit.rank for hit in new.hits] == [1, 2, 3, 4, 5]
    assert [hit.score for hit in new.hits[:3]] == [0.2, 0.2, -0.4]
    assert list(new.hits) == sorted(new.hits, key=lambda hit: (-hit.score, hit.chunk_id))
    assert reorder(ranking, [], "x").hits == ranking.hits
    with pytest.raises(ValueError, match="zip"):
        reorder(ranking, [0.0] * 6, "x")
