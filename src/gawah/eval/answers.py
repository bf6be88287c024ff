"""What came back for each question of a set to the tally and the two failures apart: not found, or found and not used.

What a reply is worth is judged by its own words and quotes only; whether it is true is for people to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gawah.eval.collection import JudgedQuery, UnanswerableQuery
from gawah.eval.match import folded_text, needle_of
from gawah.eval.measures import counts
from gawah.eval.run import Reached
from gawah.eval.stats import ALL, estimate, upper_bound
from gawah.text import STOP_WORDS, analyze

Status = Literal["answered", "uncited", "refused", "timed_out", "failed"]
STATUSES: tuple[Status, ...] = ("answered", "uncited", "refused", "timed_out", "failed")

_WITH_WORDS = ("answered", "uncited")
_MARKER = re.compile(r"(?<!\w)[\[［【]\s*\d+(?:\s*[,;–-]\s*\d+)*\s*[\]］】]")  # not the index of arr[0]
_NEGATIONS = frozenset({"not", "no", "nor", "never", "without", "cannot"})  # stop words that turn an answer round


@dataclass(frozen=True, slots=True)
class Cited:
    """A source that an answer names; `quote` is None where the server does not say what its words are."""

    document: str
    quote: str | None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one question, within `ms` wall milliseconds.

    `answered` has a citation, `uncited` has words and none: a refusal in a model's own words is one of these, and so is a
    claim without a source. `detail` is why there is no answer.
    """

    status: Status
    text: str = ""
    citations: tuple[Cited, ...] = ()
    detail: str = ""
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A question and its reply. Of what must be refused, `uses` and `contains` are None.

    `uses`: a quote holds the needle whole; None too where no quotes can be had. `contains`: the answer holds the needle
    whole, or every word of it that is no stop word, in any order. `reached` is None where retrieval is not ours to see.
    """

    query: JudgedQuery | UnanswerableQuery
    reply: Reply
    reached: Reached | None
    uses: bool | None
    contains: bool | None

    @property
    def right(self) -> bool | None:
        """`uses` where there are quotes, else `contains`; None of what must be refused."""
        return self.contains if self.uses is None else self.uses


@dataclass(frozen=True, slots=True)
class Answers:
    """A set, answered, in its order. `answerer` names who did; `is_remote` when its retrieval cannot be seen.

    `has_citations` and `has_quotes` say what the replies can be judged by.
    """

    answerer: str
    is_remote: bool
    deadline_s: float
    concurrency: int
    has_citations: bool
    has_quotes: bool
    judged: tuple[Judged, ...]

    @property
    def none_came(self) -> bool:
        """Whether not one question got an answer or a refusal."""
        return all(one.reply.status in ("timed_out", "failed") for one in self.judged)


def judge_replies(
    pairs: Sequence[tuple[JudgedQuery | UnanswerableQuery, Reply]],
    reached: Mapping[str, Reached | None],
    *,
    answerer: str,
    is_remote: bool,
    deadline_s: float,
    concurrency: int,
) -> Answers:
    """Judges the replies of a run. `reached` is by question id; it is not looked at when the answerer is remote.

    A server none of whose replies cites a source says nothing by that: all its words are then `answered`.
    """
    has_citations = not is_remote or any(reply.citations for _, reply in pairs)
    has_quotes = not is_remote or any(cited.quote is not None for _, reply in pairs for cited in reply.citations)
    judged = []
    for query, given in pairs:
        reply = given
        if not has_citations and given.status == "uncited":
            reply = Reply("answered", given.text, (), given.detail, given.ms)
        uses, contains = None, None
        if isinstance(query, JudgedQuery):
            uses = uses_needle(query, reply) if has_quotes else None
            contains = contains_needle(query, reply.text)
        judged.append(Judged(query, reply, None if is_remote else reached[query.id], uses, contains))
    return Answers(answerer, is_remote, deadline_s, concurrency, has_citations, has_quotes, tuple(judged))


def uses_needle(query: JudgedQuery, reply: Reply) -> bool:
    """Whether a quote of the reply holds the needle whole."""
    needle = needle_of(query)
    return any(
        cited.quote is not None and needle.is_in(folded_text(cited.quote, needle.fold)) for cited in reply.citations
    )


def contains_needle(query: JudgedQuery, text: str) -> bool:
    """Whether an answer holds the needle whole, or all its terms but stop words, in any order, markers left out."""
    needle = needle_of(query)
    if needle.is_in(folded_text(text, needle.fold)):
        return True
    terms = set(analyze(query.needle))
    wanted = (terms - (STOP_WORDS - _NEGATIONS)) or terms
    return bool(wanted) and wanted <= set(analyze(_MARKER.sub(" ", text)))


def answers_record(answers: Answers) -> dict[str, Any]:
    """The answers as they stand in metrics.json; docs/evaluation.md describes every field."""
    answerable = [one for one in answers.judged if isinstance(one.query, JudgedQuery)]
    others = [one for one in answers.judged if not isinstance(one.query, JudgedQuery)]
    spent = [one.reply.ms for one in answers.judged if one.reply.status not in ("timed_out", "failed")]
    return {
        "answerer": answers.answerer,
        "deadline_s": answers.deadline_s,
        "concurrency": answers.concurrency,
        "judged_by": "quotes" if answers.has_quotes else "words",
        "tally": {
            "answerable": {group: _tally(answers, of) for group, of in _by_phrasing(answerable).items()},
            "unanswerable": {group: _tally(answers, of) for group, of in _by_kind(others).items()},
        },
        "answered_right": {
            group: {
                **_share(of, [bool(one.right) for one in of]),
                "uses": _share(of, [bool(one.uses) for one in of]) if answers.has_quotes else None,
                "contains": _share(of, [bool(one.contains) for one in of]),
            }
            for group, of in _by_phrasing(answerable).items()
        },
        "retriever_missed": None if answers.is_remote else _by_group(answerable, _retriever_missed),
        "generator_missed": None if answers.is_remote else _by_group(answerable, _generator_missed),
        "no_answer": None if answers.is_remote else _by_group(answerable, _no_answer),
        "bluffs": _bluffs(others),
        "times_ms": {"n": len(spent), "p50": _percentile(spent, 50), "p95": _percentile(spent, 95)},
    }


def answer_line(one: Judged) -> dict[str, Any]:
    """A question's line in answers.jsonl; times are left out, so that two runs can be compared to the byte."""
    query, reply = one.query, one.reply
    line: dict[str, Any] = {"id": query.id, "query": query.query, "kind": query.kind}
    if isinstance(query, JudgedQuery):
        line |= {"phrasing": query.phrasing, "needle": query.needle}
    return line | {
        "status": reply.status,
        "detail": reply.detail,
        "text": reply.text,
        "citations": [{"document": cited.document, "quote": cited.quote} for cited in reply.citations],
        "reached": one.reached,
        "uses": one.uses,
        "contains": one.contains,
        "right": one.right,
    }


def _retriever_missed(of: Sequence[Judged]) -> dict[str, Any]:
    """The generator never had the needle; the parts add up to the whole."""
    missed: dict[str, Any] = _share(of, [one.reached != "given" for one in of])
    stages: tuple[Reached, ...] = ("not_found", "not_admitted", "refused")
    return missed | {stage: _k_n(of, [one.reached == stage for one in of]) for stage in stages}


def _generator_missed(of: Sequence[Judged]) -> dict[str, Any]:
    """The generator had the needle, gave an answer, and cited none that holds it; `neither`: nor said its words."""
    missed = [one.reached == "given" and one.reply.status in _WITH_WORDS and not one.right for one in of]
    return {
        **_share(of, missed),
        "uncited": _k_n(of, [bad and one.reply.status == "uncited" for bad, one in zip(missed, of, strict=True)]),
        "neither": _k_n(of, [bad and not one.contains for bad, one in zip(missed, of, strict=True)]),
    }


def _no_answer(of: Sequence[Judged]) -> dict[str, Any]:
    """The generator had the needle and nothing came, or not in time."""
    return _share(of, [one.reached == "given" and one.reply.status not in _WITH_WORDS for one in of])


def _bluffs(of: Sequence[Judged]) -> dict[str, Any]:
    bluffed = [one.reply.status == "answered" for one in of]
    return {
        **_share(of, bluffed),
        "at_most": upper_bound(sum(bluffed), len(of)),
        **{
            kind: _share(those, [one.reply.status == "answered" for one in those])
            for kind, those in _by_kind(of).items()
            if kind != ALL
        },
    }


def _tally(answers: Answers, of: Sequence[Judged]) -> dict[str, Any]:
    """Every status with its share; they add up to all. Without any citation in the run, nobody can tell `uncited`."""
    shares: dict[str, Any] = {status: _share(of, [one.reply.status == status for one in of]) for status in STATUSES}
    return shares if answers.has_citations else {**shares, "uncited": None}


def _by_group(of: Sequence[Judged], measured: Callable[[Sequence[Judged]], dict[str, Any]]) -> dict[str, Any]:
    return {group: measured(those) for group, those in _by_phrasing(of).items()}


def _by_phrasing(of: Sequence[Judged]) -> dict[str, list[Judged]]:
    names = sorted({one.query.phrasing for one in of if isinstance(one.query, JudgedQuery)})
    groups = {
        name: [one for one in of if isinstance(one.query, JudgedQuery) and one.query.phrasing == name] for name in names
    }
    return {**groups, ALL: list(of)}


def _by_kind(of: Sequence[Judged]) -> dict[str, list[Judged]]:
    names = dict.fromkeys(("near", "far", *sorted({one.query.kind for one in of})))
    return {**{name: [one for one in of if one.query.kind == name] for name in names}, ALL: list(of)}


def _share(of: Sequence[Judged], events: Sequence[bool]) -> dict[str, float]:
    return counts(estimate(sum(events), len(of)))


def _k_n(of: Sequence[Judged], events: Sequence[bool]) -> dict[str, int]:
    return {"k": sum(events), "n": len(of)}


def _percentile(values: Sequence[float], percent: float) -> float | None:
    return round(float(np.percentile(values, percent)), 3) if values else None
