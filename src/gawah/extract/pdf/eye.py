"""A page that only an eye can read: drawn, recognised by tesseract, its words put to runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gawah.extract.options import Options
from gawah.extract.pdf.page import PdfPage
from gawah.extract.pdf.runs import PageText

if TYPE_CHECKING:
    from gawah.extract.ocr.tesseract import Eyes

_DPI = 300  # what tesseract was trained for; letters of 10 points have capitals of 30 pixels


class PageEye:
    """Reads the pages of one document. `before_page` is called before each: reading by eye takes seconds."""

    def __init__(self, options: Options, before_page: Callable[[], None]) -> None:
        self._options = options
        self._before_page = before_page
        self._eyes: Eyes | None = None

    def __call__(self, page: PdfPage, number: int) -> PageText:
        """A page in whose picture no text can be made out has no runs.

        Raises ExtractionError `ocr_unavailable`, `ocr_failed` or `too_large`.
        """
        from gawah.extract.ocr.language import said_of_language
        from gawah.extract.ocr.page import read_page
        from gawah.extract.ocr.tesseract import open_eyes
        from gawah.extract.pdf.drawing import draw
        from gawah.extract.pdf.seen import page_text

        if self._eyes is None:
            self._eyes = open_eyes(self._options.ocr_languages)
        self._before_page()
        picture, drawing = draw(page, _DPI)
        seen = read_page(picture, self._eyes, round(drawing.dpi))
        return page_text(seen, drawing, number, (*self._eyes.warnings(), *said_of_language(seen, self._eyes)))
