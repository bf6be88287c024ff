"""pdfium by its C interface: bytes to an open document, and what a document says of itself.

Coordinates are PDF user space, in points, whatever the page's rotation and crop box. pdfium may only be used by one
thread at a time: `open_pdf` holds a lock for as long as the document is open.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gawah.errors import ExtractionError
from gawah.extract.pdf.mend import mended
from gawah.extract.pdf.page import PdfPage, library

_LOCK = threading.Lock()
_ERROR_PASSWORD, _ERROR_SECURITY = 4, 5
_MOST_PAGES = 20_000  # a page tree can name one page a million times
_LONGEST_NAME_BYTES = 4096
_MOST_BOOKMARKS = 5_000
_DEEPEST_BOOKMARK = 6  # headings have six levels


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the document's outline; level from 1, page from 1, 0 for one that leads nowhere."""

    title: str
    level: int
    page: int


@contextlib.contextmanager
def open_pdf(data: bytes) -> Iterator[Pdf]:
    """The open document. Raises ExtractionError `encrypted` or `damaged`."""
    with _LOCK:
        raw = library()
        handle, is_mended, held = _load(raw, data)
        pdf = Pdf(raw, handle, is_mended=is_mended)
        try:
            yield pdf
        finally:
            pdf.close()
            del held


def _load(raw: Any, data: bytes) -> tuple[Any, bool, bytes]:
    """(handle, whether the bytes had to be mended, the bytes pdfium reads from as long as the handle lives)."""
    for number, candidate in enumerate((data, *mended(data))):
        handle = raw.FPDF_LoadMemDocument64(candidate, len(candidate), None)
        if handle:
            if raw.FPDF_GetPageCount(handle) > 0:
                return handle, number > 0, candidate
            raw.FPDF_CloseDocument(handle)
        elif raw.FPDF_GetLastError() in (_ERROR_PASSWORD, _ERROR_SECURITY):
            reason = "it is encrypted and needs a password; save a copy without one and ingest that"
            raise ExtractionError("encrypted", reason)
    raise ExtractionError("damaged", "it is so damaged that no page can be found in it; export it again")


class Pdf:
    """An open document."""

    def __init__(self, raw: Any, handle: Any, *, is_mended: bool) -> None:
        self.raw = raw
        self.handle = handle
        self.is_mended = is_mended
        self.n_pages = raw.FPDF_GetPageCount(handle)
        self._form: Any = None
        if self.n_pages > _MOST_PAGES:
            raw.FPDF_CloseDocument(handle)
            raise ExtractionError("too_large", f"it says it has {self.n_pages} pages; {_MOST_PAGES} are read at most")

    def close(self) -> None:
        if self._form is not None:
            self.raw.FPDFDOC_ExitFormFillEnvironment(self._form[0])
        self.raw.FPDF_CloseDocument(self.handle)

    def form(self) -> Any:
        """What fields are asked by, made when first needed; no script of the document ever runs."""
        if self._form is None:
            told = self.raw.FPDF_FORMFILLINFO(version=2)  # has to live as long as the form does
            self._form = self.raw.FPDFDOC_InitFormFillEnvironment(self.handle, told), told
        return self._form[0]

    def n_files(self) -> int:
        """How many files are attached to the document."""
        return max(0, int(self.raw.FPDFDoc_GetAttachmentCount(self.handle)))

    def has_xfa(self) -> bool:
        """Whether there is a second form, in XML, behind or instead of the fields."""
        return int(self.raw.FPDF_GetFormType(self.handle)) in (
            self.raw.FORMTYPE_XFA_FULL, self.raw.FORMTYPE_XFA_FOREGROUND,
        )  # fmt: skip

    def flatten(self, index: int, kept: Sequence[int]) -> int:
        """Draws the annotations of these numbers into the page, from 0, as viewers draw them; all others of it are gone.

        Returns how many objects of its own the page had before; what is drawn comes behind them.
        """
        raw = self.raw
        handle = raw.FPDF_LoadPage(self.handle, index)
        if not handle:
            return 0
        try:
            n_own = int(raw.FPDFPage_CountObjects(handle))
            chosen = frozenset(kept)
            for number in range(raw.FPDFPage_GetAnnotCount(handle) - 1, -1, -1):
                if number not in chosen:
                    raw.FPDFPage_RemoveAnnot(handle, number)
            raw.FPDFPage_Flatten(handle, raw.FLAT_NORMALDISPLAY)
            return n_own
        finally:
            raw.FPDF_ClosePage(handle)

    @contextlib.contextmanager
    def page(self, index: int) -> Iterator[PdfPage | None]:
        """The page, from 0; None when it cannot be read."""
        handle = self.raw.FPDF_LoadPage(self.handle, index)
        text = self.raw.FPDFText_LoadPage(handle) if handle else None
        try:
            yield PdfPage(self.raw, handle, text) if text else None
        finally:
            if text:
                self.raw.FPDFText_ClosePage(text)
            if handle:
                self.raw.FPDF_ClosePage(handle)

    def label(self, index: int) -> str:
        """The number printed on a page, as the document declares it."""
        return _utf16(self.raw.FPDF_GetPageLabel, self.handle, index)

    def title(self) -> str:
        return _utf16(self.raw.FPDF_GetMetaText, self.handle, b"Title")

    def language(self) -> str:
        """The BCP 47 tag that the document declares, if any."""
        n = self.raw.FPDFCatalog_GetLanguage(self.handle, None, 0)
        if not 1 < n < _LONGEST_NAME_BYTES:
            return ""
        buffer = (ctypes.c_ushort * n)()
        self.raw.FPDFCatalog_GetLanguage(self.handle, buffer, n)
        return "".join(map(chr, buffer)).split("\x00")[0].strip()

    def bookmarks(self) -> list[Bookmark]:
        """The outline in reading order; a chain that bites its own tail ends there."""
        raw, found, seen = self.raw, list[Bookmark](), set[int]()

        def walk(entry: Any, level: int) -> None:
            while entry and len(found) < _MOST_BOOKMARKS:
                address = ctypes.addressof(entry.contents)
                if address in seen:
                    return
                seen.add(address)
                title = _utf16(raw.FPDFBookmark_GetTitle, entry)
                target = raw.FPDFBookmark_GetDest(self.handle, entry)
                page = raw.FPDFDest_GetDestPageIndex(self.handle, target) + 1 if target else 0
                if title.strip():
                    found.append(Bookmark(" ".join(title.split()), level, page))
                if level < _DEEPEST_BOOKMARK:
                    walk(raw.FPDFBookmark_GetFirstChild(self.handle, entry), level + 1)
                entry = raw.FPDFBookmark_GetNextSibling(self.handle, entry)

        walk(raw.FPDFBookmark_GetFirstChild(self.handle, None), 1)
        return found


def _utf16(read: Any, *arguments: Any) -> str:
    """What a function writes as UTF-16LE, whose size in bytes it returns, the final NUL included."""
    n = min(int(read(*arguments, None, 0)), _LONGEST_NAME_BYTES)
    if n <= 2:
        return ""
    buffer = ctypes.create_string_buffer(n)
    read(*arguments, buffer, n)
    return buffer.raw.decode("utf-16-le", "replace").split("\x00")[0]
