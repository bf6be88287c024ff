"""A run folder is read with every field checked; what is no run is one line that names file, question and field."""

from __future__ import annotations

import math

import pytest

from gawah.eval import CollectionError
from gawah.eval.report import read_facts
from gawah.eval.stats import successes


def test_what_was_written_is_what_is_read(run_folder):
    facts = read_facts(run_folder())
    assert [q.id for q in facts.answerable] == ["fee", "boat"]
    assert [q.group for q in facts.unanswerable] == ["near", "far"]
    fee = facts.answerable[0]
    assert fee.ranks["bm25"] == 1
    assert fee.returned[0].holds
    assert fee.withheld is not None
    assert len(fee.withheld.passages) == len(fee.gate.passages) - 1
    assert list(facts.metrics.systems) == ["dense", "bm25", "rrf", "rerank"]
    assert list(facts.metrics.gate.bluffs) == ["all", "near", "far"]
    assert successes(facts.metrics.gate.bluffs["all"]) == 2


def test_numbers_that_are_none_are_read_as_such(run_folder, rewrite):
    def none(line):
        line["gate"] |= {"score": None, "passages": [[None, False]]}
        line["returned"][0]["distance"] = None

    fee = read_facts(rewrite(run_folder(), line=none)).answerable[0]
    assert fee.gate.score is None
    assert fee.gate.passages == ((math.inf, False),)
    assert fee.returned[0].distance == math.inf


BAD_LINES = [
    (lambda line: line.pop("returned"), "fee: the field 'returned' must be a list"),
    (lambda line: line.update(query=3), "fee: the field 'query' must be a string"),
    (lambda line: line["gate"].pop("passages"), "fee, gate: the field 'passages' must be a list"),
    (lambda line: line["gate"].update(passages=[[0.1]]), "a passage is"),
    (lambda line: line["gate"].update(passages=[[True, True]]), "a passage is"),
    (lambda line: line["gate"].update(passages=[[1e300, True]]), "a passage is"),
    (lambda line: line["gate"].update(passages=[["near", 1]]), "a passage is"),
    (lambda line: line["gate"].update(score=float("nan")), "'score' must be a number"),
    (lambda line: line["gate"].update(score=10**400), "'score' must be a number"),
    (lambda line: line["gate"].update(threshold=None), "'threshold' must be a number"),
    (lambda line: line["gate"].update(refused=0), "'refused' must be true or false"),
    (lambda line: line.update(returned=["words"]), "'returned' must be a list of objects"),
    (lambda line: "systems" in line and line["systems"]["rrf"].update(rank=0), "a rank counts from 1"),
    (lambda line: "systems" in line and line["systems"]["rrf"].update(rank=1.5), "'rank' must be a count"),
    (lambda line: "systems" in line and line["systems"].pop("rrf"), "no rank by rrf"),
    (lambda line: line.pop("needle", None), "are of two runs"),
]


@pytest.mark.parametrize(("change", "said"), BAD_LINES, ids=[said for _, said in BAD_LINES])
def test_a_line_that_does_not_fit_is_named(run_folder, rewrite, change, said):
    with pytest.raises(CollectionError) as caught:
        read_facts(rewrite(run_folder(), line=change))
    assert said in str(caught.value)
    assert "questions.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_METRICS = [
    (lambda m: m.pop("stamp"), "the field 'stamp' must be an object"),
    (lambda m: m["n"].update(chunks=-1), "n: the field 'chunks' must be a count"),
    (lambda m: m["gate"].pop("bluffs_withheld"), "gate: the field 'bluffs_withheld' must be an object"),
    (lambda m: m["gate"]["give_ups"].update(k=3, n=2), "3 of 2 is no proportion"),
    (lambda m: m["stamp"].update(extractors=[1]), "'extractors' must be a list of strings"),
    (lambda m: m["systems"]["rrf"]["all"].update(mrr="high"), "'mrr' must be a number"),
    (lambda m: m["systems"].update(rrf=[]), "'rrf' must be an object"),
    (lambda m: m["destroyed"].update(k=True), "'k' must be a count"),
]


@pytest.mark.parametrize(("change", "said"), BAD_METRICS, ids=[said for _, said in BAD_METRICS])
def test_metrics_that_do_not_fit_are_named(run_folder, rewrite, change, said):
    with pytest.raises(CollectionError) as caught:
        read_facts(rewrite(run_folder(), metrics=change))
    assert said in str(caught.value)
    assert "metrics.json" in str(caught.value)


def test_a_folder_without_times_is_of_an_older_gawah(run_folder):
    folder = run_folder()
    (folder / "times.json").unlink()
    with pytest.raises(CollectionError, match=r"cannot read .*times\.json"):
        read_facts(folder)
