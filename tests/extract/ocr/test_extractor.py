"""Images become documents: read whichever way they lie, every word with its box, what cannot be read said."""

import json
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from tests.conftest import ROOT
from tests.extract.ocr.pages import WORDS, drawn, encoded, grainy, needs, plain

from gawah.errors import ExtractionError
from gawah.extract.allowance import limits_for
from gawah.extract.ocr.extractor import ImageExtractor
from gawah.extract.ocr.image_file import open_image, page_count, picture_of
from gawah.extract.ocr.page import read_page
from gawah.extract.ocr.picture import grey
from gawah.extract.ocr.tesseract import open_eyes
from gawah.extract.options import Options
from gawah.extract.registry import extract
from gawah.extract.sandbox import Limits, Sandbox
from gawah.fragment import build, label, locate
from gawah.media_types import IMAGE_FORMATS
from gawah.sources import media_type_of
from gawah.testing.extractor import source_of
from gawah.types import ImageBox, Span

SCANS = ROOT / "examples" / "scans"
QUESTIONS = [json.loads(line) for line in (ROOT / "examples" / "scans.jsonl").read_text("utf-8").splitlines()]
ENGLISH = Options(ocr_languages="eng")


def read(data, name="page.png", options=ENGLISH):
    return extract(source_of(name, data, media_type_of(name)), data, options=options)


def code(data, name="page.png", options=ENGLISH):
    with pytest.raises(ExtractionError) as caught:
        read(data, name, options)
    assert "\n" not in str(caught.value)
    return caught.value.reason_code


def words_of(document):
    return " ".join(document.text.split())


def ink_under(page, box):
    """The share of a picture's ink that lies inside a box in percent."""
    ink = np.asarray(page.convert("L")) < 128
    height, width = ink.shape
    rows = slice(int(box.y * height / 100), int(-(-(box.y + box.height) * height // 100)))
    columns = slice(int(box.x * width / 100), int(-(-(box.x + box.width) * width // 100)))
    return ink[rows, columns].sum() / ink.sum()


@needs()
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_page_is_read_whichever_way_it_lies_and_the_boxes_are_those_of_the_file(turn):
    page = plain().rotate(turn, expand=True)
    seen = read_page(page, open_eyes("eng"), 150)
    assert seen.turn == turn // 90
    assert " ".join(line.text for line in seen.lines) == WORDS
    ink = np.asarray(page) < 128
    for word in seen.words:
        assert ink[int(word.y0) : int(word.y1), int(word.x0) : int(word.x1)].any(), word
    covered = np.zeros_like(ink)
    for word in seen.words:
        covered[int(word.y0) : int(word.y1) + 1, int(word.x0) : int(word.x1) + 1] = True
    assert (ink & covered).sum() / ink.sum() > 0.98


@needs()
def test_grain_and_slant_are_no_hindrance():
    page = grainy(plain().rotate(183, Image.Resampling.BICUBIC, expand=True, fillcolor=255))
    seen = read_page(page, open_eyes("eng"))
    assert " ".join(line.text for line in seen.lines) == WORDS
    assert (seen.turn, seen.skew_degrees) == (2, pytest.approx(3, abs=0.3))
    assert seen.confidence > 85


@needs()
def test_columns_are_read_one_after_the_other():
    left = "The committee reviewed the\nannual report and all of the\nspending of the lower valley and"
    right = "approved the budget for the\ncoming fiscal year, with one\nchange in the last column."
    document = read(encoded(drawn((60, 60, left), (560, 60, right), size=(1060, 300), points=26)))
    assert "the lower valley and approved the budget for the coming fiscal year" in words_of(document)
    assert document.conservation.holds


@needs()
def test_a_quote_has_a_fragment_a_label_and_its_ink():
    page = plain()
    document = read(encoded(page))
    start = document.text.index("amber lamp")
    locator = locate(document.places, document.text, Span(start, start + len("amber lamp")))
    assert isinstance(locator, ImageBox)
    assert build(locator).startswith("#xywh=percent:")
    assert "low confidence" not in label(locator)
    assert 0.05 < ink_under(page, locator) < 0.25


@needs("hin", "urd")
@pytest.mark.parametrize("question", [q for q in QUESTIONS if q["phrasing"] == "own"], ids=lambda q: q["id"])
def test_the_example_scans_hold_their_needles(question):
    name = question["document"]
    document = read((SCANS / name).read_bytes(), name, Options())
    assert question["needle"] in words_of(document)
    script = {"boat-house-hi.png": "und-Deva", "boat-house-ur.png": "und-Arab"}.get(name, "und-Latn")
    assert document.language == script
    assert document.warnings == ()


@needs()
def test_the_pages_of_a_tiff_are_all_read_and_one_that_is_hardly_legible_says_so():
    first = plain()
    smeared = plain().resize((155, 65), Image.Resampling.BILINEAR).resize((760, 320), Image.Resampling.BILINEAR)
    document = read(encoded(first, "TIFF", save_all=True, append_images=[smeared]), "fax.tif")
    assert document.text.startswith("The keeper writes")
    pages = {place.locator.page: place.locator.confidence for place in document.places}
    assert pages[1] == 1.0
    assert pages[2] < 0.7
    assert len(document.warnings) == 1
    assert document.warnings[0].startswith("low_confidence: 1 of 2 pages were hardly legible: 2 (")
    poor = next(place.locator for place in document.places if place.locator.page == 2)
    assert build(poor).startswith("#page=2&xywh=percent:")
    assert label(poor).startswith("page 2, ")
    assert "low confidence (" in label(poor)


@needs()
@pytest.mark.parametrize(("kind", "ending"), [("JPEG", "jpg"), ("WEBP", "webp"), ("GIF", "gif"), ("BMP", "bmp")])
def test_every_kind_of_image_is_read(kind, ending):
    document = read(encoded(plain(), kind), f"a.{ending}")
    assert words_of(document) == WORDS
    assert document.title == "a"


@needs()
def test_the_orientation_that_a_camera_wrote_is_followed():
    page = plain()
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise to be shown
    turned = page.rotate(90, expand=True)
    document = read(encoded(turned, "JPEG", exif=exif), "a.jpg")
    assert words_of(document) == WORDS
    first = document.places[0].locator
    assert first.x < 15
    assert first.y < 30


@needs()
def test_of_a_moving_picture_the_first_frame_is_read_and_that_is_said():
    other = drawn((60, 60, "Another frame of it"), size=(760, 320))
    document = read(encoded(plain(), "GIF", save_all=True, append_images=[other]), "a.gif")
    assert words_of(document) == WORDS
    assert document.warnings == ("animated: only the first of 2 frames is read",)


@needs()
def test_a_picture_without_text_is_no_empty_document():
    noise = np.random.default_rng(3).integers(0, 255, (200, 300, 3), dtype=np.uint8)
    for page in (Image.new("RGB", (300, 200), "white"), Image.fromarray(noise), Image.new("L", (1, 1))):
        assert code(encoded(page)) == "no_text"


def bomb(width, height):
    def part(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width // 8 + 1) * min(height, 100)))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", rows) + part(b"IEND", b"")


@needs()
def test_too_many_pixels_and_damage_have_codes():
    assert code(bomb(60_000, 60_000)) == "too_large"
    assert code(bomb(10_000, 8_500)) == "too_large"
    whole = encoded(plain())
    assert code(whole[: len(whole) // 2]) == "damaged"
    assert code(b"\x89PNG\r\n\x1a\n" + bytes(40)) == "damaged"
    assert code(b"II*\x00\x08\x00\x00\x00" + bytes(20), "a.tif") == "damaged"


def test_no_mutation_of_an_image_does_more_than_fail_with_a_code():
    rng = np.random.default_rng(2)
    tiny = drawn((4, 4, "x"), size=(24, 24), points=10)
    seen = set()
    for kind in IMAGE_FORMATS.values():
        original = encoded(tiny, kind)
        for _ in range(60):
            data = bytearray(original[: rng.integers(12, len(original) + 1)])
            for at in rng.integers(8, len(data), 5):
                data[at] = rng.integers(256)
            seen.add(_outcome(bytes(data), kind))
    assert {"read", "damaged"} <= seen <= {"read", "damaged", "too_large"}


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "LA", "RGBA", "CMYK", "I", "I;16", "F"])
def test_a_large_picture_of_every_mode_is_made_smaller_or_kept(mode):
    kind = "PNG" if mode in ("1", "L", "P", "RGB", "LA", "RGBA", "I;16") else "TIFF"
    with open_image(encoded(Image.new(mode, (6400, 40)), kind), kind) as image:
        assert image.mode == mode
        picture, _ = picture_of(image, 1)
        assert picture.size == ((6400, 40) if mode == "P" else (3200, 20))
        assert grey(picture).mode == "L"


def _outcome(data, kind):
    try:
        with open_image(data, kind) as image:
            for number in range(1, min(page_count(image)[0], 5) + 1):
                grey(picture_of(image, number)[0])
    except ExtractionError as error:
        return error.reason_code
    return "read"


def test_without_tesseract_the_reason_names_the_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    data = encoded(Image.new("L", (20, 20)))
    with pytest.raises(ExtractionError, match="apt-get install tesseract-ocr") as caught:
        ImageExtractor().extract(source_of("a.png", data, "image/png"), data)
    assert caught.value.reason_code == "ocr_unavailable"
    assert caught.value.retryable


@needs()
def test_languages_that_are_not_there_are_named():
    eyes = open_eyes("eng+xyz+osd_no+eng")
    assert eyes.languages == ("eng",)
    assert eyes.missing == ("xyz", "osd_no")
    assert "apt-get install tesseract-ocr-xyz tesseract-ocr-osd-no" in eyes.warnings()[0]
    with pytest.raises(ExtractionError, match="xyz") as caught:
        open_eyes("xyz; rm -rf /")
    assert caught.value.reason_code == "ocr_unavailable"


@needs("hin", "urd")
def test_a_page_is_read_in_the_languages_of_its_script():
    eyes = open_eyes("eng+hin+urd")
    assert eyes.for_script("Latin").languages == ("eng",)
    assert eyes.for_script("Devanagari").languages == ("hin",)
    assert eyes.for_script("Arabic").languages == ("urd",)
    assert eyes.for_script("Thai") == eyes


def test_a_program_that_fails_is_an_error_with_what_it_said(tmp_path, monkeypatch):
    program = tmp_path / "tesseract"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --list-langs ] && { echo "List (1):"; echo eng; exit 0; }\necho no memory >&2\nexit 3\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ExtractionError, match="no memory") as caught:
        read_page(plain(), open_eyes("eng"))
    assert caught.value.reason_code == "ocr_failed"


@needs()
def test_the_sandbox_reads_what_this_process_reads():
    data = encoded(plain())
    with Sandbox(Limits(), ENGLISH) as sandbox:
        assert sandbox.extract(source_of("a.png", data, "image/png"), data) == read(data, "a.png")


@needs()
def test_pages_get_memory_beforehand_and_time_one_by_one():
    base = Limits()
    for kind in ("image/png", "image/tiff", "application/pdf", "message/rfc822"):
        limits = limits_for(kind, 10, base, ENGLISH)
        assert limits.memory_bytes > base.memory_bytes
        assert limits.wall_s == base.wall_s
    counted = []
    extract(
        source_of("a.png", encoded(plain()), "image/png"),
        encoded(plain()),
        options=ENGLISH,
        before_page=lambda: counted.append(1),
    )
    assert counted == [1]
