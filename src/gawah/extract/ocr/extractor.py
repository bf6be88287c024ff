"""An image file to a document: the text that can be read in it, each word with its box in percent of the image."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gawah.errors import ExtractionError
from gawah.extract.canonical import language_of, require_visible, stem
from gawah.extract.naming import named
from gawah.extract.options import Options
from gawah.fingerprint import document_id
from gawah.media_types import IMAGE_FORMATS
from gawah.types import Document, SourceFile

if TYPE_CHECKING:
    from PIL import Image

    from gawah.extract.ocr.tesseract import Eyes
    from gawah.extract.ocr.words import OcrPage


def _nobody_waits() -> None:
    """What is called before a page where nobody has to know."""


class ImageExtractor:
    """PNG, JPEG, TIFF with all its pages, WebP, GIF and BMP."""

    name = "image"
    version = 1

    def __init__(self, options: Options | None = None, before_page: Callable[[], None] = _nobody_waits) -> None:
        """`before_page` is called before each page: reading one takes seconds."""
        self._options = options or Options()
        self._before_page = before_page

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """Raises ExtractionError `ocr_unavailable`, `ocr_failed`, `damaged`, `too_large`, `no_text`."""
        from gawah.extract.ocr.image_file import open_image
        from gawah.extract.ocr.language import said_of_language
        from gawah.extract.ocr.page import LOW_CONFIDENCE
        from gawah.extract.ocr.tesseract import open_eyes
        from gawah.extract.ocr.writer import Writer

        eyes = open_eyes(self._options.ocr_languages)
        with open_image(data, IMAGE_FORMATS[source.media_type]) as image:
            pages, notes, n_unread = _read(image, eyes, self._before_page)
        said = dict.fromkeys(line for page in pages.values() for line in said_of_language(page, eyes))
        if not any(page.lines for page in pages.values()):
            raise ExtractionError("no_text", "; ".join(("no text can be made out in it", *said)))
        notes = [*said, *notes]
        words = (word.text for page in pages.values() for word in page.words)
        writer = Writer(frozenset(word.lower().strip(".,;:!?") for word in words))
        for number, page in pages.items():
            writer.write(page, number)
        require_visible(writer.text)
        low = [(n, page.confidence) for n, page in pages.items() if page.words and page.confidence < LOW_CONFIDENCE]
        if low:
            pages_said = named([f"{n} ({confidence:.0f} %)" for n, confidence in low])
            notes.append(f"low_confidence: {len(low)} of {len(pages)} pages were hardly legible: {pages_said}")
        return Document(
            id=document_id(source.collection, source.name),
            source=source,
            title=stem(source.name),
            language=language_of(writer.text),
            text=writer.text,
            blocks=tuple(writer.blocks),
            places=tuple(writer.places),
            extractor=f"{self.name}/{self.version}",
            conservation=writer.conservation,
            warnings=(*eyes.warnings(), *notes),
            removed=tuple(writer.removed),
            quality={
                "pages": len(pages) + n_unread,
                "pages_read": len(pages),
                "pages_ocr": len(pages),
                "pages_unread": n_unread,
                "pages_low_confidence": len(low),
            },
        )


def _read(image: Image.Image, eyes: Eyes, before_page: Callable[[], None]) -> tuple[dict[int, OcrPage], list[str], int]:
    """Pages by number, what is to be said, and how many pages are left out. One page that cannot be read leaves the others."""
    from gawah.extract.ocr.image_file import page_count, picture_of
    from gawah.extract.ocr.page import read_page

    n_pages, n_frames = page_count(image)
    notes = [f"animated: only the first of {n_frames} frames is read"] if n_frames > n_pages else []
    pages: dict[int, OcrPage] = {}
    for number in range(1, n_pages + 1):
        before_page()
        try:
            picture, dpi = picture_of(image, number)
            pages[number] = read_page(picture, eyes, dpi)
        except ExtractionError as error:
            if n_pages == 1 or error.reason_code == "ocr_unavailable":
                raise
            notes.append(f"unread: page {number}: {error}")
    if not pages:
        raise ExtractionError("damaged", f"none of its {n_pages} pages can be read")
    return pages, notes, n_pages - len(pages)
