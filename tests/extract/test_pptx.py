"""Slide decks: reading order by position, groups, tables, notes, and what is hidden is said."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from tests.extract.made import DATA, blocks, code_of, ooxml, place_of, read, removed

from gawah.extract.slide_layout import Shape, reading_order
from gawah.types import Slide


class Deck:
    """A deck made by python-pptx; boxes are (left, top, width, height) in inches."""

    def __init__(self):
        self.deck = Presentation()
        self.slide = None

    def add(self, layout=6):
        self.slide = self.deck.slides.add_slide(self.deck.slide_layouts[layout])
        return self.slide

    def box(self, text, left, top, width=2, height=1, parent=None):
        shape = (parent or self.slide).shapes.add_textbox(*map(Inches, (left, top, width, height)))
        shape.text_frame.text = text
        return shape

    def bytes(self):
        stream = io.BytesIO()
        self.deck.save(stream)
        return stream.getvalue()

    def read(self):
        return read("talk.pptx", self.bytes())


def test_case_22_torture():
    document = read("22-torture.pptx", (DATA / "22-torture.pptx").read_bytes())
    assert document.text.index("first (left)") < document.text.index("second (right)")
    assert place_of(document, "SPEAKERNOTE") == Slide(1, 1)
    assert place_of(document, "INGROUP") == Slide(1, 1)
    assert place_of(document, "h1 | h2\nx | y") == Slide(1, 1)
    assert place_of(document, "Hidden slide") == Slide(2, 2)
    assert document.warnings == ("slide 2 is hidden, read all the same",)


def test_boxes_are_read_by_rows_whatever_their_order_in_the_file():
    deck = Deck()
    deck.add()
    for text, left, top in [("d", 5, 4.2), ("b", 5, 1.1), ("c", 1, 4), ("a", 1, 1), ("e", 1, 6)]:
        deck.box(text, left, top)
    assert deck.read().text.split() == list("abcde")


def test_a_title_is_the_slides_heading_and_a_slide_without_one_is_numbered():
    deck = Deck()
    first = deck.add(1)
    first.shapes.title.text = "Goals"
    first.placeholders[1].text = "one\ntwo"
    deck.add()
    deck.box("free", 1, 1)
    document = deck.read()
    assert [(b[0], b[1], b[2]) for b in blocks(document)] == [
        ("heading", 2, "Goals"), ("item", 0, "one"), ("item", 0, "two"), ("heading", 2, "Slide 2"), ("paragraph", 0, "free"),
    ]  # fmt: skip
    assert document.title == "Goals"


def test_placeholders_stand_where_their_layout_puts_them():
    deck = Deck()
    slide = deck.add(3)  # two contents side by side
    slide.placeholders[2].text = "right"
    slide.placeholders[1].text = "left"
    tree = slide.shapes._spTree
    tree.append(slide.placeholders[1]._element)  # last in the file
    deck.box("below", 1, 7)
    assert deck.read().text.split() == ["left", "right", "below"]


def test_groups_stay_together_at_their_place():
    deck = Deck()
    slide = deck.add()
    deck.box("after", 6, 1, 2, 2)
    group = slide.shapes.add_group_shape()
    deck.box("g2", 3, 2, parent=group)
    deck.box("g1", 1, 1, parent=group)
    inner = group.shapes.add_group_shape()
    deck.box("g3", 1, 3, parent=inner)
    assert deck.read().text.split() == ["g1", "g2", "g3", "after"]


def test_notes_stand_behind_their_slide_under_a_heading_of_their_own():
    deck = Deck()
    deck.add()
    deck.box("on it", 1, 1)
    deck.slide.notes_slide.notes_text_frame.text = "say this"
    deck.add()
    deck.box("next", 1, 1)
    document = deck.read()
    assert [b[2] for b in blocks(document)] == ["Slide 1", "on it", "Notes", "say this", "Slide 2", "next"]
    assert place_of(document, "say this") == Slide(1, 1)
    assert place_of(document, "say this\n\nnext") == Slide(1, 2)


@pytest.mark.parametrize(
    ("strike", "text"), [("sngStrike", "40 EUR"), ("dblStrike", "40 EUR"), ("noStrike", "90 EUR40 EUR")]
)
def test_struck_out_text_is_deleted_text(strike, text):
    deck = Deck()
    deck.add()
    paragraph = deck.box("", 1, 1).text_frame.paragraphs[0]
    for words in ("90 EUR", "40 EUR"):
        paragraph.add_run().text = words
    paragraph.runs[0]._r.get_or_add_rPr().set("strike", strike)
    document = deck.read()
    assert text in document.text.splitlines()
    assert removed(document) == ({"deleted": "90 EUR"} if strike != "noStrike" else {})


def test_footers_dates_numbers_and_hidden_shapes_are_removed():
    deck = Deck()
    slide = deck.add()
    deck.box("shown", 1, 1)
    for kind, text in (("ftr", "FOOT"), ("sldNum", "7"), ("dt", "May")):
        shape = deck.box(text, 1, 6)
        properties = shape._element.nvSpPr.find("{*}nvPr")
        etree.SubElement(properties, properties.tag.replace("nvPr", "ph"), type=kind)
    secret = deck.box("SECRET", 4, 4)
    secret._element.nvSpPr.cNvPr.set("hidden", "1")
    assert slide is deck.slide
    document = deck.read()
    assert document.text == "shown"
    assert removed(document) == {"footer": "FOOT", "slide number": "7", "date": "May", "hidden": "SECRET"}


def test_tables_keep_merged_cells_in_their_column():
    deck = Deck()
    slide = deck.add()
    table = slide.shapes.add_table(2, 3, *map(Inches, (1, 1, 6, 2))).table
    for index, text in enumerate("abcdef"):
        table.cell(index // 3, index % 3).text = text
    table.cell(0, 1).text, table.cell(0, 2).text = "wide", ""
    table.cell(0, 1).merge(table.cell(0, 2))
    assert deck.read().text == "a | wide\nd | e | f"


def test_charts_give_their_series():
    deck = Deck()
    slide = deck.add()
    data = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("Sales", (1.5, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *map(Inches, (1, 1, 5, 3)), data)
    assert deck.read().text == "Sales: Q1 1.5, Q2 2"


def test_right_to_left_decks_are_read_from_the_right():
    deck = Deck()
    deck.add()
    deck.box("دوم", 1, 1)
    deck.box("اول", 5, 1)
    deck.deck.part._element.set("rtl", "1")
    assert deck.read().text.split() == ["اول", "دوم"]


def test_a_missing_slide_is_said_and_a_deck_without_slides_is_empty():
    xml = '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId r:id="x"/></p:sldIdLst></p:presentation>'
    assert code_of("a.pptx", ooxml("ppt/presentation.xml", {"ppt/presentation.xml": xml})) == "empty"
    assert code_of("a.pptx", Deck().bytes()) == "empty"


frames = st.tuples(*[st.integers(0, 50)] * 2, *[st.integers(0, 30)] * 2)


@given(st.lists(st.one_of(st.none(), frames), max_size=12))
def test_the_order_is_a_permutation_and_nothing_above_and_left_comes_later(boxes):
    shapes = [Shape(number, frame) for number, frame in enumerate(boxes)]
    ordered = reading_order(shapes)
    assert sorted(shape.element for shape in ordered) == list(range(len(boxes)))
    placed = [shape for shape in ordered if shape.frame]
    assert ordered[: len(placed)] == placed
    for at, shape in enumerate(placed):
        for later in placed[at + 1 :]:
            assert not (later.frame[1] < shape.frame[1] and later.frame[0] <= shape.frame[0])


@pytest.mark.parametrize("runs_left", [False, True])
def test_equal_frames_keep_the_files_order(runs_left):
    shapes = [Shape(number, (1, 1, 5, 5)) for number in range(4)]
    assert reading_order(shapes, runs_left=runs_left) == shapes


def test_superscripts_and_subscripts_do_not_run_into_digits():
    deck = Deck()
    deck.add()
    frame = deck.box("", 1, 1).text_frame.paragraphs[0]
    for text, baseline in [
        ("10", ""),
        ("23", "30000"),
        (" m and H", "0"),
        ("2", "-25000"),
        ("O, 10", ""),
        ("2", "-25%"),
        ("3", ""),
    ]:
        run = frame.add_run()
        run.text = text
        if baseline:
            run.font._element.set("baseline", baseline)
    document = deck.read()
    assert document.text == "10^23 m and H2O, 10_2 3"
    assert document.conservation.holds


def test_an_embedded_object_is_said_to_be_unread(tmp_path):
    deck = Deck()
    deck.add()
    deck.box("see below", 1, 1)
    (tmp_path / "a.bin").write_bytes(b"x")
    deck.slide.shapes.add_ole_object(str(tmp_path / "a.bin"), "Visio.Drawing.11", Inches(1), Inches(3))
    document = deck.read()
    assert "see below" in document.text
    assert document.warnings == (
        "slide 1: an embedded object was not read: Visio.Drawing.11",
        "1 picture was not read: words in it cannot be found",  # the one that stands for the object
    )
