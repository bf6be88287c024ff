"""Texts over the window: cut at the window, in one place, and counted whole."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gawah.eval.truncate import TruncatingEmbedder
from gawah.testing.embedder import FakeEmbedder


def test_a_text_that_fits_is_embedded_as_it_is():
    plain = FakeEmbedder(window_tokens=12)
    (ours,), (theirs,) = (one.embed(["six words that fit the window"]) for one in (TruncatingEmbedder(plain), plain))
    assert np.array_equal(ours.vector, theirs.vector)


def test_a_longer_text_is_read_to_the_window_and_counted_whole():
    plain = FakeEmbedder(window_tokens=6)
    cutting = TruncatingEmbedder(plain)
    text = "one two three four five six seven"
    (ours,) = cutting.embed([text])
    (theirs,) = plain.embed(["one two three four"])
    assert np.array_equal(ours.vector, theirs.vector)
    assert cutting.count_tokens([text]) == plain.count_tokens([text]) == [9]
    assert cutting.stamp == plain.stamp


@given(st.lists(st.text(max_size=80), max_size=5), st.integers(4, 20))
def test_every_text_gets_one_unit_vector(texts, window):
    made = TruncatingEmbedder(FakeEmbedder(window_tokens=window)).embed(texts)
    assert len(made) == len(texts)
    assert all(abs(float(np.linalg.norm(one.vector)) - 1) < 1e-5 for one in made)
