"""Which scripts a vocabulary reads is counted in it; words of the others are unread, identifiers never."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.models.scripts import UnreadWords

ENGLISH = UnreadWords(["the", "ing", "\u092d", "\u0645", "\u0430\u043d", "\u6f22"])


def vocabulary(*letters: str, size: int = 100) -> list[str]:
    """As many pieces of several of the letters."""
    return [letters[n % len(letters)] * (2 + n // len(letters)) for n in range(size)]


@pytest.mark.parametrize(
    "word",
    [
        "भारत",
        "है",
        "क्ष",
        "हि\u200dन्दी",
        "पाकिस्तान",
        "پاکستان",
        "می\u200cخواهم",
        "کـتاب",
        "россия",
        "αβ",
        "かな",
        "ラーメン",
        "한국어",
        "ไทย",
    ],
)
def test_words_of_other_scripts_are_unread(word: str) -> None:
    assert ENGLISH.holds(word)
    assert ENGLISH.may_be_in(f"a {word}")


@pytest.mark.parametrize(
    "word",
    ["", "backup", "ERR_CONN-17", "9f86d081884c", "kyā", "Größe", "mera", "661ء", "१२३", "ध१", "iPhoneमें", "x²", "μm", "🎉", "\u0301",
     "₹", "ᚠᚢᚦ"],
)  # fmt: skip
def test_latin_letters_digits_and_rare_scripts_are_left_alone(word: str) -> None:
    assert not ENGLISH.holds(word)


def test_a_script_is_read_from_a_hundred_pieces_of_several_letters() -> None:
    read = UnreadWords(vocabulary("भ", "ार", "त"))
    assert not read.holds("भारत")
    assert not read.may_be_in("भारत")
    assert read.holds("پاکستان")
    assert UnreadWords(vocabulary("भ", "ार", "त", size=99)).holds("भारत")
    assert UnreadWords(vocabulary("भ", size=50) + ["भ", "ा", "र"] * 100).holds("भारत")  # letters alone do not count


def test_a_vocabulary_that_reads_every_script_leaves_every_word_alone() -> None:
    every = UnreadWords([piece for script in ENGLISH.scripts for piece in vocabulary(_letter(script))])
    assert every.scripts == ()
    assert not every.may_be_in("भारत پاکستان 한국어")
    assert not every.holds("भारत")


@given(st.text(max_size=40))
def test_what_is_unread_has_a_letter_and_no_digit_and_no_latin(word: str) -> None:
    if ENGLISH.holds(word):
        assert ENGLISH.may_be_in(word)
        assert any(unicodedata.category(one)[0] == "L" for one in word)
        assert not any(unicodedata.category(one)[0] in "NPSZ" or "LATIN" in unicodedata.name(one, "") for one in word)


def _letter(script: str) -> str:
    name = {"Han": "CJK UNIFIED IDEOGRAPH", "Bopomofo": "BOPOMOFO LETTER"}.get(script, f"{script.upper()} ")
    return next(
        letter
        for letter in map(chr, range(0x300, 0x11000))
        if unicodedata.name(letter, "").startswith(name) and unicodedata.category(letter)[0] == "L"
    )
