"""Indic text: words end where poppler says; without poppler the document says what is missing."""

import shutil

import pytest
from tests.extract.pdf.reading import BoxReader, letters, locator_of, read

from gawah.extract.pdf.poppler import PACKAGE


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


def test_without_poppler_the_package_is_named(hindi, monkeypatch):
    monkeypatch.setenv("PATH", "")
    document = read(hindi)
    assert any(PACKAGE in warning for warning in document.warnings)
