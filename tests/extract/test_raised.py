"""Superscripts and fractions never run into the digits beside them, and only signs and blanks are added for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.extract.raised import BAR, FRACTION, FRACTION_END, LOWERED, RAISED, with_signs

MARKS = RAISED + LOWERED + FRACTION + BAR + FRACTION_END


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
    assert signed.translate({ord(c): None for c in "^/ "}) == bare.replace(" ", "")
    assert not set(signed) & set(MARKS)
