"""What is correct, held against the reference definition where it is at hand, and by hand."""

from __future__ import annotations

import importlib.util
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.eval.made import SHARED, judged

from gawah.eval import contains, first_correct, load_queries, locate
from gawah.types import Span

TEXTS = st.text(st.sampled_from(list("ab Iİ\n\t\u00a0\u2028ﬁeé\u0301\u00ad-ß.Σσςकि् ²٣·\x1c")), max_size=30)


@pytest.fixture(scope="module")
def reference():
    path = SHARED / "match.py"
    if not path.is_file():
        pytest.skip("the reference definition is not beside this checkout")
    spec = importlib.util.spec_from_file_location("reference_match", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(query):
    return {
        "needle": query.needle,
        "needle_cells": list(query.needle_cells),
        "needle_parts": list(query.needle_parts),
    }


def test_a_needle_wrapped_over_lines_counts():
    assert contains("before\nthe gate is\n   opened after", judged("the gate is opened"))
    assert not contains("the gate is", judged("the gate is opened"))


def test_in_a_pdf_letters_and_digits_count_only():
    query = judged("The ﬁrst co-operative (founded 1974)", document="Report.PDF")
    assert contains("the first coopera-\ntive: founded  1974!", query)
    assert not contains("the first coopera-\ntive: founded", query)


def test_in_a_pdf_every_cell_of_a_row_does_instead_of_the_row():
    query = judged("| Pump | 40 kW |", document="a.pdf", needle_cells=("Pump", "40 kW"))
    assert contains("40 kW is what the\nPump takes", query)
    assert not contains("Pump, 4 kW", query)


def test_in_a_pdf_both_sides_of_a_page_break_do_instead_of_the_sentence():
    query = judged("It rose by four metres", document="a.pdf", needle_parts=("It rose", "by four metres"))
    assert contains("It rose\nAnnual report 7\nby four metres", query)
    assert not contains("It rose\nAnnual report 7\nby three metres", query)


def test_pieces_do_not_count_where_white_space_is_all_that_may_differ():
    assert not contains("40 kW Pump", judged("| Pump | 40 kW |", needle_cells=("Pump", "40 kW")))


def test_vowel_signs_are_kept_in_a_pdf():
    assert not contains("कल", judged("किला", document="a.pdf"))


def test_a_needle_of_which_nothing_is_left_is_nowhere():
    assert not contains("— …", judged("—", document="a.pdf"))
    assert locate("— …", judged("—", document="a.pdf")) == []


@given(TEXTS, TEXTS, st.sampled_from(["a.md", "a.pdf"]), st.booleans())
def test_the_definition_is_the_reference_one(reference, needle, text, document, embedded):
    text = text + needle + text if embedded else text
    query = judged(needle, document=document)
    fold = query.fold
    assume(reference.alnum(needle) if fold == "pdf" else reference.ws(needle))
    assert contains(text, query) == reference.contains(text, row(query), fold)


@given(st.lists(TEXTS, min_size=1, max_size=3), TEXTS, st.sampled_from(["needle_cells", "needle_parts"]))
def test_pieces_count_as_in_the_reference(reference, pieces, text, field):
    query = judged("never whole", document="a.pdf", **{field: tuple(pieces)})
    assert contains(text, query) == reference.contains(text, row(query), "pdf")


def test_the_first_correct_result_has_rank_1():
    query = judged("needle")
    assert first_correct(query, ["hay", "a needle", "needle"]) == 2
    assert first_correct(query, ["needle"]) == 1
    assert first_correct(query, ["hay"]) is None
    assert first_correct(query, []) is None


# --- places ----------------------------------------------------------------------------------


def test_a_needle_is_placed_over_the_line_break_it_is_wrapped_at():
    text = "It is\n  four hours. It is four hours."
    assert locate(text, judged("It is four hours.")) == [Span(0, 19), Span(20, 37)]


def test_a_needle_in_a_pdf_is_placed_by_its_letters():
    text = "x ﬁrst co-\nopera\u00adtive, y"
    (place,) = locate(text, judged("First cooperative", document="a.pdf"))
    assert place.slice(text) == "ﬁrst co-\nopera\u00adtive"


def test_cells_that_occur_once_tell_where_a_row_is():
    query = judged("Pump 40 kW yes", document="a.pdf", needle_cells=("Pump", "40 kW", "yes"))
    text = "yes\nPump\nyes\n40 kW"
    assert [place.slice(text) for place in locate(text, query)] == ["Pump", "40 kW"]


@given(TEXTS, TEXTS, st.booleans())
def test_a_needle_is_placed_exactly_where_the_text_holds_it(needle, text, embedded):
    assume(needle.split())
    text = text + needle + text if embedded else text
    query = judged(needle)
    places = locate(text, query)
    assert bool(places) == contains(text, query)
    assert all(contains(place.slice(text), query) for place in places)


@given(TEXTS, TEXTS)
def test_in_a_pdf_a_needle_that_stands_there_is_placed(needle, text):
    query = judged(needle, document="a.pdf")
    assume(any(c.isalnum() for c in needle))
    whole = text + "." + needle + "." + text
    assert locate(whole, query)
    for place in locate(whole, query):
        decomposed = unicodedata.normalize("NFKD", place.slice(whole))
        assert any(c.isalnum() or unicodedata.combining(c) for c in decomposed)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared evaluation sets are not beside this checkout")
@pytest.mark.parametrize("name", ["rustbook", "etcd", "multilingual/ur"])
@pytest.mark.parametrize("suffix", [".md", ".pdf"])
def test_every_needle_of_the_shared_sets_has_one_place(name, suffix):
    for query in load_queries(SHARED / name / "queries.jsonl"):
        text = (SHARED / name / "corpus" / query.document).read_text(encoding="utf-8")
        as_kind = judged(query.needle, document=query.document.removesuffix(".md") + suffix)
        assert len(locate(text, as_kind)) == 1, query.id


def test_a_needle_copied_from_the_raw_file_is_found_in_the_canonical_text():
    """A byte order mark inside a file is dropped there, as it is in the needle."""
    query = judged("fell \ufeffsilent\x00 at\r\nnoon")
    assert contains("They fell silent at noon.", query)
    assert locate("They fell silent at\nnoon.", query) == [Span(5, 24)]
