"""An image file to a document: the text that can be read in it, each word with its box in percent of the image."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gawah.errors import ExtractionError
from gawah.extract.canonical import language_of, require_visible, stem
from gawah.extract.options import Options
from gawah.fingerprint import document_id
from gawah.types import Document, SourceFile

if TYPE_CHECKING:
    from PIL import Image

    from gawah.extract.ocr.tesseract import Eyes
    from gawah.extract.ocr.words import OcrPage

FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/tiff": "TIFF",
    "image/webp": "WEBP",
    "image/gif": "GIF",
    "image/bmp": "BMP",
}
_MOST_PIXELS = 80_000_000  # A3 at 600 dpi has 70 million
_LARGE_PX = 6000  # a longer side is halved: letters are then still large enough
_MOST_PAGES = 500
_NAMED_PAGES = 5


class ImageExtractor:
    """PNG, JPEG, TIFF with all its pages, WebP, GIF and BMP."""

    name = "image"
    version = 1

    def __init__(self, options: Options | None = None) -> None:
        self._options = options or Options()

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """Raises ExtractionError `ocr_unavailable`, `ocr_failed`, `damaged`, `too_large`, `no_text`."""
        from gawah.extract.ocr.page import LOW_CONFIDENCE
        from gawah.extract.ocr.tesseract import open_eyes
        from gawah.extract.ocr.writer import Writer

        eyes = open_eyes(self._options.ocr_languages)
        with _opened(source, data) as image:
            pages, notes = _read(image, eyes)
        if not any(page.lines for page in pages.values()):
            raise ExtractionError("no_text", "no text can be made out in it")
        words = (word.text for page in pages.values() for word in page.words)
        writer = Writer(frozenset(word.lower().strip(".,;:!?") for word in words))
        for number, page in pages.items():
            writer.write(page, number)
        require_visible(writer.text)
        low = [(n, page.confidence) for n, page in pages.items() if page.words and page.confidence < LOW_CONFIDENCE]
        if low:
            named = ", ".join(f"{n} ({confidence:.0f} %)" for n, confidence in low[:_NAMED_PAGES])
            notes.append(f"low_confidence: {len(low)} of {len(pages)} pages were hardly legible: {named}")
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
        )


def _read(image: Image.Image, eyes: Eyes) -> tuple[dict[int, OcrPage], list[str]]:
    """Pages by number, and what is to be said. One page that cannot be read leaves the others."""
    from gawah.extract.ocr.page import read_page

    n_frames = getattr(image, "n_frames", 1)
    is_animated = image.format != "TIFF" and n_frames > 1
    notes = [f"animated: only the first of {n_frames} frames is read"] if is_animated else []
    n_pages = 1 if is_animated else n_frames
    if n_pages > _MOST_PAGES:
        raise ExtractionError("too_large", f"it has {n_pages} pages; {_MOST_PAGES} are read at most")
    pages: dict[int, OcrPage] = {}
    for number in range(1, n_pages + 1):
        try:
            picture, dpi = _picture(image, number)
            pages[number] = read_page(picture, eyes, dpi)
        except ExtractionError as error:
            if n_pages == 1 or error.reason_code == "ocr_unavailable":
                raise
            notes.append(f"unread: page {number}: {error}")
    if not pages:
        raise ExtractionError("damaged", f"none of its {n_pages} pages can be read")
    return pages, notes


def _picture(image: Image.Image, number: int) -> tuple[Image.Image, int]:
    """A page as a viewer shows it, not larger than it need be, and its dots per inch, 0 when it does not say."""
    from PIL import ImageOps

    with _damage_told():
        image.seek(number - 1)
        if image.width * image.height > _MOST_PIXELS:
            raise _too_many_pixels(image.width * image.height)
        image.load()
        shown = ImageOps.exif_transpose(image)
        dpi = _dpi(shown)
        factor = -(-max(shown.size) // _LARGE_PX)
        return (shown.reduce(factor), dpi // factor) if factor > 1 and shown.mode != "P" else (shown, dpi)


def _dpi(image: Image.Image) -> int:
    try:
        return int(float(image.info.get("dpi", (0, 0))[0]))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, IndexError):
        return 0


def _opened(source: SourceFile, data: bytes) -> Image.Image:
    from PIL import Image

    with _damage_told():
        return Image.open(io.BytesIO(data), formats=[FORMATS[source.media_type]])


@contextlib.contextmanager
def _damage_told() -> Iterator[None]:
    """Errors of the image library as ours; it raises many kinds on broken files."""
    import struct

    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            yield
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise ExtractionError("too_large", "it has too many pixels to be read; scale it down") from error
    except (OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, EOFError, struct.error, OverflowError,
            ZeroDivisionError, AttributeError, RuntimeError) as error:  # fmt: skip
        raise ExtractionError("damaged", f"it cannot be opened as an image: {error}; export it again") from error


def _too_many_pixels(n_pixels: int) -> ExtractionError:
    reason = f"it has {n_pixels / 1e6:.0f} million pixels; {_MOST_PIXELS / 1e6:.0f} million are read at most; scale it down"
    return ExtractionError("too_large", reason)
