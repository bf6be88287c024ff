"""A page of a PDF or an image as a picture to look at, with the boxes of what was read and of what was taken out of it.

The file is opened in a limited process of its own (`python -m gawah.extract.showing TYPE PAGE`, the file on its standard
input), which answers with one line of JSON and the bare pixels.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from gawah.errors import ExtractionError, NotFoundError, UsageError
from gawah.extract.confine import Limits, confine, isolate_network
from gawah.extract.ocr.extractor import FORMATS
from gawah.extract.pdf.drawing import Drawing, draw
from gawah.extract.sandbox import bare_environment
from gawah.types import Document, ImageBox, Locator, PageBoxes

if TYPE_CHECKING:
    from PIL.Image import Image

PDF = "application/pdf"
_DPI = 150
_MEMORY_BYTES = 1 << 30  # beyond the given: a large image in colour
_READ, _REMOVED = (24, 90, 219), (214, 40, 40)
_LONGEST_HEAD_BYTES = 4096
_LARGEST_SIDE_PX = 10_000


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as RGB pixels; `drawing` is how a PDF's was drawn, None for an image."""

    width: int
    height: int
    pixels: bytes
    drawing: Drawing | None


def shown_page(data: bytes, media_type: str, number: int, limits: Limits) -> Shown:
    """Page `number`, from 1. Raises UsageError for a type without pages, NotFoundError for a page that is not there,
    ExtractionError for a file that cannot be opened.
    """
    if media_type != PDF and media_type not in FORMATS:
        raise UsageError(f"a file of the type {media_type} has no pages to draw; PDFs and images have")
    request = json.dumps([media_type, number, asdict(limits)])
    command = [sys.executable, "-P", "-m", "gawah.extract.showing", request]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=limits.wall_s, check=True, env=bare_environment(), cwd="/"
        )
    except subprocess.TimeoutExpired as error:
        raise ExtractionError("timeout_wall", f"drawing page {number} took more than {limits.wall_s:g} s") from error
    except subprocess.CalledProcessError as error:
        raise ExtractionError(
            "extractor_crashed", f"page {number} cannot be drawn: the program that draws it ended"
        ) from error
    head, _, pixels = done.stdout.partition(b"\n")
    return _checked(head, pixels)


def _checked(head: bytes, pixels: bytes) -> Shown:
    """The answer of a process that a hostile file may have taken over: what does not add up is an error."""
    try:
        answer = json.loads(head[:_LONGEST_HEAD_BYTES])
        if "pages" in answer:
            n_pages, number = int(answer["pages"]), int(answer["asked"])
            raise NotFoundError(f"there is no page {number}: the file has {n_pages} page{'' if n_pages == 1 else 's'}")
        if "code" in answer:
            raise ExtractionError(str(answer["code"]), str(answer["reason"]))
        width, height, rotation = int(answer["width"]), int(answer["height"]), int(answer["rotation"])
        box = tuple(float(edge) for edge in answer["box"])
    except (ValueError, TypeError, KeyError) as error:
        raise ExtractionError("extractor_crashed", "the page cannot be drawn: the answer makes no sense") from error
    is_sized = 0 < width <= _LARGEST_SIDE_PX and 0 < height <= _LARGEST_SIDE_PX and len(pixels) == 3 * width * height
    if not is_sized or len(box) not in (0, 4):
        raise ExtractionError("extractor_crashed", "the page cannot be drawn: the answer is no picture")
    drawing = Drawing((box[0], box[1], box[2], box[3]), rotation, width, height) if box else None
    return Shown(width, height, pixels, drawing)


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
        frames = list(dict.fromkeys(frame for locator in locators for frame in _frames(shown, locator, number)))
        for x0, y0, x1, y1 in frames:
            pen.rectangle((x0, y0, max(x0, x1), max(y0, y1)), outline=colour)
        counts.append(len(frames))
    return picture, counts[0], counts[1]


def _frames(shown: Shown, locator: Locator, number: int) -> Iterator[tuple[int, int, int, int]]:
    """The boxes of a locator that lie on the page, in whole pixels around them."""
    if isinstance(locator, PageBoxes) and shown.drawing is not None:
        for box in locator.boxes:
            if box.page == number:
                yield _around(shown.drawing.to_pixels(box.x0, box.y0, box.x1, box.y1))
    elif isinstance(locator, ImageBox) and locator.page == number:
        x0, y0 = locator.x * shown.width / 100, locator.y * shown.height / 100
        yield _around((x0, y0, x0 + locator.width * shown.width / 100, y0 + locator.height * shown.height / 100))


def _around(box: Sequence[float]) -> tuple[int, int, int, int]:
    return int(box[0]) - 1, int(box[1]) - 1, int(-(-box[2] // 1)), int(-(-box[3] // 1))


# --- the process that opens the file


def main(request: str) -> None:
    """Writes the answer to the standard output."""
    media_type, number, limits = json.loads(request)
    data = sys.stdin.buffer.read()
    isolate_network()
    allowed = Limits(**limits)
    confine(Limits(allowed.memory_bytes + _MEMORY_BYTES, allowed.cpu_s, allowed.wall_s, allowed.output_bytes))
    try:
        head, pixels = _pdf_page(data, number) if media_type == PDF else _image_page(data, media_type, number)
    except ExtractionError as error:
        head, pixels = {"code": error.reason_code, "reason": str(error)}, b""
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + pixels)


def _pdf_page(data: bytes, number: int) -> tuple[dict[str, object], bytes]:
    from gawah.extract.pdf.pdfium import open_pdf

    with open_pdf(data) as pdf:
        if not 1 <= number <= pdf.n_pages:
            return {"pages": pdf.n_pages, "asked": number}, b""
        with pdf.page(number - 1) as page:
            if page is None:
                raise ExtractionError("damaged", f"page {number} cannot be read")
            picture, drawing = draw(page, _DPI)
    head = {"width": drawing.width, "height": drawing.height, "box": drawing.box, "rotation": drawing.rotation}
    return head, picture.convert("RGB").tobytes()


def _image_page(data: bytes, media_type: str, number: int) -> tuple[dict[str, object], bytes]:
    from gawah.extract.ocr.image_file import open_image, page_count, picture_of
    from gawah.extract.ocr.picture import grey

    with open_image(data, FORMATS[media_type]) as image:
        n_pages, _ = page_count(image)
        if not 1 <= number <= n_pages:
            return {"pages": n_pages, "asked": number}, b""
        picture, _ = picture_of(image, number)
        plain = picture if picture.mode == "RGB" else grey(picture)
        return {"width": plain.width, "height": plain.height, "box": [], "rotation": 0}, plain.convert("RGB").tobytes()


if __name__ == "__main__":
    main(sys.argv[1])
