"""Bytes to characters: byte order mark, strict UTF-8, NUL pattern, the declared encoding, then a restricted guess.

Everything is decoded strictly: no replacement character is ever put in. What was guessed is marked as guessed.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from gawah.errors import ExtractionError
from gawah.extract.guess import guess_encoding

# Longest mark first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE_SHARE = 0.7  # of the upper bytes of wide text are NUL (UTF-32) or small (UTF-16 in an alphabet)
_LEAST_ORDINARY = 0.01  # every text has blanks and line ends
_SMALL = bytes(range(0x20))
_SNIFF_BYTES = 1 << 16

# Names that files declare (https://encoding.spec.whatwg.org/#names-and-labels), as Python codecs. What is not here is
# not a text encoding to us: "unicode_escape" or "utf-7" in a file's mouth would rewrite its text.
_DECLARABLE = {
    **{name: name for name in ("utf-8", "gbk", "gb18030", "big5", "euc-jp", "shift_jis", "iso-2022-jp", "euc-kr")},
    **{name: name for name in ("koi8-r", "koi8-u", "ibm866", "macintosh", "mac-cyrillic", "big5-hkscs", "euc-tw")},
    **{f"windows-{n}": f"cp{n}" for n in (874, *range(1250, 1259))},
    **{f"cp{n}": f"cp{n}" for n in (437, 850, 866, 874, 932, 936, 949, 950, *range(1250, 1259))},
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in range(1, 17) if n != 12},
    **{f"iso8859-{n}": f"iso8859-{n}" for n in range(1, 17) if n != 12},
    **dict.fromkeys(("utf8", "us-ascii", "ascii"), "utf-8"),
    **dict.fromkeys(("latin-1", "latin1", "l1"), "iso8859-1"),
    **dict.fromkeys(("latin-2", "latin2"), "iso8859-2"),
    **dict.fromkeys(("gb2312", "x-gbk"), "gb18030"),
    **dict.fromkeys(("sjis", "shift-jis", "x-sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("ks_c_5601-1987", "windows-949", "uhc"), "cp949"),
    **dict.fromkeys(("utf-16", "utf-16le", "utf-16-le"), "utf-16-le"),
    **dict.fromkeys(("utf-16be", "utf-16-be"), "utf-16-be"),
}
# HTML 5.2.1: browsers read a page that says Latin-1 as Windows-1252, and so do its authors.
_AS_WINDOWS = {"iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874"}

_META = re.compile(rb"""<meta\b[^>]{0,400}?\bcharset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE)
_XML_DECLARATION = re.compile(rb"""^\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9_:.-]{2,40})["']""")
_COOKIE = re.compile(rb"^[ \t\f]*(?:#|//|/\*|--|;|\.\.).{0,80}?coding[:=][ \t]*([A-Za-z0-9_.-]{2,40})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Characters, the codec that gave them (a Python name), whether it was guessed, and what to tell the user."""

    text: str
    encoding: str
    guessed: bool
    warnings: tuple[str, ...] = ()


def decode(data: bytes, declared: str = "") -> Decoded:
    """The text of a file. The mark itself stays as U+FEFF, so that whoever drops it can count it.

    Raises ExtractionError `undecodable`.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _strict(data, encoding)
            if text is not None:
                return Decoded(text, encoding, guessed=False)
    nul_encoding = wide_encoding(data)
    if nul_encoding:
        text = _strict(data, nul_encoding)
        if text is not None:
            return Decoded(text, nul_encoding, guessed=False)
    text = _strict(data, "utf-8")
    if text is not None and not _has_iso_2022_escapes(data):
        return Decoded(text, "utf-8", guessed=False)
    warnings: list[str] = []
    if declared:
        found = _decode_declared(data, declared)
        if found is not None:
            return found
        warnings.append(f"the file says it is {declared}, which it is not")
    encoding = guess_encoding(data)
    text = _strict(data, encoding) if encoding else text
    if text is None:
        reason = "its bytes are not UTF-8, it names no encoding that fits, and no common one does; save it as UTF-8"
        raise ExtractionError("undecodable", reason)
    if not encoding:
        return Decoded(text, "utf-8", guessed=False, warnings=tuple(warnings))
    warnings.append(f"encoding guessed: {encoding}")
    return Decoded(text, encoding, guessed=True, warnings=tuple(warnings))


def declared_encoding(data: bytes) -> str:
    """The encoding that a file names in its head (XML declaration, HTML meta, coding cookie); empty when none."""
    head = data[:4096]
    found = _XML_DECLARATION.search(head) or _META.search(head) or _COOKIE.search(b"\n".join(head.split(b"\n", 2)[:2]))
    return found.group(1).decode("ascii") if found else ""


def wide_encoding(data: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, by where its NULs lie; empty when they lie nowhere in particular."""
    head = data[: _SNIFF_BYTES - _SNIFF_BYTES % 4]
    if len(data) % 2 or 0 not in head:
        return ""
    lanes = [head[lane::4] for lane in range(4)]
    quarter = len(lanes[3])
    if len(data) % 4 == 0 and lanes[3].count(0) == quarter and lanes[2].count(0) >= _WIDE_SHARE * quarter:
        return "utf-32-le" if _ordinary_share(head, "utf-32-le") else ""
    if len(data) % 4 == 0 and lanes[0].count(0) == quarter and lanes[1].count(0) >= _WIDE_SHARE * quarter:
        return "utf-32-be" if _ordinary_share(head, "utf-32-be") else ""
    low_first, high_first = _ordinary_share(head, "utf-16-le"), _ordinary_share(head, "utf-16-be")
    if _is_utf8(head):
        # The upper bytes of an alphabet's characters are few and mostly small; a stray NUL does not make them so.
        n_pairs = len(head) // 2
        low, high = (len(lane) - len(lane.translate(None, _SMALL)) for lane in (head[0::2], head[1::2]))
        low_first = low_first if high >= _WIDE_SHARE * n_pairs and 2 * low <= high else 0.0
        high_first = high_first if low >= _WIDE_SHARE * n_pairs and 2 * high <= low else 0.0
    if max(low_first, high_first) < _LEAST_ORDINARY or low_first == high_first:
        return ""
    return "utf-16-le" if low_first > high_first else "utf-16-be"


def _ordinary_share(head: bytes, encoding: str) -> float:
    """The share of ASCII and common wide marks in what the head decodes to; 0 when much of it is no text at all."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    odd = sum(1 for char in text if char == "\ufffd" or not (char.isprintable() or char.isspace()))
    if not text or odd * 50 > len(text):
        return 0.0
    return sum(1 for char in text if " " <= char <= "~" or char in "\t\n\r。、，　") / len(text)


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _decode_declared(data: bytes, declared: str) -> Decoded | None:
    codec = _DECLARABLE.get(declared.strip().lower())
    if codec is None or codec.startswith("utf-16"):  # a declaration that can be read as ASCII is not in UTF-16
        return None
    for candidate in (_AS_WINDOWS.get(codec, codec), codec):
        text = _strict(data, candidate)
        if text is not None:
            return Decoded(text, candidate, guessed=False)
    return None


def _has_iso_2022_escapes(data: bytes) -> bool:
    return b"\x1b$B" in data or b"\x1b$@" in data


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None
