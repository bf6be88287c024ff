"""Evidence to named signals: how well the passages meet the question, and what of it they do not hold.

Every signal is a share, a difference of shares or a small count, so that it does not grow with the question's length
(raw BM25 does, and flatters long questions). `model.DIRECTIONS` says which way each points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gawah.gate.evidence import AT_MOST, N_BACKGROUND, N_COMPARED, Evidence
from gawah.maxsim import best_matches
from gawah.ports import TokenCodes
from gawah.text import Demands, analyze, demands_of, unmet

PIECE_TOKENS = 32  # about a sentence with its header
_PIECE_STEP = 16
_AT_MOST_MISSING = 3
# What a question token's best match among the tokens of a chunk is by chance, as measured on the development sets
# (median chunk, and best of 48): it stands in for the chunks that a small index does not have.
CHANCE = 0.16
CHANCE_BEST = 0.36
NEAR = 0.3  # of 128 answerable development questions 3 have no passage this near, of 18 far ones all
_NOTHING = -1.0  # the cosine of what was not found


def signals_of(evidence: Evidence, lacking: Demands | None = None) -> dict[str, float]:
    """All signals by name; those of token matches only for a question that the encoder can read.

    `cosine_best` is that of the nearest passage; `cosine_capped` the same up to NEAR: it tells far questions, and says
    nothing among near ones, where cosines mislead (docs/gate.md).

    `lacking` are the question's demands that the passages do not meet, if the caller knows them already.
    """
    lacking = missing_from(evidence) if lacking is None else lacking
    nearest = _best_cosine(evidence)
    signals = {
        "cosine_best": nearest,
        "cosine_capped": min(nearest, NEAR),
        **_lexical(evidence),
        "missing": float(min(len(lacking.words), _AT_MOST_MISSING)),
        "missing_identifiers": float(len(lacking.identifiers)),
        "missing_numbers": float(len(lacking.numbers)),
        "missing_names": float(len(lacking.names)),
    }
    return {**_of_vectors(evidence), **signals} if evidence.readable else signals


def missing_from(evidence: Evidence) -> Demands:
    """The exact things that the question names and no passage that would go on holds."""
    return unmet(demands_of(evidence.question), [passage.chunk.text for passage in evidence.passages[:AT_MOST]])


def _lexical(evidence: Evidence) -> dict[str, float]:
    """`coverage`: the share, by idf, of the question's terms that the best four passages hold together; `coverage_best`:
    that one of them holds; `bm25_share`: the best BM25 score as a share of what no chunk could exceed.
    """
    held = [set(analyze(passage.chunk.text)) for passage in evidence.passages[:AT_MOST]]
    attainable = evidence.bm25_attainable
    return {
        "coverage": _covered(evidence.term_weights, set().union(*held)),
        "coverage_best": max((_covered(evidence.term_weights, terms) for terms in held), default=0.0),
        "bm25_share": evidence.bm25_best / attainable if attainable > 0 else 0.0,
    }


def _covered(weights: Mapping[str, float], held: set[str]) -> float:
    total = math.fsum(weights.values())
    return math.fsum(weight for term, weight in weights.items() if term in held) / total if total > 0 else 0.0


def _of_vectors(evidence: Evidence) -> dict[str, float]:
    """Of token matches, each question token by its weight: `maxsim_best` of the
    best passage that would go on, `maxsim_pieces` of the best sentence-sized piece of one; `margin` of the best passage
    over the mean of the others compared; `gain` of the best four together over the median background chunk;
    `above_background`: the share of the tokens that weigh anything which they match better than every background chunk does.
    """
    vectors = evidence.query.token_vectors
    weights = np.asarray(evidence.weights, np.float64)
    shares = weights / weights.sum() if weights.sum() > 0 else weights
    compared = evidence.tokens[:N_COMPARED]
    matches = best_matches(vectors, [*compared, *evidence.background[:N_BACKGROUND]])
    passages, background = matches[: len(compared)], matches[len(compared) :]
    scores = passages @ shares
    foremost = passages[:AT_MOST].max(axis=0, initial=0.0)
    pieces = best_matches(vectors, [piece for codes in compared[:AT_MOST] for piece in pieces_of(codes)]) @ shares
    by_chance, at_best = _chance(background)
    return {
        "maxsim_best": float(scores[:AT_MOST].max(initial=0.0)),
        "maxsim_pieces": float(pieces.max(initial=0.0)),
        "margin": float(scores[0] - scores[1:].mean()) if len(scores) > 1 else 0.0,
        "gain": float((foremost - by_chance) @ shares),
        "above_background": float((foremost > at_best)[weights > 0].mean()) if weights.any() else 0.0,
    }


def pieces_of(codes: TokenCodes) -> Sequence[TokenCodes]:
    """Overlapping windows of PIECE_TOKENS tokens: pieces the size of a sentence, without a tokenizer at hand."""
    last = max(1, len(codes.scales) - PIECE_TOKENS + _PIECE_STEP)
    return [
        TokenCodes(codes.signs[start : start + PIECE_TOKENS], codes.scales[start : start + PIECE_TOKENS])
        for start in range(0, last, _PIECE_STEP)
    ]


def _chance(background: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per question token its match in the median background chunk and in the best, as if there were N_BACKGROUND."""
    n_short = N_BACKGROUND - len(background)
    if n_short <= 0:
        return np.median(background, axis=0), background.max(axis=0)
    filled = np.concatenate([background, np.full((n_short, background.shape[1]), CHANCE)])
    return np.median(filled, axis=0), np.maximum(filled.max(axis=0), CHANCE_BEST)


def _best_cosine(evidence: Evidence) -> float:
    cosines = [1.0 - p.cosine_distance for p in evidence.passages if not math.isnan(p.cosine_distance)]
    return max(cosines, default=_NOTHING)
