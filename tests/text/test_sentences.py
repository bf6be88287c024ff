"""Sentence spans: nothing lost, the ends of all scripts, no cut inside what only looks like an end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import sentences
from gawah.types import Span


def cut(text):
    return [span.slice(text) for span in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["One ends.", "Two asks?", "Three shouts!", "Four"],
        ["He said “stop.”", "Then (he left.)", "End"],
        ["**Bold ends.**", "_So does this!_", "`code.`", "Next"],
        ["hash tables.[^siphash]", "See [1]."],
        ["Wait...", "What?!", "Really…", "Yes."],
        ["etcd is fast etc.", "The end."],
        ["The answer is no.", "We stop."],
        ["यह पहला वाक्य है।", "यह दूसरा है॥", "क्या यह तीसरा है?", "हाँ।"],
        ["یہ پہلا جملہ ہے۔", "کیا یہ دوسرا ہے؟", "جی ہاں۔"],
        ["هل هذا سؤال؟", "نعم.", "حسنا!"],
        ["Это первое.", "Это второе?", "Да!"],
        ["Αυτό είναι.", "Εντάξει."],
    ],
)
def test_sentences_end_where_readers_end_them(parts):
    assert cut(" ".join(parts)) == parts
    assert cut("\n".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["これは文です。", "次も文です！", "本当？", "「はい。」", "終"],
        ["这是。", "那是？", "好"],
        ["पहला।", "दूसरा।"],
        ["ｱ｡", "ｲ｡"],
    ],
)
def test_some_scripts_need_no_blank_between_sentences(parts):
    assert cut("".join(parts)) == parts


@pytest.mark.parametrize(
    "sentence",
    [
        "Use a tool, e.g. Git, i.e. the one you know.",
        "See Fig. 3 and Eq. 4, cf. No. 5 of Sec. 2.",
        "Dr. A. B. Smith and Mrs. Jones met Prof. Ray in the U.S. Senate at 5 p.m. Eastern.",
        "It takes v3.5 or 3.14 or .snap.db or 10.0.0.1 or a.b.C now.",
        "It paused... then went on.",
        "Is it? said the cat.",
        "1. Install the package",
        "डॉ. राम और प्रो. श्याम आए।",
        "Foo vs. Bar agree with approx. Ten others.",
    ],
)
def test_what_only_looks_like_an_end_is_none(sentence):
    assert cut(sentence) == [sentence]


def test_a_blank_line_always_ends_a_sentence():
    assert cut("no stop here\n\nand e.g.\n \t\nlower") == ["no stop here", "and e.g.", "lower"]


def test_a_range_is_cut_by_itself():
    text = "One. Two. Three."
    assert sentences(text, Span(5, 12)) == [Span(5, 9), Span(10, 12)]
    assert sentences(text, Span(4, 5)) == []
    assert sentences("") == []
    assert sentences(" \n\t ") == []


@given(st.text(st.sampled_from("aB1.!?।。॥۔…؟ \n\t\r\"')]*_[^्\u0301\u200d字क\u0600🇮")))
def test_every_character_that_is_not_blank_lies_in_one_sentence(text):
    spans = sentences(text)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    covered = {at for span in spans for at in range(span.start, span.end)}
    assert all(text[at].isspace() or at in covered for at in range(len(text)))
    assert all(len(span) and not span.slice(text).isspace() for span in spans)


@given(st.text(), st.integers(0, 50), st.integers(0, 50))
def test_sentences_of_a_range_stay_inside_it(text, one, other):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    for span in sentences(text, Span(start, end)):
        assert start <= span.start < span.end <= end


def test_large_texts_without_an_end_take_linear_time():
    n = 1 << 20
    for odd in ("a" * n, "." * n, ")" * n, "." + ")" * n + "a", "[" * n, ".[" * (n // 2), " " * n, "\n" * n, ".a" * (n // 2),
                "\u0301" * n, "\n " * (n // 2), "a.\n" * (n // 3), "🇮" * (n // 4)):  # fmt: skip
        spans = sentences(odd)
        assert sum(len(span) for span in spans) <= len(odd)
