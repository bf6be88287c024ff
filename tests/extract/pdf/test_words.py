"""Characters to words: raised marks kept apart, text printed twice, letters set by odd matrices."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.pdf.reading import read

from gawah.testing.pdf import Page, pdf, width


def beside(base, mark, rise, size=12.0, small=7.0, angle=(1, 0), after=""):
    """A word, directly behind it a mark that stands higher by `rise`, and what follows that."""
    page, (a, b), along = Page().text(300, 400, base, size, angle=angle), angle, width(base, size)
    page.text(300 + a * along - b * rise, 400 + b * along + a * rise, mark, small, angle=angle)
    along += width(mark, small)
    return pdf([page.text(300 + a * along, 400 + b * along, after, size, angle=angle) if after else page])


@pytest.mark.parametrize("angle", [(1, 0), (0, 1), (-1, 0), (0, -1)])
@pytest.mark.parametrize(("base", "mark"), [("1947", "3"), ("10", "6"), ("10", "-6"), ("m", "2"), ("Naga", "a")])
def test_a_small_raised_mark_is_told_from_what_it_stands_behind(base, mark, angle):
    document = read(beside(base, mark, 5, angle=angle))
    assert document.text == f"{base}^{mark}"
    assert document.conservation.holds
    assert document.conservation.added["raised mark"] == 1


def test_what_follows_a_raised_mark_has_none():
    assert read(beside("10", "6", 5, after="m")).text == "10^6m"


@pytest.mark.parametrize(
    ("base", "mark", "rise", "small", "expected"),
    [
        ("H", "2", -2, 7, "H2"),  # lowered
        ("F", "OUNDED", 0, 7, "FOUNDED"),  # small capitals
        ("F", "OUNDED", 0, 4, "FOUNDED"),
        ("19", "47", 2, 11, "1947"),  # hardly smaller
        ("end.", "3", 5, 7, "end.3"),  # no number to be confused with
    ],
)
def test_other_letters_of_two_sizes_stay_one_word(base, mark, rise, small, expected):
    assert read(beside(base, mark, rise, small=small)).text == expected


def test_a_raised_word_behind_a_blank_has_no_mark():
    page = Page().text(60, 700, "in 1947 ", 12).text(60 + width("in 1947 ", 12), 705, "note", 7)
    assert "^" not in read(pdf([page])).text


@given(
    base=st.from_regex("[A-Za-z0-9]{1,8}", fullmatch=True),
    mark=st.from_regex("[0-9]{1,3}", fullmatch=True),
    size=st.floats(6, 40),
    share=st.floats(0.4, 0.75),
    rise=st.floats(0.2, 0.4),
)
@settings(max_examples=40, deadline=None)
def test_the_mark_is_there_at_every_size(base, mark, size, share, rise):
    document = read(beside(base, mark, rise * size, size, share * size))
    assert document.text == f"{base}^{mark}"
    assert document.conservation.holds


@pytest.mark.parametrize("unit", [1, 1 / 10, 1 / 72, 1 / 1000])
def test_equal_words_on_a_page_in_small_units_are_not_printed_twice(unit):
    page = Page(size=(612 * unit, 792 * unit))
    lines = ["the fee and the toll", "the fee and the fine", "the toll and the fee"]
    for number, line in enumerate(lines):
        page.content.append(
            f"BT /F1 {10 * unit:.6f} Tf {60 * unit:.6f} {(700 - 12 * number) * unit:.6f} Td ({line}) Tj ET".encode()
        )
    document = read(pdf([page]))
    assert document.text.split() == " ".join(lines).split()
    assert "printed twice" not in document.conservation.dropped


@pytest.mark.parametrize("size", [4, 6, 10, 30])
def test_a_word_printed_twice_for_a_bold_look_is_read_once(size):
    page = Page().text(60, 740, "Toll", size).lines(60, 600, [f"line {number}" for number in range(20)])
    once = read(pdf([page])).text
    document = read(pdf([page.text(60 + size / 20, 740 + size / 40, "Toll", size)]))
    assert document.text == once
    assert document.conservation.dropped["printed twice"] == 4


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("sign", [1, -1])
def test_the_way_text_runs_is_that_of_its_matrix_and_of_the_sign_of_its_size(sign, turn):
    a, b = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn]
    page = Page()
    page.content.append(
        f"BT /F1 {sign * 10} Tf {sign * a} {sign * b} {sign * -b} {sign * a} 300 400 Tm (Upright by minus twice) Tj ET".encode()
    )
    document = read(pdf([page]))
    assert document.text == "Upright by minus twice"
    assert document.places == read(pdf([Page().text(300, 400, "Upright by minus twice", angle=(a, b))])).places


def test_text_with_a_negative_size_alone_stands_on_its_head():
    page = Page()
    page.content.append(b"BT /F1 -10 Tf 300 400 Td (Turned by one minus) Tj ET")
    document = read(pdf([page]))
    assert document.text == "Turned by one minus"
    assert document.places == read(pdf([Page().text(300, 400, "Turned by one minus", angle=(-1, 0))])).places


@pytest.mark.parametrize("tracking", [0, 1, 2.5, 3, 5])
def test_a_heading_whose_letters_are_set_apart_is_words(tracking):
    page = Page().lines(60, 600, ["Below it stands the text of the section."])
    page.content.append(f"BT /F1 10 Tf {tracking} Tc 60 700 Td (OF A SPACED HEADING 12) Tj 0 Tc ET".encode())
    assert read(pdf([page])).text.split("\n")[0] == "OF A SPACED HEADING 12"


def test_digits_set_apart_are_not_made_one_number():
    page = Page()
    page.content.append(b"BT /F1 10 Tf 3 Tc 60 700 Td (1234) Tj 0 Tc ET")
    assert read(pdf([page])).text == "1 2 3 4"


def test_letters_that_stand_unevenly_apart_are_not_drawn_together():
    page = Page()
    page.content.append(b"BT /F1 10 Tf 60 700 Td [(a) -220 (b) -500 (c) -350 (d) -700 (e)] TJ ET")
    assert read(pdf([page])).text == "a b c d e"
