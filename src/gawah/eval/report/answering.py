"""The answers of a run to a section of its page: what became of every question, and the answers that went wrong, as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gawah.eval.report.fields import Fields
from gawah.eval.report.layout import folded, note, section
from gawah.eval.report.markup import Markup, element, table, told
from gawah.eval.report.reading import RunFacts
from gawah.eval.report.words import NONE_ASKED, count, group_name, listed, rate
from gawah.types import Estimate

SHOWN = 12  # of each kind of wrong answer; the others are named
_STATUSES = ("answered", "uncited", "refused", "timed_out", "failed")
_OUTCOMES = {
    "answered_right": "the answer was in it",
    "retriever_missed": "the generator never had it",
    "generator_missed": "the generator had it and used something else",
    "no_answer": "the generator had it and nothing came in time",
}
_MOST_CHARS = 2_000  # of an answer's text


def answers_section(facts: RunFacts) -> Markup:
    """Empty for a run in which no answers were asked for; CollectionError for what `gawah eval` does not write."""
    if facts.written.metrics.get("answers") is None:
        return Markup("")
    fields = Fields(facts.written.metrics, str(facts.written.folder / "metrics.json")).inside("answers")
    judged = "a quote holds the needle" if fields.text("judged_by") == "quotes" else "the text holds the needle's words"
    about = f"By {fields.text('answerer')}. An answer is right when {judged}; that does not say that it is true."
    lines = [Fields(line, f"answers.jsonl: {key}") for key, line in facts.written.answers.items()]
    return section(
        "answers",
        "What was answered",
        note(about),
        _tally_table(fields.inside("tally")),
        _outcome_table(fields),
        _wrong_answers("Answered, and should not have been", [one for one in lines if _is_bluff(one)]),
        _wrong_answers("Answered, and not right", [one for one in lines if _is_wrong(one)]),
    )


def _tally_table(tally: Fields) -> Markup:
    rows = []
    for side, of in tally.each():
        for group, statuses in of.each():
            shares = [_counted(statuses, status) for status in _STATUSES]
            if any(share not in (NONE_ASKED, "unknown") for share in shares):
                rows.append([f"{side}, {group_name(group)}", *shares])
    head = ["questions", *(status.replace("_", " ") for status in _STATUSES)]
    return table(head, rows, caption="What became of every question.")


def _counted(statuses: Fields, status: str) -> str:
    if statuses.value.get(status) is None:
        return "unknown"  # of a server that cites nothing: its refusals in words cannot be told from its answers
    of = statuses.inside(status)
    return count(of.whole("k"), of.whole("n"))


def _outcome_table(fields: Fields) -> Markup:
    rows = []
    for outcome, told_as in _OUTCOMES.items():
        if fields.value.get(outcome) is None:
            continue
        rows += [[f"{told_as}, {group_name(group)}", rate(_rate(of))] for group, of in fields.inside(outcome).each()]
    rows.append(["answered, of those that must be refused", rate(_rate(fields.inside("bluffs")))])
    return table(["questions", "share"], rows, caption="Where the answers were lost, with Wilson 95 % intervals.")


def _rate(fields: Fields) -> Estimate:
    k, n = fields.whole("k"), fields.whole("n")
    if k > n:
        raise fields.wrong(f"{k} of {n} is no proportion")
    return Estimate(k / n if n else math.nan, fields.number("low"), fields.number("high"), n)


def _is_bluff(line: Fields) -> bool:
    return "needle" not in line.value and line.text("status") == "answered"


def _is_wrong(line: Fields) -> bool:
    return "needle" in line.value and line.text("status") in ("answered", "uncited") and not line.flag("right")


def _wrong_answers(title: str, lines: Sequence[Fields]) -> Markup:
    if not lines:
        return Markup("")
    parts: list[Markup] = [_card(line) for line in lines[:SHOWN]]
    if rest := lines[SHOWN:]:
        parts.append(note(f"Not shown: {listed([line.text('id') for line in rest])}."))
    return folded(f"{title}: {len(lines)}", *parts)


def _card(line: Fields) -> Markup:
    wanted = told(line.text("needle"), "blockquote", class_="needle") if "needle" in line.value else Markup("")
    text = line.text("text")
    shown = text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]} …"
    return element(
        "article",
        told(line.text("query"), class_="asked"),
        element("p", element("span", line.text("id"), class_="id"), ": ", line.text("status"), class_="facts"),
        wanted,
        told(shown),
        element("ol", *map(_source, line.objects("citations"))),
    )


def _source(citation: Fields) -> Markup:
    said = "" if citation.value.get("quote") is None else citation.text("quote")
    return element("li", told(citation.text("document"), "cite"), told(said, "blockquote"))
