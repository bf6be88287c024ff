"""Spans are located by the places they touch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.fragment import build, label, locate, locate_each
from gawah.types import (
    Advance,
    Box,
    CharRange,
    CsvCells,
    EpubPlace,
    ImageBox,
    MailPart,
    PageBoxes,
    Place,
    SheetRange,
    Slide,
    Span,
    TimeRange,
)


def place(start, end, locator):
    return Place(Span(start, end), locator)


def test_without_places_a_span_is_its_own_characters_with_lines():
    text = "one\ntwo\nthree\n"
    assert locate((), text, Span(4, 7)) == CharRange(4, 7, 2, 2)
    assert locate((), text, Span(4, 8)) == CharRange(4, 8, 2, 2), "a line break belongs to the line it ends"
    assert locate((), text, Span(2, 9)) == CharRange(2, 9, 1, 3)
    assert locate((), text, Span(4, 4)) == CharRange(4, 4, 2, 2)
    assert locate((), "", Span(0, 0)) == CharRange(0, 0, 1, 1)


@given(st.text("a\n", max_size=30), st.data())
def test_lines_are_those_that_counting_gives(text, data):
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    found = locate((), text, Span(start, end))
    covered = text[start:end]
    assert found.first_line == text[:start].count("\n") + 1
    assert found.last_line == found.first_line + covered.rstrip("\n").count("\n") + max(
        0, len(covered) - len(covered.rstrip("\n")) - 1
    )


def test_rows_are_joined_from_first_to_last():
    places = [place(0, 5, CsvCells(1, 1)), place(6, 10, CsvCells(2, 2)), place(11, 15, CsvCells(3, 4))]
    assert locate(places, "x" * 20, Span(6, 12)) == CsvCells(2, 4)
    assert label(locate(places, "x" * 20, Span(0, 15))) == "rows 1–4"


def test_cells_are_joined_to_a_rectangle_and_whole_rows_win():
    cells = [place(0, 2, CsvCells(3, 3, 2, 2)), place(3, 5, CsvCells(4, 4, 1, 1))]
    assert locate(cells, "x" * 9, Span(0, 9)) == CsvCells(3, 4, 1, 2)
    assert locate([*cells, place(6, 8, CsvCells(5, 5))], "x" * 9, Span(0, 9)) == CsvCells(3, 5)


def test_html_gives_the_words_a_browser_shows_without_the_marks_of_lists():
    text = "* first item\n* second item"
    places = [place(2, 12, CharRange(2, 12)), place(15, 26, CharRange(15, 26))]
    found = locate(places, text, Span(0, 26))
    assert found == CharRange(0, 26, words="first item\nsecond item")
    assert build(found) == "#char=0,26:~:text=first%20item,second%20item"
    assert locate(places, text, Span(8, 12)).words == "item", "only the words inside the span"


def test_adjoining_places_are_not_torn_apart():
    text = "one word"
    places = [place(0, 3, CharRange(0, 3)), place(3, 4, CharRange(3, 4)), place(4, 8, CharRange(4, 8))]
    assert locate(places, text, Span(0, 8)).words == "one word"


def test_pages_bring_the_label_of_the_first_and_all_boxes_once():
    one, two = Box(1, 0, 0, 9, 9), Box(2, 0, 0, 9, 9)
    places = [
        place(0, 5, PageBoxes(1, 1, "iii", (one,))),
        place(6, 9, PageBoxes(1, 1, "iii", (one,))),
        place(10, 15, PageBoxes(2, 2, "iv", (two,))),
    ]
    assert locate(places, "x" * 20, Span(4, 12)) == PageBoxes(1, 2, "iii", (one, two))
    assert locate(places, "x" * 20, Span(11, 12)) == PageBoxes(2, 2, "iv", (two,)), "the second page, not the first"


def test_times_slides_and_image_boxes_are_joined():
    text = "x" * 9
    assert locate([place(0, 2, TimeRange(1, 2)), place(3, 5, TimeRange(2.5, 4))], text, Span(0, 9)) == TimeRange(1, 4)
    assert locate([place(0, 2, Slide(2, 2)), place(3, 5, Slide(3, 3))], text, Span(0, 9)) == Slide(2, 3)
    boxes = [place(0, 2, ImageBox(10, 10, 20, 20)), place(3, 5, ImageBox(50, 0, 10, 10))]
    assert locate(boxes, text, Span(0, 9)) == ImageBox(10, 0, 50, 30)


def test_pages_of_an_image_are_not_joined_and_the_least_sure_part_counts():
    boxes = [place(0, 2, ImageBox(10, 10, 20, 20, 1, 0.6)), place(3, 5, ImageBox(50, 0, 10, 10, 2))]
    assert locate(boxes, "ab cd", Span(0, 5)) == ImageBox(10, 10, 20, 20, 1, 0.6)
    times = [place(0, 2, TimeRange(1, 2)), place(3, 5, TimeRange(2, 3, 0.4))]
    assert locate(times, "ab cd", Span(0, 5)) == TimeRange(1, 3, 0.4)
    pages = [place(0, 2, PageBoxes(1, 1, confidence=0.5)), place(3, 5, PageBoxes(2, 2))]
    assert locate(pages, "ab cd", Span(0, 5)) == PageBoxes(1, 2, confidence=0.5)


def test_ranges_of_one_sheet_are_joined_by_column_order():
    places = [place(0, 2, SheetRange("S", "Z2")), place(3, 5, SheetRange("S", "AA10:AB11"))]
    assert locate(places, "x" * 9, Span(0, 9)) == SheetRange("S", "Z2:AB11")
    assert locate(places, "x" * 9, Span(0, 2)) == SheetRange("S", "Z2")


def test_one_message_part_or_spine_item_keeps_its_name_with_the_span():
    text = "x" * 9
    assert locate(
        [place(0, 2, MailPart("1.2", 0, 2)), place(3, 9, MailPart("1.2", 3, 9))], text, Span(1, 8)
    ) == MailPart("1.2", 1, 8)
    for heads, body in (("0", "1"), ("2.0", "2.1"), ("3/0", "3/1"), ("3/0", "3/10")):
        places = [place(0, 2, MailPart(heads, 0, 2)), place(3, 9, MailPart(body, 3, 9))]
        assert locate(places, text, Span(0, 9)) == MailPart(body, 0, 9), "headers stand above their body"
    assert locate([place(0, 9, EpubPlace("a.xhtml", 0, 9))], text, Span(1, 8)) == EpubPlace("a.xhtml", 1, 8)


@pytest.mark.parametrize(
    "places",
    [
        [place(0, 2, SheetRange("S", "A1")), place(3, 5, SheetRange("T", "A2"))],
        [place(0, 2, SheetRange("S", "A:B")), place(3, 5, SheetRange("S", "A2"))],
        [place(0, 2, MailPart("1", 0, 2)), place(3, 5, MailPart("2", 3, 5))],
        [place(0, 2, EpubPlace("a", 0, 2)), place(3, 5, EpubPlace("b", 3, 5))],
        [place(0, 2, Slide(1, 1)), place(3, 5, CsvCells(1, 1))],
        [place(7, 9, Slide(1, 1))],
    ],
)
def test_what_no_single_locator_covers_is_the_bare_range(places):
    assert locate(places, "x" * 9, Span(0, 6)) == CharRange(0, 6)


spans = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted).map(lambda pair: Span(*pair))


@given(st.lists(st.tuples(spans, st.integers(1, 50)), max_size=12), st.lists(spans, max_size=6))
def test_rows_found_are_those_of_every_overlapping_place(found, asked):
    places = sorted((Place(span, CsvCells(row, row)) for span, row in found), key=lambda item: item.span.start)
    places = places or [Place(Span(50, 60), CsvCells(1, 1))]
    for span, located in zip(asked, locate_each(places, "x" * 60, asked), strict=True):
        rows = [item.locator.first_row for item in places if item.span.overlaps(span)]
        assert located == (CsvCells(min(rows), max(rows)) if rows else CharRange(span.start, span.end))


def glyphs(start, box, toward, tenths, page=1):
    return Place(Span(start, start + len(tenths)), PageBoxes(page, page, "", (box,)), Advance(toward, tenths))


def boxes(places, start, end):
    locator = locate(places, "x" * 40, Span(start, end))
    assert isinstance(locator, PageBoxes)
    return [(box.page, box.x0, box.y0, box.x1, box.y1) for box in locator.boxes]


def test_a_box_is_narrowed_to_the_characters_of_the_span():
    line = glyphs(0, Box(1, 100.0, 700.0, 150.0, 710.0), "right", (100, 200, 50, 150))
    assert boxes([line], 0, 4) == [(1, 100.0, 700.0, 150.0, 710.0)]
    assert boxes([line], 1, 3) == [(1, 110.15, 700.0, 134.85, 710.0)]
    assert boxes([line], 0, 1) == [(1, 100.0, 700.0, 109.85, 710.0)]


@pytest.mark.parametrize(
    ("toward", "box", "expected"),
    [
        ("left", Box(1, 100.0, 0.0, 150.0, 10.0), (1, 115.15, 0.0, 139.85, 10.0)),
        ("up", Box(1, 0.0, 100.0, 10.0, 150.0), (1, 0.0, 110.15, 10.0, 134.85)),
        ("down", Box(1, 0.0, 100.0, 10.0, 150.0), (1, 0.0, 115.15, 10.0, 139.85)),
    ],
)
def test_a_box_is_narrowed_along_the_way_its_text_runs(toward, box, expected):
    assert boxes([glyphs(0, box, toward, (100, 200, 50, 150))], 1, 3) == [expected]


def test_a_letter_of_a_ligature_has_the_box_of_all_of_it():
    line = glyphs(0, Box(1, 0.0, 0.0, 30.0, 10.0), "right", (100, 100, -1, -1, 100))
    for start, end in ((1, 2), (2, 3), (3, 4), (1, 4)):
        assert boxes([line], start, end) == [(1, 10.15, 0.0, 19.85, 10.0)]


def test_words_of_one_line_share_a_box_and_lines_columns_and_pages_do_not():
    word = glyphs(0, Box(1, 100.0, 700.0, 120.0, 710.0), "right", (100, 100))
    beside = glyphs(3, Box(1, 123.0, 699.0, 143.0, 712.0), "right", (100, 100))
    column = glyphs(6, Box(1, 300.0, 700.0, 320.0, 710.0), "right", (100, 100))
    below = glyphs(9, Box(1, 300.0, 688.0, 320.0, 698.0), "right", (100, 100))
    overleaf = glyphs(12, Box(2, 300.0, 688.0, 320.0, 698.0), "right", (100, 100), page=2)
    assert boxes([word, beside, column, below, overleaf], 0, 14) == [
        (1, 100.0, 699.0, 143.0, 712.0), (1, 300.0, 700.0, 320.0, 710.0), (1, 300.0, 688.0, 320.0, 698.0),
        (2, 300.0, 688.0, 320.0, 698.0),
    ]  # fmt: skip
