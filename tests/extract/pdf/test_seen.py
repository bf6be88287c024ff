"""Pages that only an eye can read become text like all others: in reading order, with boxes on the page, and said."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.ocr.pages import needs
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
@pytest.mark.parametrize(("quarter_turns", "rotate"), [(1, 90), (3, 270), (2, 0)])
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
    assert first.lefts[0] == pytest.approx(24)
    assert first.rights[-1] == pytest.approx(24 + 134 * 0.24)
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


SMALL = (320, 130)
NOTE = "Nobody may cross the lower bridge while the amber lamp is lit, and the keeper writes every reading of the gauge down."


def note_page(words=NOTE, size=SMALL):
    page = Page(size=size)
    return page.lines(20, size[1] - 30, wrapped(words, size[0] - 60), leading=13)


@pytest.fixture(scope="module")
def note():
    """A small page that is a picture of a few lines."""
    return scan(picture_of(pdf([note_page()])))


def photograph():
    """A soft picture in which there is no text."""
    x, y = np.meshgrid(np.linspace(0, 3, 200), np.linspace(0, 2, 100))
    levels = (127 + 100 * np.sin(x) * np.cos(y)).astype(np.uint8)
    return Page(size=SMALL).picture((0, 0, *SMALL), 200, 100, levels.tobytes())


@needs()
def test_text_pages_scans_and_photographs_are_counted_apart(note):
    asked = []
    data = pdf([Page().lines(60, 700, wrapped(LEFT, 400)), note, photograph()])
    source = source_of("mixed.pdf", data, "application/pdf")
    document = extract(source, data, options=ENGLISH, before_page=lambda: asked.append(1))
    wanted = {"pages": 3, "pages_read": 2, "pages_ocr": 2, "pages_unread": 0, "pages_low_confidence": 0}
    assert {name: document.quality[name] for name in wanted} == wanted
    assert len(asked) == 2
    assert "1 page (3) are pictures in which no text can be made out" in document.warnings
    assert locate(document.places, document.text, span_of(document, "while the amber lamp is lit")).first_page == 2
    with pytest.raises(ExtractionError) as caught:
        read_by_eye(pdf([photograph()]))
    assert (caught.value.reason_code, "no text can be made out" in str(caught.value)) == ("no_text", True)


@needs()
def test_the_own_words_of_a_page_read_by_eye_are_kept_aside():
    data = pdf([scan(picture_of(pdf([note_page()]))).text(20, 10, "Scan 17", mode=3)])
    document = read_by_eye(data)
    assert document.text == NOTE
    assert [(item.reason, item.text) for item in document.removed] == [("words read anew by eye", "Scan 17")]
    assert document.conservation.dropped["words read anew by eye"] == 7


@needs()
def test_a_scanned_table_has_rows_and_running_heads_go():
    rows = [
        ("Gate", "Opened", "Closed"),
        ("North", "0612", "1840"),
        ("South", "0705", "1922"),
        ("Mill", "0550", "2015"),
    ]
    pages = []
    for number, words in enumerate((NOTE, LEFT[:110], RIGHT[:110]), start=1):
        page = note_page(words, size=(320, 300)).text(20, 285, "Book of the Lower Bridge", size=9)
        for row, cells in enumerate(rows if number == 2 else ()):
            for column, cell in enumerate(cells):
                page.text(20 + 100 * column, 180 - 16 * row, cell)
        pages.append(page)
    document = read_by_eye(pdf([scan(picture_of(pdf(pages), number)) for number in (1, 2, 3)]))
    assert document.quality["tables"] == 1
    assert "North | 0612 | 1840\nSouth | 0705 | 1922" in document.text
    heads = [item for item in document.removed if item.reason == "running head"]
    assert [item.text for item in heads] == ["Book of the Lower Bridge"] * 3
    assert all(270 < item.locator.boxes[0].y0 < 290 for item in heads)
    assert "Book of the Lower Bridge" not in document.text


def test_without_tesseract_a_scan_is_unread_and_the_package_is_named(note, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    document = read_by_eye(pdf([Page().lines(60, 700, wrapped(LEFT, 400)), note, note]))
    assert (document.quality["pages_unread"], document.quality["pages_ocr"]) == (2, 0)
    (warning,) = document.warnings
    assert warning.startswith("2 pages (2, 3) are images with hardly any text; unread (ocr_unavailable): ")
    assert "apt-get install tesseract-ocr" in warning
    with pytest.raises(ExtractionError) as caught:
        read_by_eye(pdf([note]))
    assert (caught.value.reason_code, caught.value.retryable) == ("ocr_unavailable", True)


def install(tmp_path, monkeypatch, script):
    """A program of that name that does what the test needs, instead of tesseract."""
    program = tmp_path / "tesseract"
    program.write_text(f'#!/bin/sh\ncase "$*" in *--list-langs*) printf "List\neng\n"; exit;; esac\n{script}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def test_a_page_that_is_hardly_legible_says_so_in_its_citations(note, monkeypatch, tmp_path):
    row = r"5\t1\t1\t1\t1\t{0}\t{1}\t100\t90\t40\t{2}\t{3}"
    words = [row.format(1, 100, 61, "dim"), row.format(2, 200, 61, "print"), row.format(3, 400, 12, "fog")]
    install(tmp_path, monkeypatch, "cat > /dev/null; printf '" + r"\n".join(words) + r"\n'")
    document = read_by_eye(pdf([Page().lines(60, 700, wrapped(LEFT, 400)), note]))
    assert document.text.endswith("\n\ndim print")
    assert document.quality["pages_low_confidence"] == 1
    assert document.warnings == ("low_confidence: 1 of 2 pages were hardly legible: 2 (48 %)",)
    assert label(document.places[-1].locator) == "page 2, low confidence (48 %)"
    assert all(place.locator.confidence == 1 for place in document.places if place.locator.first_page == 1)
    (fog,) = document.removed
    assert (fog.reason, fog.text, fog.locator.first_page) == ("unreadable words", "fog", 2)
    assert document.conservation.dropped["unreadable words"] == 3


@needs()
def test_the_sandbox_gives_time_for_each_page_and_reads_the_same(note):
    """A scan in a message, too; in one second nothing could start tesseract six times."""
    from email.message import EmailMessage

    message = EmailMessage()
    message["Subject"] = "the rules"
    message.set_content("See the scan.")
    message.add_attachment(pdf([note, note]), maintype="application", subtype="pdf", filename="r.pdf")
    data = message.as_bytes()
    source, options = source_of("a.eml", data, "message/rfc822"), Options(ocr_languages="eng+xyz")
    with Sandbox(Limits(cpu_s=1, wall_s=0.8), options) as sandbox:
        document = sandbox.extract(source, data)
    assert document == extract(source, data, options=options)
    assert document.text.count(NOTE) == 2
    assert document.quality["pages_ocr"] == 2
    said = "r.pdf: read without xyz: apt-get install tesseract-ocr-xyz, or change `ocr_languages`"
    assert document.warnings == (said,)


def test_a_page_that_tesseract_cannot_do_leaves_the_others(note, monkeypatch, tmp_path):
    install(tmp_path, monkeypatch, 'echo "no luck" >&2; exit 1')
    document = read_by_eye(pdf([Page().lines(60, 700, wrapped(LEFT, 400)), note]))
    assert document.quality["pages_unread"] == 1
    assert "unread (ocr_failed): tesseract failed: no luck" in document.warnings[0]
    with pytest.raises(ExtractionError) as caught:
        read_by_eye(pdf([note]))
    assert caught.value.reason_code == "ocr_failed"


@pytest.mark.parametrize("box", [(0, 0, 0, 800), (0, 0, 600, 0), (5, 5, 5, 5)])
def test_a_page_without_width_or_height_has_a_picture_all_the_same(box):
    drawing = drawing_of(box, 0, 300)
    assert min(drawing.width, drawing.height) >= 1
    assert drawing.dpi > 0
    assert drawing.to_page(0, 0, 1, 1)
