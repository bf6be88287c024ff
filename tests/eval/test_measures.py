"""Recall, equal text, MRR, lost answers, give-ups and bluffs, by worked examples and by brute force."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.eval.made import cut, judged

from gawah.errors import UsageError
from gawah.eval import (
    UnanswerableQuery,
    bluffs,
    by_phrasing,
    compare,
    contains,
    counts,
    destroyed,
    estimate,
    give_ups,
    mean_reciprocal_rank,
    outcome_of,
    outcomes_of,
    pool,
    successes,
    summarise,
    summary_record,
    upper_bound,
)
from gawah.types import Comparison

RESULTS = st.lists(st.text(st.sampled_from("ab \n"), max_size=12), max_size=6)


def outcome(rank, query_id="q", phrasing="own"):
    return outcome_of(judged("x", id=query_id, phrasing=phrasing), ["."] * (rank - 1) + ["x"] if rank else [])


def test_the_rank_and_the_text_needed_are_those_of_the_first_correct_result():
    found = outcome_of(judged("big needle"), ["hay", "some big\nneedle here", "big needle"])
    assert (found.rank, found.n_chars) == (2, len("hay" + "some big\nneedle"))
    assert found.found_within(2)
    assert not found.found_within(1)
    assert found.found_within_chars(18)
    assert not found.found_within_chars(17)


def test_a_needle_over_two_results_is_in_neither():
    found = outcome_of(judged("big needle"), ["a big ", "needle"])
    assert (found.rank, found.n_chars, found.reciprocal_rank) == (None, None, 0)
    assert not found.found_within(100)
    assert not found.found_within_chars(10**9)


@given(RESULTS, st.sampled_from(["a", "ab", "a b", "bb a"]), st.sampled_from(["a.md", "a.pdf"]), st.integers(0, 80))
def test_equal_text_is_what_is_left_when_results_are_cut_at_that_length(results, needle, document, budget):
    query = judged(needle, document=document)
    left, kept = budget, []
    for text in results:
        kept.append(text[:left])
        left -= len(kept[-1])
    assert outcome_of(query, results).found_within_chars(budget) == any(contains(text, query) for text in kept)


@given(RESULTS, st.sampled_from(["a", "ab", "a b", "bb a"]), st.integers(1, 7))
def test_recall_is_whether_one_of_the_first_k_results_is_correct(results, needle, k):
    query = judged(needle)
    assert outcome_of(query, results).found_within(k) == any(contains(text, query) for text in results[:k])


def test_a_combining_mark_after_the_needle_leaves_a_length_that_is_enough():
    query = judged("cafe", document="a.pdf")
    found = outcome_of(query, ["cafe\u0301 and cafe"])
    assert contains("cafe\u0301 and cafe"[: found.n_chars], query)


def test_a_query_without_results_counts_as_not_found():
    queries = [judged("x", id="q1"), judged("x", id="q2"), judged("x", id="q3")]
    summary = summarise(outcomes_of(queries, {"q1": ["x"], "q3": []}))
    assert (summary.n, successes(summary.recall[1]), summary.recall[20].n) == (3, 1, 3)


def test_measures_have_the_worked_values():
    outcomes = [outcome(rank, query_id=str(rank)) for rank in (1, 2, 4, 8, 20, 25, 0)]
    summary = summarise(outcomes)
    assert {k: successes(e) for k, e in summary.recall.items()} == {1: 1, 4: 3, 8: 4, 20: 5}
    assert summary.mrr == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 8 + 1 / 20) / 7)
    assert summary.mrr_full == pytest.approx(summary.mrr + 1 / 25 / 7)
    assert {size: successes(e) for size, e in summary.text_recall.items()} == {2000: 6, 4000: 6}


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20))
def test_measures_agree_with_each_other(ranks):
    outcomes = [outcome(rank, query_id=str(i)) for i, rank in enumerate(ranks)]
    summary = summarise(outcomes)
    means = [summary.recall[k].mean for k in (1, 4, 8, 20)]
    assert means == sorted(means)
    assert means[0] <= summary.mrr <= summary.mrr_full <= 1
    assert summary.mrr <= means[-1]
    assert summary.mrr == pytest.approx(sum(1 / r for r in ranks if 0 < r <= 20) / len(ranks))


def test_nothing_measured_divides_nothing():
    summary = summarise([])
    assert summary.n == 0
    assert math.isnan(summary.mrr)
    assert math.isnan(mean_reciprocal_rank([], cutoff=3))
    record = summary_record(summary)
    assert record["recall@4"] == {"k": 0, "n": 0, "low": 0.0, "high": 1.0}
    assert record["mrr"] is None
    json.dumps(record, allow_nan=False)


def test_one_query_is_measured_with_the_wide_interval_it_deserves():
    recall = summarise([outcome(1)]).recall[1]
    assert (recall.mean, recall.high) == (1, 1)
    assert recall.low < 0.21


def test_a_query_counts_once():
    with pytest.raises(UsageError, match="'q' would count twice"):
        summarise([outcome(1), outcome(2)])
    with pytest.raises(UsageError, match="'q1' would count twice"):
        outcomes_of([judged("x"), judged("y")], {})


def test_results_of_a_query_that_is_not_judged_are_not_dropped_silently():
    with pytest.raises(UsageError, match="'q7', which the set does not ask"):
        outcomes_of([judged("x")], {"q7": ["x"]})


def test_sets_are_pooled_without_colliding_ids():
    pooled = pool({"one": [outcome(1)], "two": [outcome(0)]})
    assert [o.query_id for o in pooled] == ["one/q", "two/q"]
    assert successes(summarise(pooled).recall[1]) == 1


def test_phrasings_are_measured_apart_and_together():
    outcomes = [outcome(1, query_id="a", phrasing="ticket"), outcome(0, query_id="b"), outcome(2, query_id="c")]
    groups = by_phrasing(outcomes)
    assert {name: [o.query_id for o in group] for name, group in groups.items()} == {
        "own": ["b", "c"],
        "ticket": ["a"],
        "all": ["a", "b", "c"],
    }
    assert list(groups)[-1] == "all"


def test_two_systems_are_compared_query_by_query():
    treatment = [outcome(1, query_id="a"), outcome(0, query_id="b"), outcome(1, query_id="c")]
    baseline = [outcome(2, query_id="a"), outcome(1, query_id="b"), outcome(1, query_id="c")]
    at_1 = compare(*({o.query_id: o.found_within(1) for o in run} for run in (treatment, baseline)))
    assert at_1 == Comparison(wins=1, losses=1, ties=1, p=1.0)


def test_the_record_of_a_summary_has_the_documented_keys():
    record = summary_record(summarise([outcome(1)], cutoffs=(1, 4), budgets_chars=(2000,)))
    assert list(record) == ["recall@1", "recall@4", "recall@2000chars", "mrr", "mrr_full"]
    assert record["recall@1"] == counts(estimate(1, 1))


def test_needles_are_destroyed_in_content_and_mended_in_text_by_overlap():
    text = "The gate is opened. Nobody closes it."
    queries = [
        judged("The gate is opened."),
        judged("Nobody closes it.", id="q2"),
        judged("Nobody  closes it.", id="q3"),
    ]
    first, _ = cut(text, (0, 12), (12, 37))
    (mended,) = cut(text, (12, 37), lead="[a.md]\nThe gate is ")
    found = destroyed(queries, [first, mended])
    assert (found.n_needles, found.in_content, found.in_text) == (2, ("The gate is opened.",), ())
    assert destroyed(queries, cut(text, (0, 12), (12, 37))).in_text == ("The gate is opened.",)


def test_without_chunks_every_needle_is_destroyed_and_without_queries_none():
    assert destroyed([judged("x")], []).in_text == ("x",)
    assert destroyed([], cut("abc", (0, 3))).n_needles == 0


def test_give_ups_and_bluffs_are_counted_by_group():
    queries = [judged("x", id="a"), judged("x", id="b", phrasing="ticket"), judged("x", id="c", phrasing="ticket")]
    refused = {"a": False, "b": True, "c": False, "n": True, "m": False, "f": True}
    found = give_ups(queries, refused)
    assert {name: (successes(e), e.n) for name, e in found.items()} == {"own": (0, 1), "ticket": (1, 2), "all": (1, 3)}
    bluffed = bluffs(
        [UnanswerableQuery(i, i, kind) for i, kind in (("n", "near"), ("m", "near"), ("f", "far"))], refused
    )
    assert {name: (successes(e), e.n) for name, e in bluffed.items()} == {"far": (0, 1), "near": (1, 2), "all": (1, 3)}
    assert upper_bound(0, bluffed["far"].n) == pytest.approx(0.95)


def test_a_question_that_was_neither_answered_nor_refused_is_not_passed_over():
    with pytest.raises(UsageError, match="neither answered nor refused 'q1'"):
        give_ups([judged("x")], {})
    with pytest.raises(UsageError, match="neither answered nor refused 'u'"):
        bluffs([UnanswerableQuery("u", "?", "far")], {})
