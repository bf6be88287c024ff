"""Rows of tables are told from prose, whoever wrote the table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import are_rows, statements

TABLE = """The survey came to this. It was long.

Mark | Station | Height
FM-01 | post office, St. Mary | 3.05
FM-02 | mill | 3.79
Motion | For
Second pen | 9

Run `ls | wc` to see. It
counts.
| a |
"""


def test_a_worked_example():
    lines = TABLE.split("\n")
    assert [line for line, is_row in zip(lines, are_rows(lines), strict=True) if is_row] == [
        "Mark | Station | Height",
        "FM-01 | post office, St. Mary | 3.05",
        "FM-02 | mill | 3.79",
        "Motion | For",
        "Second pen | 9",
        "| a |",
    ]


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ([], []),
        (["a | b"], [False]),
        (["a | b | c"], [True]),
        (["a | b", "", "c | d"], [False, False, False]),
        (["a |", "b | 1"], [True, True]),
        (["a|b", "c|d"], [False, False]),
        (["a || b", "c || d"], [False, False]),
        (['"City, old",Fee,"from ""May"""', "Bern,40,", ",1,2"], [True, True, False]),
        (["a,b,c"], [False]),
        (["one, two, and three", "four,five, six", "He said: yes,no,x"], [False, False, False]),
        (["1,340,000", "Bern,40"], [False, False]),
        (['"Yes," he said,no,', '"No",x,y'], [False, False]),
    ],
)
def test_one_bar_and_commas_are_a_row_only_beside_another(lines, rows):
    assert are_rows(lines) == rows


def test_each_row_is_a_statement_of_its_own_even_with_a_full_stop_in_a_cell():
    found = [span.slice(TABLE) for span in statements(TABLE)]
    assert "FM-01 | post office, St. Mary | 3.05" in found
    assert "Second pen | 9" in found
    assert "It\ncounts." in found


@given(st.lists(st.text("ab |", max_size=8), max_size=8))
def test_what_comes_further_away_changes_nothing(lines):
    found = are_rows(lines)
    assert len(found) == len(lines)
    assert are_rows([*lines, "", "x | y | z"])[: len(lines)] == found
    assert all(one for one, line in zip(found, lines, strict=True) if line.lstrip(" ").startswith("|"))
