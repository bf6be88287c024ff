"""Statements are what can each carry a claim: sentences, items, rows, headings, lines of code."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from gawah.text import lines, statements

WORKED = """# Care

A first sentence. A second
one, wrapped.
- an item. Two sentences
  in it.
- another

| a | b |
|---|---|
| 1 | 2 |

```sh
make demo
make test
```
यह पहला है। दूसरा भी।"""


def words(text, found):
    return [span.slice(text) for span in found]


def test_a_worked_example():
    assert words(WORKED, statements(WORKED)) == [
        "# Care",
        "A first sentence.",
        "A second\none, wrapped.",
        "- an item.",
        "Two sentences\n  in it.",
        "- another",
        "| a | b |",
        "| 1 | 2 |",
        "make demo",
        "make test",
        "यह पहला है।",
        "दूसरा भी।",
    ]


def test_lines_are_statements_of_tables_and_code():
    text = "a,b\n\n  1,2 \n---\n"
    assert words(text, lines(text)) == ["a,b", "1,2"]


@given(st.text(alphabet="ab. \n|#-`~1)।", max_size=60))
def test_statements_follow_each_other_and_lose_no_word(text):
    for cut in (statements, lines):
        spans = cut(text)
        assert all(left.end <= right.start for left, right in itertools.pairwise(spans))
        outside = list(text)
        for span in spans:
            outside[span.start : span.end] = " " * len(span)
        left_over = "".join(outside)
        assert not any(map(str.isalnum, left_over)) or "```" in text or "~~~" in text
