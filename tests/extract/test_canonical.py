"""Canonical text: line ends and controls go by rule and are counted; nothing else changes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.odd import odd_text, unless

from gawah.errors import ExtractionError
from gawah.extract.canonical import canonicalise, language_of, read_text, require_visible, stem


@pytest.mark.parametrize(
    ("raw", "text", "dropped"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd", {"line break": 1}),
        ("a\x85b\u2028c\u2029d", "a\nb\nc\nd", {}),
        ("alpha\x0cbeta\x0bgamma", "alpha\nbeta\ngamma", {}),
        ("\ufeffa\ufeffb", "ab", {"byte order mark": 2}),
        ("a\x00b\x07c\x1bd", "abcd", {"nul": 1, "control": 2}),
        ("\r\r\n\n", "\n\n\n", {"line break": 1}),
        ("a\tb  c ", "a\tb  c ", {}),
        ("x² ﬁ e\u0301 “q” – \u00a0\u00ad\u200d\u202e\ufffe", "x² ﬁ e\u0301 “q” – \u00a0\u00ad\u200d\u202e\ufffe", {}),
        ("", "", {}),
    ],
)
def test_only_line_ends_and_controls_change(raw, text, dropped):
    assert canonicalise(raw) == (text, dropped)


def by_hand(raw):
    """The rule, one character at a time."""
    kept = []
    for at, char in enumerate(raw):
        if char == "\r" and raw[at + 1 : at + 2] == "\n":
            continue
        if char in "\r\x0b\x0c\x85\u2028\u2029":
            kept.append("\n")
        elif char == "\ufeff" or (unicodedata.category(char) == "Cc" and char < " " and char not in "\t\n"):
            continue
        else:
            kept.append(char)
    return "".join(kept)


@given(odd_text)
def test_the_rule_is_what_it_says_and_the_books_balance(raw):
    text, dropped = canonicalise(raw)
    assert text == by_hand(raw)
    assert len(raw) == len(text) + sum(dropped.values())
    assert canonicalise(text) == (text, {})


@given(st.text())
def test_a_file_is_read_with_balanced_books(raw):
    own = unless(lambda: read_text(("x" + raw).encode()), "undecodable")
    if own is not None:
        assert own.conservation.holds
        assert own.conservation.kept == len(own.text)


@pytest.mark.parametrize("blank", ["", " \t\n", "\u00a0\u3000", "\u200b\u200f\u2060"])
def test_a_text_that_shows_nothing_is_empty(blank):
    with pytest.raises(ExtractionError) as caught:
        require_visible(blank)
    assert caught.value.reason_code == "empty"


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        ("plain words", "", "und-Latn"),
        ("नमस्ते", "", "und-Deva"),
        ("یہ اردو ہے", "", "und-Arab"),
        ("123 ...", "", "und"),
        ("नमस्ते", "hi-IN", "hi-IN"),
        ("plain", "not a tag!", "und-Latn"),
        ("plain", "x", "und-Latn"),
    ],
)
def test_language_is_what_is_declared_else_the_script(text, declared, language):
    assert language_of(text, declared) == language


@pytest.mark.parametrize(
    ("name", "expected"), [("a/b/notes.md", "notes"), ("Makefile", "Makefile"), ("a.tar.gz", "a.tar")]
)
def test_a_stem_has_no_folder_and_no_extension(name, expected):
    assert stem(name) == expected
