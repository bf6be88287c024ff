"""Labels are what a person says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.fragment import label, one_line
from gawah.types import CharRange, CsvCells, EpubPlace, ImageBox, MailPart, PageBoxes, SheetRange, Slide, TimeRange

WORKED = [
    (CharRange(0, 9, 12, 15), "lines 12–15"),
    (CharRange(0, 9, 12, 12), "line 12"),
    (CharRange(10, 20, words="seen"), "characters 10–20 of the extracted text"),
    (CsvCells(3, 5), "rows 3–5"),
    (CsvCells(3, 3), "row 3"),
    (CsvCells(3, 3, 2, 2), "row 3, column 2"),
    (CsvCells(3, 5, 1, 2), "rows 3–5, columns 1–2"),
    (PageBoxes(6, 6, "iv"), "page 6 (iv)"),
    (PageBoxes(6, 6), "page 6"),
    (PageBoxes(6, 6, "6"), "page 6"),
    (PageBoxes(6, 7), "pages 6–7"),
    (PageBoxes(6, 7, "iv"), "pages 6–7 (from iv)"),
    (TimeRange(132.4, 157.2), "0:02:12–0:02:38"),
    (TimeRange(36_000.0, 36_001.0), "10:00:00–10:00:01"),
    (SheetRange("Sheet1", "A1:B2"), "Sheet1!A1:B2"),
    (SheetRange("It's a\nsheet", "A1"), "'It''s a sheet'!A1"),
    (SheetRange("खर्च 2026", "A1"), "'खर्च 2026'!A1"),
    (Slide(2, 2), "slide 2"),
    (Slide(2, 4), "slides 2–4"),
    (ImageBox(10, 20, 30, 40), "10–40 % from the left, 20–60 % from the top"),
    (ImageBox(10, 20, 30, 40, 2), "page 2, 10–40 % from the left, 20–60 % from the top"),
    (ImageBox(10, 20, 30, 40, 1, 0.614), "10–40 % from the left, 20–60 % from the top, low confidence (61 %)"),
    (PageBoxes(3, 3, confidence=0.61), "page 3, low confidence (61 %)"),
    (TimeRange(132.4, 157.2, 0.4), "0:02:12–0:02:38, low confidence (40 %)"),
    (MailPart("1.2", 0, 9), "part 1.2"),
    (EpubPlace("ch1.xhtml", 0, 9), "ch1.xhtml"),
]


@pytest.mark.parametrize(("locator", "expected"), WORKED, ids=lambda value: str(value)[:40])
def test_worked_examples(locator, expected):
    assert label(locator) == expected


@given(st.text(max_size=300))
def test_a_name_becomes_one_printable_line_that_is_not_too_long(name):
    line = one_line(name)
    assert "\n" not in line
    assert len(line) <= 81
    assert all(c.isprintable() or c in "\u200c\u200d" for c in line)
    assert line == line.strip()


def test_direction_characters_are_dropped_and_joiners_are_kept():
    assert one_line("a\u202egnp.exe") == "a gnp.exe"
    assert one_line("می\u200cخواهم") == "می\u200cخواهم"


@given(st.text(st.characters(categories=["L", "N", "P"]), max_size=80))
def test_a_plain_name_stays_as_it_is(name):
    assert one_line(name) == name
