"""Bytes become characters by rule: mark, UTF-8, NULs, declaration, guess; and never with a replacement character."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.odd import unless

from gawah.errors import ExtractionError
from gawah.extract.decode import declared_encoding, decode
from gawah.extract.guess import guess_encoding

SHARED = Path(__file__).resolve().parents[2] / "../shared"

GERMAN = "Die Gebühr beträgt 40 Euro. Größe und Maß: fünf Meter über der Straße. ÄÖÜ"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю."
SAMPLES = {
    "iso8859-1": [
        GERMAN,
        "Müller",
        "naïve café",
        "L'été dernier, la forêt était très belle",
        "¿Cómo está el señor?",
        "x² = 9 m²",
    ],
    "cp1252": [
        "It’s a “quoted” text – for 40 €.",
        "“Hello”",
        "Allir menn eru bornir frjálsir og jafnir öðrum að virðingu",
    ],
    "cp1250": ["Příliš žluťoučký kůň úpěl ďábelské ódy", "Zażółć gęślą jaźń"],
    "cp1254": ["Çocuklar bahçede oynuyor ve ağaçların altında şarkı söylüyorlar"],
    "cp1251": [RUSSIAN, "Москва"],
    "koi8_r": [RUSSIAN],
    "cp1253": ["Καλημέρα κόσμε, αυτό είναι ένα κείμενο"],
    "cp1255": ["שלום עולם זה טקסט בעברית"],
    "cp1256": ["مرحبا بالعالم هذا نص عربي للتجربة"],
    "gb18030": ["你好，世界。这是一个用来测试编码的中文文本。", "中文"],
    "big5": ["你好，世界。這是一個用來測試編碼的中文文本。"],
    "shift_jis": ["こんにちは世界。これは文字コードを試すための文章です。", "日本語"],
    "euc_jp": ["こんにちは世界。これは文字コードを試すための文章です。"],
    "euc_kr": ["안녕하세요 세계. 이것은 인코딩을 시험하기 위한 문장입니다.", "한국어"],
    "iso2022_jp": ["日本語のメールです。"],
}
LEGACY = [(encoding, text) for encoding, texts in SAMPLES.items() for text in texts]


@pytest.mark.parametrize(("encoding", "text"), LEGACY)
def test_legacy_text_is_guessed_and_marked_as_guessed(encoding, text):
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.guessed) == (text, True)
    assert decoded.warnings == (f"encoding guessed: {decoded.encoding}",)


@pytest.mark.parametrize(("encoding", "text"), LEGACY)
def test_a_guess_does_not_depend_on_how_much_ascii_stands_around(encoding, text):
    around = "Some plain words before and after it. " * 3000 + "\n"
    whole = f"{around}{text}\n{around}"
    assert decode(whole.encode(encoding)).text == whole


def test_umlauts_of_a_latin_1_file_are_kept():
    assert decode(GERMAN.encode("latin-1")).text == GERMAN


def test_valid_utf8_is_utf8_even_when_it_looks_like_cyrillic():
    double_encoded = "â\x80\x931986 Watford, 1986â\x80\x931990"
    decoded = decode(double_encoded.encode())
    assert (decoded.text, decoded.encoding, decoded.guessed) == (double_encoded, "utf-8", False)


def test_case_23_is_utf8():
    case = SHARED / "cases/files/23-valid-utf8-guessed-cp1251.txt"
    if not case.exists():
        pytest.skip("../shared is not there")
    data = case.read_bytes()
    decoded = decode(data)
    assert (decoded.encoding, decoded.warnings, decoded.text.encode()) == ("utf-8", (), data)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_decides_and_stays_for_the_books(encoding):
    decoded = decode(("नमस्ते " + GERMAN).encode(encoding))
    assert decoded.text == "\ufeffनमस्ते " + GERMAN


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["Plain words.\n", GERMAN, "नमस्ते, यह हिंदी है। " * 5, "a\n", "一二三 四五六\n" * 9])
def test_wide_text_without_a_mark_is_found_by_its_nuls(encoding, text):
    assert decode(text.encode(encoding)).text == text


def test_a_stray_nul_is_no_utf16():
    assert decode(b"alpha\x00beta gamma").text == "alpha\x00beta gamma"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<html><head><meta charset='windows-1251'>", "windows-1251"),
        (b'<META http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">', "ISO-8859-1"),
        (b'<?xml version="1.0" encoding="Shift_JIS"?>', "Shift_JIS"),
        (b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\n", "latin-1"),
        (b"# vim: set fileencoding=cp1252 :\n", "cp1252"),
        (b"one\ntwo\n# coding: latin-1\n", ""),
        (b"the coding: latin-1 is named in prose", ""),
        (b"", ""),
    ],
)
def test_what_a_file_declares_is_found_in_its_head(data, expected):
    assert declared_encoding(data) == expected


def test_a_declaration_goes_before_a_guess():
    data = "ÀÈÌ".encode("cp1251", "ignore") + "Привет".encode("cp1251")
    assert decode(data, "windows-1251").text == "Привет"
    assert not decode(data, "windows-1251").guessed


def test_latin_1_in_a_declaration_means_windows_1252_as_in_browsers():
    assert decode("“40 €”".encode("cp1252"), "iso-8859-1").text == "“40 €”"


@pytest.mark.parametrize(
    "declared", ["utf-8", "utf-16", "unicode_escape", "rot13", "idna", "no-such-encoding", "undefined"]
)
def test_a_declaration_that_does_not_hold_is_told_and_not_obeyed(declared):
    decoded = decode(GERMAN.encode("latin-1"), declared)
    assert decoded.text == GERMAN
    assert declared in decoded.warnings[0]


def test_valid_utf8_is_not_reread_under_a_declaration():
    assert decode(GERMAN.encode(), "latin-1").text == GERMAN


def test_bytes_in_no_encoding_are_undecodable():
    noise = random.Random(0)
    data = bytes(noise.randrange(128, 256) for _ in range(500))
    with pytest.raises(ExtractionError) as caught:
        decode(data)
    assert caught.value.reason_code == "undecodable"


@given(st.binary(max_size=300))
def test_decoding_is_strict_or_fails(data):
    decoded = unless(lambda: decode(data), "undecodable")
    if decoded is not None:
        assert data.decode(decoded.encoding) == decoded.text
        decoded.text.encode("utf-8")


@given(st.text())
def test_any_text_survives_utf8(text):
    if not (text.startswith("\x00") or "\x00" in text or "\x1b$" in text):
        assert decode(text.encode()).text == text


@given(st.binary(max_size=200))
def test_what_is_guessed_decodes(data):
    encoding = guess_encoding(data)
    if encoding:
        data.decode(encoding)
