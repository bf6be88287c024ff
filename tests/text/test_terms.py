"""The analyzer: ASCII as the reference, every script in whole words, every fold."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import analyze, reference_terms

ZWNJ, ZWJ = "\u200c", "\u200d"


@given(st.text(st.characters(max_codepoint=127)))
def test_over_ascii_the_terms_are_the_references(text):
    assert analyze(text) == re.findall("[a-z0-9]+", text.lower()) == reference_terms(text)


@given(st.text(st.sampled_from("aZ9ñÉßœжЩλΣ\u0301\u0327’–_-. \n²ª①")))
def test_terms_are_runs_of_letters_digits_and_marks(text):
    """An oracle that goes by character, over scripts in which only case and composition are folded."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    expected, run = [], ""
    for character in [*folded, " "]:
        major = unicodedata.category(character)[0]
        if major in "LN" or (major == "M" and run):
            run += character
        elif run:
            expected.append(run)
            run = ""
    assert analyze(text) == expected


def test_the_path_for_simple_texts_gives_what_the_full_path_gives():
    simple = [chr(point) for point in (*range(0x80, 0x300), *range(0x2000, 0x2C00))]
    for character in simple:
        text = f"Ab{character}Cd {character} e"
        assert analyze(text) == analyze(text + " ह")[:-1], hex(ord(character))


@pytest.mark.parametrize(
    "word",
    ["क्षत्रिय", "किताबें", "हिंदी", "پاکستان", "کتابیں", "বাংলা", "தமிழ்", "Straße", "naïve", "한국어", "עברית", "Ελλάδα"],
)
def test_a_word_of_any_spaced_script_is_one_term(word):
    assert len(analyze(f"{word} {word}, {word}")) == 3
    assert len(set(analyze(f"{word} {word}, {word}"))) == 1


@pytest.mark.parametrize(
    ("joined", "plain"),
    [
        (f"می{ZWNJ}خواهم", "میخواهم"),  # Persian
        (f"کتاب{ZWNJ}خانہ", "کتابخانہ"),  # Urdu
        (f"क्{ZWJ}ष", "क्ष"),  # Hindi, half form
        (f"श्री{ZWNJ}मान", "श्रीमान"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_joiners_inside_a_word_neither_split_nor_change_it(joined, plain):
    assert analyze(joined) == analyze(plain)
    assert len(analyze(joined)) == 1


@pytest.mark.parametrize(
    ("one", "other", "fold"),
    [
        ("\u0643\u062a\u0627\u0628", "\u06a9\u062a\u0627\u0628", "Arabic kaf, keheh"),
        ("\u0639\u0644\u064a", "\u0639\u0644\u06cc", "Arabic yeh, Farsi yeh"),
        ("\u0639\u0644\u0649", "\u0639\u0644\u06cc", "alef maksura, yeh"),
        ("\u0634\u06c1\u0631", "\u0634\u0647\u0631", "heh goal, heh"),
        ("\u062e\u0627\u0646\u06c2", "\u062e\u0627\u0646\u06c1", "heh goal with izafat"),
        ("\u062e\u0627\u0646\u06c1\u0654", "\u062e\u0627\u0646\u06c1", "the same, decomposed"),
        ("\u0635\u0644\u0648\u06c3", "\u0635\u0644\u0648\u0629", "teh marbuta goal, teh marbuta"),
        ("\u0623\u062d\u0645\u062f", "\u0627\u062d\u0645\u062f", "alef with hamza"),
        ("\u0643\u0640\u0640\u062a\u0627\u0628", "\u0643\u062a\u0627\u0628", "tatweel"),
        ("\u0643\u0650\u062a\u064e\u0627\u0628\u064c", "\u0643\u062a\u0627\u0628", "harakat"),
        ("\u0631\u062d\u0645\u0670\u0646", "\u0631\u062d\u0645\u0646", "superscript alef"),
        ("\ufedb\ufe98\ufe8e\ufe8f", "\u0643\u062a\u0627\u0628", "presentation forms"),
        ("\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd", "Hebrew points"),
        ("\u0958\u0932\u092e", "\u0915\u093c\u0932\u092e", "nukta composed, decomposed"),
        ("\u095b\u0930", "\u091c\u0930", "nukta left out of a loan letter"),
        ("\u0929", "\u0928\u093c", "nukta that NFC composes"),
        ("हिन्दी", "हिंदी", "nasal before its own class, anusvara"),
        ("सम्बन्ध", "संबंध", "two of them"),
        ("हँसी", "हंसी", "chandrabindu, anusvara"),
        ("٢٠٢٦", "2026", "Arabic digits"),
        ("۲۰۲۶", "2026", "Extended Arabic digits"),
        ("२०२६", "2026", "Devanagari digits"),
        ("ＡＢＣ１２", "abc12", "full width"),
        ("ｶﾀ", "カタ", "half width"),
        ("İstanbul", "istanbul", "dotted capital I"),
        ("STRASSE", "Straße", "ß"),
        ("ΟΔΟΣ", "οδος", "final sigma"),
        ("ﬁle", "file", "ligature"),
        ("e\u0301tat", "état", "composition"),
        ("a\ufe0f", "a", "variation selector"),
    ],
)
def test_spellings_of_one_word_are_one_term(one, other, fold):
    assert analyze(one) == analyze(other), fold
    assert len(analyze(one)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("سڑک", "سرک"), ("घोड़ा", "घोडा"), ("آم", "ام"), ("بھائی", "بہائی"), ("कन्या", "कंया"), ("resume", "résumé")],
)
def test_other_words_stay_apart(one, other):
    assert analyze(one) != analyze(other)


def test_scripts_without_blanks_become_pairs_of_clusters():
    assert analyze("東京都庁") == ["東京", "京都", "都庁"]
    assert analyze("猫") == ["猫"]
    assert analyze("カメラ") == ["カメ", "メラ"]
    assert analyze("Rust入門2版") == ["rust", "入門", "2", "版"]
    assert analyze("第3章。概要") == ["第", "3", "章", "概要"]
    assert analyze("ภาษา") == ["ภา", "าษ", "ษา"]


@given(st.text(st.sampled_from("東京都庁の知事")), st.integers(0, 20), st.integers(2, 6))
def test_a_run_of_han_is_found_by_any_part_of_two_or_more(text, start, length):
    part = text[start : start + length]
    if len(part) >= 2:
        assert set(analyze(part)) <= set(analyze(text))


def test_marks_without_a_letter_are_no_term():
    assert analyze("❤\ufe0f \u0301 👍🏽") == []


@given(st.text())
def test_no_term_is_empty_or_holds_white_space_or_the_namespace_mark(text):
    for term in analyze(text):
        assert term
        assert not any(character.isspace() for character in term)
        assert "\x1f" not in term


@given(st.text())
def test_terms_do_not_depend_on_case_or_composition(text):
    composed = unicodedata.normalize("NFC", text)
    assert analyze(composed) == analyze(unicodedata.normalize("NFD", text))
    assert analyze(composed.casefold()) == analyze(composed)


def test_large_odd_texts_are_analyzed_in_linear_time():
    n = 1 << 20
    assert analyze("a" * n) == ["a" * n]
    assert len(analyze("漢" * (n // 4))) == n // 4 - 1
    assert analyze("\u0301" * n) == []
    assert len(analyze("é" + "\u0327" * n)) == 1
    assert analyze("\x00" * n) == []
