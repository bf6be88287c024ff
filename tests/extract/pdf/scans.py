"""Scans for the tests: pages of text drawn as pictures, as a scanner would have them, aslant or on their side."""

import pypdfium2
from PIL import Image
from tests.extract.pdf.reading import span_of

from gawah.extract.options import Options
from gawah.extract.pdf import PdfExtractor
from gawah.extract.pdf.eye import PageEye
from gawah.fragment import locate
from gawah.testing.extractor import assert_is_sound, source_of
from gawah.testing.pdf import Page

ENGLISH = Options(ocr_languages="eng")
_DPI = 200


def picture_of(data, number=1, dpi=_DPI):
    page = pypdfium2.PdfDocument(data)[number - 1]
    return page.render(scale=dpi / 72, grayscale=True).to_pil().convert("L")


def scan(picture, *, skew=0.0, quarter_turns=0, rotate=0, size=None, crop=None):
    """A page that is a picture: its lines rising by `skew` degrees, turned anticlockwise on the page, which a viewer turns
    clockwise by `rotate`.
    """
    if skew:
        picture = picture.rotate(skew, Image.Resampling.BICUBIC, fillcolor=255)
    if quarter_turns:
        picture = picture.rotate(90 * quarter_turns, expand=True)
    width, height = size or (picture.width * 72 / _DPI, picture.height * 72 / _DPI)
    page = Page(size=(width, height), rotate=rotate, crop=crop)
    return page.picture((0, 0, width, height), picture.width, picture.height, picture.tobytes())


def read_by_eye(data, options=ENGLISH):
    eye = PageEye(options, before_page=lambda: None)
    document = PdfExtractor(eye).extract(source_of("scan.pdf", data, "application/pdf"), data)
    assert_is_sound(document)
    return document


def boxes_of(document, words):
    return locate(document.places, document.text, span_of(document, words)).boxes
