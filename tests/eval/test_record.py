"""A run to metrics.json, a line a question and TREC files, and back as a baseline."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.eval.conftest import QUERIES

from gawah.errors import UsageError
from gawah.eval import CollectionError, load_collection, read_run
from gawah.eval.record import lines_of, metrics_of, read_baseline, read_times, times_of, write_files
from gawah.evaluate import evaluate

COUNT = {"k", "n", "low", "high"}


@pytest.fixture
def run(make_shop, write_set):
    return evaluate(make_shop(), load_collection(write_set()))


def test_metrics_have_the_documented_form(run):
    metrics = metrics_of(run)
    assert metrics["schema"] == "gawah.metrics/1"
    assert (metrics["set"], metrics["strategy"]) == ("little", "blocks-E/1")
    assert metrics["stamp"]["model"]["name"] == "fake/bag-of-words"
    assert metrics["stamp"]["extractors"] == ["markdown/1"]
    assert set(metrics["systems"]) == {"dense", "bm25", "rrf", "rerank"}
    for groups in metrics["systems"].values():
        assert set(groups) == {"own", "ticket", "all"}
        for measures in groups.values():
            assert set(measures) == {
                "recall@1", "recall@4", "recall@8", "recall@20", "recall@2000chars", "recall@4000chars", "mrr",
            }  # fmt: skip
            assert set(measures["recall@1"]) == COUNT
    assert metrics["destroyed"] == {"k": 0, "n": 2}
    assert set(metrics["gate"]["give_ups"]) == COUNT | {"own", "ticket"}
    assert set(metrics["gate"]["bluffs"]) == COUNT | {"at_most", "near", "far"}
    assert metrics["gate"]["bluffs"]["k"] == 2
    assert set(metrics["gate"]["bluffs_withheld"]) == COUNT | {"at_most"}
    assert metrics["gate"]["bluffs_withheld"]["n"] == 2
    assert set(metrics["citation"]) == {"quote_exact", "page_right"}
    assert set(metrics["citation"]["quote_exact"]) == {"k", "n"}
    assert metrics["tokens"]["embedded"] > metrics["tokens"]["context"] > 0
    assert {"embed", "dense", "bm25", "total"} <= set(metrics["times_ms"])
    json.dumps(metrics, allow_nan=False)


def test_a_set_without_unanswerables_and_one_question_has_metrics(make_shop, write_set):
    run = evaluate(make_shop(), load_collection(write_set(queries=QUERIES[:1], unanswerable=[])))
    metrics = metrics_of(run)
    assert metrics["gate"]["bluffs"] == {
        "k": 0, "n": 0, "low": 0.0, "high": 1.0, "at_most": 1.0,
        "near": {"k": 0, "n": 0, "low": 0.0, "high": 1.0}, "far": {"k": 0, "n": 0, "low": 0.0, "high": 1.0},
    }  # fmt: skip
    json.dumps(metrics, allow_nan=False)


def test_all_refused_is_a_result(make_shop, write_set):
    run = evaluate(make_shop(gate_threshold=0.0), load_collection(write_set()))
    metrics = metrics_of(run)
    assert metrics["gate"]["give_ups"]["k"] == metrics["gate"]["give_ups"]["n"] == 2
    assert metrics["gate"]["bluffs"]["k"] == 0
    assert metrics["gate"]["answered_right"]["n"] == 0
    assert metrics["citation"]["quote_exact"] == {"k": 0, "n": 0}
    json.dumps(metrics, allow_nan=False)


def test_an_empty_index_has_infinite_distances_which_are_written_as_null(run):
    asked = run.asked[0]
    far = replace(asked, decision=replace(asked.decision, score=float("inf"), signals={"best": float("inf")}))
    line = next(lines_of(replace(run, asked=(far, *run.asked[1:]))))
    assert line["gate"]["score"] is None
    assert line["gate"]["signals"] == {"best": None}


def test_a_line_holds_what_was_judged_and_what_was_returned(run):
    fee, _, guest, _ = lines_of(run)
    assert fee["gate"]["threshold"] == 2.0
    assert [holds for _, holds in fee["gate"]["passages"]].count(True) == 1
    assert fee["gate"]["score"] == min(distance for distance, _ in fee["gate"]["passages"])
    first = fee["returned"][0]
    assert (first["document"], first["place"], first["holds"], first["admitted"]) == ("fees.md", "line 3", True, True)
    assert first["text"].endswith("The membership fee is 40 EUR a month, paid on the first Monday.")
    assert (guest["withheld"], guest["gate"]["right"]) == (None, False)


def test_without_its_answer_a_question_is_judged_by_what_is_left(run):
    for line in lines_of(run):
        if line["withheld"]:
            assert not any(holds for _, holds in line["withheld"]["passages"])
            held = [pair for pair in line["gate"]["passages"] if not pair[1]]
            assert line["withheld"]["passages"] == held


def test_times_are_kept_by_question_and_stage(run, tmp_path):
    write_files(run, tmp_path)
    assert read_times(tmp_path) == {
        stage: tuple(one.times_ms[stage] for one in run.asked if stage in one.times_ms) for stage in times_of(run)
    }
    for text in (
        "{",
        "[]",
        "{}",
        '{"times_ms": {"q": 1}}',
        '{"times_ms": {"q": {"embed": -1}}}',
        '{"times_ms": {"q": {"e": NaN}}}',
    ):
        (tmp_path / "times.json").write_text(text)
        with pytest.raises(CollectionError, match=r"times\.json"):
            read_times(tmp_path)


def test_what_is_written_is_read_again(run, tmp_path):
    folder = tmp_path / "runs" / "first"
    metrics = write_files(run, folder)
    for named in (folder, folder / "metrics.json"):
        baseline = read_baseline(named)
        assert baseline.metrics == json.loads(json.dumps(metrics))
        assert [*baseline.lines] == ["fee", "boat", "u1", "u2"]
        assert baseline.lines["fee"]["systems"]["bm25"]["rank"] == 1
    ranked = read_run(folder / "bm25.run")
    assert [hit.chunk_id for hit in ranked["fee"].hits] == baseline.lines["fee"]["hits"]["bm25"]


def test_a_second_writing_differs_in_times_only(make_shop, write_set, tmp_path):
    found = load_collection(write_set())
    folders = []
    for name in "ab":
        folders.append(tmp_path / name)
        write_files(evaluate(make_shop(), found), folders[-1])
    for file in ("questions.jsonl", "dense.run", "bm25.run", "rrf.run", "rerank.run"):
        assert len({(folder / file).read_bytes() for folder in folders}) == 1
    metrics = [json.loads((folder / "metrics.json").read_text()) for folder in folders]
    for one in metrics:
        del one["times_ms"]
    assert metrics[0] == metrics[1]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "cannot read .*metrics.json: No such file"),
        ({"metrics.json": "{"}, "metrics.json: not JSON"),
        ({"metrics.json": "[]"}, "metrics.json: a JSON object is wanted"),
        ({"metrics.json": '{"schema": "gawah.metrics/0"}'}, "is of schema 'gawah.metrics/0', not gawah.metrics/1"),
        ({"metrics.json": '{"schema": "gawah.metrics/1"}'}, "cannot read .*questions.jsonl"),
        ({"metrics.json": '{"schema": "gawah.metrics/1"}', "questions.jsonl": "\n{\n"}, "questions.jsonl:2: not JSON"),
        (
            {"metrics.json": '{"schema": "gawah.metrics/1"}', "questions.jsonl": "{}\n"},
            "questions.jsonl:1: no question",
        ),
    ],
)
def test_what_is_no_run_is_named_with_file_and_line(tmp_path, files, said):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(CollectionError, match=said):
        read_baseline(tmp_path)


def test_a_run_that_cannot_be_written_says_where(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write the run to .*file"):
        write_files(run, tmp_path / "file")
