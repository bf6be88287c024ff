"""Pages that only an eye can read become text like all others: in reading order, with boxes on the page, and said."""

import math
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.ocr.pages import grainy, needs
from tests.extract.pdf.reading import read, span_of
from tests.extract.pdf.scans import ENGLISH, boxes_of, picture_of, read_by_eye, scan

from gawah.errors import ExtractionError
from gawah.extract.ocr.words import OcrLine, OcrPage, OcrWord
from gawah.extract.options import Options
from gawah.extract.pdf.drawing import draw, drawing_of
from gawah.extract.pdf.frame import Slant, page_to_shown, shown_to_page
from gawah.extract.pdf.pdfium import open_pdf
from gawah.extract.pdf.seen import page_text
from gawah.extract.registry import extract
from gawah.extract.sandbox import Limits, Sandbox
from gawah.fragment import label, locate
from gawah.testing.extractor import source_of
from gawah.testing.pdf import Page, pdf, wrapped
from gawah.types import BlockKind

LEFT = (
    "The keeper of the lower bridge writes every reading of the gauge into the book before the lamp is lit. Nobody may "
    "cross the bridge while the amber lamp burns, not even the people of the mill. The clerk reads the book each morning "
    "and sends a copy to the town hall."
)
RIGHT = (
    "When the water stands above the third mark the gate is opened by two hands, and the bell is rung nine times. The "
    "miller is told first, then the ferryman. A pump that fails is replaced from the shed behind the smithy within the hour."
)


def two_columns():
    page = Page().text(60, 730, "Rules for the Lower Bridge", size=18)
    page.lines(60, 690, wrapped(LEFT, 220), leading=13).lines(330, 690, wrapped(RIGHT, 220), leading=13)
    return pdf([page])


@pytest.fixture(scope="module")
def text_page():
    return two_columns()


def middle(box):
    return (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2


def turned(point, degrees, centre=(306, 396)):
    angle = math.radians(degrees)
    x, y = point[0] - centre[0], point[1] - centre[1]
    return (
        centre[0] + x * math.cos(angle) - y * math.sin(angle),
        centre[1] + x * math.sin(angle) + y * math.cos(angle),
    )


@needs()
def test_a_scan_aslant_reads_like_the_page_it_was_made_of(text_page):
    typed = read(text_page)
    seen = read_by_eye(pdf([scan(picture_of(text_page), skew=2)]))
    assert seen.text == typed.text
    assert [(b.kind, b.level) for b in seen.blocks] == [(b.kind, b.level) for b in typed.blocks]
    assert seen.title == typed.title == "Rules for the Lower Bridge"
    assert seen.quality["columns"] == 2
    for needle in ("every reading of the gauge", "the bell is rung nine times", "smithy"):
        (want, *_), (found, *_) = boxes_of(typed, needle), boxes_of(seen, needle)
        assert middle(found) == pytest.approx(turned(middle(want), 2), abs=4)
        assert found.y1 - found.y0 < 20


@needs()
@pytest.mark.parametrize(("quarter_turns", "rotate"), [(0, 0), (1, 90), (2, 180), (3, 270), (1, 0)])
def test_boxes_are_in_user_space_however_the_page_is_turned(text_page, quarter_turns, rotate):
    typed = read(text_page)
    data = pdf([scan(picture_of(text_page), quarter_turns=quarter_turns, rotate=rotate)])
    seen = read_by_eye(data)
    assert seen.text == typed.text
    ink = np.asarray(picture_of(data)) < 128  # as shown
    with open_pdf(data) as document, document.page(0) as page:
        drawing = drawing_of(page.box(), page.rotation(), 200)
    needle = "Nobody may cross the bridge while the amber"
    for box, want in zip(boxes_of(seen, needle), boxes_of(typed, needle), strict=True):
        x0, y0, x1, y1 = (round(edge) for edge in drawing.to_pixels(box.x0, box.y0, box.x1, box.y1))
        assert ink[max(0, y0) : y1, max(0, x0) : x1].any()
        sides = sorted((box.x1 - box.x0, box.y1 - box.y0)), sorted((want.x1 - want.x0, want.y1 - want.y0))
        assert sides[0] == pytest.approx(sides[1], abs=3)
        width, height = (612, 792) if quarter_turns % 2 == 0 else (792, 612)
        expected = _turned_on_page(middle(want), quarter_turns, width, height)
        assert middle(box) == pytest.approx(expected, abs=3)


def _turned_on_page(point, quarter_turns, width, height):
    """Where a point lies after the picture was turned anticlockwise; width and height are those of the turned page."""
    x, y = point
    return ((x, y), (width - y, x), (width - x, height - y), (y, height - x))[quarter_turns]


box_edges = st.tuples(st.floats(0, 500), st.floats(0, 700), st.floats(8, 90), st.floats(8, 30)).map(
    lambda sides: (sides[0], sides[1], sides[0] + sides[2], sides[1] + sides[3])
)


@given(st.sampled_from([0, 90, 180, 270]), box_edges, st.tuples(st.floats(-50, 50), st.floats(-50, 50)))
def test_pixels_and_points_are_each_others_inverse(rotation, box, corner):
    shown = (corner[0], corner[1], corner[0] + 612, corner[1] + 792)
    drawing = drawing_of(shown, rotation, 300)
    assert drawing.to_page(*drawing.to_pixels(*box)) == pytest.approx(box, abs=1e-6)
    assert shown_to_page(rotation, shown, *page_to_shown(rotation, shown, *box)) == pytest.approx(box, abs=1e-6)


@given(st.floats(-8, 8), box_edges)
def test_a_box_set_straight_and_back_is_the_same_box(degrees, along_the_lines):
    slant = Slant(degrees, 306, 396)
    assert slant.straight(*slant.upright(*along_the_lines)) == pytest.approx(along_the_lines, abs=1e-6)


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_ink_of_a_turned_and_cropped_page_is_led_back_to_where_it_is(rotate):
    page = Page(rotate=rotate, crop=(100, 150, 500, 700)).draw("0 g 210 340 55 21 re f 0 0 40 40 re f")
    with open_pdf(pdf([page])) as document, document.page(0) as opened:
        picture, drawing = draw(opened, 300)
    ys, xs = np.nonzero(np.asarray(picture) < 128)
    found = drawing.to_page(xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
    assert found == pytest.approx((210, 340, 265, 361), abs=0.3)
    assert drawing.dpi == pytest.approx(300, rel=0.01)


def test_a_huge_page_is_drawn_at_a_lower_resolution():
    drawing = drawing_of((0, 0, 14400, 10), 90, 300)
    assert (drawing.width, drawing.height) == (4, 6000)
    assert drawing.dpi == pytest.approx(30)


def line_of(words, left=100, top=100, block=1, confidence=95.0):
    made = []
    for word in words:
        made.append(OcrWord(word, left, top, left + 20 * len(word), top + 40, confidence))
        left += 20 * len(word) + 14
    return OcrLine(tuple(made), block, 1)


def test_worked_example_of_runs():
    """At 300 dpi, "Hop" is 40 pixels from the top of the H to the end of the p: 9.6 points, of a size of 10.3."""
    far = OcrWord("gap", 1000, 100, 1060, 140, 95.0)
    seen = OcrPage(2550, 3300, (OcrLine((*line_of(["Hop", "Hop"]).words, far), 1, 1),))
    page = page_text(seen, drawing_of((0, 0, 612, 792), 0, 300), 3)
    assert [run.text for run in page.runs] == ["Hop Hop", "gap"]
    first = page.runs[0]
    assert first.size == 10.5
    assert (first.x0, first.y1) == pytest.approx((100 * 0.24, 792 - 100 * 0.24))
    assert first.lefts[0] == pytest.approx(24) and first.rights[-1] == pytest.approx(24 + 134 * 0.24)
    assert first.lefts[3:4].tolist() == pytest.approx([24 + 60 * 0.24])  # the blank takes the room between the words
    assert (page.n_read, page.added["blank between words"], page.confidence) == (9, 1, 0.95)


def test_right_to_left_words_run_leftwards_and_numbers_among_them_do_not():
    words = (
        OcrWord("پل", 800, 100, 860, 140, 90.0),
        OcrWord("250", 730, 100, 786, 140, 90.0),
        OcrWord("میٹر", 600, 100, 716, 140, 90.0),
    )
    page = page_text(OcrPage(2550, 3300, (OcrLine(words, 1, 1),)), drawing_of((0, 0, 612, 792), 0, 300), 1)
    (run,) = page.runs
    assert run.text == "پل 250 میٹر"
    assert run.is_rtl
    assert run.lefts[0] > run.lefts[1] > run.lefts[2]
    assert run.lefts[3] < run.lefts[4] < run.lefts[5]
    assert run.rights[-1] <= run.lefts[2]


@given(
    st.lists(
        st.lists(
            st.tuples(st.text("aghEiW.,ﬁलپ؟-", min_size=1, max_size=8), st.integers(0, 2000), st.integers(10, 60)),
            min_size=1, max_size=6,
        ),
        max_size=6,
    ),
    st.integers(0, 3),
    st.floats(-8, 8),
    st.sampled_from([0, 90, 180, 270]),
)  # fmt: skip
def test_every_letter_that_was_seen_is_in_a_run_once(rows, turn, skew, rotation):
    lines = []
    for number, row in enumerate(rows):
        words = [OcrWord(t, x, 50 * number, x + 20 * len(t), 50 * number + h, 80.0) for t, x, h in row]
        lines.append(OcrLine(tuple(words), 1, 1))
    seen = OcrPage(2550, 3300, tuple(lines), turn, skew)
    page = page_text(seen, drawing_of((0, 0, 612, 792), rotation, 300), 1)
    written = sorted("".join(run.text for run in page.runs).replace(" ", ""))
    assert written == sorted("".join(word.text for word in seen.words).replace("ﬁ", "fi"))
    for run in page.runs:
        assert len(run.text) == len(run.lefts) == len(run.rights)
        assert all(left <= right for left, right in zip(run.lefts, run.rights, strict=True))
    n_written = sum(len(run.text) for run in page.runs)
    assert page.n_read + page.added.total() == n_written + page.dropped.total()
