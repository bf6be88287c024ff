"""Judged queries and what was retrieved for them to measures: recall, MRR, lost answers, give-ups and bluffs.

Every judged query counts once, and one without results counts as not found. Chunks are given as texts, best first: the
caller chooses between a chunk's content (what can be quoted) and its embedded text (what overlap and header add to).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gawah.errors import UsageError
from gawah.eval.collection import JudgedQuery, UnanswerableQuery
from gawah.eval.match import Needle, folded_text, needle_of
from gawah.eval.stats import ALL, estimate, estimates_by_group, successes
from gawah.types import Chunk, Estimate

CUTOFFS = (1, 4, 8, 20)
BUDGETS_CHARS = (2000, 4000)  # text that a generator is given, whatever the size of chunks; equal k flatters large ones
MRR_CUTOFF = 20


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """How one judged query fared: the 1-based rank of the first result that holds the needle whole, None without any.

    `n_chars` is how many characters of results, read in order, are needed until one of them holds the needle whole.
    """

    query_id: str
    phrasing: str
    kind: str
    rank: int | None
    n_chars: int | None

    @property
    def reciprocal_rank(self) -> float:
        return 1 / self.rank if self.rank else 0.0

    def found_within(self, k: int) -> bool:
        """Whether one of the first k results holds the needle."""
        return self.rank is not None and self.rank <= k

    def found_within_chars(self, n_chars: int) -> bool:
        """Whether the needle is whole in one of the results when they are cut after `n_chars` characters."""
        return self.n_chars is not None and self.n_chars <= n_chars


@dataclass(frozen=True, slots=True)
class Summary:
    """Measures over a group of queries. Keys of `recall` are cutoffs, those of `text_recall` budgets in characters."""

    n: int
    recall: Mapping[int, Estimate]
    text_recall: Mapping[int, Estimate]
    mrr: float
    mrr_full: float


@dataclass(frozen=True, slots=True)
class Destroyed:
    """Distinct needles, and those that no chunk holds whole: in its content, and in its embedded text."""

    n_needles: int
    in_content: tuple[str, ...]
    in_text: tuple[str, ...]


def outcome_of(query: JudgedQuery, results: Sequence[str]) -> QueryOutcome:
    """Judges the results of one query, best first."""
    needle = needle_of(query)
    n_before = 0
    for rank, text in enumerate(results, start=1):
        if needle.is_in(folded_text(text, needle.fold)):
            return QueryOutcome(query.id, query.phrasing, query.kind, rank, n_before + _chars_needed(needle, text))
        n_before += len(text)
    return QueryOutcome(query.id, query.phrasing, query.kind, None, None)


def outcomes_of(queries: Sequence[JudgedQuery], results: Mapping[str, Sequence[str]]) -> tuple[QueryOutcome, ...]:
    """Judges a run: texts by query id, best first. A query that is missing from the run was not found.

    Raises UsageError when an id is judged twice, or the run has results for a query that is not judged.
    """
    _require_unique([query.id for query in queries])
    if unknown := sorted(results.keys() - {query.id for query in queries}):
        raise UsageError(
            f"the run has results for {unknown[0]!r}, which the set does not ask; measure it on its own set"
        )
    return tuple(outcome_of(query, results.get(query.id, ())) for query in queries)


def pool(outcomes_by_set: Mapping[str, Iterable[QueryOutcome]]) -> tuple[QueryOutcome, ...]:
    """The outcomes of several sets as one; ids get the set's name in front, so that none collide."""
    return tuple(
        QueryOutcome(f"{name}/{outcome.query_id}", outcome.phrasing, outcome.kind, outcome.rank, outcome.n_chars)
        for name, outcomes in outcomes_by_set.items()
        for outcome in outcomes
    )


def by_phrasing(outcomes: Sequence[QueryOutcome]) -> dict[str, tuple[QueryOutcome, ...]]:
    """Outcomes under each phrasing that occurs, by name, and all of them under "all", last."""
    names = sorted({outcome.phrasing for outcome in outcomes})
    groups = {name: tuple(outcome for outcome in outcomes if outcome.phrasing == name) for name in names}
    return {**groups, ALL: tuple(outcomes)}


def summarise(
    outcomes: Sequence[QueryOutcome],
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    budgets_chars: Sequence[int] = BUDGETS_CHARS,
) -> Summary:
    """Measures over all of the outcomes. Raises UsageError when a query counts twice."""
    _require_unique([outcome.query_id for outcome in outcomes])
    n = len(outcomes)
    return Summary(
        n=n,
        recall={k: estimate(sum(o.found_within(k) for o in outcomes), n) for k in cutoffs},
        text_recall={size: estimate(sum(o.found_within_chars(size) for o in outcomes), n) for size in budgets_chars},
        mrr=mean_reciprocal_rank(outcomes, cutoff=MRR_CUTOFF),
        mrr_full=mean_reciprocal_rank(outcomes),
    )


def mean_reciprocal_rank(outcomes: Sequence[QueryOutcome], *, cutoff: int | None = None) -> float:
    """The mean of 1/rank, 0 for what was not found (within the cutoff, if there is one); NaN without outcomes."""
    if not outcomes:
        return math.nan
    kept = (o.reciprocal_rank for o in outcomes if cutoff is None or o.found_within(cutoff))
    return math.fsum(kept) / len(outcomes)


def destroyed(queries: Sequence[JudgedQuery], chunks: Iterable[Chunk]) -> Destroyed:
    """Which needles a chunking cut apart. A needle that two questions share counts once."""
    needles = {needle_of(query): query.needle for query in queries}
    by_fold = {fold: [n for n in needles if n.fold == fold] for fold in sorted({needle.fold for needle in needles})}
    whole_in_content: set[Needle] = set()
    whole_in_text: set[Needle] = set()
    for chunk in chunks:
        for fold, wanted in by_fold.items():
            content = folded_text(chunk.content, fold)
            text = content if chunk.text == chunk.content else folded_text(chunk.text, fold)
            whole_in_content.update(needle for needle in wanted if needle.is_in(content))
            whole_in_text.update(needle for needle in wanted if needle.is_in(text))
    return Destroyed(
        n_needles=len(needles),
        in_content=tuple(words for needle, words in needles.items() if needle not in whole_in_content),
        in_text=tuple(words for needle, words in needles.items() if needle not in whole_in_text),
    )


def give_ups(queries: Sequence[JudgedQuery], refused: Mapping[str, bool]) -> dict[str, Estimate]:
    """The share of answerable queries that were refused, by phrasing and over "all". Raises UsageError for a missing one."""
    return estimates_by_group([query.phrasing for query in queries], [_was_refused(q.id, refused) for q in queries])


def bluffs(queries: Sequence[UnanswerableQuery], refused: Mapping[str, bool]) -> dict[str, Estimate]:
    """The share of unanswerable queries that were answered, by kind and over "all". Raises UsageError for a missing one.

    A rate without a single event promises little: show `stats.upper_bound` beside it.
    """
    return estimates_by_group([query.kind for query in queries], [not _was_refused(q.id, refused) for q in queries])


def counts(proportion: Estimate) -> dict[str, float]:
    """An estimate as it stands in metrics.json; NaN, which JSON lacks, never occurs in it."""
    return {"k": successes(proportion), "n": proportion.n, "low": proportion.low, "high": proportion.high}


def summary_record(summary: Summary) -> dict[str, object]:
    """A summary as it stands in metrics.json: "recall@4", "recall@2000chars", "mrr" (cutoff 20), "mrr_full".

    The means are null when there was no query.
    """
    return {
        **{f"recall@{k}": counts(proportion) for k, proportion in summary.recall.items()},
        **{f"recall@{size}chars": counts(proportion) for size, proportion in summary.text_recall.items()},
        "mrr": None if math.isnan(summary.mrr) else summary.mrr,
        "mrr_full": None if math.isnan(summary.mrr_full) else summary.mrr_full,
    }


def _chars_needed(needle: Needle, text: str) -> int:
    """The shortest beginning of a text that holds a needle which the whole text holds; found by halving."""
    too_short, enough = 0, len(text)
    while enough - too_short > 1:
        middle = (too_short + enough) // 2
        if needle.is_in(folded_text(text[:middle], needle.fold)):
            enough = middle
        else:
            too_short = middle
    return enough


def _was_refused(query_id: str, refused: Mapping[str, bool]) -> bool:
    if query_id not in refused:
        raise UsageError(f"the run neither answered nor refused {query_id!r}; run it again over the whole set")
    return refused[query_id]


def _require_unique(query_ids: Sequence[str]) -> None:
    if len(set(query_ids)) < len(query_ids):
        twice = next(query_id for query_id in query_ids if query_ids.count(query_id) > 1)
        raise UsageError(f"the query {twice!r} would count twice; ids must be unique")
