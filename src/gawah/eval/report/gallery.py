"""The questions of a run that went worst, each with its needle and what was returned instead, as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gawah.eval.report.layout import note, section
from gawah.eval.report.markup import Markup, element, joined, told
from gawah.eval.report.reading import Decided, Question, Quoted, RunFacts
from gawah.eval.report.scale import Scale, scale_of
from gawah.eval.report.words import group_name, listed, number

SHOWN = 8  # of each kind of failure; the others are named
_QUOTED = 3  # passages


@dataclass(frozen=True, slots=True)
class Failures:
    """One kind of failure: what it is, and its questions, worst first."""

    title: str
    about: str
    questions: tuple[Question, ...]


def failures_of(facts: RunFacts) -> tuple[Failures, ...]:
    """Every question that failed, once, by kind."""
    scale, system = scale_of(facts), facts.metrics.gate.system
    answered = [q for q in facts.answerable if not q.gate.refused]
    depth = _depth(system)
    return (
        Failures(
            "Answered, and should not have been",
            "These must be refused. The surest bluffs first.",
            _sorted([q for q in facts.unanswerable if not q.gate.refused], lambda q: -_lead(q.gate, scale)),
        ),
        Failures(
            "Answered from passages that do not hold the answer",
            "No admitted passage holds the needle. What was not found at all first, then by the rank of the needle.",
            _sorted([q for q in answered if not q.right], lambda q: -depth(q)),
        ),
        Failures(
            "Refused, although there is an answer",
            "What retrieval had found best, and the gate refused all the same, first.",
            _sorted([q for q in facts.answerable if q.gate.refused], depth),
        ),
        Failures(
            "Answered right, but the needle is cut",
            "No chunk holds the needle whole, of what can be quoted.",
            _sorted([q for q in answered if q.right and q.is_destroyed], depth),
        ),
    )


def gallery_section(facts: RunFacts) -> Markup:
    kinds = failures_of(facts)
    if not any(kind.questions for kind in kinds):
        return section(
            "failures", "What went wrong", "Nothing: every question was answered right or refused as it should be."
        )
    scale = scale_of(facts)
    return section("failures", "What went wrong", *(_gallery(kind, facts, scale) for kind in kinds if kind.questions))


def _sorted(questions: Sequence[Question], worst: Callable[[Question], float]) -> tuple[Question, ...]:
    return tuple(sorted(questions, key=lambda question: (worst(question), question.id)))


def _depth(system: str) -> Callable[[Question], float]:
    def rank(question: Question) -> float:
        found = question.ranks.get(system)
        return math.inf if found is None else found

    return rank


def _lead(decided: Decided, scale: Scale) -> float:
    """How far on the side of an answer a decision stands."""
    if decided.score is None:
        return -math.inf
    return decided.threshold - decided.score if scale.is_distance else decided.score - decided.threshold


def _gallery(kind: Failures, facts: RunFacts, scale: Scale) -> Markup:
    shown, others = kind.questions[:SHOWN], kind.questions[SHOWN:]
    parts = [element("h3", f"{kind.title}: {len(kind.questions)}"), note(kind.about)]
    parts += [_card(question, facts.metrics.gate.system, scale) for question in shown]
    if others:
        ids = listed([question.id for question in others], most=40)
        parts.append(note(f"Not shown, in this order: {ids}."))
    return joined(parts)


def _card(question: Question, system: str, scale: Scale) -> Markup:
    facts = [element("span", question.id, class_="id"), group_name(question.group), _stands(question.gate, scale)]
    parts = [told(question.query, class_="asked"), element("p", joined(facts, " · "), class_="facts")]
    if question.needle is not None:
        parts += [
            element("p", f"Wanted, from {question.document} ({_where(question, system)}):", class_="facts"),
            told(question.needle, "blockquote", class_="needle"),
        ]
    if question.gate.reason:
        parts.append(element("p", "Refused: ", told(question.gate.reason, "span"), class_="facts"))
    if question.returned:
        first = question.returned[:_QUOTED]
        parts += [
            element("p", "Returned first:", class_="facts"),
            element("ol", *(_quoted(passage) for passage in first)),
        ]
    else:
        parts.append(element("p", "Nothing was returned.", class_="facts"))
    return element("article", *parts)


def _stands(decided: Decided, scale: Scale) -> str:
    if decided.score is None:
        return "the gate had no number"
    what = "nearest at" if scale.is_distance else "score"
    return f"{what} {number(decided.score)}, threshold {number(decided.threshold)}"


def _where(question: Question, system: str) -> str:
    if question.is_destroyed:
        return "no chunk holds it whole"
    if system not in question.ranks:
        return f"{system} was not measured"
    rank = question.ranks[system]
    return "not found" if rank is None else f"found at rank {rank}"


def _quoted(passage: Quoted) -> Markup:
    where = passage.section or passage.place
    distance = "no distance" if math.isinf(passage.distance) else f"distance {number(passage.distance)}"
    said = [
        told(f"{passage.document} - {where}", "cite"), distance, "let through" if passage.admitted else "held back",
        *(["holds the needle"] if passage.holds else []),
    ]  # fmt: skip
    return element(
        "li", element("p", joined(said, " · "), class_="facts"), told(passage.text, "blockquote"),
        class_="holds" if passage.holds else "other",
    )  # fmt: skip
