"""The deploy gate: only a paired test, a newly destroyed answer, or bluffs over the target say no."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.eval.conftest import CORPUS, QUERIES, UNANSWERABLE

from gawah.errors import UsageError
from gawah.eval import load_collection
from gawah.eval.baseline import judge_run
from gawah.eval.record import read_baseline, write_files
from gawah.evaluate import evaluate


@pytest.fixture
def run(make_shop, write_set):
    """Ten questions about the fee, each found at rank 1, and two that must be refused."""
    queries = [
        {**QUERIES[0], "id": f"q{n}", "query": f"How much is the membership fee, version {n}?"} for n in range(10)
    ]
    return evaluate(make_shop(), load_collection(write_set(queries=queries)), cite=False)


def worse(run, n, *, rank=None):
    """The run with its first n questions not found, or found at a rank."""

    def changed(one):
        return replace(one, outcomes={name: replace(o, rank=rank) for name, o in one.outcomes.items()})

    return replace(run, asked=(*map(changed, run.asked[:n]), *run.asked[n:]))


def baseline_of(run, folder):
    write_files(run, folder)
    return read_baseline(folder)


def test_the_same_run_passes(run, tmp_path):
    verdict = judge_run(run, baseline=baseline_of(run, tmp_path / "b"))
    assert verdict.passes
    assert len(verdict.comparisons) == 4 * 4 + 2
    assert all((c.wins, c.losses) == (0, 0) for c in verdict.comparisons.values())


def test_six_losses_and_no_win_are_worse_and_five_may_be_chance(run, tmp_path):
    """Two-sided: 2 * 0.5^6 = 0.03125, 2 * 0.5^5 = 0.0625."""
    baseline = baseline_of(run, tmp_path / "b")
    assert judge_run(worse(run, 5), baseline=baseline).passes
    verdict = judge_run(worse(run, 6), baseline=baseline)
    assert not verdict.passes
    assert verdict.reasons[0] == "dense recall@1 is worse than the baseline's: 0 better, 6 worse, p = 0.0312"
    assert len(verdict.reasons) == 16


def test_better_by_as_much_passes(run, tmp_path):
    assert judge_run(run, baseline=baseline_of(worse(run, 10), tmp_path / "b")).passes


def test_a_fall_from_rank_1_to_2_is_seen_at_rank_1_and_in_the_reciprocal_rank(run, tmp_path):
    verdict = judge_run(worse(run, 6, rank=2), baseline=baseline_of(run, tmp_path / "b"))
    assert {reason.split(" is worse")[0].split()[1] for reason in verdict.reasons} == {"recall@1", "mrr"}


def test_answers_that_are_destroyed_now_and_were_not_fail(run, tmp_path):
    needle = QUERIES[0]["needle"]
    broken = replace(run, destroyed=replace(run.destroyed, in_content=(needle,), in_text=(needle,)))
    verdict = judge_run(broken, baseline=baseline_of(run, tmp_path / "b"))
    assert verdict.reasons == ("answers are destroyed that the baseline held whole: q0, q1, q2, q3, q4 and 5 more",)
    assert judge_run(broken, baseline=baseline_of(broken, tmp_path / "c")).passes


def test_bluffs_over_the_target_fail_and_at_the_target_pass(run):
    assert judge_run(run, max_bluff=1.0).passes
    (reason,) = judge_run(run, max_bluff=0.5).reasons
    assert reason.startswith("bluffs: 2 of 2 that must be refused were answered (100.0%, at most 100.0%")


def test_a_target_that_is_no_share_or_has_nothing_to_be_checked_on_is_refused(run, make_shop, write_set):
    with pytest.raises(UsageError, match="is no share"):
        judge_run(run, max_bluff=7)
    with pytest.raises(UsageError, match="is no share"):
        judge_run(run, max_bluff=float("nan"))
    none = evaluate(make_shop(), load_collection(write_set("none", unanswerable=[])), cite=False)
    with pytest.raises(UsageError, match="none asks nothing that must be refused"):
        judge_run(none, max_bluff=0.1)


def test_a_baseline_over_other_questions_is_refused(run, make_shop, write_set, tmp_path):
    other = evaluate(
        make_shop(), load_collection(write_set("other", corpus=CORPUS, unanswerable=UNANSWERABLE)), cite=False
    )
    with pytest.raises(UsageError, match=r"over other questions \(12 differ, 'boat' among them\)"):
        judge_run(run, baseline=baseline_of(other, tmp_path / "b"))


def test_a_system_that_the_baseline_lacks_is_left_out(run, tmp_path):
    baseline = baseline_of(run, tmp_path / "b")
    for line in baseline.lines.values():
        line.get("systems", {}).pop("rerank", None)
    assert not [name for name in judge_run(run, baseline=baseline).comparisons if name.startswith("rerank")]


def test_a_rank_that_is_none_is_an_error(run, tmp_path):
    folder = tmp_path / "b"
    write_files(run, folder)
    lines = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    lines[0]["systems"]["dense"]["rank"] = "first"
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UsageError, match="holds the rank 'first'"):
        judge_run(run, baseline=read_baseline(folder))


def test_a_baseline_without_a_system_in_common_is_refused(run, tmp_path):
    folder = tmp_path / "b"
    write_files(run, folder)
    lines = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    written = "".join(json.dumps({**line, "systems": {}} if "systems" in line else line) + "\n" for line in lines)
    (folder / "questions.jsonl").write_text(written, encoding="utf-8")
    with pytest.raises(UsageError, match="no system in common"):
        judge_run(run, baseline=read_baseline(folder))
