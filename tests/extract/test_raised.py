"""Superscripts and fractions never run into the digits beside them, and only signs and blanks are added for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.extract.raised import (
    BAR,
    FRACTION,
    FRACTION_END,
    LOWERED,
    RAISED,
    SUNK,
    SURFACED,
    height_of,
    with_signs,
)

MARKS = RAISED + LOWERED + FRACTION + BAR + FRACTION_END + SUNK + SURFACED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"10{RAISED}23{LOWERED}", "10^23"),
        (f"10{RAISED}2{LOWERED}{RAISED}3{LOWERED} x", "10^23 x"),  # one superscript in two runs
        (f"10{RAISED}2{LOWERED}3", "10^2 3"),
        (f"(a+b){RAISED}n{LOWERED}", "(a+b)^n"),
        (f"4{RAISED}th{LOWERED} of 5 {RAISED}6{LOWERED}", "4th of 5 6"),
        (f"3{FRACTION}1{BAR}2{FRACTION_END}5", "3 1/2 5"),
        (f"{FRACTION}{BAR}{FRACTION_END}", ""),
        (f"10{SUNK}2{SURFACED}", "10_2"),
        (f"10{SUNK}2{SURFACED}{SUNK}3{SURFACED}", "10_23"),
        (f"H{SUNK}2{SURFACED}O, log{SUNK}10{SURFACED}2", "H2O, log10 2"),
        (f"x{SUNK}1{SURFACED}{RAISED}2{LOWERED}", "x1^2"),
        (f"x{RAISED}2{LOWERED}{SUNK}1{SURFACED}", "x^2_1"),
    ],
)
def test_worked_examples(text, expected):
    n_marks = sum(map(text.count, MARKS))
    assert with_signs(text) == (expected, len(expected) - len(text) + n_marks)


@given(st.text(alphabet="a1 .," + MARKS))
def test_without_what_is_added_the_text_is_what_it_was(text):
    signed, n_added = with_signs(text)
    bare = "".join(character for character in text if character not in MARKS)
    assert len(signed) == len(bare) + n_added
    assert signed.translate({ord(c): None for c in "^_/ "}) == bare.replace(" ", "")
    assert not set(signed) & set(MARKS)


@pytest.mark.parametrize(
    ("moved", "height"),
    [
        ("6", "raised"),
        ("-6", "sunk"),
        ("0", ""),
        ("-0", ""),
        ("0.0", ""),
        ("", ""),
        ("30%", "raised"),
        ("-25000", "sunk"),
        (" +3", "raised"),
        ("x", ""),
        ("0.5", "raised"),
    ],
)
def test_letters_that_are_moved_stand_above_or_below_the_line(moved, height):
    assert height_of(moved) == height
