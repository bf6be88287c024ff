"""Indic text: words end where poppler says; without poppler the document says what is missing."""

import random
import shutil
import unicodedata
from collections import Counter

import pytest
from tests.extract.pdf.reading import BoxReader, letters, locator_of, read

from gawah.extract.pdf.poppler import PACKAGE
from gawah.fragment import locate
from gawah.types import Span


@pytest.fixture
def hindi(shared):
    return (shared / "cases" / "files" / "10-hindi-chrome.pdf").read_bytes()


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler-utils) is not installed")
def test_no_word_has_a_blank_inside(hindi):
    document = read(hindi)
    assert "मानव अधिकार" in document.text
    assert "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है" in document.text
    assert document.language == "und-Deva"
    assert not document.warnings


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler-utils) is not installed")
@pytest.mark.parametrize("words", ["मानव", "मनुष्यों को", "गौरव और अधिकारों", "स्वतन्त्रता और समानता"])
def test_the_boxes_of_words_hold_their_letters(hindi, words):
    found = BoxReader(hindi).inside(locator_of(read(hindi), words))
    assert letters(found) == letters(words)


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler-utils) is not installed")
def test_two_hundred_quotes_lack_no_letter_and_have_no_other_where_they_cut_no_conjunct(hindi):
    document, reader, draw = read(hindi), BoxReader(hindi), random.Random(11)
    n_lacking = n_whole = n_exact = 0
    for _ in range(200):
        start = draw.randrange(len(document.text) - 30)
        quote = document.text[start : start + 30]
        found = reader.inside(locate(document.places, document.text, Span(start, start + 30)))
        n_lacking += bool(Counter(letters(quote)) - Counter(letters(found)))
        if not any(_is_inside_cluster(document.text, edge) for edge in (start, start + 30)):
            n_whole += 1
            n_exact += letters(found) == letters(quote)
    assert n_lacking == 0
    assert n_whole > 50
    assert n_exact >= 0.98 * n_whole


def _is_inside_cluster(text, at):
    """Whether a cut would part letters that are one glyph: before a vowel sign or virama, or behind a virama."""
    return unicodedata.category(text[at]).startswith("M") or text[at - 1 : at] == "\u094d"


def test_without_poppler_the_package_is_named(hindi, monkeypatch):
    monkeypatch.setenv("PATH", "")
    document = read(hindi)
    assert any(PACKAGE in warning for warning in document.warnings)
