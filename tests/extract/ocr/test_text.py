"""tesseract's table becomes lines, lines paragraphs, paragraphs one text with a box for every word."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.extract.ocr.columns import in_columns
from gawah.extract.ocr.paragraphs import paragraphs
from gawah.extract.ocr.tesseract import parse_tsv
from gawah.extract.ocr.words import OcrLine, OcrPage, OcrWord
from gawah.extract.ocr.writer import Writer
from gawah.types import ImageBox

TABLE = """level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext
1\t1\t0\t0\t0\t0\t0\t0\t100\t50\t-1\t
4\t1\t1\t1\t1\t0\t10\t5\t50\t10\t-1\t
5\t1\t1\t1\t1\t1\t10\t5\t20\t10\t96.5\tThe
5\t1\t1\t1\t1\t2\t32\t5\t28\t10\t41.0\t\u200f"fee"\u202c
5\t1\t1\t1\t2\t1\t10\t20\t20\t10\t95\t \t
5\t1\t2\t1\t1\t1\t70\t5\t20\t10\t90\tis
garbage
"""


def test_worked_table():
    assert parse_tsv(TABLE) == [
        OcrLine((OcrWord("The", 10, 5, 30, 15, 96.5), OcrWord('"fee"', 32, 5, 60, 15, 41.0)), 1, 1),
        OcrLine((OcrWord("is", 70, 5, 90, 15, 90.0),), 2, 1),
    ]


def column(left, texts, *, block, width=400, paragraph=1, top=0.0):
    """Lines of 20 pixels, 30 apart; each is as wide as the column unless it ends in "|"."""
    lines = []
    for number, text in enumerate(texts):
        words = text.rstrip("|").split()
        share = (width / 2 if text.endswith("|") else width) / len(words)
        y = top + 30 * number
        lines.append(
            OcrLine(
                tuple(
                    OcrWord(word, left + i * share, y, left + (i + 1) * share, y + 20, 95)
                    for i, word in enumerate(words)
                ),
                block,
                paragraph,
            )
        )
    return lines


def written(*lines, turn=0):
    page = OcrPage(1000, 500, tuple(lines), turn)
    writer = Writer(frozenset(word.text.lower() for word in page.words))
    writer.write(page, 1)
    return writer


def test_a_sentence_that_goes_on_in_the_next_column_is_one():
    left = column(0, ["The committee reviewed the annual", "report and"], block=1)
    right = column(500, ["approved the budget for the", "coming fiscal year."], block=2)
    assert written(*left, *right).text == (
        "The committee reviewed the annual report and approved the budget for the coming fiscal year."
    )


def test_lines_across_two_columns_are_parted_and_those_of_a_table_are_not():
    rows = zip(column(0, ["The committee reviewed the", "annual report and"], block=1),
               column(500, ["approved the budget for", "the coming fiscal year."], block=1), strict=True)  # fmt: skip
    lines = [OcrLine(left.words + right.words, 1, 1) for left, right in rows]
    assert [line.text for line in in_columns(lines)] == [
        "The committee reviewed the", "annual report and", "approved the budget for", "the coming fiscal year.",
    ]  # fmt: skip
    cells = zip(column(0, ["Alabama", "Alaska"], block=2), column(500, ["18,870", "4,520"], block=2), strict=True)
    table = [OcrLine(left.words + right.words, 2, 1) for left, right in cells]
    assert [line.text for line in in_columns(table)] == ["Alabama 18,870", "Alaska 4,520"]


def test_a_finished_sentence_does_not_go_on_in_the_next_column():
    left = column(0, ["The report was read."], block=1)
    assert written(*left, *column(500, ["the budget"], block=2)).text == "The report was read.\n\nthe budget"


def test_tesseracts_paragraphs_that_end_within_a_sentence_are_joined():
    lines = column(0, ["Nobody spoke against the", "purchase of two pumps.", "A second offer is wanted."], block=1)
    lines = [replace(line, paragraph=number) for number, line in enumerate(lines)]
    assert written(*lines).text == "Nobody spoke against the purchase of two pumps.\n\nA second offer is wanted."


def test_lines_that_stop_short_keep_their_breaks():
    lines = column(0, ["Order no. BH-2207|", "Valid until 31 October and not longer than that"], block=1)
    assert written(*lines).text == "Order no. BH-2207\nValid until 31 October and not longer than that"


def test_a_wide_gap_parts_even_where_tesseract_sees_one_paragraph():
    first = column(0, ["one two three", "four five six", "seven eight nine"], block=1)
    after = column(0, ["ten eleven twelve"], block=1, top=140)
    assert [len(part) for part in paragraphs(OcrPage(1000, 500, (*first, *after)))] == [3, 1]


def test_a_word_that_a_line_end_parts_is_whole_unless_the_page_spells_it_with_a_hyphen():
    made = written(
        *column(0, ["locked at nine in the even-", "ing by the well-", "known and well-known keeper"], block=1)
    )
    assert made.text == "locked at nine in the evening by the well-known and well-known keeper"
    assert made.conservation.holds
    assert made.conservation.dropped == {"hyphen at a line's end": 1}
    assert [place.span.slice(made.text) for place in made.places][5:7] == ["even", "ing"]


@pytest.mark.parametrize(("confidence", "expected"), [(95.0, 1.0), (70.0, 1.0), (61.4, 0.61)])
def test_every_word_has_its_box_in_percent_and_says_when_the_page_was_hardly_legible(confidence, expected):
    word = OcrWord("siren", 100, 50, 300, 75, confidence)
    writer = Writer(frozenset())
    writer.write(OcrPage(1000, 500, (OcrLine((word,), 1, 1),)), 3)
    assert writer.places[0].locator == ImageBox(10, 10, 20, 5, 3, expected)


def test_words_that_were_left_out_are_kept_aside_and_count():
    page = OcrPage(
        100, 100, (OcrLine((OcrWord("siren", 0, 0, 9, 9, 90),), 1, 1),), unreadable=(OcrWord("|~;", 0, 0, 9, 9, 10),)
    )
    writer = Writer(frozenset())
    writer.write(page, 1)
    assert (writer.text, [item.text for item in writer.removed]) == ("siren", ["|~;"])
    assert writer.conservation.holds
    assert page.confidence == pytest.approx((5 * 90 + 3 * 10) / 8)


words = st.builds(
    OcrWord,
    st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=8),
    st.floats(0, 400), st.floats(0, 400), st.floats(400, 900), st.floats(400, 900), st.floats(0, 100),
)  # fmt: skip
lines = st.builds(OcrLine, st.lists(words, min_size=1, max_size=5).map(tuple), st.integers(1, 3), st.integers(1, 3))
pages = st.builds(OcrPage, st.just(900), st.just(900), st.lists(lines, max_size=6).map(tuple), st.integers(0, 3))


@given(st.lists(pages, min_size=1, max_size=3))
def test_the_books_hold_and_every_letter_has_a_box(read):
    writer = Writer(frozenset())
    for number, page in enumerate(read, 1):
        writer.write(page, number)
    assert writer.conservation.holds
    assert writer.conservation.kept == len(writer.text)
    covered = "".join(place.span.slice(writer.text) for place in writer.places)
    assert covered == "".join(writer.text.split())
    assert sum(len(part) for page in read for part in paragraphs(page)) == sum(len(page.lines) for page in read)
    edges = [edge for block in writer.blocks for edge in (block.span.start, block.span.end)]
    assert edges == sorted(edges)


@given(st.lists(lines, max_size=8))
def test_parting_columns_loses_no_word(read):
    made = in_columns(read)

    def key(word):
        return (word.text, word.x0, word.y0, word.x1, word.y1, word.confidence)

    assert sorted(map(key, (w for line in made for w in line.words))) == sorted(
        map(key, (w for line in read for w in line.words))
    )
    assert all(line.words for line in made)


@given(st.text(max_size=200))
def test_no_table_is_too_odd(table):
    assert parse_tsv(table) == [] or table.count("\t") >= 11
