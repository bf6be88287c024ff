"""Glyphs to letters: ligatures, Arabic forms, what does not print; with the books of it."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.extract.pdf.letters import letters_of


def letters(units, same=None):
    dropped, added = Counter(), Counter()
    text, origins = letters_of(units, same or [False] * len(units), dropped, added)
    return text, origins, dict(dropped), dict(added)


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ("ﬁnal", "final"),
        ("oﬃce", "office"),
        ("ﬅart", "start"),
        ("\ufeb7\ufe8e\ufedb\ufeae", "شاكر"),
        ("\ufefb", "لا"),
        ("co\u00adop", "coop"),
        ("exam\u00ad", "exam\u00ad"),
        ("exam\x02", "exam-"),
        ("exam\ufffe", "exam-"),
        ("a\u200bb", "ab"),
        ("\u202bab\u202c", "ab"),
        ("क्\u200dष", "क्\u200dष"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("x²½", "x²½"),
        ("\ud835\udc00", "𝐀"),
        ("a\x07b", "ab"),
    ],
)
def test_letters(units, expected):
    assert letters(units)[0] == expected


def test_letters_of_one_ligature_come_from_one_glyph():
    assert letters("oﬃ")[1] == [0, 1, 1, 1]


def test_alef_lam_in_one_box_is_a_lam_alef_turned_round_and_in_two_boxes_it_is_the_article():
    assert letters("خال", [False, False, True])[0] == "خلا"
    assert letters("الم", [False, False, False])[0] == "الم"


@given(st.text(alphabet="aﬁﬃ\u00ad\u200b\u202e\x01\x02لا\ufefbé𝐀", max_size=20))
def test_the_books_balance(text):
    units = "".join(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le"))
    found, origins, dropped, added = letters(units)
    assert len(units) + sum(added.values()) == len(found) + sum(dropped.values())
    assert len(origins) == len(found)
    assert origins == sorted(origins)
