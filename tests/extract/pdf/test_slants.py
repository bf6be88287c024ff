"""Pages whose lines are not level: read as if they were, with boxes on the page as it is."""

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.pdf.reading import BoxReader, letters, read

from gawah.extract.pdf.frame import Slant
from gawah.extract.pdf.slants import settings_of
from gawah.fragment import locate
from gawah.testing.pdf import Page, pdf, wrapped
from gawah.types import Span

WORDS = [
    "harbour",
    "lantern",
    "officer",
    "river",
    "journal",
    "quartz",
    "pilgrim",
    "Yvonne",
    "half-hearted",
    "1024",
    "flag;",
]
BOX = (0.0, 0.0, 612.0, 792.0)


def tilted(degrees, placed, **options):
    """Lines of (x, y, words), all turned about the middle of the page."""
    angle = math.radians(degrees)
    cos, sin = math.cos(angle), math.sin(angle)
    page = Page(**options)
    for x, y, words in placed:
        dx, dy = x - 306, y - 396
        page.text(306 + dx * cos - dy * sin, 396 + dx * sin + dy * cos, words, 9, angle=(cos, sin))
    return page


def two_columns():
    draw = random.Random(3)
    columns = [wrapped(" ".join(draw.choice(WORDS) for _ in range(160)) + ".", 210, 9) for _ in range(2)]
    placed = [
        (80 + 240 * number, 640 - 12 * row, line)
        for number, column in enumerate(columns)
        for row, line in enumerate(column)
    ]
    return placed, [" ".join(column) for column in columns]


@pytest.mark.parametrize("degrees", [1, -3, 5, 11, -20])
@pytest.mark.parametrize("rotate", [0, 90])
def test_tilted_columns_are_read_one_after_the_other_with_exact_boxes(degrees, rotate):
    placed, columns = two_columns()
    data = pdf([tilted(degrees, placed, rotate=rotate)])
    document = read(data)
    assert document.text.replace("-\n", "-").replace("\n\n", " ").replace("- ", "-") == " ".join(columns).replace(
        "- ", "-"
    )
    reader, draw, right = BoxReader(data), random.Random(11), 0
    for _ in range(60):
        start = draw.randrange(len(document.text) - 30)
        locator = locate(document.places, document.text, Span(start, start + 30))
        right += letters(reader.inside(locator)) == letters(document.text[start : start + 30])
    assert right >= (58 if abs(degrees) <= 5 else 50)  # beyond, level boxes of steep words reach into their neighbours


def test_a_tilted_table_keeps_its_rows():
    rows = [("Station", "Height", "Rain"), *((f"Post {n}", f"{1200 + 7 * n} m", f"{n}.5 mm") for n in range(1, 9))]
    placed = [
        (90 + 130 * column, 600 - 15 * number, cell)
        for number, row in enumerate(rows)
        for column, cell in enumerate(row)
    ]
    assert read(pdf([tilted(-2.5, placed)])).text.splitlines() == [" | ".join(row) for row in rows]


def test_a_level_word_on_a_tilted_page_is_read_and_its_box_is_level():
    placed, _ = two_columns()
    data = pdf([tilted(4, placed).text(500, 60, "level")])
    document = read(data)
    start = document.text.index("level")
    (box,) = locate(document.places, document.text, Span(start, start + 5)).boxes
    assert BoxReader(data).inside(locate(document.places, document.text, Span(start, start + 5))) == "level"
    assert box.y1 - box.y0 < 9


def test_a_mark_across_an_upright_page_stays_aslant():
    page = Page().lines(72, 700, ["The level is read at seven."] * 3)
    angle = math.radians(45)
    page.text(200, 300, "DRAFT", 60, angle=(math.cos(angle), math.sin(angle)))
    document = read(pdf([page]))
    assert "DRAFT" not in document.text
    assert [item.text for item in document.removed] == ["DRAFT"]


def test_words_are_set_straight_by_the_lean_of_most_letters():
    settings = settings_of([0.0, 3.0, 93.0, 45.0], [10, 80, 5, 5], BOX)
    assert settings[0.0] == (0, None)
    assert settings[3.0] == (0, Slant(3.0, 306.0, 396.0))
    assert settings[93.0][0] == 1
    assert settings[45.0] is None
    assert settings_of([0.1], [50], BOX) == {0.1: (0, None)}


@given(st.floats(-30, 30), *[st.floats(0, 700) for _ in range(4)])
def test_a_box_set_straight_and_back_is_the_box(degrees, x0, y0, x1, y1):
    slant = Slant(degrees, 306, 396)
    (left, right), (low, high) = sorted((x0, x1)), sorted((y0, y1))
    back = slant.straight(*slant.upright(left, low, right, high))
    assert back == pytest.approx((left, low, right, high), abs=1e-6)
    for before, after in pairwise([(left, low), (right, high)]):
        assert slant.height(*before) <= slant.height(*after) + abs(right - left)
