"""An image file to the pictures in it, as a viewer shows them; nothing is believed of what the file says of itself."""

from __future__ import annotations

import contextlib
import io
import struct
import warnings
from collections.abc import Iterator

from PIL import Image, ImageOps

from gawah.errors import ExtractionError

_MOST_PIXELS = 80_000_000  # A3 at 600 dpi has 70 million
_LARGE_PX = 6000  # a longer side is made smaller: letters are then still large enough
_MOST_PAGES = 500
# What the image library raises on broken files.
_FAULTS = (
    OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, EOFError, struct.error, ArithmeticError,
    AttributeError, RuntimeError, NotImplementedError,
)  # fmt: skip


def open_image(data: bytes, kind: str) -> Image.Image:
    """`kind` is Pillow's name of the format. Raises ExtractionError `damaged` or `too_large`."""
    with _faults_told():
        return Image.open(io.BytesIO(data), formats=[kind])


def page_count(image: Image.Image) -> tuple[int, int]:
    """(pages to read, frames there are): a TIFF's frames are pages, of what moves the first is read."""
    with _faults_told():
        n_frames = int(getattr(image, "n_frames", 1))
    n_pages = n_frames if image.format == "TIFF" else 1
    if n_pages > _MOST_PAGES:
        raise ExtractionError("too_large", f"it has {n_pages} pages; {_MOST_PAGES} are read at most")
    return n_pages, n_frames


def picture_of(image: Image.Image, number: int) -> tuple[Image.Image, int]:
    """A page, from 1, not larger than it need be, and its dots per inch, 0 when it does not say.

    Raises ExtractionError `damaged` or `too_large`.
    """
    with _faults_told():
        image.seek(number - 1)
        n_pixels = image.width * image.height
        if n_pixels > _MOST_PIXELS:
            most = f"{_MOST_PIXELS / 1e6:.0f} million are read at most; scale it down"
            raise ExtractionError("too_large", f"it has {n_pixels / 1e6:.0f} million pixels; {most}")
        image.load()
        shown = ImageOps.exif_transpose(image)
        factor = -(-max(shown.size) // _LARGE_PX)
        if factor == 1 or shown.mode == "P":
            return shown, _dpi(shown)
        deeper = (
            "L" if shown.mode == "1" else "I" if shown.mode.startswith("I;16") else ""
        )  # these have no mean of pixels
        return (shown.convert(deeper) if deeper else shown).reduce(factor), _dpi(shown) // factor


def _dpi(image: Image.Image) -> int:
    try:
        return int(float(image.info.get("dpi", (0, 0))[0]))
    except (TypeError, ValueError, ArithmeticError, IndexError):
        return 0


@contextlib.contextmanager
def _faults_told() -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            yield
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise ExtractionError("too_large", "it has too many pixels to be read; scale it down") from error
    except _FAULTS as error:
        raise ExtractionError("damaged", f"it cannot be opened as an image: {error}; export it again") from error
