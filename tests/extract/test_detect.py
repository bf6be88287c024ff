"""The type of a file comes from its bytes; its name decides only between types of text."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import ExtractionError
from gawah.extract.detect import Detection, detect, is_text
from gawah.extract.registry import extract
from gawah.testing.extractor import source_of

OCTETS = "application/octet-stream"
OOXML = "application/vnd.openxmlformats-officedocument."


def archive(*names, stored_first=""):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        if stored_first:
            packed.writestr("mimetype", stored_first)
        for name in names:
            packed.writestr(name, "x" * 40)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "application/pdf"),
        (b"%PDF-1.4\n1 0 obj\n<< >>\nendobj\n", "application/pdf"),
        (b"\x00\x01junk before\n%PDF-1.4\n1 0 obj" + bytes(40), "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", "image/jpeg"),
        (b"GIF89a\x10\x00\x10\x00\xf0\x00\x00!\xf9", "image/gif"),
        (b"GIF89a\x20\x03\x58\x02\xf7\x00\x00\x20\xff\x01\xff\xff\xff", "image/gif"),
        (b"GIF87a\x20\x20\x20\x20\x80\x00\x00abcdef", "image/gif"),
        (b"GIF89a\x10\x00\x10\x00\x70\x00\x00,\x00\x00", "image/gif"),
        (b"GIF89a\x20\x03\x58\x02\xf7\x00\x31" + bytes(range(250)), "image/gif"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00", "audio/wav"),
        (b"II*\x00\x08\x00\x00\x00", "image/tiff"),
        (b"ID3\x03\x00\x00\x00\x00\x0f\x76TIT2" + bytes(20), "audio/mpeg"),
        (b"\xff\xfb\x90\x44" + bytes(60), "audio/mpeg"),
        (b"OggS\x00\x02" + bytes(20), "audio/ogg"),
        (b"fLaC\x00\x00\x00\x22" + bytes(20), "audio/flac"),
        (b"\x00\x00\x00\x1cftypM4A \x00\x00\x00\x00", "audio/mp4"),
        (
            b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm" + bytes(9),
            "video/webm",
        ),
        (b"\x1aE\xdf\xa3\xa3B\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x88matroska", "video/x-matroska"),
        (b"RIFF\x24\x00\x00\x00AVI LIST" + bytes(9), "video/x-msvideo"),
        (b"FORM\x00\x00\x00\x24AIFFCOMM", "audio/aiff"),
        (b"#!AMR\n\x3c\x48" + bytes(range(200, 250)), "audio/amr"),
        (b"\xff\xf1\x50\x80\x02\x1f\xfc" + bytes(60), "audio/aac"),
        (b"0&\xb2u\x8ef\xcf\x11\xa6\xd9\x00\xaa\x00b\xcel" + bytes(9), "video/x-ms-asf"),
        (b"FLV\x01\x05\x00\x00\x00\x09" + bytes(9), "video/x-flv"),
        (b"\x00\x00\x01\xba\x44" + bytes(9), "video/mpeg"),
        ((b"G" + bytes(187)) * 4, "video/mp2t"),
        (b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00", "video/mp4"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(20), "application/x-ole-storage"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "application/gzip"),
        (b"\x7fELF\x02\x01\x01" + bytes(20), "application/x-elf"),
        (b"SQLite format 3\x00\x10\x00\x01\x01", "application/vnd.sqlite3"),
        (b"BM\x36\x00\x0c\x00\x00\x00\x00\x00\x36\x00\x00\x00", "image/bmp"),
        (b"{\\rtf1\\ansi hello}", "application/rtf"),
        (archive("[Content_Types].xml", "word/document.xml"), OOXML + "wordprocessingml.document"),
        (archive("[Content_Types].xml", "xl/workbook.xml"), OOXML + "spreadsheetml.sheet"),
        (archive("[Content_Types].xml", "ppt/presentation.xml"), OOXML + "presentationml.presentation"),
        (
            archive("content.xml", stored_first="application/vnd.oasis.opendocument.text"),
            "application/vnd.oasis.opendocument.text",
        ),
        (archive("x.opf", stored_first="application/epub+zip"), "application/epub+zip"),
        (archive("a.txt"), "application/zip"),
        (bytes(200), OCTETS),
        (bytes(range(256)) * 4, OCTETS),
    ],
)
def test_signatures_are_known_whatever_the_name_promises(data, media_type):
    assert detect(OCTETS, data).media_type == media_type
    under_wrong_name = detect("text/markdown", data)
    assert under_wrong_name.media_type == media_type
    assert under_wrong_name.warnings == (f"the name says text/markdown, the content is {media_type}",)


@pytest.mark.parametrize(
    "start",
    ["BM25 notes", "ID3 tags", "GIF89a is a format", "GIF89a, a format", "GIF89a is écrit", "RIFF and WAVE", "PK is a prefix", "II* comes from Intel", "OggS pages",
     "%PDF-1.7 begins such a file", "MZ was Mark Zbikowski", "SQLite format 3 is old", "fLaC", "Rar! he said", "{\\rtf is how it begins",
     "#! begins scripts", "ftypisom", "%!PS"],
)  # fmt: skip
def test_a_note_that_begins_with_a_signature_is_a_note(start):
    data = f"{start}\n\nSome more words.\n".encode()
    detection = detect("text/markdown", data)
    assert (detection.media_type, detection.warnings) == ("text/markdown", ())
    assert detect(OCTETS, data).media_type == "text/plain"


@pytest.mark.parametrize("promised", ["text/csv", "application/json", "text/x-python", "text/plain", "text/html"])
def test_text_keeps_the_type_that_its_name_promises(promised):
    assert detect(promised, b"some words, and others\n").media_type == promised


def test_a_pdf_cut_short_after_its_first_line_is_a_pdf_where_its_name_says_so():
    assert detect("application/pdf", b"%PDF-1.7\n").media_type == "application/pdf"
    assert detect("application/pdf", b"%PDF-1.7\n%comment of letters\n").media_type == "application/pdf"
    assert detect(OCTETS, b"%PDF-1.7\n").media_type == "text/plain"
    with pytest.raises(ExtractionError) as caught:
        extract(source_of("cut.pdf", b"%PDF-1.7\n", "application/pdf"), b"%PDF-1.7\n")
    assert caught.value.reason_code == "damaged"


def test_text_under_the_name_of_another_format_is_text_with_a_warning():
    detection = detect("application/pdf", b"Not found.\n")
    assert (detection.media_type, len(detection.warnings)) == ("text/plain", 1)


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE html><html>",
        b"\xef\xbb\xbf\n<!-- saved -->\n<html lang='en'>",
        b'<?xml version="1.0"?>\n<html xmlns="x">',
    ],
)
def test_a_page_is_html_under_any_name_that_is_no_other_text(data):
    assert detect("application/pdf", data).media_type == "text/html"
    assert detect("text/plain", data).media_type == "text/html"
    assert detect(OCTETS, data.decode("utf-8-sig").encode("utf-16-le")).media_type == "text/html"
    assert detect("text/markdown", data).media_type == "text/markdown"


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"#!/usr/bin/env python3\nprint(1)\n", "text/x-python"),
        (b"#!/bin/sh\necho\n", "text/x-shell"),
        (b'<?xml version="1.0"?>\n<root/>', "application/xml"),
        (b"hello", "text/plain"),
    ],
)
def test_files_without_a_promise_may_tell_themselves(data, media_type):
    detection = detect(OCTETS, data)
    assert (detection.media_type, detection.warnings) == (media_type, ())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", True),
        (b"plain", True),
        ("हिन्दी".encode(), True),
        (("ü" * 40_000).encode(), True),
        ("wide text".encode("utf-16"), True),
        ("wide text without a mark".encode("utf-16-le"), True),
        ("Größe".encode("latin-1"), True),
        (b"\x1b[31mred\x1b[0m log", True),
        (b"one stray \x00 among many words", True),
        (b"\x00\x01\x02\x03", False),
        (bytes(range(256)), False),
        (b"\x01\x00\x02\x00\x03\x00\x80\xff" * 20, False),
    ],
)
def test_text_is_told_from_octets(data, expected):
    assert is_text(data) is expected


@given(st.binary(max_size=400), st.sampled_from([OCTETS, "text/plain", "application/pdf", "text/x-python"]))
def test_any_bytes_have_a_type(data, promised):
    detection = detect(promised, data)
    assert "/" in detection.media_type
    assert len(detection.warnings) <= 1


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")), min_size=1))
def test_utf8_text_is_always_text(text):
    assert is_text(text.encode())


@pytest.mark.parametrize(
    ("promised", "data"),
    [
        ("audio/mp4", b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00"),
        ("video/ogg", b"OggS\x00\x02" + bytes(20)),
        ("audio/x-matroska", b"\x1aE\xdf\xa3\xa3B\x86\x81\x01B\x82\x88matroska"),
    ],
)
def test_a_name_decides_between_sound_and_film_of_one_container(promised, data):
    assert detect(promised, data) == Detection(promised)
