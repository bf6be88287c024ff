"""Judged questions with their signals to a calibrated gate: a fit, a threshold, and what both promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gawah.errors import UsageError
from gawah.eval.collection import Collection, JudgedQuery, UnanswerableQuery
from gawah.eval.hidden import HIDDEN, HiddenQuery
from gawah.eval.match import folded_text, needle_of
from gawah.eval.monotone import fit_monotone
from gawah.eval.stats import upper_bound
from gawah.eval.withheld import retrieved_without
from gawah.gate import AT_MOST, Calibration, CalibrationStamp, Fitted, signals_of
from gawah.ports import Snapshot
from gawah.retrieve import Retriever, gather, retrieve

# Chosen on the development sets, each fitted on one and judged on the other (docs/gate.md has the ones left out too).
VECTOR_SIGNALS = ("maxsim_pieces", "gain", "margin", "above_background", "cosine_capped", "missing")
WORD_SIGNALS = ("coverage_best", "bm25_share")
FEW = 20  # with fewer questions that must be refused, a threshold of one's own is worse than the one that ships


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """A labelled question as a gate meets it. `group` is a phrasing of answerable ones, a kind of the others.

    `right`: whether one of the passages that would go on holds the needle whole; never so for an unanswerable question.
    """

    set_name: str
    id: str
    query: str
    group: str
    answerable: bool
    readable: bool
    right: bool
    n_terms: int
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score to be over; how many of the questions it was chosen on it refuses and lets through wrongly.

    `bound_holds`: the one-sided 95 % upper bound of the bluff rate is within the target, not only the rate.
    """

    value: float
    n_give_ups: int
    n_bluffs: int
    bound: float
    bound_holds: bool


def questions_of(retriever: Retriever, snapshot: Snapshot, collection: Collection) -> tuple[GateQuestion, ...]:
    """Every question of an indexed set with its signals, answerable ones first."""
    queries: list[JudgedQuery | UnanswerableQuery] = [*collection.queries, *collection.unanswerable]
    return tuple(gate_question(retriever, snapshot, collection.name, query) for query in queries)


def gate_question(
    retriever: Retriever,
    snapshot: Snapshot,
    set_name: str,
    query: JudgedQuery | UnanswerableQuery | HiddenQuery,
) -> GateQuestion:
    """One question with its signals; what a hidden-answer query excludes is as if it had not been found."""
    found = retrieve(retriever, snapshot, query.query, system=retriever.best_system, cutoff=retriever.rerank_depth)
    if isinstance(query, HiddenQuery):
        found = retrieved_without(found, query)
    evidence = gather(retriever, snapshot, found)
    needle = needle_of(query) if isinstance(query, JudgedQuery) else None
    return GateQuestion(
        set_name=set_name,
        id=query.id,
        query=query.query,
        group=_group(query),
        answerable=needle is not None,
        readable=evidence.readable,
        right=needle is not None
        and any(needle.is_in(folded_text(p.chunk.content, needle.fold)) for p in evidence.passages[:AT_MOST]),
        n_terms=len(evidence.term_weights),
        signals=signals_of(evidence),
    )


def _group(query: JudgedQuery | UnanswerableQuery | HiddenQuery) -> str:
    if isinstance(query, HiddenQuery):
        return HIDDEN
    return query.phrasing if isinstance(query, JudgedQuery) else query.kind


def calibrate(
    questions: Sequence[GateQuestion],
    stamp_name: str,
    stamp: CalibrationStamp,
    *,
    max_bluff: float | None,
    words: Fitted | None = None,
) -> Calibration:
    """Both models of a calibration: by vectors from the questions that the encoder can read, by words from the others.

    Where fewer than FEW of the others must be refused, `words` stands in, or a fit on all questions: scripts
    differ in how many words of a question its answer repeats, so a threshold of one is strict or lax for another.
    Raises UsageError when a class is empty, or `max_bluff` is no rate.
    """
    readable = [question for question in questions if question.readable]
    others = [question for question in questions if not question.readable]
    if not readable:
        raise UsageError("the encoder reads none of the questions: add a set in a language it knows")
    if sum(not question.answerable for question in others) >= FEW and any(question.answerable for question in others):
        words = fitted(others, WORD_SIGNALS, max_bluff=max_bluff)
    return Calibration(
        stamp_name=stamp_name,
        stamp=stamp,
        vectors=fitted(readable, VECTOR_SIGNALS, max_bluff=max_bluff),
        words=words or fitted(questions, WORD_SIGNALS, max_bluff=max_bluff),
    )


def fitted(questions: Sequence[GateQuestion], names: Sequence[str], *, max_bluff: float | None) -> Fitted:
    """A model over the named signals with its threshold; raises as `calibrate` does."""
    answerable = [question.signals for question in questions if question.answerable]
    unanswerable = [question.signals for question in questions if not question.answerable]
    model = fit_monotone(names, answerable, unanswerable)
    chosen = choose_threshold(
        [model.score(signals) for signals in answerable],
        [model.score(signals) for signals in unanswerable],
        max_bluff=max_bluff,
    )
    return Fitted(
        model=model,
        threshold=chosen.value,
        fitted_on=tuple(sorted({question.set_name for question in questions})),
        n_answerable=len(answerable),
        n_unanswerable=len(unanswerable),
        n_give_ups=chosen.n_give_ups,
        n_bluffs=chosen.n_bluffs,
        max_bluff=max_bluff,
        bluff_bound=chosen.bound,
        bound_holds=chosen.bound_holds,
    )


def choose_threshold(
    answerable: Sequence[float], unanswerable: Sequence[float], *, max_bluff: float | None = None
) -> Threshold:
    """The lowest threshold whose bluff rate has its upper bound within `max_bluff`; where no number of bluffs has, the
    lowest whose rate itself is within it. Without a target a give-up costs as much as a bluff: the threshold with the
    lowest sum of both rates (Youden's index), the lowest of equals.

    Raises UsageError when a class is empty, and unless 0 < max_bluff < 1.
    """
    n = len(unanswerable)
    if not n:
        raise UsageError("a threshold is chosen on questions that must be refused; the sets have none")
    if not answerable:
        raise UsageError("a threshold is chosen on questions with an answer too; the sets have none")
    falling = sorted(unanswerable, reverse=True)
    if max_bluff is None:
        value = _balanced(falling, answerable)
        bound_holds = True
    elif 0 < max_bluff < 1:
        bounded = [k for k in range(n) if upper_bound(k, n) <= max_bluff]
        most = max(bounded) if bounded else int(max_bluff * n + 1e-9)
        value = _over_all_but(falling, most, answerable)
        bound_holds = bool(bounded)
    else:
        raise UsageError(f"a bluff rate of {max_bluff:g} is no target; choose one between 0 and 1")
    n_bluffs = sum(score > value for score in unanswerable)
    n_give_ups = sum(score <= value for score in answerable)
    return Threshold(value, n_give_ups, n_bluffs, upper_bound(n_bluffs, n), bound_holds)


def _balanced(falling: Sequence[float], answerable: Sequence[float]) -> float:
    values = [_over_all_but(falling, k, answerable) for k in range(len(falling))]
    values.append(min(*falling, *answerable) - 1)  # answers everything

    def cost(value: float) -> float:
        bluffs = sum(score > value for score in falling) / len(falling)
        return bluffs + sum(score <= value for score in answerable) / len(answerable)

    return min(values, key=lambda value: (round(cost(value), 9), value))


def _over_all_but(falling: Sequence[float], most: int, answerable: Sequence[float]) -> float:
    """Half-way between the first score that must be refused and the next larger of any question."""
    refused = falling[most]
    larger = [score for score in (*falling, *answerable) if score > refused]
    return (refused + min(larger)) / 2 if larger else refused
