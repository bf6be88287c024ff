"""A run and an earlier one to a verdict: may this go out? Only a paired test, a newly destroyed answer, or bluffs over a
target say no. A difference that chance explains does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gawah.errors import UsageError
from gawah.eval.answers import Answers
from gawah.eval.collection import JudgedQuery, UnanswerableQuery
from gawah.eval.lines import lines_of
from gawah.eval.record import Baseline, gate_rates
from gawah.eval.run import CUTOFF, Run
from gawah.eval.stats import ALL, compare, estimate, successes, upper_bound
from gawah.types import Comparison, Estimate

SIGNIFICANT_P = 0.05
RANKS = (1, 4, 8)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Comparisons by what was compared ("rrf recall@1"), and each reason not to go on; none means go."""

    comparisons: Mapping[str, Comparison]
    reasons: tuple[str, ...]

    @property
    def passes(self) -> bool:
        return not self.reasons


def judge_run(
    run: Run,
    *,
    baseline: Baseline | None = None,
    max_bluff: float | None = None,
    answers: Answers | None = None,
) -> Verdict:
    """Holds a run against an earlier one, and its bluffs (as a share from 0 to 1) against a target.

    Compared are recall at ranks 1, 4 and 8 and the reciprocal rank of every system that both have, what the gate did,
    and what was answered right when both were asked for answers. The gate's bluffs are held against the target, and so
    are those of the answers. Raises UsageError when the two are not of the same questions, or the target is no share.
    """
    comparisons = {} if baseline is None else compare_runs(run, baseline)
    if baseline is not None and answers is not None and baseline.answers:
        comparisons |= compare_answers(answers, baseline)
    reasons = [
        f"{name} is worse than the baseline's: {one.wins} better, {one.losses} worse, p = {one.p:.4f}"
        for name, one in comparisons.items()
        if one.losses > one.wins and one.p < SIGNIFICANT_P
    ]
    if baseline is not None:
        reasons += _newly_destroyed(run, baseline)
    if max_bluff is not None:
        reasons += _over_target(run.set_name, gate_rates(run)[1][ALL], max_bluff, "bluffs")
    if max_bluff is not None and answers is not None:
        others = [one for one in answers.judged if isinstance(one.query, UnanswerableQuery)]
        bluffed = estimate(sum(one.reply.status == "answered" for one in others), len(others))
        reasons += _over_target(run.set_name, bluffed, max_bluff, f"bluffs of {answers.answerer}")
    return Verdict(comparisons, tuple(reasons))


def compare_runs(run: Run, baseline: Baseline) -> dict[str, Comparison]:
    """Paired comparisons of a run with an earlier one over the same questions; raises UsageError when they differ."""
    return compare_lines({line["id"]: line for line in lines_of(run)}, run.systems, baseline)


def compare_lines(
    lines: Mapping[str, Mapping[str, Any]], systems: Sequence[str], baseline: Baseline
) -> dict[str, Comparison]:
    """The same of a run as it was written: a line a question, by id."""
    _require_same_questions(lines, baseline)
    comparisons: dict[str, Comparison] = {}
    judged = [key for key, line in lines.items() if "needle" in line]
    unanswerable = [key for key, line in lines.items() if "needle" not in line]
    before = baseline.lines
    for system in systems:
        if not all(isinstance(before[key].get("systems"), dict) and system in before[key]["systems"] for key in judged):
            continue
        ours = {key: lines[key]["systems"][system]["rank"] for key in judged}
        theirs = {key: _rank(before[key]["systems"][system], baseline) for key in judged}
        for k in RANKS:
            comparisons[f"{system} recall@{k}"] = compare(_found(ours, k), _found(theirs, k))
        comparisons[f"{system} mrr"] = compare(_reciprocal(ours), _reciprocal(theirs))
    if judged and not comparisons:
        raise UsageError(
            f"{baseline.folder} has no system in common with this run ({', '.join(systems)}); measure it anew"
        )
    if judged:
        comparisons["answered though answerable"] = compare(
            {key: float(not lines[key]["gate"]["refused"]) for key in judged},
            {key: float(not before[key]["gate"]["refused"]) for key in judged},
        )
    if unanswerable:
        comparisons["refused though unanswerable"] = compare(
            {key: float(lines[key]["gate"]["refused"]) for key in unanswerable},
            {key: float(before[key]["gate"]["refused"]) for key in unanswerable},
        )
    return comparisons


def compare_answers(answers: Answers, baseline: Baseline) -> dict[str, Comparison]:
    """Answered right, paired by question: by what both runs were judged by, which without quotes in one is the words.

    Raises UsageError when the two are not of the same questions, or the baseline's lines cannot be read.
    """
    by_quotes = answers.has_quotes and baseline.metrics["answers"].get("judged_by") == "quotes"
    key, name = ("uses", "answered right") if by_quotes else ("contains", "answered right by words")
    ours = {one.query.id: one for one in answers.judged if isinstance(one.query, JudgedQuery)}
    theirs = {query_id: line.get(key) for query_id, line in baseline.answers.items() if "needle" in line}
    if wrong := sorted(query_id for query_id, right in theirs.items() if not isinstance(right, bool)):
        raise UsageError(f"{baseline.folder} does not say whether {wrong[0]!r} was answered right; measure it anew")
    rights = {query_id: one.uses if by_quotes else one.contains for query_id, one in ours.items()}
    return {
        name: compare(
            {query_id: float(bool(right)) for query_id, right in rights.items()},
            {query_id: float(bool(right)) for query_id, right in theirs.items()},
        )
    }


def _found(ranks: Mapping[str, int | None], k: int) -> dict[str, float]:
    return {key: float(rank is not None and rank <= k) for key, rank in ranks.items()}


def _reciprocal(ranks: Mapping[str, int | None]) -> dict[str, float]:
    return {key: 1 / rank if rank is not None and rank <= CUTOFF else 0.0 for key, rank in ranks.items()}


def _rank(outcome: Mapping[str, Any], baseline: Baseline) -> int | None:
    rank = outcome.get("rank")
    if rank is not None and (not isinstance(rank, int) or rank < 1):
        raise UsageError(f"{baseline.folder} holds the rank {rank!r}; it is no run: measure it anew")
    return rank


def _require_same_questions(lines: Mapping[str, Mapping[str, Any]], baseline: Baseline) -> None:
    ours = {key: line["query"] for key, line in lines.items()}
    theirs = {key: line.get("query") for key, line in baseline.lines.items()}
    if differing := sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)):
        raise UsageError(
            f"{baseline.folder} is a run over other questions ({len(differing)} differ, {differing[0]!r} among them); "
            "measure the baseline anew on this set"
        )


def _newly_destroyed(run: Run, baseline: Baseline) -> list[str]:
    new = [query_id for query_id in sorted(run.lost) if not baseline.lines[query_id].get("destroyed", False)]
    return [f"answers are destroyed that the baseline held whole: {_listed(new)}"] if new else []


def _over_target(set_name: str, rate: Estimate, max_bluff: float, what: str) -> list[str]:
    if not 0 <= max_bluff <= 1:
        raise UsageError(f"a bluff target of {max_bluff:g} is no share; choose one from 0 to 1")
    if not rate.n:
        raise UsageError(f"the set {set_name} asks nothing that must be refused: a bluff target cannot be checked")
    k = successes(rate)
    if k / rate.n <= max_bluff:
        return []
    bound = upper_bound(k, rate.n)
    share = f"{k / rate.n:.1%}, at most {bound:.1%} with 95 % confidence"
    return [f"{what}: {k} of {rate.n} that must be refused were answered ({share}), over the target of {max_bluff:.1%}"]


def _listed(ids: Sequence[str], most: int = 5) -> str:
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(ids[:most]) + more
