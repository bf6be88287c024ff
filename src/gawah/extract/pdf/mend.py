"""Bytes that no reader opens to bytes that one may: the header put back, a lost page tree made anew."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEADER = re.compile(rb"%PDF-[12]\.\d")
_OBJECT = re.compile(rb"(?<!\d)(\d{1,7})\s+(\d{1,5})\s+obj\b")
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_OBJECT_CHARS = 4000  # of an object's beginning: a page's dictionary is short
_MOST_OBJECT_NUMBER = 4_000_000  # pdfium's own limit is 2^22


def mended(data: bytes) -> Iterator[bytes]:
    """Attempts at a document that opens, best first; none when nothing in the bytes looks like a PDF."""
    header = _HEADER.search(data)
    body = data[header.start() :] if header else b"%PDF-1.7\n" + data
    if body is not data:
        yield body
    pages = _pages(body)
    if pages:
        yield _with_page_tree(body, pages)


def _pages(body: bytes) -> list[tuple[int, int]]:
    """(object number, generation) of every page object that stands uncompressed in the file, in its order."""
    found: dict[int, int] = {}
    starts = list(_OBJECT.finditer(body))
    for number, match in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(body)
        dictionary = body[match.end() : min(end, match.end() + _OBJECT_CHARS)].split(b"stream", 1)[0]
        if _PAGE.search(dictionary) and dictionary.rstrip().endswith((b"endobj", b">>")):
            found[int(match.group(1))] = int(match.group(2))
    return [(number, generation) for number, generation in found.items() if number < _MOST_OBJECT_NUMBER]


def _with_page_tree(body: bytes, pages: list[tuple[int, int]]) -> bytes:
    """The file with a catalog at its end; a reader that finds no table of objects looks for the objects themselves."""
    numbers = [int(match.group(1)) for match in _OBJECT.finditer(body)]
    free = 1 + max(number for number in numbers if number < _MOST_OBJECT_NUMBER)
    kids = " ".join(f"{number} {generation} R" for number, generation in pages).encode()
    last_object = body.rfind(b"endobj")
    return b"".join((
        body[: last_object + len(b"endobj")] if last_object >= 0 else body,
        b"\n%d 0 obj\n<< /Type /Pages /Kids [%s] /Count %d >>\nendobj\n" % (free, kids, len(pages)),
        b"%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\n" % (free + 1, free),
        b"trailer\n<< /Root %d 0 R /Size %d >>\nstartxref\n0\n%%%%EOF\n" % (free + 1, free + 2),
    ))  # fmt: skip
