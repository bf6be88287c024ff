"""A page is drawn with a frame around what was read and what was taken out, in a process of its own."""

import io

import numpy as np
import pytest
from PIL import Image

from gawah.errors import ExtractionError, NotFoundError, UsageError
from gawah.extract.confine import Limits
from gawah.extract.looking import PDF
from gawah.extract.registry import extract
from gawah.extract.sandbox import Sandbox
from gawah.extract.showing import Shown, _checked, _told, harmless_page, shown_page, with_boxes
from gawah.testing.extractor import source_of
from gawah.testing.pdf import Page, pdf
from gawah.types import Block, BlockKind, Conservation, Document, ImageBox, Place, Removal, Span

BLUE, RED = (24, 90, 219), (214, 40, 40)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits()) as running:
        yield running


def coloured(picture, colour):
    """(left, top, right, bottom) of all pixels of a colour."""
    ys, xs = np.nonzero((np.asarray(picture) == colour).all(axis=2))
    return xs.min(), ys.min(), xs.max(), ys.max()


@pytest.mark.parametrize("rotate", [0, 90])
def test_frames_stand_where_the_words_are_on_a_turned_and_cropped_page(sandbox, rotate):
    pages = [
        Page(rotate=rotate, crop=(50, 50, 550, 750)).text(300, 600, "Nobody may cross").text(60, 60, str(number))
        for number in (1, 2, 3)
    ]
    data = pdf(pages)
    document = extract(source_of("a.pdf", data, PDF), data)
    shown = shown_page(sandbox, data, PDF, 2)
    picture, n_places, n_removed = with_boxes(shown, document, 2)
    assert (n_places, n_removed) == (1, 1)  # the words, and the number of the page
    scale = 150 / 72
    assert picture.size == tuple(round(side * scale) for side in ((500, 700) if rotate == 0 else (700, 500)))
    corner = (300 - 50, 750 - 600) if rotate == 0 else (600 - 50, 300 - 50)  # of the first letter, from the top left
    left, top, right, bottom = coloured(picture, BLUE)
    assert min(abs(left - corner[0] * scale), abs(right - corner[0] * scale)) < 10
    assert min(abs(top - corner[1] * scale), abs(bottom - corner[1] * scale)) < 10
    ink = np.asarray(picture.convert("L"))[top + 1 : bottom, left + 1 : right]
    assert (ink < 128).mean() > 0.05
    assert coloured(picture, RED) != coloured(picture, BLUE)


def test_an_images_boxes_are_percents_of_it(sandbox):
    encoded = io.BytesIO()
    Image.new("RGB", (200, 100), "white").save(encoded, "PNG")
    shown = shown_page(sandbox, encoded.getvalue(), "image/png", 1)
    assert (shown.width, shown.height, shown.drawing) == (200, 100, None)
    document = Document(
        "id", source_of("a.png", b"", "image/png"), "a", "und", "word", (Block(BlockKind.PARAGRAPH, Span(0, 4)),),
        (Place(Span(0, 4), ImageBox(10, 20, 30, 40)),), "image/1", Conservation(4, 4, {}, {}),
        removed=(Removal("unreadable words", "x", ImageBox(80, 80, 5, 5, page=2)), Removal("nowhere", "y")),
    )  # fmt: skip
    picture, n_places, n_removed = with_boxes(shown, document, 1)
    assert (n_places, n_removed) == (1, 0)
    assert coloured(picture, BLUE) == (19, 19, 80, 60)


def test_what_cannot_be_drawn_is_said(sandbox):
    data = pdf([Page().text(60, 700, "one")])
    with pytest.raises(NotFoundError, match=r"there is no page 4: the file has 1 page$"):
        shown_page(sandbox, data, PDF, 4)
    with pytest.raises(UsageError, match="text/markdown has no pages"):
        shown_page(sandbox, b"# a", "text/markdown", 1)
    with pytest.raises(ExtractionError) as caught:
        shown_page(sandbox, b"%PDF-1.7 nothing", PDF, 1)
    assert caught.value.reason_code == "damaged"
    with pytest.raises(ExtractionError) as caught:
        shown_page(sandbox, b"\x89PNG\r\n\x1a\nnothing", "image/png", 1)
    assert caught.value.reason_code == "damaged"


def test_a_page_that_takes_all_memory_ends_its_own_process(shared):
    data = (shared / "cases" / "files" / "18-recursive-form-xobject.pdf").read_bytes()
    limits = Limits(memory_bytes=1, cpu_s=5, wall_s=60)
    with Sandbox(limits) as sandbox, pytest.raises(ExtractionError) as caught:
        shown_page(sandbox, data, PDF, 1)
    assert caught.value.reason_code in ("extractor_crashed", "timeout_wall", "timeout_cpu", "memory_limit")


GOOD = {"pages": 1, "width": 1, "height": 1, "box": [], "rotation": 0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 9}, {"width": -1, "height": -1}, {"box": [1]}, {"box": ["x"]}, {"box": None}, {"width": None},
        {"pages": "many"}, {"rotation": "left"},
    ],
)  # fmt: skip
def test_an_answer_that_makes_no_sense_is_an_error(wrong):
    assert _checked(GOOD, b"abc", 1) == Shown(1, 1, b"abc", None)
    with pytest.raises(ExtractionError) as caught:
        _checked({**GOOD, **wrong}, b"abc", 1)
    assert caught.value.reason_code == "extractor_crashed"


@pytest.mark.parametrize("answer", [b"", b"{}", b"[]\n", b"null\n", b"x" * 99_999, b"\xff\n"])
def test_an_answer_without_a_head_is_an_error(answer):
    assert _told(memoryview(b'{"a": 1}\nrest')) == ({"a": 1}, b"rest")
    with pytest.raises(ExtractionError) as caught:
        _told(memoryview(answer))
    assert caught.value.reason_code == "extractor_crashed"


def test_a_page_is_shown_in_its_colours_with_its_printed_number(sandbox):
    page = Page().draw("1 0 0 rg 100 100 200 200 re f")
    shown = shown_page(sandbox, pdf([page]), PDF, 1, 72)
    picture = Image.frombytes("RGB", (shown.width, shown.height), shown.pixels)
    assert coloured(picture, (255, 0, 0)) == (100, shown.height - 300, 299, shown.height - 101)
    assert (shown.n_pages, shown.label) == (1, "")


def test_a_page_of_html_comes_harmless_out_of_a_process_of_its_own(sandbox):
    body, is_marked = harmless_page(sandbox, b"<p>one<script>x()</script> two</p>", [("onetwo", 0, "soft")])
    assert is_marked
    assert body == '<div><div><p><mark class="soft" id="cited">one</mark> <mark class="soft">two</mark></p></div></div>'
