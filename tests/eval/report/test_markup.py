"""Words are escaped in one place, and come out of a parser as they went in."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.eval.report.parsed import tree

from gawah.eval.report.markup import Markup, element, escaped, joined, table, told

ANY = st.text(st.characters(codec=None, categories=None), max_size=60)


def clean(words):
    """What HTML cannot hold is replaced, what turns words round is shown; a parser reads CR as LF."""
    gone = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
    return re.sub("[\u202a-\u202e\u2066-\u2069]", lambda one: f"\\u{ord(one.group()):x}", re.sub(gone, "\ufffd", words))


class _Started(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@given(ANY)
def test_any_words_come_back_as_text_and_as_an_attribute_and_start_no_tag(words):
    made = element("p", words, title=words)
    (node,) = tree(made).all("p")
    assert node.text == clean(words)
    parser = _Started()
    parser.feed(made)
    assert parser.tags == [("p", {"title": clean(words)})]
    assert made.encode("utf-8")


def test_markup_is_left_as_it_is_and_words_are_not():
    inside = element("b", "a < b")
    assert element("p", inside, "<i>") == "<p><b>a &lt; b</b>&lt;i&gt;</p>"
    assert isinstance(escaped("<"), Markup)
    assert joined(["<", Markup("<br>")], " & ") == "&lt; &amp; <br>"


def test_no_word_of_others_turns_what_stands_beside_it_round():
    """An override would show 40 as 04; marks of Urdu and Persian stay."""
    assert told("fee \u202e04\u202c EUR\u2066") == '<p dir="auto">fee \\u202e04\\u202c EUR\\u2066</p>'
    assert element("td", title="\u202d") == '<td title="\\u202d"></td>'
    assert escaped("\u200e\u200f\u061c\u200c") == "\u200e\u200f\u061c\u200c"


def test_a_slice_of_markup_is_words_again():
    assert escaped(Markup("<b>bold</b>")[:3]) == "&lt;b&gt;"


def test_words_of_others_have_their_own_direction():
    assert told("متن", class_="asked") == '<p dir="auto" class="asked">متن</p>'


def test_a_table_names_its_columns_and_rows_and_scrolls_alone():
    made = table(["threshold", "n"], [["0.1", "3"], ["0.2", "4"]], caption="Counts & more", marked=[1])
    (box,) = tree(made).children
    assert (box.attributes["role"], box.attributes["tabindex"], box.attributes["aria-label"]) == (
        "region",
        "0",
        "Counts & more",
    )
    rows = box.all("tr")
    assert [row.attributes.get("class") for row in rows] == [None, None, "marked"]
    assert [cell.attributes["scope"] for cell in box.all("th")] == ["col", "col", "row", "row"]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="2 cells"):
        table(["a", "b"], [["1"]], caption="c")
