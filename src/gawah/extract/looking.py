"""What a limited process shows of a file: a page as pixels, or an HTML page as a harmless one. The answer to a `look`.

The answer is one line of JSON and, behind it, bytes. Whoever asked checks it (showing.py): a hostile file may have taken
over the process that made it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from gawah.errors import ExtractionError
from gawah.extract.html_harmless import harmless_html
from gawah.extract.reply import look_part
from gawah.media_types import IMAGE_FORMATS

PDF = "application/pdf"
PAGE, FRAME = "page", "frame"  # kinds of looks

Answer = tuple[dict[str, Any], bytes]


def look_parts(media_type: str, data: bytes, look: Mapping[str, Any]) -> list[bytes]:
    """The bytes of the answer. `look` has a `kind`, and what the kind's function takes.

    Raises ExtractionError.
    """
    head, body = _KINDS[look["kind"]](media_type, data, look)
    return [look_part(), json.dumps(head).encode() + b"\n", body]


def _page(media_type: str, data: bytes, look: Mapping[str, Any]) -> Answer:
    number, dpi = int(look["number"]), int(look["dpi"])
    return _pdf_page(data, number, dpi) if media_type == PDF else _image_page(data, media_type, number)


def _pdf_page(data: bytes, number: int, dpi: int) -> Answer:
    from gawah.extract.pdf.drawing import draw_in_colour
    from gawah.extract.pdf.pdfium import open_pdf

    with open_pdf(data) as pdf:
        if not 1 <= number <= pdf.n_pages:
            return {"pages": pdf.n_pages}, b""
        with pdf.page(number - 1) as page:
            if page is None:
                raise ExtractionError("damaged", f"page {number} cannot be read")
            picture, drawing = draw_in_colour(page, dpi)
        head = {"pages": pdf.n_pages, "label": pdf.label(number - 1)}
    size = {"width": drawing.width, "height": drawing.height, "box": drawing.box, "rotation": drawing.rotation}
    return {**head, **size}, picture.tobytes()


def _image_page(data: bytes, media_type: str, number: int) -> Answer:
    from gawah.extract.ocr.image_file import open_image, page_count, picture_of
    from gawah.extract.ocr.picture import grey

    with open_image(data, IMAGE_FORMATS[media_type]) as image:
        n_pages, _ = page_count(image)
        if not 1 <= number <= n_pages:
            return {"pages": n_pages}, b""
        picture, _ = picture_of(image, number)
        plain = picture if picture.mode == "RGB" else grey(picture)
        size = {"width": plain.width, "height": plain.height, "box": [], "rotation": 0}
        return {"pages": n_pages, "label": "", **size}, plain.convert("RGB").tobytes()


def _frame(_: str, data: bytes, look: Mapping[str, Any]) -> Answer:
    made, is_marked = harmless_html(data, [(str(words), int(rank), str(name)) for words, rank, name in look["ranges"]])
    return {"marked": is_marked}, made.encode("utf-8", "replace")


_KINDS: dict[str, Callable[[str, bytes, Mapping[str, Any]], Answer]] = {PAGE: _page, FRAME: _frame}
