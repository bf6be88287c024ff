"""A prompt to a draft without a model: the sentences of the sources that answer, letter for letter, each with its [n].

How well a sentence answers is a sum of its late interaction with the question (every token of the question looks for its
best match, rare words weigh more), the share of the question's words it holds, and the rank of its source; over all
sentences these are chances that add up to one. Quoted are as few as hold four fifths of the chance. Where three sentences
do not, the passage that holds most is quoted whole: who does not know which sentence answers should show the passage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gawah.errors import GeneratorError
from gawah.generate.candidates import LONG_CHARS, Piece, pieces_of, whole_passage
from gawah.ports import Embedder, Embedding, QueryEmbedding
from gawah.text import STOP_WORDS, analyze, exact_terms, grapheme_floor, identifier_terms, query_terms
from gawah.types import DraftPart, NumberedSource, Prompt

MOST_PIECES = 3
MOST_CHARS = 600  # of several pieces together; one alone may be longer
ENOUGH = 0.8  # of the chance that the quoted pieces hold the answer
WORTH_COVERING = 0.35  # a question of two parts: a share of its words that nothing quoted holds, and a piece does
_NEAR_THE_BEST = 0.05  # when that piece has at least this part of the best one's chance
_MOST_PASSAGE_CHARS = 1200
_EMBEDDED_PIECES = 12  # the likeliest by their words; with six the answering one is left out three times as often
_RANK_WEIGHT_BY_WORDS = 0.1
_STOP_WORD_SHARE = 0.3
_SENTENCE_ENDS = (".", "!", "?", "…", "؟", "۔", "।", "॥", "。", "！", "？")
_CLOSERS = "\"'”’»)]*_` "
_READABLE = 0.5  # coverage below which a question's vectors mean nothing, as in retrieval


@dataclass(frozen=True, slots=True)
class Weights:
    """What a unit of each part adds to the logarithm of a piece's chance; fitted by `python -m bench.quoting`."""

    near: float
    words: float
    rank: float
    long: float = -2.7
    exact: float = 2.5  # nearly twice as likely for each quarter of what is named letter for letter; too few to fit it


BY_VECTORS = Weights(near=15.0, words=0.7, rank=2.4)
BY_WORDS = Weights(near=0.0, words=5.9, rank=2.9)


@dataclass(frozen=True, slots=True)
class Measured:
    """A piece with what speaks for it: late interaction, the question's terms it holds, and 1/rank of its source.

    `shares` gives each of those terms its share of the question; all terms of a question that any piece holds add up to 1.
    `exact` is the share, in [0, 1], of what the question names letter for letter that the piece holds.
    """

    piece: Piece
    near: float
    shares: Mapping[str, float]
    rank: float
    exact: float = 0.0

    @property
    def words(self) -> float:
        return math.fsum(self.shares.values())

    def score(self, weights: Weights) -> float:
        is_long = len(self.piece.text) > LONG_CHARS
        similar = weights.near * self.near + weights.words * self.words + weights.rank * self.rank
        return similar + weights.exact * self.exact + weights.long * is_long


class ExtractiveGenerator:
    """Implements ports.Generator over an embedder; the same prompt gives the same draft."""

    name = "extractive/2"
    quotes_only = True

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def generate(self, prompt: Prompt) -> Iterator[DraftPart]:
        """Quotes as verbatim parts, each followed by its marker; GeneratorError when no source holds a word."""
        measured = self.measure(prompt)
        if not measured:
            raise GeneratorError("the sources hold no words to quote; ask another question")
        chosen = choose(measured, self.weights(prompt.question), prompt.sources)
        yield from _draft(sorted(chosen, key=lambda piece: (piece.source, piece.span)), prompt.sources)

    def measure(self, prompt: Prompt) -> list[Measured]:
        """The likeliest pieces of the sources, measured, in the order of the sources; empty when there are no words."""
        pieces = [piece for at, source in enumerate(prompt.sources) for piece in pieces_of(at, source)]
        pieces = pieces or [piece for at, source in enumerate(prompt.sources) for piece in whole_passage(at, source)]
        if not pieces:
            return []
        idf = Idf([_terms_of(piece.read_as) for piece in pieces])
        shares = idf.shares(query_terms(prompt.question))
        likely = likeliest(pieces, shares)
        query = self._embedder.embed_query(prompt.question)
        made = self._embedder.embed(self._within_window([piece.read_as for piece in likely]))
        nearness = late_interaction(query, made, [idf.of_word(word) for word in query.words])
        named = exact_terms(prompt.question)
        return [
            Measured(piece, near, _held(piece, shares), 1 / (1 + piece.source), _share_held(piece, named))
            for piece, near in zip(likely, nearness, strict=True)
        ]

    def weights(self, question: str) -> Weights:
        """By words alone where the encoder does not read the question."""
        return BY_VECTORS if self._embedder.coverage(question) >= _READABLE else BY_WORDS

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


def likeliest(pieces: Sequence[Piece], shares: Mapping[str, float]) -> list[Piece]:
    """The pieces worth a look by their words and rank, in their order; always one of the best source that has any."""
    worth = [
        (_covered(piece, shares) + _RANK_WEIGHT_BY_WORDS / (1 + piece.source), -at) for at, piece in enumerate(pieces)
    ]
    ordered = sorted(range(len(pieces)), key=lambda at: worth[at], reverse=True)
    first_source = min(piece.source for piece in pieces)
    of_first = next(at for at in ordered if pieces[at].source == first_source)
    head = ordered[:_EMBEDDED_PIECES]
    return [pieces[at] for at in sorted(head if of_first in head else [*head[:-1], of_first])]


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


def choose(measured: Sequence[Measured], weights: Weights, sources: Sequence[NumberedSource]) -> list[Piece]:
    """The fewest pieces with enough of the chance; where a few have not, the likeliest passage, or what was chosen.

    Pieces in other sources with the same words, and those within a chosen one, count as quoted. One that holds a part of
    the question that the others leave open joins them, when it is likely enough.
    """
    chances = _chances([item.score(weights) for item in measured])
    ordered = sorted(range(len(measured)), key=lambda at: (-chances[at], at))
    chosen: list[Piece] = []
    chance = 0.0
    for at in ordered:
        piece = measured[at].piece
        if any(_is_within(piece, other) for other in chosen):
            chance += chances[at]
        elif chosen and (chance >= ENOUGH or not _has_room(chosen, piece)):
            break
        else:
            chosen = [*(other for other in chosen if not _is_within(other, piece)), piece]
            chance += chances[at]
    if chance < ENOUGH:
        source, chance_of = _likeliest_source(measured, chances)
        (passage,) = whole_passage(source, sources[source])
        return [passage] if len(passage.text) <= _MOST_PASSAGE_CHARS and chance_of > chance else chosen
    near_best = [measured[at] for at in ordered if chances[at] >= _NEAR_THE_BEST * chances[ordered[0]]]
    return _with_the_other_part(chosen, near_best)


def _chances(scores: Sequence[float]) -> list[float]:
    best = max(scores)
    odds = [math.exp(score - best) for score in scores]
    total = math.fsum(odds)
    return [one / total for one in odds]


def _has_room(chosen: Sequence[Piece], piece: Piece) -> bool:
    return len(chosen) < MOST_PIECES and sum(len(one.text) for one in (*chosen, piece)) <= MOST_CHARS


def _likeliest_source(measured: Sequence[Measured], chances: Sequence[float]) -> tuple[int, float]:
    """Which source's pieces have the largest chance together, and how large it is."""
    of_source: dict[int, float] = {}
    for item, chance in zip(measured, chances, strict=True):
        of_source[item.piece.source] = of_source.get(item.piece.source, 0.0) + chance
    best = max(of_source, key=lambda source: (of_source[source], -source))
    return best, of_source[best]


def _with_the_other_part(chosen: list[Piece], likely: Sequence[Measured]) -> list[Piece]:
    held = {term for item in likely if item.piece in chosen for term in item.shares}
    gains = [(math.fsum(share for term, share in item.shares.items() if term not in held), item) for item in likely]
    gain, other = max(gains, key=lambda pair: pair[0])
    return [*chosen, other.piece] if gain >= WORTH_COVERING and _has_room(chosen, other.piece) else chosen


def _held(piece: Piece, shares: Mapping[str, float]) -> dict[str, float]:
    terms = _terms_of(piece.read_as)
    return {term: share for term, share in shares.items() if term in terms}


def _share_held(piece: Piece, terms: Sequence[str]) -> float:
    return len(_terms_of(piece.read_as).intersection(terms)) / len(terms) if terms else 0.0


def _covered(piece: Piece, shares: Mapping[str, float]) -> float:
    return math.fsum(_held(piece, shares).values())


def _terms_of(text: str) -> set[str]:
    return {*analyze(text), *identifier_terms(text)}


def _is_within(piece: Piece, other: Piece) -> bool:
    """Whether the other quotes its words: it contains the place, or has the same words in another source."""
    inside = other.span.start <= piece.span.start and piece.span.end <= other.span.end
    return piece.text == other.text or (piece.source == other.source and inside)


def _reads_on(piece: Piece, following: Piece) -> bool:
    """Whether two pieces can stand in one line: without a full stop between them they would read as one sentence."""
    ends = piece.text.rstrip(_CLOSERS).endswith(_SENTENCE_ENDS)
    return ends and not piece.alone and not following.alone


def _draft(pieces: Sequence[Piece], sources: Sequence[NumberedSource]) -> Iterator[DraftPart]:
    for at, piece in enumerate(pieces):
        if at:
            yield DraftPart(" " if _reads_on(pieces[at - 1], piece) else "\n")
        yield DraftPart(piece.text, verbatim=True)
        ends_in_fence = piece.text.rstrip().endswith(("```", "~~~"))  # nothing may follow a fence on its line
        before = "\n" if ends_in_fence else " "
        yield DraftPart(f"{before}[{sources[piece.source].number}]")
