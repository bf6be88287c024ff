"""TREC files: the bytes they have, the round trip, and what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.eval.made import judged, ranking

from gawah.errors import UsageError
from gawah.eval import CollectionError, qrels_of, read_qrels, read_run, with_rank_scores, write_qrels, write_run
from gawah.eval.trec import DESTROYED, parse_qrels, parse_run, qrels_lines, run_lines
from gawah.types import Hit, Ranking

IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
SCORES = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def runs(draw):
    run = {}
    for query_id in draw(st.lists(IDS, unique=True, max_size=4)):
        chunk_ids = draw(st.lists(IDS, unique=True, min_size=1, max_size=5))
        scores = sorted(draw(st.lists(SCORES, min_size=len(chunk_ids), max_size=len(chunk_ids))), reverse=True)
        run[query_id] = ranking(*zip(chunk_ids, scores, strict=True), system="a b")
    return run


def test_a_run_has_the_six_fields_of_the_format(tmp_path):
    path = tmp_path / "bm25.run"
    write_run(path, {"q 1": ranking(("c1", 12.5), ("c%2", 0.1)), "q2": ranking()})
    assert path.read_bytes() == b"q%201 Q0 c1 1 12.5 bm25\nq%201 Q0 c%252 2 0.1 bm25\n"
    assert read_run(path) == {"q 1": ranking(("c1", 12.5), ("c%2", 0.1))}


def test_judgements_have_the_four_fields_of_the_format(tmp_path):
    path = tmp_path / "set.qrels"
    write_qrels(path, {"q 1": {"c1": 1, "c\n2": 0}})
    assert path.read_bytes() == b"q%201 0 c1 1\nq%201 0 c%0A2 0\n"
    assert read_qrels(path) == {"q 1": {"c1": 1, "c\n2": 0}}


@given(runs())
def test_a_run_comes_back_as_it_was_ties_and_odd_ids_included(run):
    lines = list(run_lines(run))
    assert all(len(line.split()) == len(line.split(" ")) == 6 for line in lines)
    assert parse_run(lines, "f") == run


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-2, 3), min_size=1), max_size=4))
def test_judgements_come_back_as_they_were(qrels):
    assert parse_qrels(qrels_lines(qrels), "f") == qrels


def test_a_run_is_ordered_by_score_then_by_the_rank_written_then_by_id():
    lines = ["q Q0 d 9 1.0 s", "q Q0 b 2 1.0 s", "q Q0 a 2 1.0 s", "q Q0 c 7 3e0 s"]
    assert [hit.chunk_id for hit in parse_run(lines, "f")["q"].hits] == ["c", "a", "b", "d"]
    assert [hit.rank for hit in parse_run(lines, "f")["q"].hits] == [1, 2, 3, 4]


def test_files_of_others_may_use_tabs_and_percent_signs_of_their_own():
    assert list(parse_run(["\tq1  Q0\t100%zz%FF\t1 2 s", ""], "f")["q1"].hits) == [Hit("100%zz%FF", 2.0, 1)]


def test_rank_scores_keep_the_order_where_other_tools_would_see_ties():
    tied = {"q": ranking(("a", 1.0), ("b", 1.0), ("c", 1.0 - 1e-12))}
    assert [(hit.chunk_id, hit.score) for hit in with_rank_scores(tied)["q"].hits] == [
        ("a", 3.0),
        ("b", 2.0),
        ("c", 1.0),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["q Q0 c 1 2"], "f:1: 5 fields where 6"),
        (["q Q0 c 1 2 s", "q Q0 c 2 1 s"], "f:2: 'c' stands twice for the query 'q'"),
        (["q Q0 c 1 2 s", "", "q Q0 d 2 1 t"], "f:3: two systems"),
        (["q Q0 c one 2 s"], "f:1: the rank 'one' is no number"),
        (["q Q0 c 1 high s"], "f:1: the score 'high' is no number"),
        (["q Q0 c 1 nan s"], "f:1: the score 'nan' is no finite number"),
    ],
)
def test_a_run_that_cannot_be_used_is_refused_with_its_line(lines, message):
    with pytest.raises(CollectionError, match=message):
        parse_run(lines, "f")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["q 0 c"], "f:1: 3 fields where 4"),
        (["q 0 c 1", "q 0 c 0"], "f:2: 'c' stands twice"),
        (["q 0 c 1.5"], "f:1: the grade '1.5' is no number"),
    ],
)
def test_judgements_that_cannot_be_used_are_refused_with_their_line(lines, message):
    with pytest.raises(CollectionError, match=message):
        parse_qrels(lines, "f")


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(CollectionError, match="cannot read"):
        read_run(tmp_path / "none.run")
    (tmp_path / "bad.qrels").write_bytes(b"q 0 \xff 1\n")
    with pytest.raises(CollectionError, match="not UTF-8"):
        read_qrels(tmp_path / "bad.qrels")


def test_what_a_run_file_cannot_say_is_not_written():
    with pytest.raises(UsageError, match="one system, not bm25, dense"):
        list(run_lines({"a": ranking(("c", 1.0)), "b": ranking(("c", 1.0), system="dense")}))
    with pytest.raises(UsageError, match="is nan"):
        list(run_lines({"a": ranking(("c", math.nan))}))
    with pytest.raises(UsageError, match="empty id"):
        list(run_lines({"": ranking(("c", 1.0))}))


def test_an_empty_run_is_an_empty_file(tmp_path):
    write_run(tmp_path / "r", {"q": Ranking("bm25", (), 10)})
    assert (tmp_path / "r").read_bytes() == b""
    assert read_run(tmp_path / "r") == {}


def test_chunks_that_hold_the_needle_are_judged_and_a_lost_answer_still_counts():
    queries = [judged("big needle"), judged("gone", id="q2"), judged("BIG NEEDLE", id="q3", document="a.pdf")]
    chunks = {"c1": "a big\nneedle", "c2": "hay", "c3": "overlap: big needle"}
    assert qrels_of(queries, chunks) == {"q1": {"c1": 1, "c3": 1}, "q2": {DESTROYED: 1}, "q3": {"c1": 1, "c3": 1}}
