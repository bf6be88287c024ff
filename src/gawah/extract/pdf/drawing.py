"""An open page to a picture, in levels of grey or in colour, as a viewer shows it, and the picture's pixels back to the page."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gawah.errors import ExtractionError
from gawah.extract.pdf.frame import page_to_shown, shown_to_page
from gawah.extract.pdf.page import PdfPage

if TYPE_CHECKING:
    from PIL.Image import Image

_LEAST_SIDE_PT = 1.0
_POINTS_AN_INCH = 72
_LONGEST_PX = 6000  # of the longer side; A3 at 300 dpi has 4961
_GREY, _COLOUR = (1, "L", "L"), (3, "RGB", "BGRX")  # pdfium's pixel format, the picture's mode, the raw bytes' order
_WHITE = 0xFFFFFFFF
_ANNOTATIONS = 0x01  # stamps and filled-in forms are drawn too


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a page was drawn: what of it shows, in user space, how a viewer turns it, and the picture's size in pixels."""

    box: tuple[float, float, float, float]
    rotation: int
    width: int
    height: int

    @property
    def shown_pt(self) -> tuple[float, float]:
        """Width and height as a viewer shows the page, in points."""
        sides = self.box[2] - self.box[0], self.box[3] - self.box[1]
        return sides if self.rotation % 180 == 0 else (sides[1], sides[0])

    @property
    def dpi(self) -> float:
        return _POINTS_AN_INCH * self.height / self.shown_pt[1]

    def to_page(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """A box in pixels, from the top left, in user space."""
        across, down = (pt / px for pt, px in zip(self.shown_pt, (self.width, self.height), strict=True))
        return shown_to_page(self.rotation, self.box, x0 * across, y0 * down, x1 * across, y1 * down)

    def to_pixels(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """A box in user space, in pixels from the top left."""
        across, down = (px / pt for pt, px in zip(self.shown_pt, (self.width, self.height), strict=True))
        left, top, right, bottom = page_to_shown(self.rotation, self.box, x0, y0, x1, y1)
        return left * across, top * down, right * across, bottom * down


def drawing_of(box: tuple[float, float, float, float], rotation: int, dpi: int) -> Drawing:
    """How a page is drawn at a resolution, or at the lower one at which its longer side is not too long.

    A damaged page may have no width or no height: it is drawn as if it had a point of it.
    """
    box = box[0], box[1], max(box[2], box[0] + _LEAST_SIDE_PT), max(box[3], box[1] + _LEAST_SIDE_PT)
    sides = box[2] - box[0], box[3] - box[1]
    scale = min(dpi / _POINTS_AN_INCH, _LONGEST_PX / max(sides))
    width, height = (max(1, round(side * scale)) for side in (sides if rotation % 180 == 0 else sides[::-1]))
    return Drawing(box, rotation, width, height)


def draw(page: PdfPage, dpi: int) -> tuple[Image, Drawing]:
    """In levels of grey. Raises ExtractionError `too_large` when there is no memory for the picture."""
    return _drawn(page, dpi, _GREY)


def draw_in_colour(page: PdfPage, dpi: int) -> tuple[Image, Drawing]:
    """As `draw`, for people to look at."""
    return _drawn(page, dpi, _COLOUR)


def _drawn(page: PdfPage, dpi: int, pixels_as: tuple[int, str, str]) -> tuple[Image, Drawing]:
    from PIL import Image

    pixel_format, mode, order = pixels_as
    raw, drawing = page.raw, drawing_of(page.box(), page.rotation(), dpi)
    bitmap = raw.FPDFBitmap_CreateEx(drawing.width, drawing.height, pixel_format, None, 0)
    if not bitmap:
        raise ExtractionError(
            "too_large", f"a picture of {drawing.width} x {drawing.height} pixels does not fit in memory"
        )
    try:
        raw.FPDFBitmap_FillRect(bitmap, 0, 0, drawing.width, drawing.height, _WHITE)
        raw.FPDF_RenderPageBitmap(bitmap, page.handle, 0, 0, drawing.width, drawing.height, 0, _ANNOTATIONS)
        stride = raw.FPDFBitmap_GetStride(bitmap)
        pixels = ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), stride * drawing.height)
    finally:
        raw.FPDFBitmap_Destroy(bitmap)
    return Image.frombytes(mode, (drawing.width, drawing.height), pixels, "raw", order, stride), drawing
