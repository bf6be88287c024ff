"""Of many names a few are said, and how many there are besides."""

from hypothesis import given
from hypothesis import strategies as st

from gawah.extract.naming import named


def test_a_worked_example():
    assert named([]) == ""
    assert named(["A1", "B2"]) == "A1, B2"
    assert named(list("abcde")) == "a, b, c, d, e"
    assert named(list("abcdef")) == "a, b, c, d, e and 1 more"
    assert named(["x"] * 2001, most=1) == "x and 2,000 more"


@given(st.lists(st.sampled_from("abc"), max_size=20), st.integers(1, 20))
def test_what_is_said_and_what_is_counted_are_all_of_them(names, most):
    shown, _, more = named(names, most).partition(" and ")
    n_shown = len(shown.split(", ")) if shown else 0
    assert n_shown + int(more.split()[0] if more else 0) == len(names)
