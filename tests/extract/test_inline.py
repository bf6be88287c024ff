"""The words of a heading, without its marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.extract.inline import heading_words


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("Plain words", "Plain words"),
        ("The *new* `run()` [call](x.md) {#run}", "The new run() call"),
        ("**`x`** and `__init__`", "x and __init__"),
        ("snake_case_name * 2 * 3", "snake_case_name * 2 * 3"),
        ("[![img](a.png)](b) Title", "img Title"),
        ("A &amp; B `&amp;`", "A & B &amp;"),
        ("<a id='x'></a>Foo<br/>", "Foo"),
        (r"\#1 \*not em\*", "#1 *not em*"),
        ("_em_ ***both*** ~~gone~~", "em both gone"),
        ("2 < 3 > 1", "2 < 3 > 1"),
        ("[text][ref] [x]", "text [x]"),
        ("Link [a (b)](http://e.org/x_(y)) end", "Link a (b) end"),
        ("<https://example.org/a_b_c>", "https://example.org/a_b_c"),
        ("`a``b` ``c`d``", "a``b c`d"),
        ("char *p, *q", "char *p, *q"),
        ("  spaced \t out  ", "spaced out"),
        ("मुख्य *शीर्षक*", "मुख्य शीर्षक"),
        ("", ""),
    ],
)
def test_marks_go_and_words_stay(raw, words):
    assert heading_words(raw) == words


@given(st.text(alphabet="ab1 *_`[]()<>!{}#~\\&;\"'é", max_size=200))
def test_any_heading_gives_one_line_that_is_no_longer_than_it_was(raw):
    words = heading_words(raw)
    assert words == " ".join(words.split())
    assert len(words) <= len(raw)


@given(st.text(alphabet="abc déf123 .,;:?", max_size=80))
def test_words_without_marks_are_left_alone(raw):
    assert heading_words(raw) == " ".join(raw.split())
