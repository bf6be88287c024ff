"""A prompt to a draft without a model: the sentences of the sources that answer best, letter for letter, each with its [n].

A sentence's score is its late interaction with the question (every token of the question looks for its best match, rare
words weigh more), a little for the rank of its source, and for a question in another script than the encoder's Latin the
share of the question's words it holds. One to three are quoted: as few as hold what the sources hold of the question.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gawah.errors import GeneratorError
from gawah.generate.candidates import LONG_CHARS, Piece, pieces_of
from gawah.ports import Embedder, Embedding, QueryEmbedding
from gawah.text import STOP_WORDS, analyze, dominant_script, grapheme_floor, identifier_terms, query_terms
from gawah.types import DraftPart, NumberedSource, Prompt, Span

_MOST_PIECES = 3
_EMBEDDED_PIECES = 6  # the likeliest by their words; each costs some ten milliseconds, and twelve find no more

# Measured on two technical manuals, 94 questions whose answer is in the four passages: late interaction alone quotes the
# answering sentence first for 68, with cosine instead 49, shared words 51, both 57. In Hindi and Urdu, with an English
# encoder, shared words find 58 of 80, late interaction 45, the sum below 58.
_COVER_WEIGHT = {"Latn": 0.0}
_COVER_WEIGHT_ELSEWHERE = 0.3
_RANK_WEIGHT = 0.05
_RANK_WEIGHT_BY_WORDS = 0.1
_LONG_PENALTY = 0.1
_STOP_WORD_SHARE = 0.3
_SHARE_OF_BEST = 0.8  # a further sentence must score at least this share of the best
_WORTH_COVERING = 0.15  # and add at least this share of the question's weight


@dataclass(frozen=True, slots=True)
class Scored:
    """A piece, the question's terms it holds, and its score."""

    piece: Piece
    terms: frozenset[str]
    score: float


class ExtractiveGenerator:
    """Implements ports.Generator over an embedder; the same prompt gives the same draft."""

    name = "extractive/1"
    quotes_only = True

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def generate(self, prompt: Prompt) -> Iterator[DraftPart]:
        """Quotes as verbatim parts, each followed by its marker; GeneratorError when no source holds a word."""
        pieces = [piece for at, source in enumerate(prompt.sources) for piece in pieces_of(at, source)]
        pieces = pieces or [piece for at, source in enumerate(prompt.sources) for piece in _whole(at, source)]
        if not pieces:
            raise GeneratorError("the sources hold no words to quote; ask another question")
        idf = Idf([_terms_of(piece.text) for piece in pieces])
        weights = idf.shares(query_terms(prompt.question))
        chosen = choose(self._score(prompt.question, likeliest(pieces, weights), idf, weights), weights)
        ordered = sorted(chosen, key=lambda item: (item.piece.source, item.piece.span))
        yield from _draft([item.piece for item in ordered], prompt.sources)

    def _score(self, question: str, likely: Sequence[Scored], idf: Idf, weights: Mapping[str, float]) -> list[Scored]:
        """The pieces with their final scores, best first."""
        query = self._embedder.embed_query(question)
        made = self._embedder.embed(self._within_window([item.piece.text for item in likely]))
        nearness = late_interaction(query, made, [idf.of_word(word) for word in query.words])
        cover_weight = _COVER_WEIGHT.get(dominant_script(question), _COVER_WEIGHT_ELSEWHERE) if query.words else 1.0
        scored = [
            Scored(
                item.piece,
                item.terms,
                near
                + cover_weight * _covered(item.terms, weights)
                + _RANK_WEIGHT / (1 + item.piece.source)
                - _LONG_PENALTY * (len(item.piece.text) > LONG_CHARS),
            )
            for item, near in zip(likely, nearness, strict=True)
        ]
        return sorted(scored, key=_best_first)

    def _within_window(self, texts: Sequence[str]) -> list[str]:
        """Texts cut until the encoder takes them whole; for scoring only."""
        window = self._embedder.stamp.window_tokens
        cut = [text[: grapheme_floor(text, LONG_CHARS)] for text in texts]
        while over := [at for at, n in enumerate(self._embedder.count_tokens(cut)) if n > window]:
            for at in over:
                cut[at] = cut[at][: len(cut[at]) // 2]
        return cut


class Idf:
    """How rare a term is among the pieces: ln(1 + (N - n + 0.5) / (n + 0.5))."""

    def __init__(self, terms_of_each: Sequence[set[str]]) -> None:
        self._terms_of_each = terms_of_each

    def shares(self, terms: Sequence[str]) -> dict[str, float]:
        """Each term's share of the question. Terms that no piece holds are left out: they tell no piece from another."""
        idf = {term: self._idf(n) for term in dict.fromkeys(terms) if (n := self._n_holding(term))}
        total = math.fsum(idf.values())
        return {term: value / total for term, value in idf.items()}

    def of_word(self, word: str) -> float:
        """Of a word as written: of its rarest term, n at least 1, so that typos and unseen words do not weigh most."""
        terms = analyze(word)
        weight = self._idf(max(1, min((self._n_holding(term) for term in terms), default=len(self._terms_of_each))))
        return weight * (_STOP_WORD_SHARE if STOP_WORDS.issuperset(terms) else 1.0)

    def _n_holding(self, term: str) -> int:
        return sum(term in terms for terms in self._terms_of_each)

    def _idf(self, n: int) -> float:
        return math.log1p((len(self._terms_of_each) - n + 0.5) / (n + 0.5))


def likeliest(pieces: Sequence[Piece], weights: Mapping[str, float]) -> list[Scored]:
    """The few pieces worth a look by their words and rank, best first; always one of the best source that has any."""
    scored = []
    for piece in pieces:
        terms = frozenset(_terms_of(piece.text) & weights.keys())
        scored.append(Scored(piece, terms, _covered(terms, weights) + _RANK_WEIGHT_BY_WORDS / (1 + piece.source)))
    ordered = sorted(scored, key=_best_first)
    first_source = min(piece.source for piece in pieces)
    of_first = next(item for item in ordered if item.piece.source == first_source)
    head = ordered[:_EMBEDDED_PIECES]
    return head if of_first in head else [*head[:-1], of_first]


def late_interaction(query: QueryEmbedding, made: Sequence[Embedding], weights: Sequence[float]) -> list[float]:
    """Per text the weighted mean over the question's tokens of the best match among the text's (ports.TokenCodes)."""
    total = math.fsum(weights)
    if not total:
        return [0.0] * len(made)
    asked = query.token_vectors.astype(np.float64)
    scores = []
    for embedding in made:
        codes = embedding.tokens
        if not len(codes.scales):
            scores.append(0.0)
            continue
        bits = np.unpackbits(codes.signs, axis=1, count=asked.shape[1]).astype(np.float64)
        matches = (2 * bits @ asked.T - asked.sum(axis=1)) * codes.scales.astype(np.float64)[:, None]
        best = matches.max(axis=0).tolist()
        scores.append(math.fsum(weight * match for weight, match in zip(weights, best, strict=True)) / total)
    return scores


def choose(scored: Sequence[Scored], weights: Mapping[str, float]) -> list[Scored]:
    """The best piece, then such as add enough of the question and score nearly as well; three at most."""
    chosen = [scored[0]]
    covered = set(scored[0].terms)
    while len(chosen) < _MOST_PIECES:
        rest = [
            (_covered(item.terms - covered, weights), item)
            for item in scored
            if item.score >= _SHARE_OF_BEST * scored[0].score and not _is_quoted(item, chosen)
        ]
        gain, best = max(rest, key=lambda pair: (pair[0], pair[1].score), default=(0.0, scored[0]))
        if gain < _WORTH_COVERING:
            break
        chosen.append(best)
        covered |= best.terms
    return chosen


def _best_first(item: Scored) -> tuple[float, int, Span]:
    return -item.score, item.piece.source, item.piece.span


def _covered(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    return math.fsum(weights[term] for term in terms)  # fsum is exact: the order of a set does not matter


def _terms_of(text: str) -> set[str]:
    return {*analyze(text), *identifier_terms(text)}


def _is_quoted(item: Scored, chosen: Sequence[Scored]) -> bool:
    """Whether its words are quoted already: the same place, or the same words in another source."""
    return any(
        other.piece.text == item.piece.text
        or (other.piece.source == item.piece.source and other.piece.span.overlaps(item.piece.span))
        for other in chosen
    )


def _whole(position: int, source: NumberedSource) -> list[Piece]:
    """A source without a sentence, such as a lone heading, as one piece."""
    content = source.passage.chunk.content
    return [Piece(position, Span(0, len(content)), content, alone=True)] if content.strip() else []


def _draft(pieces: Sequence[Piece], sources: Sequence[NumberedSource]) -> Iterator[DraftPart]:
    for at, piece in enumerate(pieces):
        if at:
            yield DraftPart("\n" if piece.alone or pieces[at - 1].alone else " ")
        yield DraftPart(piece.text, verbatim=True)
        ends_in_fence = piece.text.rstrip().endswith(("```", "~~~"))  # nothing may follow a fence on its line
        before = "\n" if ends_in_fence else " "
        yield DraftPart(f"{before}[{sources[piece.source].number}]")
