"""The section on answers: what became of every question, to the number of metrics.json, and the wrong ones as text."""

from __future__ import annotations

import json

import pytest
from tests.eval.conftest import QUERIES, UNANSWERABLE
from tests.eval.report.parsed import tree

from gawah.eval import load_collection
from gawah.eval.answers import Cited, Reply, judge_replies
from gawah.eval.collection import CollectionError
from gawah.eval.record import write_files
from gawah.eval.report import page, read_facts
from gawah.eval.report.answering import SHOWN, answers_section
from gawah.evaluate import evaluate

RIGHT = Reply("answered", "It is that [1].", (Cited("fees.md", QUERIES[0]["needle"]),), ms=3.0)
WRONG = Reply("answered", "It is <b>blue</b> [1].", (Cited("fees.md", "Something else."),), ms=4.0)


@pytest.fixture
def answered(make_shop, write_set, tmp_path):
    """`answered(replies)`: the folder of a run with these replies, by question id; the others were refused."""

    def make(replies, *, is_remote=False, **given):
        collection = load_collection(write_set("set", **given))
        run = evaluate(make_shop(), collection)
        pairs = [(query, replies.get(query.id, Reply("refused"))) for query in collection.questions]
        reached = {one.query.id: one.reached for one in run.asked}
        answers = judge_replies(pairs, reached, answerer="a model", is_remote=is_remote, deadline_s=5, concurrency=1)
        write_files(run, tmp_path / "run", answers)
        return tmp_path / "run"

    return make


def test_the_tables_hold_what_the_metrics_hold_and_wrong_answers_stand_as_text(answered):
    first, second = QUERIES[0]["id"], QUERIES[1]["id"]
    folder = answered({first: RIGHT, second: WRONG, UNANSWERABLE[0]["id"]: WRONG})
    section = tree(answers_section(read_facts(folder)))
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["answers"]
    rows = {row.all("th")[0].text: [cell.text for cell in row.all("td")] for row in section.all("tr") if row.all("td")}
    right = metrics["tally"]["answerable"]["all"]["answered"]
    assert rows["answerable, all"][0] == f"{right['k']} of {right['n']}" == f"2 of {len(QUERIES)}"
    assert rows["the answer was in it, all"][0].startswith(f"1/{len(QUERIES)}")
    assert rows["answered, of those that must be refused"][0].startswith(f"1/{len(UNANSWERABLE)}")
    cards = section.all("article")
    assert len(cards) == 2
    assert all("It is <b>blue</b> [1]." in card.text for card in cards)
    assert QUERIES[1]["needle"] in cards[1].all("blockquote")[0].text


def test_a_run_without_answers_has_no_such_section(run_folder):
    assert answers_section(read_facts(run_folder())) == ""
    assert "What was answered" not in page(read_facts(run_folder()))


def test_of_a_server_that_cites_nothing_what_cannot_be_known_is_called_unknown(answered):
    folder = answered({QUERIES[0]["id"]: Reply("uncited", "I cannot say.")}, is_remote=True)
    text = tree(answers_section(read_facts(folder))).text
    assert "unknown" in text
    assert "never had it" not in text


def test_wrong_answers_that_are_not_shown_are_named(answered):
    queries = [{**QUERIES[0], "id": f"q{n}", "query": f"Fee number {n}?"} for n in range(SHOWN + 2)]
    section = tree(answers_section(read_facts(answered({one["id"]: WRONG for one in queries}, queries=queries))))
    assert len(section.all("article")) == SHOWN
    assert f"q{SHOWN}, q{SHOWN + 1}" in section.text


def test_metrics_that_no_run_wrote_are_an_error_that_names_the_field(answered):
    folder = answered({})
    path = folder / "metrics.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    body["answers"]["bluffs"]["k"] = 99
    path.write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(CollectionError, match="99 of"):
        answers_section(read_facts(folder))
