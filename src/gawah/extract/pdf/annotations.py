"""What lies upon a page of an open PDF: form fields with their values, comments, stamps; where each stands, if it shows.

The text of a page holds none of this: it is kept beside the page's content, often without the glyphs that draw it.
"""

from __future__ import annotations

import ctypes
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gawah.extract.pdf.page import PdfPage

Kind = Literal[
    "text field", "choice", "check box", "signature", "typed text", "text box", "stamp", "comment", "file", "media"
]
"""`check box` has radio buttons too; `typed text` was typed upon a form that has no fields; `media` is all that plays."""

_MOST = 20_000  # annotations of one page
_LONGEST_BYTES = 1 << 21  # of one text
_HIDDEN = 2 | 32  # flags: hidden, no view
_PASSWORD, _PUSH_BUTTON = 1 << 13, 1 << 16  # field flags
_WIDGET, _FREE_TEXT, _STAMP, _FILE = 20, 3, 13, 17
_MEDIA = {18: "sound", 19: "film", 21: "film", 24: "watermark", 25: "model", 26: "film"}
_COMMENTED = frozenset({1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15})  # note, shapes, markup, caret, ink
_FIELDS: dict[int, Kind] = {2: "check box", 3: "check box", 4: "choice", 5: "choice", 6: "text field", 7: "signature"}
_RAW_FIELDS: dict[str, Kind] = {"Tx": "text field", "Ch": "choice", "Sig": "signature"}
_TAG = re.compile(r"<[^>]*>")
_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Annotation:
    """One thing upon a page. index: its number among all; box: in user space; text: the value or comment.

    name: of the field as a reader is told it, or the author of a comment; is_checked: of a check box; size: of a field's
    letters in points, 0 when that is left to the viewer.
    """

    index: int
    kind: Kind
    box: tuple[float, float, float, float]
    text: str
    name: str = ""
    is_checked: bool = False
    is_shown: bool = True
    size: float = 0.0


def annotations_of(page: PdfPage, form: Any) -> list[Annotation]:
    """The annotations that have, or may have, something to read; links, pop-ups and buttons have not."""
    raw, found = page.raw, list[Annotation]()
    for index in range(min(raw.FPDFPage_GetAnnotCount(page.handle), _MOST)):
        handle = raw.FPDFPage_GetAnnot(page.handle, index)
        if not handle:
            continue
        try:
            if (item := _Handle(raw, form, handle).read(index)) is not None:
                found.append(item)
        finally:
            raw.FPDFPage_CloseAnnot(handle)
    return found


@dataclass(frozen=True, slots=True)
class _Handle:
    raw: Any
    form: Any
    handle: Any

    def read(self, index: int) -> Annotation | None:
        subtype, box = self.raw.FPDFAnnot_GetSubtype(self.handle), self._box()
        is_shown = not self.raw.FPDFAnnot_GetFlags(self.handle) & _HIDDEN
        if subtype == _WIDGET:
            return self._field(index, box, is_shown=is_shown)
        if subtype in _MEDIA:
            return Annotation(index, "media", box, "", _MEDIA[subtype], is_shown=is_shown)
        contents = self._string("Contents") or html.unescape(_TAG.sub(" ", self._string("RC")))
        author = self._string("T") if contents else ""
        kind: Kind = "comment"
        if subtype == _FREE_TEXT:
            kind = "typed text" if self._string("IT") == "FreeTextTypewriter" else "text box"
        elif subtype in (_STAMP, _FILE):
            kind = "stamp" if subtype == _STAMP else "file"
        elif subtype not in _COMMENTED or not contents.strip():
            return None
        return Annotation(index, kind, box, contents, author, is_shown=is_shown)

    def _field(self, index: int, box: tuple[float, float, float, float], *, is_shown: bool) -> Annotation | None:
        raw, form, handle = self.raw, self.form, self.handle
        number = raw.FPDFAnnot_GetFormFieldType(form, handle)
        flags = raw.FPDFAnnot_GetFormFieldFlags(form, handle) if number > 0 else 0
        kind = _FIELDS.get(number) or _RAW_FIELDS.get(
            self._string("FT")
        )  # a field that the form does not list has the latter
        if kind is None or (kind == "check box" and flags & _PUSH_BUTTON):
            return None
        size = ctypes.c_float()
        if number > 0:
            raw.FPDFAnnot_GetFontSize(form, handle, ctypes.byref(size))
            names = [
                _wide(read, form, handle)
                for read in (raw.FPDFAnnot_GetFormFieldAlternateName, raw.FPDFAnnot_GetFormFieldName)
            ]
        else:
            names = [self._string("TU"), self._string("T")]
        is_checked = kind == "check box" and self._string("AS") not in ("", "Off")
        value = "" if kind == "text field" and flags & _PASSWORD else self._value(kind, is_known=number > 0)
        return Annotation(index, kind, box, value, _said_name(names), is_checked, is_shown, max(0.0, size.value))

    def _value(self, kind: Kind, *, is_known: bool) -> str:
        raw, form, handle = self.raw, self.form, self.handle
        if kind == "check box":
            return self._string("AS")  # the state that it is in: each button of a group has one of its own
        if not is_known:
            return self._string("V")
        if kind == "choice":
            n = min(_MOST, max(0, raw.FPDFAnnot_GetOptionCount(form, handle)))
            chosen = [i for i in range(n) if raw.FPDFAnnot_IsOptionSelected(form, handle, i)]
            if chosen:
                return ", ".join(_wide(raw.FPDFAnnot_GetOptionLabel, form, handle, index) for index in chosen)
        return _wide(raw.FPDFAnnot_GetFormFieldValue, form, handle)

    def _string(self, key: str) -> str:
        return _wide(self.raw.FPDFAnnot_GetStringValue, self.handle, key.encode())

    def _box(self) -> tuple[float, float, float, float]:
        rect = self.raw.FS_RECTF()
        self.raw.FPDFAnnot_GetRect(self.handle, ctypes.byref(rect))
        xs, ys = sorted((rect.left, rect.right)), sorted((rect.bottom, rect.top))
        return xs[0], ys[0], xs[1], ys[1]


def _said_name(names: Sequence[str]) -> str:
    """What the form calls a field before a reader, else the last part of its own name, without the numbers of copies."""
    said, own = (" ".join(name.split()) for name in names)
    return said or _INDEX.sub("", own).rsplit(".", 1)[-1].strip()


def _wide(read: Any, *arguments: Any) -> str:
    """What a function writes as UTF-16LE, whose size in bytes it returns, the final NUL included."""
    n = int(read(*arguments, None, 0))
    if not 2 < n <= _LONGEST_BYTES:
        return ""
    buffer = (ctypes.c_ushort * ((n + 1) // 2))()
    read(*arguments, buffer, n)
    return bytes(buffer).decode("utf-16-le", "replace").split("\x00")[0]
