"""A page of an open PDF: its characters in bulk, how they are set, what of it shows, how much of it is image."""

from __future__ import annotations

import ctypes
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Any

_TEXT, _IMAGE, _FORM = 1, 3, 5  # kinds of page objects
_DEEPEST_FORM = 8
_MOST_OBJECTS = 20_000  # that are looked at for images on one page
_INVISIBLE = 3  # text render mode
_BOLD_NAME = re.compile(r"bold|black|heavy|[-,]bd|semib|demi|(?:cm|sf|ec|lm|ptm|phv)b[xc]?\d*")
_FORCED_BOLD = 1 << 18  # font descriptor flag


@dataclass(frozen=True, slots=True)
class Style:
    """How a word is set: effective size in points, weight, the angle it runs at in degrees, and whether it shows."""

    size: float
    is_bold: bool
    angle: float
    is_visible: bool


@dataclass(frozen=True, slots=True)
class PageChars:
    """The characters of a page in the order of its content, as parallel sequences.

    units: one code unit a character, line ends and blanks that pdfium puts in included; tight and loose: four numbers a
    character, x0, y0, x1, y1, around the ink and around the cell.
    """

    units: str
    tight: array[float]
    loose: array[float]


@cache
def library() -> Any:
    """The functions of pdfium, loaded when first needed."""
    from pypdfium2 import raw

    return raw


@dataclass(frozen=True, slots=True)
class _Bulk:
    """The functions called for every character, without ctypes' conversions: addresses go in as plain numbers."""

    char_box: Any
    loose_box: Any
    text_object: Any
    is_generated: Any
    is_unmapped: Any


@cache
def _bulk() -> _Bulk:
    raw = library()
    pointer, number = ctypes.c_void_p, ctypes.c_int

    def plain(function: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(*arguments)(ctypes.cast(function, pointer).value or 0)

    return _Bulk(
        char_box=plain(raw.FPDFText_GetCharBox, number, pointer, number, pointer, pointer, pointer, pointer),
        loose_box=plain(raw.FPDFText_GetLooseCharBox, number, pointer, number, pointer),
        text_object=plain(raw.FPDFText_GetTextObject, pointer, pointer, number),
        is_generated=plain(raw.FPDFText_IsGenerated, number, pointer, number),
        is_unmapped=plain(raw.FPDFText_HasUnicodeMapError, number, pointer, number),
    )


class PdfPage:
    """An open page and its text."""

    def __init__(self, raw: Any, handle: Any, text: Any) -> None:
        self.raw = raw
        self.handle = handle
        self.text = text
        self._styles: dict[int, Style] = {}
        self._fonts: dict[int, bool] = {}

    def box(self) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 of what shows: the crop box within the media box."""
        edges = [ctypes.c_float() for _ in range(4)]
        around = [self._box(read, edges) for read in (self.raw.FPDFPage_GetMediaBox, self.raw.FPDFPage_GetCropBox)]
        media, crop = around[0] or (0.0, 0.0, 612.0, 792.0), around[1]
        if crop is None:
            return media
        x0, y0 = max(media[0], crop[0]), max(media[1], crop[1])
        x1, y1 = min(media[2], crop[2]), min(media[3], crop[3])
        return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else media

    def _box(self, read: Any, edges: list[Any]) -> tuple[float, float, float, float] | None:
        if not read(self.handle, *map(ctypes.byref, edges)):
            return None
        x0, y0, x1, y1 = (edge.value for edge in edges)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)

    def rotation(self) -> int:
        """How far a viewer turns the page clockwise: 0, 90, 180 or 270 degrees."""
        return int(self.raw.FPDFPage_GetRotation(self.handle)) * 90

    def characters(self) -> PageChars:
        n = max(0, self.raw.FPDFText_CountChars(self.text))
        text_address = ctypes.addressof(self.text.contents)
        tight, loose = array("d", bytes(32 * n)), array("f", bytes(16 * n))
        bulk = _bulk()
        at, end = tight.buffer_info()[0], tight.buffer_info()[0] + 32 * n
        # The C function fills left, right, bottom, top: the two in the middle change places.
        _exhaust(
            map(bulk.char_box, repeat(text_address), range(n), range(at, end, 32), range(at + 16, end + 16, 32),
                range(at + 8, end + 8, 32), range(at + 24, end + 24, 32))
        )  # fmt: skip
        at = loose.buffer_info()[0]
        _exhaust(map(bulk.loose_box, repeat(text_address), range(n), range(at, at + 16 * n, 16)))
        loose[1::4], loose[3::4] = loose[3::4], loose[1::4]  # FS_RECTF is left, top, right, bottom
        return PageChars(self._units(n), tight, loose)

    def _units(self, n: int) -> str:
        buffer = (ctypes.c_ushort * (n + 2))()
        n_written = self.raw.FPDFText_GetText(self.text, 0, n, buffer) - 1
        if n_written == n and (n == 0 or self.raw.FPDFText_GetTextIndexFromCharIndex(self.text, n - 1) == n - 1):
            return "".join(map(chr, buffer[:n]))
        return "".join(map(chr, (self.raw.FPDFText_GetUnicode(self.text, index) for index in range(n))))

    def generated(self, indexes: list[int]) -> list[bool]:
        """Whether pdfium put the characters in itself."""
        text_address = ctypes.addressof(self.text.contents)
        return [answer == 1 for answer in map(_bulk().is_generated, repeat(text_address), indexes)]

    def n_unmapped(self, indexes: list[int]) -> int:
        """Of how many of the characters the font does not say which letter the glyph is."""
        text_address = ctypes.addressof(self.text.contents)
        return sum(answer == 1 for answer in map(_bulk().is_unmapped, repeat(text_address), indexes))

    def styles(self, indexes: list[int]) -> list[Style]:
        """The style of each of the characters."""
        return [
            self._styles.get(address) or self._style(address, index)
            for address, index in zip(self.text_objects(indexes), indexes, strict=True)
        ]

    def _style(self, address: int, index: int) -> Style:
        raw = self.raw
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(self.text, index, matrix)
        size = raw.FPDFText_GetFontSize(self.text, index) * (math.hypot(matrix.c, matrix.d) or 1.0)
        angle = math.degrees(math.atan2(matrix.b, matrix.a))
        if not (math.isfinite(size) and math.isfinite(angle)):
            size, angle = 0.0, 0.0
        size = abs(size)
        if not address:
            return Style(size, is_bold=False, angle=angle, is_visible=True)
        item = ctypes.cast(address, raw.FPDF_PAGEOBJECT)
        mode = raw.FPDFTextObj_GetTextRenderMode(item)
        font = raw.FPDFTextObj_GetFont(item)
        bold = mode == 2 or (bool(font) and self._is_bold(font))
        style = Style(size, is_bold=bold, angle=angle, is_visible=mode != _INVISIBLE)
        self._styles[address] = style
        return style

    def _is_bold(self, font: Any) -> bool:
        address = ctypes.addressof(font.contents)
        known = self._fonts.get(address)
        if known is None:
            raw, name = self.raw, ctypes.create_string_buffer(256)
            raw.FPDFFont_GetBaseFontName(font, name, 256)
            words = name.value.decode("latin-1").lower()
            known = (
                _BOLD_NAME.search(words) is not None
                or raw.FPDFFont_GetWeight(font) >= 600
                or bool(raw.FPDFFont_GetFlags(font) & _FORCED_BOLD)
            )
            self._fonts[address] = known
        return known

    def text_objects(self, indexes: Sequence[int]) -> list[int]:
        """The address of the text object that each of the characters belongs to; 0 of those that pdfium put in."""
        text_address = ctypes.addressof(self.text.contents)
        return [address or 0 for address in map(_bulk().text_object, repeat(text_address), indexes)]

    def text_objects_behind(self, n_own: int) -> frozenset[int]:
        """The addresses of the text objects, in forms too, behind the first `n_own` objects of the page."""
        raw, found = self.raw, set[int]()
        waiting = [(raw.FPDFPage_GetObject(self.handle, number), 0) for number in range(n_own, self.n_objects())]
        while waiting and len(found) < _MOST_OBJECTS:
            item, depth = waiting.pop()
            kind = raw.FPDFPageObj_GetType(item) if item else 0
            if kind == _TEXT:
                found.add(ctypes.addressof(item.contents))
            elif kind == _FORM and depth < _DEEPEST_FORM:
                parts = range(min(raw.FPDFFormObj_CountObjects(item), _MOST_OBJECTS))
                waiting += [(raw.FPDFFormObj_GetObject(item, part), depth + 1) for part in parts]
        return frozenset(found)

    def n_objects(self) -> int:
        return int(self.raw.FPDFPage_CountObjects(self.handle))

    def image_share(self) -> float:
        """The share of the shown page that its images cover, which may be the strips of one scan; where they lie upon each
        other it counts twice, up to 1. A form of unknown content counts as an image.
        """
        raw, (x0, y0, x1, y1) = self.raw, self.box()
        edges, covered = [ctypes.c_float() for _ in range(4)], 0.0
        for number in range(min(raw.FPDFPage_CountObjects(self.handle), _MOST_OBJECTS)):
            item = raw.FPDFPage_GetObject(self.handle, number)
            if raw.FPDFPageObj_GetType(item) not in (_IMAGE, _FORM):
                continue
            if not raw.FPDFPageObj_GetBounds(item, *map(ctypes.byref, edges)):
                continue
            left, bottom, right, top = (edge.value for edge in edges)
            width, height = min(x1, right) - max(x0, left), min(y1, top) - max(y0, bottom)
            covered += width * height if width > 0 and height > 0 else 0.0
        return min(1.0, covered / max(1.0, (x1 - x0) * (y1 - y0)))


def _exhaust(calls: Iterator[Any]) -> None:
    for _ in calls:
        pass
