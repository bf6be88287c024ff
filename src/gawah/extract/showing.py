"""A page of a PDF or an image as a picture to look at, with the boxes of what was read and of what was taken out of it; a
page of HTML as a harmless one.

The file is opened in a limited process (looking.py); what it answers is checked here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gawah.errors import ExtractionError, NotFoundError, UsageError
from gawah.extract.looking import FRAME, PAGE, PDF
from gawah.extract.pdf.drawing import Drawing
from gawah.extract.sandbox import Sandbox
from gawah.media_types import IMAGE_FORMATS
from gawah.types import Document, ImageBox, Locator, PageBoxes

if TYPE_CHECKING:
    from PIL.Image import Image

DPI = 150
_READ, _REMOVED = (24, 90, 219), (214, 40, 40)
_LONGEST_HEAD_BYTES = 16_384
_LONGEST_LABEL_CHARS = 80
_LARGEST_SIDE_PX = 10_000


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as RGB pixels; `drawing` is how a PDF's was drawn, None for an image. `label` is the number printed on it."""

    width: int
    height: int
    pixels: bytes
    drawing: Drawing | None
    n_pages: int = 1
    label: str = ""

    def percents(self, locator: Locator, number: int) -> Iterator[tuple[float, float, float, float]]:
        """The boxes of a locator on this page: left, top, right and bottom in percent of its width and height."""
        for x0, y0, x1, y1 in self.pixel_boxes(locator, number):
            yield 100 * x0 / self.width, 100 * y0 / self.height, 100 * x1 / self.width, 100 * y1 / self.height

    def pixel_boxes(self, locator: Locator, number: int) -> Iterator[tuple[float, float, float, float]]:
        """The same in pixels."""
        if isinstance(locator, PageBoxes) and self.drawing is not None:
            for box in locator.boxes:
                if box.page == number:
                    yield self.drawing.to_pixels(box.x0, box.y0, box.x1, box.y1)
        elif isinstance(locator, ImageBox) and locator.page == number:
            x0, y0 = locator.x * self.width / 100, locator.y * self.height / 100
            yield x0, y0, x0 + locator.width * self.width / 100, y0 + locator.height * self.height / 100


def has_pages(media_type: str) -> bool:
    """Whether `shown_page` draws files of a type."""
    return media_type == PDF or media_type in IMAGE_FORMATS


def shown_page(sandbox: Sandbox, data: bytes, media_type: str, number: int, dpi: int = DPI) -> Shown:
    """Page `number`, from 1; an image is shown as large as it is. Raises UsageError for a type without pages,
    NotFoundError for a page that is not there, ExtractionError for a file that cannot be opened.
    """
    if not has_pages(media_type):
        raise UsageError(f"a file of the type {media_type} has no pages to draw; PDFs and images have")
    head, pixels = _told(sandbox.look(media_type, data, {"kind": PAGE, "number": number, "dpi": dpi}))
    return _checked(head, bytes(pixels), number)


def harmless_page(sandbox: Sandbox, data: bytes, ranges: Sequence[tuple[str, int, str]]) -> tuple[str, bool]:
    """The body of an HTML page with nothing in it that acts or loads, and whether `ranges` are marked in it.

    Ranges are those of `html_harmless`. Raises ExtractionError.
    """
    head, body = _told(sandbox.look("text/html", data, {"kind": FRAME, "ranges": list(ranges)}))
    return str(body, "utf-8", "replace"), head.get("marked") is True


def _told(answer: memoryview) -> tuple[Mapping[str, Any], memoryview]:
    """The line of JSON and the bytes behind it."""
    line, separator, _ = bytes(answer[:_LONGEST_HEAD_BYTES]).partition(b"\n")
    try:
        head = json.loads(line)
    except ValueError as error:
        raise _senseless() from error
    if not separator or not isinstance(head, dict):
        raise _senseless()
    return head, answer[len(line) + 1 :]


def _checked(head: Mapping[str, Any], pixels: bytes, number: int) -> Shown:
    """What does not add up is an error."""
    try:
        n_pages = int(head["pages"])
        if not 1 <= number <= n_pages:
            raise NotFoundError(f"there is no page {number}: the file has {n_pages} page{'' if n_pages == 1 else 's'}")
        width, height, rotation = int(head["width"]), int(head["height"]), int(head["rotation"])
        box = tuple(float(edge) for edge in head["box"])
    except (ValueError, TypeError, KeyError) as error:
        raise _senseless() from error
    is_sized = 0 < width <= _LARGEST_SIDE_PX and 0 < height <= _LARGEST_SIDE_PX and len(pixels) == 3 * width * height
    if not is_sized or len(box) not in (0, 4):
        raise _senseless()
    drawing = Drawing((box[0], box[1], box[2], box[3]), rotation, width, height) if box else None
    return Shown(width, height, pixels, drawing, n_pages, str(head.get("label", ""))[:_LONGEST_LABEL_CHARS])


def _senseless() -> ExtractionError:
    return ExtractionError("extractor_crashed", "the page cannot be drawn: the answer makes no sense")


def with_boxes(shown: Shown, document: Document, number: int) -> tuple[Image, int, int]:
    """The picture with a blue frame around every place of the page and a red one around what was taken out; and how many."""
    from PIL import Image, ImageDraw

    picture = Image.frombytes("RGB", (shown.width, shown.height), shown.pixels)
    pen = ImageDraw.Draw(picture)
    counts = []
    for locators, colour in (
        ([place.locator for place in document.places], _READ),
        ([item.locator for item in document.removed if item.locator is not None], _REMOVED),
    ):
        boxes = (box for locator in locators for box in shown.pixel_boxes(locator, number))
        frames = list(dict.fromkeys(map(_around, boxes)))
        for x0, y0, x1, y1 in frames:
            pen.rectangle((x0, y0, max(x0, x1), max(y0, y1)), outline=colour)
        counts.append(len(frames))
    return picture, counts[0], counts[1]


def _around(box: Sequence[float]) -> tuple[int, int, int, int]:
    """In whole pixels."""
    return int(box[0]) - 1, int(box[1]) - 1, int(-(-box[2] // 1)), int(-(-box[3] // 1))
