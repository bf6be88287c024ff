"""Numbers are compared as values with units, whatever they are written in."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import quantities


def read(text):
    return [(one.value, one.unit) for one in quantities(text).numbers]


WORKED = [
    ("1,340 households", [("1340", "")]),
    ("1340 households", [("1340", "")]),
    ("₹3,86,500 in all", [("386500", "INR")]),
    ("3,86,500 rupees", [("386500", "INR")]),
    ("4.50 m", [("4.5", "m")]),
    ("40 percent, 40 %, 40%", [("40", "%")] * 3),
    ("−40 to 60 °C", [("-40", ""), ("60", "°C")]),
    ("a 15-minute gap", [("15", "min")]),
    ("at 06:21 and 07:00", [("6:21", ""), ("7", "")]),
    ("v3.2.1 or 3.2.1", [("3.2.1", ""), ("3.2.1", "")]),
    ("13 मीटर, १३ मीटर, ۱۳ میٹر", [("13", "m")] * 3),
    ("١٬٣٤٠ و ٤٫٥", [("1340", ""), ("4.5", "")]),
    ("twelve loggers", [("12", "")]),
    ("forty-one people", [("41", "")]),
    ("two hundred and twelve households", [("212", "")]),
    ("7.9 lakh rupees", [("790000", "INR")]),
    ("चालीस हज़ार रुपये", [("40000", "INR")]),
    ("دو لاکھ روپے", [("200000", "INR")]),
    ("two, three", [("2", ""), ("3", "")]),
    ("a hundred", [("100", "")]),
    ("ten thousand and five", [("10005", "")]),
    ("the 3rd board", [("3", "")]),
    ("1,2 and 3", [("1", ""), ("2", ""), ("3", "")]),
    ("310\u202f000 m³", [("310000", "m3")]),
    ("Rs. 500", [("500", "INR")]),
    ("TML-13, G5, 0x01, 9b3f, E17", []),
    ("1. Install it\n2) Start it", []),
    ("Marion and Anton", []),
]


@pytest.mark.parametrize(("text", "found"), WORKED)
def test_worked_examples(text, found):
    assert read(text) == found


def test_a_number_is_held_with_its_unit_or_bare_where_the_unit_is_named():
    table = quantities("| Station | Peak (m) |\n| Sitalpur | 4.52 |")
    assert table.hold(quantities("4.52 m").numbers[0])
    assert not table.hold(quantities("4.52 km").numbers[0])
    assert quantities("It is 60 days.").hold(quantities("60").numbers[0])
    assert not quantities("It is 60 days.").hold(quantities("60 hours").numbers[0])
    assert not quantities("It is 60.").hold(quantities("60 hours").numbers[0])


@given(st.integers(0, 10**12))
def test_any_grouping_of_an_integer_is_the_integer(number):
    indian = f"{number:,}"
    if number >= 1000:
        head, tail = divmod(number, 1000)
        groups = []
        while head:
            head, last = divmod(head, 100)
            groups.append(f"{last:02d}" if head else str(last))
        indian = ",".join([*reversed(groups), f"{tail:03d}"])
    for written in (str(number), f"{number:,}", indian, f"{number:,}".replace(",", "\u202f")):
        assert read(f"x {written} y") == [(str(number), "")], written


@given(st.decimals(min_value=0, max_value=10**6, places=3))
def test_decimals_are_compared_as_values(number):
    (value, _), *rest = read(f"it is {number} so")
    assert not rest
    assert Decimal(value) == number


_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelt(number):
    """The oracle: English number words, written out from the value."""
    if number >= 1000:
        rest = number % 1000
        return f"{spelt(number // 1000)} thousand" + (f" {'and ' if rest < 100 else ''}{spelt(rest)}" if rest else "")
    if number >= 100:
        return f"{_ONES[number // 100]} hundred" + (f" and {spelt(number % 100)}" if number % 100 else "")
    if number < 20:
        return _ONES[number]
    return _TENS[number // 10] + (f"-{_ONES[number % 10]}" if number % 10 else "")


@given(st.integers(0, 999_999))
def test_number_words_are_their_values(number):
    assert read(f"it has {spelt(number)} lines") == [(str(number), "")]


@given(st.text(max_size=80))
def test_any_text_has_spans_that_slice(text):
    for one in quantities(text).numbers:
        assert one.span.slice(text)


@pytest.mark.parametrize("text", ["1," * 40_000, "1" * 100_000, "twenty " * 20_000, "- " * 50_000, "1.2." * 25_000])
def test_long_hostile_texts_are_read(text):
    assert all(one.span.end <= len(text) for one in quantities(text).numbers)
