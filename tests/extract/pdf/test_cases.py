"""Documents that broke other systems: what must come out of each. Skipped where ../shared is absent."""

import pytest
from tests.extract.ocr.pages import needs
from tests.extract.pdf.scans import read_by_eye

from gawah.errors import ExtractionError
from gawah.extract.pdf import PdfExtractor
from gawah.testing.extractor import assert_is_sound, source_of


@pytest.fixture
def read(shared):
    def extract(number):
        (path,) = (shared / "cases" / "files").glob(f"{number}-*.pdf")
        data = path.read_bytes()
        document = PdfExtractor().extract(source_of(path.name, data, "application/pdf"), data)
        assert_is_sound(document)
        return document

    return extract


def words(document):
    """The text without the pipes and blanks that join cells."""
    return " ".join(document.text.replace("|", " ").split())


def test_three_columns_are_read_one_after_the_other_without_their_furniture(read):
    document = read("03")
    assert "comments reference a specific portion of the proposal, explain the reason" in document.text
    removed = {removal.text: removal.reason for removal in document.removed}
    assert removed["47698"] == "page number"
    assert removed["jbell on DSKJLSW7X2PROD with PROPOSALS"] == "stamp in the margin"
    assert any(text.startswith("VerDate Sep<11>2014") for text in removed)
    assert not any(furniture in document.text for furniture in ("47698", "jbell", "VerDate"))
    assert document.quality["columns"] == 3


def test_rows_under_one_row_span_are_two_rows(read):
    rows = [" ".join(line.replace("|", " ").split()) for line in read("04").text.splitlines()]
    assert "HTML 0.969 0.927 0.955 0.857 5.39" in rows
    assert "6 6 OTSL 0.965 0.934 0.955 0.88 2.73" in rows


def test_a_dense_table_keeps_its_rows(read):
    document = read("05")
    rows = [" ".join(line.replace("|", " ").split()) for line in document.text.splitlines()]
    assert "Alabama 18,870 23,022 22,650 859 1,178 0 14 15 0 2,179 2,307 11 0 0 0 13 14 0 3 2 0 71,137" in rows
    assert sum(row.startswith(("Alaska 209", "Arizona 2,303")) for row in rows) == 2
    assert document.quality["tables"] == 1


def test_text_in_a_shifted_code_is_never_indexed(read):
    with pytest.raises(ExtractionError) as caught:
        read("07")
    assert caught.value.reason_code == "garbled"


@needs()
def test_text_in_a_shifted_code_is_read_by_eye(shared):
    document = read_by_eye((shared / "cases" / "files" / "07-no-tounicode-shifted.pdf").read_bytes())
    assert "Herausgeber" in document.text
    assert "+HUDXVJHEHU" not in document.text
    assert any("+HUDXVJHEHU" in item.text for item in document.removed if item.reason == "garbled text")
    assert (document.quality["pages_ocr"], document.quality["pages_unread"]) == (1, 0)


def test_lam_alef_is_in_the_order_it_is_read(read):
    document = read("09")
    assert "تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة" in document.text
    assert document.language == "und-Arab"


def test_ligatures_are_letters(read):
    assert read("13").text == "abcdeffffiflffifflſtstghijklmno"


def test_an_invisible_text_layer_is_read_and_said(read):
    document = read("14")
    assert "Invisible OCR text layer" in document.text
    assert "invisible text" in document.warnings[0]
    assert document.quality["pages_invisible_text"] == 1


def test_a_page_that_is_an_image_is_unread(read):
    with pytest.raises(ExtractionError) as caught:
        read("16")
    assert caught.value.reason_code == "no_text"


@needs()
def test_a_page_that_is_an_image_on_its_side_is_turned_and_read(shared):
    document = read_by_eye((shared / "cases" / "files" / "16-image-only-rotated.pdf").read_bytes())
    assert document.text == (
        "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained package"
    )
    assert document.quality["pages_ocr"] == 1


def test_half_a_file_is_recovered_and_says_so(read):
    document = read("17")
    assert document.quality["pages"] == 11
    assert document.warnings[0].startswith("recovered")
    assert "Dynamic languages such as JavaScript" in document.text


def test_printed_page_numbers_stand_beside_the_files(read):
    labels = {place.locator.first_page: place.locator.page_label for place in read("26").places}
    assert labels == {1: "iii", 2: "iv", 3: "1", 4: "2", 5: "1"}
