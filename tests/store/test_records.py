"""Places are found in what is stored as they are in the document, whatever its words look like."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.ports import Embedding, TokenCodes
from gawah.store.records import embedding, embedding_bytes, extraction_json, places_near
from gawah.testing.catalog import make_document
from gawah.types import Advance, Box, CharRange, PageBoxes, Place, Removal, SheetRange, Span
from gawah.wire import to_json

HOSTILE = '{"span":[0,9],"locator":{}} "places":[] \\'
WORDS = st.sampled_from(["", "a", HOSTILE, '\\"places\\":[]', "é"])


@st.composite
def extractions(draw):
    """A document of places in order, and spans of it."""
    starts = sorted(draw(st.lists(st.integers(0, 40), max_size=6)))
    places = [
        Place(
            Span(start, start + draw(st.integers(0, 8))),
            draw(st.sampled_from([SheetRange("S", "A1"), PageBoxes(1, 1, HOSTILE, (Box(1, 0.0, 0.0, 1.0, 2.5),))]))
            if draw(st.booleans())
            else CharRange(start, start, words=draw(WORDS)),
            Advance("right", (5, -1)) if draw(st.booleans()) else None,
        )
        for start in starts
    ]
    made = make_document("a.txt", "x" * 60)
    removed = tuple(Removal(draw(WORDS), draw(WORDS)) for _ in range(draw(st.integers(0, 2))))
    spans = draw(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), max_size=3))
    document = replace(made, places=tuple(places), removed=removed)
    return document, [Span(start, start + n) for start, n in spans]


@given(extractions())
def test_the_places_that_spans_touch_are_found_and_no_others(made):
    document, spans = made
    expected = [place for place in document.places if any(place.span.overlaps(span) for span in spans)]
    stored = extraction_json(document)
    assert places_near(stored, spans) == (bool(document.places), expected)
    kept = json.loads(stored)
    kept["places"] = [  # as the first release wrote them
        {"span": {"start": place.span.start, "end": place.span.end}, "locator": to_json(place.locator)}
        for place in document.places
    ]
    has_places, near = places_near(json.dumps(kept, ensure_ascii=False, separators=(",", ":")), spans)
    assert has_places == bool(document.places)
    assert [(one.span, one.locator) for one in near] == [(one.span, one.locator) for one in expected]


@pytest.mark.parametrize("n_tokens", [0, 1, 3])
@pytest.mark.parametrize("dimensions", [8, 12, 64])
def test_an_embedding_comes_back_as_it_was_also_one_without_a_token(n_tokens, dimensions):
    signs = np.full((n_tokens, -(-dimensions // 8)), 5, np.uint8)
    value = Embedding(np.ones(dimensions, np.float32), TokenCodes(signs, np.ones(n_tokens, np.float16)))
    found = embedding(*embedding_bytes(value))
    assert (found.vector.shape, found.tokens.signs.shape) == (value.vector.shape, signs.shape)
    assert (found.tokens.signs == signs).all()
    assert (found.tokens.scales == value.tokens.scales).all()
