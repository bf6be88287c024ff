"""A shortlist to a better order: late interaction over stored token codes (MaxSim; Khattab and Zaharia, "ColBERT", 2020).

Every query token looks for its best match among a chunk's tokens (`maxsim`); rare words weigh more. What a question names
letter for letter counts besides: vectors of `--max-txn-ops` and `--max-txn-bytes` are neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gawah.maxsim import best_matches
from gawah.ports import Candidate, QueryEmbedding, RerankScores, TokenCodes
from gawah.types import Hit, Ranking

EXACT_WEIGHT = (
    0.15  # differences in MaxSim between good candidates are some hundredths; anything over 0.1 ranks the same
)


class LateInteraction:
    """Implements ports.Reranker with `maxsim_of_each`: no model is run, the embedder's token vectors are enough."""

    @property
    def name(self) -> str:
        return "late-interaction/2"

    def score(
        self, question: str, query: QueryEmbedding, candidates: Sequence[Candidate], weights: Sequence[float]
    ) -> RerankScores:
        """MaxSim, in [-1, 1] up to the codes' rounding and 0 for a question without kept tokens, and what is held exactly."""
        del question  # a port's argument; a cross-encoder reads it
        similar = maxsim_of_each(query.token_vectors, weights, [candidate.tokens for candidate in candidates])
        pairs = zip(similar, candidates, strict=True)
        return RerankScores(tuple(score + EXACT_WEIGHT * candidate.exact for score, candidate in pairs))


def token_weights(
    words: Sequence[str],
    document_frequency: Callable[[Sequence[str]], Sequence[int]],
    n_chunks: int,
    *,
    analyze: Callable[[str], Sequence[str]],
) -> list[float]:
    """The weight of each query token, from the whole word it belongs to: ln(1 + (N - d + 0.5) / (d + 0.5)).

    d is the number of chunks that hold the word's rarest term, at least 1: without that floor typos and unseen words
    would weigh most. `analyze` gives a word's terms, `document_frequency` the number of live chunks that hold each.
    """
    terms_of = {word: tuple(analyze(word)) for word in dict.fromkeys(words)}
    terms = list(dict.fromkeys(term for of_word in terms_of.values() for term in of_word))
    n_holding = dict(zip(terms, document_frequency(terms), strict=True))
    rarest = {word: min((n_holding[term] for term in of_word), default=0) for word, of_word in terms_of.items()}
    return [rarity(rarest[word], n_chunks) for word in words]


def maxsim(query_vectors: NDArray[np.float32], weights: Sequence[float], codes: TokenCodes) -> float:
    """The MaxSim of one text, as `maxsim_of_each` gives it."""
    return maxsim_of_each(query_vectors, weights, [codes])[0]


def maxsim_of_each(
    query_vectors: NDArray[np.float32], weights: Sequence[float], codes: Sequence[TokenCodes]
) -> list[float]:
    """Per text sum_t w_t * max over its tokens of (2 (q_t . b) - sum q_t) * scale, divided by sum_t w_t.

    query_vectors: [n_tokens, dimensions], unit rows; b are a token's unpacked sign bits. 0 for a text without tokens,
    and for every text when no query token weighs anything. Memory: 4 bytes a dimension of all texts' tokens together.
    """
    if len(weights) != len(query_vectors):
        raise ValueError(f"{len(weights)} weights for {len(query_vectors)} query tokens")
    total_weight = math.fsum(weights)
    scores = np.zeros(len(codes))
    if total_weight > 0:
        best = best_matches(query_vectors, codes)
        for weight, matches in zip(weights, best.T, strict=True):  # one after the other: a fixed order of additions
            scores += weight / total_weight * matches
    return [float(score) for score in scores]


def reorder(ranking: Ranking, scores: Sequence[float], system: str) -> Ranking:
    """The ranking with its first `len(scores)` hits in the order of (-score, chunk id); the rest follow as they were.

    The rest were not scored: they keep their order and distances, moved below the lowest score by more than their own.
    """
    n_scored = len(scores)
    scored = sorted(
        ((hit.chunk_id, score) for hit, score in zip(ranking.hits[:n_scored], scores, strict=True)),
        key=lambda pair: (-pair[1], pair[0]),
    )
    rest = ranking.hits[n_scored:]
    if scored and rest:
        below = scored[-1][1] - 1 - rest[0].score
        scored += [(hit.chunk_id, below + hit.score) for hit in rest]
    elif rest:
        scored = [(hit.chunk_id, hit.score) for hit in rest]
    hits = tuple(Hit(chunk_id, score, rank) for rank, (chunk_id, score) in enumerate(scored, start=1))
    return Ranking(system, hits, ranking.cutoff)


def rarity(n_holding: int, n_chunks: int) -> float:
    """ln(1 + (N - d + 0.5) / (d + 0.5)) of a term that d of N chunks hold, d at least 1."""
    held = max(1, n_holding)
    return math.log1p((max(n_chunks, held) - held + 0.5) / (held + 0.5))
