"""Hidden-answer queries: nothing that could answer is left, and nothing else is taken."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.eval.made import cut, judged, ranking

from gawah.chunk import OVERLAP_CHARS
from gawah.errors import UsageError
from gawah.eval import hidden_queries, widen_to_sections, without
from gawah.types import Chunk, Span

TEXT = "It rains. The gate is opened by night. Nobody closes it. It rains more."
NEEDLE = "The gate is opened by night."
AT = TEXT.index(NEEDLE)


def hide(*queries, text=TEXT, chunks, others=None):
    return hidden_queries(queries, {"a.md": text, "b.md": ""}, {"a.md": chunks, "b.md": others or []})


def test_chunks_that_hold_a_part_of_the_needle_are_hidden():
    chunks = cut(TEXT, (0, AT), (AT, 20), (20, 38), (39, 56), (56, len(TEXT)))
    (found,) = hide(judged(NEEDLE, phrasing="ticket"), chunks=chunks).queries
    assert found.excluded == ("d-10-20", "d-20-38")
    assert (found.id, found.query, found.phrasing, found.needle) == ("hidden-q1", "what is it", "ticket", NEEDLE)


def test_a_chunk_whose_overlap_repeats_the_end_of_the_needle_is_hidden():
    (after,) = cut(TEXT, (39, 56), lead="[a > night.]\nopened by  night.\n")
    (clean,) = cut(TEXT, (56, len(TEXT)), lead="[a > closes it.]\n")
    assert hide(judged(NEEDLE), chunks=[after, clean]).queries[0].excluded == (after.id,)


def test_a_chunk_of_another_document_that_holds_the_needle_is_hidden():
    copy = cut(f"Again: {NEEDLE}", (0, 35), document_id="e")
    assert hide(judged(NEEDLE), chunks=[], others=copy).queries[0].excluded == (copy[0].id,)


def test_the_same_question_for_the_same_needle_is_made_once_and_the_rest_are_named():
    queries = [
        judged(NEEDLE, id="a"),
        judged(NEEDLE, id="b", query="what  is it"),
        judged(NEEDLE, id="c", query="who?"),
    ]
    found = hide(*queries, chunks=[])
    assert [query.id for query in found.queries] == ["hidden-a", "hidden-c"]
    assert found.repeated == ("b",)


def test_a_needle_that_is_not_in_its_document_is_named_and_not_used():
    found = hide(judged("Not there."), chunks=cut(TEXT, (0, 10)))
    assert (found.queries, found.unplaced) == ((), ("q1",))


def test_a_document_that_is_not_indexed_is_refused():
    with pytest.raises(UsageError, match=r"'x\.md', the document of 'q1'"):
        hide(judged(NEEDLE, document="x.md"), chunks=[])


def test_whole_sections_can_be_hidden():
    same = cut(TEXT, (0, AT), (AT, 38), section="Rain")
    other = cut(TEXT, (39, 56), section="Gates")
    elsewhere = cut("Rain too", (0, 8), document_id="e", section="Rain")
    chunks = [*same, *other, *elsewhere]
    (found,) = hide(judged(NEEDLE), chunks=[*same, *other], others=elsewhere).queries
    assert widen_to_sections(found, chunks).excluded == ("d-0-10", "d-10-38")


def test_a_ranking_closes_up_where_chunks_are_taken_away():
    left = without(ranking(("a", 3.0), ("b", 2.0), ("c", 1.0)), ["b", "z"])
    assert left.hits == ranking(("a", 3.0), ("c", 1.0)).hits
    assert left.cutoff == 3


@given(st.text(st.sampled_from("abc \n."), min_size=1, max_size=60), st.data())
def test_what_is_left_shares_no_word_of_the_needle_s_place(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    needle = text[start:end]
    if not needle.split():
        return
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=6))})
    spans = list(pairwise(cuts))
    overlap = data.draw(st.integers(0, OVERLAP_CHARS))
    chunks = [
        Chunk(str(low), "d", 0, "", text[low:high], text[max(0, low - overlap) : high], Span(low, high), 1)
        for low, high in spans
    ]
    (found,) = hide(judged(needle), text=text, chunks=chunks).queries
    place = Span(start + len(needle) - len(needle.lstrip()), end - len(needle) + len(needle.rstrip()))
    for chunk in chunks:
        if chunk.id not in found.excluded:
            embedded = Span(max(0, chunk.span.start - overlap), chunk.span.end)
            shared = text[max(embedded.start, place.start) : min(embedded.end, place.end)]
            assert not shared.strip()
