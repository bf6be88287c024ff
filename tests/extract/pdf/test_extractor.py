"""PDFs as files: locked, damaged, empty, scanned, in codes that nobody reads; and what every extractor keeps."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.odd import unless
from tests.extract.pdf.locked import locked
from tests.extract.pdf.reading import read

from gawah.errors import ExtractionError
from gawah.extract import registry
from gawah.extract.pdf import PdfExtractor
from gawah.extract.pdf.runs import PageText
from gawah.testing.extractor import ExtractorContract, source_of
from gawah.testing.pdf import Page, assembled, pdf, wrapped

PROSE = (
    "The harbour master wrote down every ship that came in, with its name, its port and what it carried on board. " * 4
)
SIMPLE = pdf([Page().lines(60, 700, wrapped(PROSE, 400))])
# A page that is one grey image; its object is put in by `scanned`.
_IMAGE = b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\n\x80\nendstream"


def scanned(pages):
    """A document whose pages can draw the image /I1."""
    import re

    data = pdf(pages).replace(b"/Resources << /Font", b"/Resources << /XObject << /I1 6 0 R >> /Font")
    objects = {int(m[1]): m[2] for m in re.finditer(rb"(?ms)^(\d+) 0 obj\n(.*?)\nendobj$", data)}
    return assembled({**objects, 6: _IMAGE}, "/Root 1 0 R /Info 5 0 R")


def failure(data, name="a.pdf"):
    with pytest.raises(ExtractionError) as caught:
        read(data, name)
    return caught.value


class TestContract(ExtractorContract):
    media_type = "application/pdf"

    def extractor(self):
        return PdfExtractor()

    def samples(self):
        return [
            SIMPLE, pdf([Page().text(60, 700, "one")]), pdf([Page(), Page().text(60, 700, "second page only"), Page()]),
            locked(SIMPLE, ""), b"junk before\n" + SIMPLE, pdf([Page(rotate=90).text(60, 700, "x (y) \\z")]),
        ]  # fmt: skip

    def test_a_file_without_text_is_empty(self):
        for data in (b"", b" \n\t \r\n", pdf([Page()]), pdf([Page().text(60, 700, "   "), Page()])):
            assert failure(data).reason_code == "empty"


def test_a_locked_file_opens_without_a_password_or_fails_by_name():
    assert read(locked(SIMPLE, "")).text == read(SIMPLE).text
    error = failure(locked(SIMPLE, "sesame"))
    assert (error.reason_code, error.retryable) == ("encrypted", False)
    assert "password" in str(error)


@pytest.mark.parametrize(
    "broken",
    [
        SIMPLE.replace(b"%PDF-1.7", b"\0\0\0\0\0\0\0\0"),
        SIMPLE[9:],
        SIMPLE.split(b"1 0 obj")[0] + SIMPLE[SIMPLE.index(b"3 0 obj") :],
    ],
    ids=["header overwritten", "header cut off", "no catalog and no page tree"],
)
def test_what_is_mended_is_read_and_says_so(broken):
    document = read(broken)
    assert document.text == read(SIMPLE).text
    assert document.warnings[0].startswith("recovered")


def test_a_file_whose_beginning_is_lost_is_still_known_by_its_name():
    data = SIMPLE[9:]
    assert registry.extract(source_of("a.pdf", data, "application/pdf"), data).source.media_type == "application/pdf"


def test_what_cannot_be_mended_fails_with_a_code():
    assert failure(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n").reason_code == "damaged"
    assert failure(b"no PDF at all").reason_code == "damaged"


def test_a_scanned_page_among_others_is_counted_and_said():
    image = "q 612 0 0 792 0 0 cm /I1 Do Q"
    document = read(scanned([Page().lines(60, 700, wrapped(PROSE, 400)), Page().draw(image), Page().draw(image)]))
    assert document.quality["pages_unread"] == 2
    assert document.quality["pages_read"] == 1
    assert document.warnings == ("2 pages (2, 3) are images with hardly any text; unread without OCR",)


def test_a_scan_whose_text_is_blanks_has_its_own_code():
    error = failure(scanned([Page().text(60, 700, "  ").draw("q 612 0 0 792 0 0 cm /I1 Do Q")]))
    assert error.reason_code == "no_text"


def test_the_few_words_over_a_picture_of_the_whole_page_are_kept():
    data = scanned([Page().draw("q 612 0 0 792 0 0 cm /I1 Do Q").text(60, 700, "Annual Report")])
    document = read(data)
    assert document.text == "Annual Report"
    assert (document.quality["pages_read"], document.quality["pages_unread"]) == (0, 1)


def test_a_small_picture_beside_a_few_words_is_no_scan():
    document = read(scanned([Page().text(60, 700, "Figure 1").draw("q 60 0 0 80 300 300 cm /I1 Do Q")]))
    assert (document.text, document.quality["pages_unread"]) == ("Figure 1", 0)


def test_a_reader_by_eye_gets_the_pages_that_need_it():
    asked = []

    def read_by_eye(page, number):
        asked.append((number, page.image_share()))
        return PageText(number, page.box())

    data = scanned([Page().lines(60, 700, wrapped(PROSE, 400)), Page().draw("q 612 0 0 792 0 0 cm /I1 Do Q")])
    PdfExtractor(read_by_eye).extract(source_of("a.pdf", data, "application/pdf"), data)
    assert [number for number, share in asked if share > 0.99] == [2]


def coded(shift):
    return [
        line.translate({code: code + shift for code in range(33 - min(0, shift), 127 - max(0, shift))})
        for line in wrapped(PROSE, 400)
    ]


@pytest.mark.parametrize("shift", [1, -29])
def test_text_in_a_shifted_code_is_left_out_and_text_of_names_and_numbers_is_not(shift):
    pages = [Page().lines(60, 700, wrapped(PROSE, 400)), Page().lines(60, 700, coded(shift))]
    document = read(pdf(pages))
    assert document.quality["pages_unread"] == 1
    assert document.removed[0].reason == "garbled text"
    assert coded(shift)[0].split()[-1] in document.removed[0].text
    assert coded(shift)[0].split()[-1] not in document.text
    names = [f"Sorenson {number} Oakland Delacroix {number * 7} Brisbane" for number in range(30)]
    assert read(pdf([Page().lines(60, 740, names)])).quality["pages_unread"] == 0


def test_the_declared_language_counts_unless_the_script_denies_it():
    assert read(pdf([Page().text(60, 700, "Le port est petit")], lang="fr-FR")).language == "fr-FR"
    assert read(pdf([Page().text(60, 700, "Le port est petit")])).language == "und-Latn"


def test_the_quality_counts_pages_columns_and_tables():
    assert read(SIMPLE).quality == {
        "pages": 1, "pages_read": 1, "pages_ocr": 0, "pages_unread": 0, "pages_low_confidence": 0,
        "pages_invisible_text": 0, "columns": 1, "tables": 0, "fields": 0, "notes": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "operators",
    [
        "BT /F1 0 Tf 60 600 Td (none) Tj ET", "BT /F1 -12 Tf 60 600 Td (minus) Tj ET", "BT /F1 9999999999 Tf 0 0 Td (huge) Tj ET",
        "BT /F1 10 Tf 0 0 0 0 60 600 Tm (flat) Tj ET", "BT /F1 10 Tf 99999999999999999999999999999999999999999 0 0 1 9 9 Tm (far) Tj ET",
        "BT /F1 10 Tf 0 Tz 60 600 Td (thin) Tj ET", "BT /F1 10 Tf 3000 Tc 60 600 Td (spaced) Tj ET",
        "BT /F1 10 Tf 1 0 0 -1 60 600 Tm (mirrored) Tj ET", "BT /F1 10 Tf -1 0 0 1 300 600 Tm (backwards) Tj ET",
        "q " * 500 + "BT /F1 10 Tf 60 600 Td (deep) Tj ET", "BT /F9 10 Tf 60 600 Td (no font) Tj ET", "BT (",
    ],
)  # fmt: skip
def test_odd_sizes_and_matrices_hurt_nobody(operators):
    document = read(pdf([Page().lines(60, 700, wrapped(PROSE, 400)).draw(operators)]))
    assert document.text.startswith("The harbour master wrote down")


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 60))
def test_a_file_with_bytes_changed_is_read_soundly_or_fails_with_a_code(draw, n_changes):
    data = bytearray(SIMPLE)
    for _ in range(n_changes):
        data[draw.randrange(len(data))] = draw.randrange(256)
    unless(lambda: read(bytes(data)), "damaged", "empty", "encrypted", "garbled", "no_text", "too_large")


@pytest.mark.parametrize("share", [0.1, 0.4, 0.6, 0.9, 0.99])
def test_a_file_cut_short_is_read_soundly_or_fails_with_a_code(share):
    draw = random.Random(3)
    data = pdf([Page().lines(60, 700, wrapped(" ".join(draw.sample(PROSE.split(), 40)), 400)) for _ in range(6)])
    document = unless(lambda: read(data[: int(share * len(data))]), "damaged", "empty")
    if document is not None and share < 0.9:
        assert document.quality["pages"] <= 6
