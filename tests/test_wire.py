"""Values survive their JSON form."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.types import (
    Box,
    CharRange,
    Conservation,
    CsvCells,
    Failure,
    ModelStamp,
    PageBoxes,
    Place,
    SheetRange,
    Span,
    Stamp,
    TimeRange,
)
from gawah.wire import from_json, to_json

names = st.text(max_size=20)
numbers = st.integers(0, 10**9)
floats = st.floats(allow_nan=False, allow_infinity=False, width=32)
locators = st.one_of(
    st.builds(CharRange, numbers, numbers, numbers, numbers, names),
    st.builds(CsvCells, numbers, numbers, numbers, numbers),
    st.builds(
        PageBoxes, numbers, numbers, names, st.lists(st.builds(Box, numbers, floats, floats, floats, floats)).map(tuple)
    ),
    st.builds(TimeRange, floats, floats),
    st.builds(SheetRange, names, names),
)
spans = st.tuples(numbers, numbers).map(lambda pair: Span(min(pair), max(pair)))


@given(st.builds(Place, spans, locators))
def test_a_place_with_any_locator_comes_back_the_same(place):
    assert from_json(Place, json.loads(json.dumps(to_json(place)))) == place


@given(st.builds(Stamp, st.builds(ModelStamp, names, names, numbers, numbers, names), names, names, names))
def test_a_stamp_comes_back_the_same(stamp):
    assert from_json(Stamp, json.loads(json.dumps(to_json(stamp)))) == stamp


def test_the_books_of_an_extraction_come_back_the_same():
    books = Conservation(10, 9, {"carriage return": 2}, {"separator": 1})
    assert from_json(Conservation, json.loads(json.dumps(to_json(books)))) == books
    assert books.holds


@pytest.mark.parametrize(
    "value",
    [
        {"code": "x"},
        {"code": "x", "reason": "y", "retryable": False, "extra": 1},
        [1],
        {"code": 1, "reason": "y", "retryable": True},
    ],
)
def test_json_that_does_not_fit_is_an_error(value):
    with pytest.raises((ValueError, TypeError)):
        from_json(Failure, value)


def test_what_has_no_json_form_is_an_error():
    with pytest.raises(TypeError):
        to_json(object())
