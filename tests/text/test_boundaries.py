"""Grapheme clusters, lines, scripts, blanks."""

from __future__ import annotations

import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import collapse_space, dominant_script, grapheme_floor, lines_of, trim
from gawah.types import Span

CLUSTERS = [
    "क्षि",
    "ति",
    "👩‍👩‍👧",
    "🇮🇳",
    "🇵🇰",
    "\r\n",
    "각",
    "각",
    "é̂",
    "👍🏽",
    "\u0600 ",
    "न्त्र্",
    "a",
    " ",
    "漢",
    "の゙",
    "1️⃣",
    "த்",
]


def boundaries(text):
    return {0} | {match.end() for match in regex.finditer(r"\X", text)}


@pytest.mark.parametrize(
    "cluster", ["क्षि", "👩‍👩‍👧", "🇮🇳", "\r\n", "\u1100\u1161\u11a8", "e\u0301\u0302", "👍🏽", "\u0600 "]
)
def test_a_cluster_is_not_cut(cluster):
    for before in ("", "a", " ", "क", "🇵🇰", "漢字"):
        text = before + cluster + "z"
        for inside in range(1, len(cluster)):
            assert grapheme_floor(text, len(before) + inside) == len(before)
        assert grapheme_floor(text, len(before) + len(cluster)) == len(before) + len(cluster)


@given(st.lists(st.sampled_from(CLUSTERS), max_size=120).map("".join), st.data())
def test_the_floor_is_the_largest_boundary_not_after(text, data):
    position = data.draw(st.integers(0, len(text)))
    assert grapheme_floor(text, position) == max(at for at in boundaries(text) if at <= position)


@given(st.text(), st.integers(-5, 60))
def test_the_floor_agrees_with_a_full_segmentation(text, position):
    expected = max((at for at in boundaries(text) if at <= position), default=0)
    assert grapheme_floor(text, position) == expected


def test_large_texts_are_looked_at_locally():
    flags = "🇮🇳" * 500
    text = "x" * 500_000 + flags + "क्ष" * 200_000
    assert all(grapheme_floor(text, 500_000 + at) == 500_000 + at // 2 * 2 for at in range(0, 1000, 7))
    assert all(grapheme_floor(text, at) <= at for at in range(600_000, 1_000_000, 997))
    flood = "a" + "\u0301" * 1_000_000
    assert 0 <= grapheme_floor(flood, 900_000) <= 900_000


def test_trim_takes_blanks_away_but_no_cluster_apart():
    assert trim("  ab \n", 0, 6) == Span(2, 4)
    assert trim(" \t\n", 0, 3) is None
    assert trim("x \u0301y", 1, 4) == Span(1, 4)
    assert trim("a\u0600 ", 0, 3) == Span(0, 3)


def test_lines_are_counted_from_one_and_inclusive():
    text = "one\ntwo\nthree"
    assert lines_of(text, Span(0, 3)) == (1, 1)
    assert lines_of(text, Span(0, 4)) == (1, 1)
    assert lines_of(text, Span(0, 5)) == (1, 2)
    assert lines_of(text, Span(4, 13)) == (2, 3)
    assert lines_of(text, Span(13, 13)) == (3, 3)
    assert lines_of("", Span(0, 0)) == (1, 1)


@given(st.text(st.sampled_from("a\n")), st.data())
def test_lines_agree_with_splitting(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = lines_of(text, Span(start, end))
    line_of = [text[:at].count("\n") + 1 for at in range(len(text) + 1)]
    assert first == line_of[start]
    assert last == (line_of[end - 1] if end > start else line_of[start])


@pytest.mark.parametrize(
    ("text", "script"),
    [("hello", "Latn"), ("नमस्ते world नमस्ते", "Deva"), ("السلام عليكم", "Arab"), ("یہ اردو ہے", "Arab"), ("漢字文", "Hani"),
     ("これは日本語です", "Jpan"), ("한국어", "Hang"), ("Привет", "Cyrl"), ("42 … !", "Zyyy"), ("", "Zyyy"), ("ⲁⲃⲅ", "Zzzz"),
     ("বাংলা", "Beng"), ("a б", "Cyrl"), ("x" * 10 + "漢" * 200_000, "Hani")],
)  # fmt: skip
def test_the_dominant_script_is_named(text, script):
    assert dominant_script(text) == script


@given(st.text())
def test_collapsed_space_is_what_the_evaluation_compares(text):
    assert collapse_space(text) == re.sub(r"\s+", " ", text).strip()
