"""A set that is wrong says what is wrong, for each question."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.eval.made import EXAMPLES, SHARED, judged

from gawah.eval import Collection, UnanswerableQuery, load_collection, validate_collection

TEXTS = {
    "a.md": "# The gate\n\nWho opens it\n------------\n\nThe gate is opened\nby the department.\n\n~~~sh\n# not a heading\n~~~\n",
    "b/c.md": "Twice here. Twice here.\n\n````\n```\n# Still code\n````\n\n### Closed at night ###\n",
    "r.pdf": "Pump 40 kW\nPump 7 kW\n2,000 hours of ser-\nvice",
}


def problems(*queries, unanswerable=()):
    return validate_collection(Collection("set", Path("corpus"), queries, tuple(unanswerable)), TEXTS)


def test_a_sound_set_has_no_problems():
    assert problems(
        judged("The gate is opened by the department."),
        judged("2,000 hours of service", id="q2", document="r.pdf"),
        judged("Pump: 7 kW each", id="q3", document="r.pdf", needle_cells=("Pump", "7 kW")),
        judged("# not a heading", id="q4"),
        unanswerable=[UnanswerableQuery("u1", "How much?", "near")],
    ) == []  # fmt: skip


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        (judged("Twice here.", document="b/c.md"), "occurs 2 times"),
        (judged("Nowhere at all."), "occurs 0 times"),
        (judged("Closed at night", document="b/c.md"), "is a heading"),
        (judged("who  opens it"), "is a heading"),
        (judged("The gate"), "is a heading"),
        (judged("by the department.", document="b/c.md"), "stands in a.md, not in b/c.md"),
        (judged("by the department.", document="c.md"), "no document 'c.md'"),
        (judged("opened by", query="Is it OPENED by them?"), "the question holds the needle"),
        (judged("The gate is opened by the department.", query="the gate is opened by the"), ""),
        (
            judged("The gate is opened by the department.", query="the gate is opened by the dep"),
            "needle holds the question",
        ),
        (judged("by the department.", kind="poem"), "the kind 'poem' is unknown"),
        (judged("by the department.", phrasing="rude"), "the phrasing 'rude' is unknown"),
        (judged("—", document="r.pdf"), "nothing of the needle is left"),
        (judged("a b", document="r.pdf", needle_cells=("Pump", "kW")), "no cell or part"),
        (judged("a b", document="r.pdf", needle_parts=("Pump", "8 kW")), "does not hold '8 kW'"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(query, problem):
    found = problems(query)
    assert any(problem in line for line in found) if problem else found == []
    assert all(line.startswith("q1: ") for line in found)


def test_overlapping_occurrences_are_all_counted():
    found = validate_collection(Collection("s", Path(), (judged("ana ana"),), ()), {"a.md": "ana ana ana"})
    assert found == ["q1: the needle occurs 2 times in the corpus; it must occur once"]


def test_ids_are_unique_over_both_files():
    query = judged("The gate is opened by the department.")
    found = problems(query, query, unanswerable=[UnanswerableQuery("q1", "How much?", "near")])
    assert found == ["q1: the id is used twice"] * 2


def test_an_unanswerable_question_is_of_a_known_kind_and_not_answerable():
    found = problems(
        judged("by the department."),
        unanswerable=[UnanswerableQuery("u1", "What  IS it", "near"), UnanswerableQuery("u2", "Who?", "odd")],
    )
    assert found == [
        "u1: the same question is also asked with a needle",
        "u2: the kind 'odd' is unknown; use one of near, far",
    ]


def test_an_empty_set_is_said_to_be_empty():
    assert problems() == ["set: no question; a set needs at least one with a needle"]


def validated(folder):
    found = load_collection(folder)
    files = (path for path in found.corpus_dir.rglob("*") if path.is_file())
    texts = {path.relative_to(found.corpus_dir).as_posix(): path.read_text(encoding="utf-8") for path in files}
    return validate_collection(found, texts)


def test_the_projects_own_set_is_sound():
    assert validated(EXAMPLES) == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared evaluation sets are not beside this checkout")
@pytest.mark.parametrize("name", ["rustbook", "etcd", "unanswerable", "multilingual/hi", "multilingual/ur"])
def test_the_shared_sets_are_sound(name):
    assert validated(SHARED / name) == []
