"""The right extractor for the bytes, and one clear reason for what cannot be read."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.odd import unless

from gawah.errors import ExtractionError
from gawah.extract.registry import EXTRACTORS, extract, extractor_for
from gawah.media_types import media_type_of
from gawah.testing.extractor import assert_is_sound, source_of


def read(name, data):
    return extract(source_of(name, data, media_type_of(name)), data)


def failure(name, data):
    with pytest.raises(ExtractionError) as caught:
        read(name, data)
    return caught.value


@pytest.mark.parametrize(
    ("name", "data", "media_type", "extractor"),
    [
        ("a.txt", b"words", "text/plain", "plain/1"),
        ("A.MD", b"BM25 notes", "text/markdown", "markdown/1"),
        ("id3.md", b"ID3 tags", "text/markdown", "markdown/1"),
        ("a.htm", b"<p>x", "text/html", "html/3"),
        ("a.csv", b"a,b\n1,2", "text/csv", "table/1"),
        ("a.tsv", b"a\tb\n1\t2", "text/tab-separated-values", "table/1"),
        ("a.json", b"{}", "application/json", "json/1"),
        ("a.ndjson", b"{}\n{}", "application/jsonl", "json/1"),
        ("a.py", b"x = 1", "text/x-python", "code/1"),
        ("a.xml", b"<?xml version='1.0'?><a/>", "application/xml", "code/1"),
        ("Makefile", b"all:\n", "text/x-make", "code/1"),
        ("LICENSE", b"Terms", "text/plain", "plain/1"),
        ("page", b"<!doctype html><p>x", "text/html", "html/3"),
    ],
)
def test_each_type_has_its_extractor(name, data, media_type, extractor):
    document = read(name, data)
    assert (document.source.media_type, document.extractor) == (media_type, extractor)
    assert document.warnings == ()
    assert extractor_for(media_type) == extractor


def test_a_wrong_name_is_a_warning_before_all_others():
    document = read("A.PDF", "Gebühr".encode("latin-1"))
    assert document.source.media_type == "text/plain"
    assert document.warnings == (
        "the name says application/pdf, the content is text/plain",
        "encoding guessed: cp1252",
    )


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("a.md", b"\x1f\x8b\x08" + bytes(60), "application/gzip"),
        ("a.bin", bytes(300), "application/octet-stream"),
        ("a.db", b"SQLite format 3\x00" + bytes(80), "application/vnd.sqlite3"),
    ],
)
def test_what_cannot_be_read_is_named_beside_what_can(name, data, found):
    error = failure(name, data)
    assert (error.reason_code, error.retryable) == ("unsupported_type", False)
    assert found in str(error)
    assert "Markdown" in str(error)
    assert extractor_for(found) == ""


def test_the_mark_of_a_download_is_its_own_thing():
    error = failure("x.pdf:Zone.Identifier", b"[ZoneTransfer]\r\nZoneId=3\r\n")
    assert error.reason_code == "unsupported_type"
    assert "Windows" in str(error)


@pytest.mark.parametrize("name", ["zero.pdf", "zero.md", "zero", "zero.csv", "zero.html", "zero.json", "zero.py"])
def test_a_file_of_no_bytes_is_empty_under_any_name(name):
    assert failure(name, b"").reason_code == "empty"


def test_every_registered_type_is_named_by_some_extractor():
    for media_type in EXTRACTORS:
        name, _, version = extractor_for(media_type).partition("/")
        assert name
        assert int(version) >= 1


def test_naming_an_extractor_loads_no_other():
    code = "import sys; from gawah.extract.registry import *; print(extractor_for('text/plain')); print(*sys.modules)"
    names, modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert names.startswith("plain")
    assert not {"gawah.extract.pdf", "gawah.extract.docx", "gawah.extract.ocr"} & set(modules.split())


@given(st.binary(max_size=300), st.sampled_from(["a", "a.md", "a.html", "a.csv", "a.json", "a.jsonl", "a.py", "a.pdf"]))
def test_any_bytes_under_any_name_give_a_sound_document_or_a_code(data, name):
    document = unless(lambda: read(name, data), "empty", "unsupported_type", "undecodable", "too_deep")
    if document is not None:
        assert_is_sound(document)
