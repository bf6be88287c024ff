"""A quote's boxes hold the quote's letters: read back by pdfium, on pages of every kind."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.pdf.reading import BoxReader, letters, locator_of, read

from gawah.extract.pdf.frame import to_page
from gawah.fragment import build, label, locate
from gawah.testing.pdf import Page, pdf, wrapped
from gawah.types import PageBoxes, Span

WORDS = [
    "harbour",
    "lantern",
    "officer",
    "coffee",
    "waffle",
    "river",
    "journal",
    "quartz",
    "wavelet",
    "fjord",
    "pilgrim",
    "AVOW",
    "Tokyo",
    "yellow",
    "jigsaw",
    "minimum",
    "Yvonne",
    "typical",
    "kayak",
    "LATEX",
    "official",
    "1024",
    "3.14159",
    "(see",
    "page",
    "7)",
    "half-hearted",
    "fifth",
    "flag;",
    "sea:",
    '"Wolf"',
]


def prose(seed, n_words):
    draw = random.Random(seed)
    return " ".join(draw.choice(WORDS) for _ in range(n_words))


def two_columns(seed, **options):
    page = Page(**options)
    for number in range(2):
        page.lines(50 + 260 * number, 740, wrapped(prose(seed + number, 330), 240, 9)[:55], size=9, leading=11.5)
    return page


@pytest.fixture(scope="module")
def printed():
    data = pdf([two_columns(seed) for seed in (1, 3, 5)])
    return data, read(data)


@pytest.mark.parametrize("way", ["inside", "touched"])
def test_two_hundred_quotes_are_read_back_letter_for_letter(printed, way):
    data, document = printed
    reader, draw, right = BoxReader(data), random.Random(11), 0
    for _ in range(200):
        start = draw.randrange(len(document.text) - 30)
        locator = locate(document.places, document.text, Span(start, start + 30))
        right += letters(getattr(reader, way)(locator)) == letters(document.text[start : start + 30])
    assert right >= 198


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (30, 40, 600, 700)])
def test_boxes_are_exact_on_turned_and_cropped_pages(rotate, crop):
    data = pdf([Page(rotate=rotate, crop=crop).lines(72, 600, ["The fee is 40 euro in cash.", "It is due in May."])])
    document = read(data)
    locator = locator_of(document, "fee is 40")
    assert BoxReader(data).inside(locator) == "fee is 40"
    (box,) = locator.boxes
    assert 72 < box.x0 < box.x1 < 140
    assert 598 < box.y0 < 600 < box.y1 < 610


@pytest.mark.parametrize(("angle", "turn"), [((0, 1), 1), ((-1, 0), 2), ((0, -1), 3)])
def test_text_that_runs_upwards_downwards_or_on_its_head_has_its_boxes(angle, turn):
    data = pdf(
        [Page().text(300, 400, "Sideways goes the crab", angle=angle).text(320, 420, "along the shore", angle=angle)]
    )
    document = read(data)
    assert BoxReader(data).inside(locator_of(document, "goes the")) == "goes the"
    assert document.places[0].advance.toward == ("right", "up", "left", "down")[turn]


def test_a_quote_over_two_lines_has_a_box_for_each():
    data = pdf([Page().lines(72, 600, ["A line that goes on to the end of the", "next one, which ends here."])])
    locator = locator_of(read(data), "end of the next one")
    assert len(locator.boxes) == 2
    assert locator.boxes[0].y0 > locator.boxes[1].y1
    assert BoxReader(data).inside(locator).replace("\r\n", "") == "end of thenext one"


def test_a_place_is_named_by_page_and_printed_number():
    pages = [Page().text(72, 600, f"Words of page {number} and more") for number in "abc"]
    document = read(pdf(pages, labels="0 << /S /r /St 3 >> 2 << /S /D >>"))
    locators = [locator_of(document, f"page {number}") for number in "abc"]
    assert [build(locator) for locator in locators] == ["#page=1", "#page=2", "#page=3"]
    assert [label(locator) for locator in locators] == ["page 1 (iii)", "page 2 (iv)", "page 3 (1)"]


def test_several_words_on_one_line_share_a_box_and_columns_do_not():
    page = Page().text(72, 600, "left").text(91, 600, "side").text(300, 600, "right").text(330, 600, "side")
    page.text(72, 588, "lower").text(300, 588, "upper")
    document = read(pdf([page]))
    line = locate(document.places, document.text, Span(0, len(document.text)))
    assert isinstance(line, PageBoxes)
    assert len(line.boxes) == 4


@given(st.integers(0, 3), *[st.floats(-1000, 1000) for _ in range(4)])
def test_a_frame_turned_four_times_is_the_frame(turn, x0, y0, x1, y1):
    box = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    assert to_page((4 - turn) % 4, *to_page(turn, *box)) == box
    for _ in range(4):
        box = to_page(turn, *box)
    assert box[0] <= box[2]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(20, 500), st.integers(20, 760), st.sampled_from(WORDS)), min_size=1, max_size=40))
def test_wherever_words_stand_none_is_lost_and_each_is_where_its_box_is(placed):
    page = Page()
    for x, y, word in placed:
        page.text(x, y, word, size=8)
    data = pdf([page])
    document = read(data)
    kept = "".join(place.span.slice(document.text) for place in document.places)
    removed = "".join(removal.text for removal in document.removed)
    there = letters(BoxReader(data).all_of(1))
    twice = document.conservation.dropped.get("printed twice", 0)
    assert set(letters(kept + removed)) == set(there)
    assert len(letters(kept + removed)) <= len(there) <= len(letters(kept + removed)) + twice
