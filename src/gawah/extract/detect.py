"""The first bytes of a file, and what its name promises, to its media type. Content first, name second.

A signature of letters alone is not believed: "BM", "ID3" and "GIF89a" also begin notes. It counts only together with
the bytes that must follow it.
"""

from __future__ import annotations

import codecs
import io
import re
import struct
import zipfile
from dataclasses import dataclass

from gawah.extract.decode import wide_encoding
from gawah.extract.ole import MSG, OLE, XLS, ole_kind

_SNIFF_BYTES = 1 << 16
_CONTROL_SHARE = 0.1  # of NULs and odd controls that valid UTF-8 text may hold; text files have none or nearly none
_CONTROL_SHARE_LEGACY = 0.01  # of the same in bytes that are not UTF-8
_CONTROLS = bytes([*range(9), 11, *range(14, 27), *range(28, 32), 127])  # ESC is in terminal logs and ISO-2022
OCTETS = "application/octet-stream"
PLAIN = "text/plain"
HTML = "text/html"
ZIP = "application/zip"
EPUB = "application/epub+zip"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
EML = "message/rfc822"
MBOX = "application/mbox"
_PDF = "application/pdf"
_PDF_START = re.compile(rb"%PDF-\d\.\d\s*(?:[\r\n]|\Z)")
_PDF_OBJECT = re.compile(rb"(?<!\d)\d{1,7} \d{1,5} obj\b.{0,4000}?\bendobj\b", re.DOTALL)

# Width and height are neither 0 nor above 32,767, and the shape of a pixel is not given, as in nearly every file; behind
# it stand three colours or, where the flags say that there is no table of colours, the first block.
_GIF = (
    rb"GIF8[79]a(?!\x00\x00)[\x00-\xff][\x00-\x7f](?!\x00\x00)[\x00-\xff][\x00-\x7f]"
    rb"(?:[\x80-\xff].\x00|[\x00-\x7f].\x00[!,;])"
)
_OOXML = "application/vnd.openxmlformats-officedocument."
# Signatures whose own bytes are no text, or that are checked with what follows (https://mimesniff.spec.whatwg.org/,
# and each format's specification).
_SIGNATURES: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), media_type)
    for pattern, media_type in (
        (rb"%PDF-\d\.\d[^\n\r]{0,20}[\n\r](?:%[^\n\r]?[\x80-\xff]|.*?\d obj)", "application/pdf"),
        (rb"\{\\rtf\d[\\\s{]", "application/rtf"),
        (rb"%!PS-Adobe-\d", "application/postscript"),
        (rb"\x89PNG\r\n\x1a\n", "image/png"),
        (rb"\xff\xd8\xff[\xc0-\xfe]", "image/jpeg"),
        (_GIF, "image/gif"),
        (rb"RIFF.{4}WEBPVP8[ LX]", "image/webp"),
        (rb"RIFF.{4}WAVE(?:fmt|JUNK|bext|LIST)", "audio/wav"),
        (rb"RIFF.{4}AVI LIST", "video/x-msvideo"),
        (rb"FORM.{4}AIF[FC]", "audio/aiff"),
        (rb"#!AMR(?:-WB)?\n", "audio/amr"),
        (rb"FLV\x01[\x01\x04\x05]\x00\x00\x00\x09", "video/x-flv"),
        (rb"0&\xb2u\x8ef\xcf\x11\xa6\xd9\x00\xaa\x00b\xcel", "video/x-ms-asf"),
        (rb"\x00\x00\x01\xba[\x21-\x7f]", "video/mpeg"),
        (rb"(?:G.{187}){3}G", "video/mp2t"),
        (rb"II[*+]\x00|MM\x00[*+]", "image/tiff"),
        (rb"BM.{4}\x00{4}.{3}\x00", "image/bmp"),
        (rb"\x00\x00\x01\x00[\x01-\xff]\x00", "image/x-icon"),
        (rb".{4}ftyp(?:avif|heic|heix|mif1)", "image/heif"),
        (rb".{4}ftyp(?:M4A |M4B )", "audio/mp4"),
        (rb".{4}ftypqt  ", "video/quicktime"),
        (rb"\x00\x00.{2}ftyp", "video/mp4"),
        (rb"ID3[\x02-\x04][\x00-\x0f].[\x00-\x7f]{4}", "audio/mpeg"),
        (rb"OggS\x00[\x00-\x07]", "audio/ogg"),
        (rb"fLaC[\x00\x80]\x00\x00", "audio/flac"),
        (rb"\x1aE\xdf\xa3.{0,60}?\x42\x82.webm", "video/webm"),
        (rb"\x1aE\xdf\xa3", "video/x-matroska"),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE),
        (rb"\x1f\x8b\x08", "application/gzip"),
        (rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)", "application/x-bzip2"),
        (rb"\xfd7zXZ\x00", "application/x-xz"),
        (rb"\x28\xb5\x2f\xfd", "application/zstd"),
        (rb"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
        (rb"Rar!\x1a\x07", "application/vnd.rar"),
        (rb".{257}ustar[\x00 ]", "application/x-tar"),
        (rb"\x7fELF[\x01\x02][\x01\x02]", "application/x-elf"),
        (rb"MZ.{58}.{2}\x00\x00", "application/x-dosexec"),
        (rb"\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe\x00", "application/x-executable"),
        (rb"SQLite format 3\x00", "application/vnd.sqlite3"),
        (rb"\x00asm\x01\x00\x00\x00", "application/wasm"),
        (rb"wOF[F2]\x00|OTTO\x00|\x00\x01\x00\x00\x00[\x04-\x40]", "font/sfnt"),
        (rb"PAR1[\x00-\x1f]", "application/vnd.apache.parquet"),
        (rb"\x93NUMPY[\x01-\x03]\x00", "application/x-npy"),
    )
)
# Signatures that text in a legacy encoding may begin with: looked at only in what is no text.
_SIGNATURES_OF_OCTETS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"GIF8[79]a.{7}", re.DOTALL), "image/gif"),
    (re.compile(rb"\xff[\xf2\xf3\xfa\xfb][\x10-\xef]", re.DOTALL), "audio/mpeg"),
    (re.compile(rb"\xff[\xf0\xf1\xf8\xf9][\x40-\x7c\x80-\xbc]", re.DOTALL), "audio/aac"),
    (re.compile(rb".{1,1024}?%PDF-\d\.\d", re.DOTALL), "application/pdf"),
)
_ZIP = re.compile(rb"PK\x03\x04|PK\x05\x06\x00{4}")
DOCX = _OOXML + "wordprocessingml.document"
XLSX = _OOXML + "spreadsheetml.sheet"
PPTX = _OOXML + "presentationml.presentation"
_ZIP_KINDS = (("word/document", DOCX), ("xl/workbook", XLSX), ("ppt/presentation", PPTX))
_ENTRY_NAME = re.compile(rb"PK\x03\x04.{22}(?:[\x00-\xff]\x00|\x00\x01)..([\x20-\xff]{1,200}?\.xml)", re.DOTALL)
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).){0,2000}-->\s*){0,5}<(?:!doctype\s+html|html|head|body)\b[^<]{0,2000}>",
    re.IGNORECASE | re.DOTALL,
)
_XML_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml\s+version\s*=")
_HEADER = (
    rb"(?:return-path|received|delivered-to|from|to|cc|subject|date|message-id|mime-version|reply-to|dkim-signature"
    rb"|arc-[\w-]+|x-[\w-]+|content-type):[^\n]*\n(?:[ \t][^\n]*\n)*"
)
_MAIL_START = re.compile(b"(?:" + _HEADER + b"){3}", re.IGNORECASE)
_MBOX_START = re.compile(rb"From \S+[^\n]*\d{4}\s*\n" + b"(?:" + _HEADER + b"){2}", re.IGNORECASE)
_SHEBANG = re.compile(rb"#!\s*/\S*?(?:/env\s+)?\b(python|ba?sh|zsh|sh|perl|ruby|node)[\d.]*\b")
_SHEBANG_TYPES = {
    b"python": "text/x-python",
    b"perl": "text/x-perl",
    b"ruby": "text/x-ruby",
    b"node": "text/javascript",
}


# Types that share a container: its first bytes do not say which, so the name does.
_SAME_CONTAINER = (
    frozenset({"audio/mp4", "video/mp4", "video/quicktime"}),
    frozenset({"audio/ogg", "video/ogg"}),
    frozenset({"audio/webm", "video/webm", "audio/x-matroska", "video/x-matroska"}),
    frozenset({"audio/x-ms-wma", "video/x-ms-asf", "video/x-ms-wmv"}),
)


# Formats that are a container with known parts inside: without those parts the name is all there is to go by.
_INSIDE = {ZIP: frozenset({DOCX, XLSX, PPTX, ODS, ODT, EPUB}), OLE: frozenset({XLS, MSG})}


@dataclass(frozen=True, slots=True)
class Detection:
    """A media type, and what to tell the user when name and content disagree."""

    media_type: str
    warnings: tuple[str, ...] = ()


def detect(promised: str, data: bytes) -> Detection:
    """The media type of the bytes; `promised` is the one that the file's name says, `application/octet-stream` if none.

    Text has no signature: what is text keeps the type its name promises, if that is a type of text.
    """
    if promised in (EML, MBOX) and (_MAIL_START.match(data) or _MBOX_START.match(data)):
        return Detection(promised)  # whatever bytes its parts hold
    found = _signature(data) or ("" if is_text(data) else _octets(data))
    if found in ("", OCTETS) and promised == _PDF and _PDF_OBJECT.search(data):
        return Detection(_PDF)  # its beginning is lost, which can be mended
    if not found and promised == _PDF and _PDF_START.match(data):
        return Detection(_PDF)  # cut short; the extractor says so
    if any(promised in types and found in types for types in _SAME_CONTAINER):
        return Detection(promised)
    if promised in _INSIDE.get(found, ()):
        return Detection(promised)  # too damaged to tell which; the extractor says what it lacks
    if found:
        return Detection(found, _disagreement(promised, found))
    strong = _text_signature(data, promised)
    if strong:
        return Detection(strong, _disagreement(promised, strong))
    if is_text_type(promised):
        return Detection(promised)
    return Detection(PLAIN, _disagreement(promised, PLAIN))


def is_text_type(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type in {
        "application/json", "application/jsonl", "application/xml", "application/yaml", "application/toml",
        "application/sql", "application/x-zone-identifier", EML, MBOX,
    }  # fmt: skip


def is_text(data: bytes) -> bool:
    """Whether bytes are text in some encoding: a mark, a UTF-16 pattern, or hardly any control among them."""
    head = data[:_SNIFF_BYTES]
    if head.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        return True
    if wide_encoding(data):
        return True
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    if _is_utf8(head, at_end=len(head) == len(data)):
        return n_controls <= _CONTROL_SHARE * len(head)
    return 0 not in head and n_controls <= _CONTROL_SHARE_LEGACY * len(head)


def _is_utf8(head: bytes, *, at_end: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=at_end)
    except UnicodeDecodeError:
        return False
    return True


def _signature(data: bytes) -> str:
    head = data[:_SNIFF_BYTES]
    if _ZIP.match(head):
        return _zip_kind(data)
    found = next((media_type for pattern, media_type in _SIGNATURES if pattern.match(head)), "")
    return ole_kind(data) if found == OLE else found


def _octets(data: bytes) -> str:
    return next((media_type for pattern, media_type in _SIGNATURES_OF_OCTETS if pattern.match(data)), OCTETS)


def _zip_kind(data: bytes) -> str:
    """Which format a ZIP archive is, by the names in its directory; nothing is unpacked."""
    if data[30:38] == b"mimetype":  # ODF and EPUB put their type first, uncompressed (OCF 3.3, section 4.3)
        kind = re.match(rb"application/(epub\+zip|vnd\.oasis\.opendocument\.[a-z]+)", data[38:110])
        if kind:
            return kind.group().decode("ascii")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (
        zipfile.BadZipFile,
        OSError,
        ValueError,
        struct.error,
        NotImplementedError,
    ):  # cut short: the entries' own headers are left
        names = [name.decode("utf-8", "replace") for name in _ENTRY_NAME.findall(data)]
    if "META-INF/container.xml" in names:  # an EPUB that was packed without care
        return EPUB
    if any(name.casefold() == "[content_types].xml" for name in names):
        for mark, media_type in _ZIP_KINDS:
            if any(name.casefold().startswith(mark) for name in names):
                return media_type
    return ZIP


def _text_signature(data: bytes, promised: str) -> str:
    """A type that a text itself declares, for names that promise nothing or plain text, or no text at all."""
    if is_text_type(promised) and promised not in {PLAIN, "application/xml"}:
        return ""
    head = data[:_SNIFF_BYTES]
    wide = wide_encoding(head)
    if wide:
        head = head[: len(head) & ~3].decode(wide, "ignore").encode()
    if _HTML_START.match(head):
        return HTML
    if promised == PLAIN:
        return ""
    if _XML_START.match(head):
        return "application/xml"
    for pattern, media_type in ((_MAIL_START, EML), (_MBOX_START, MBOX)):
        if pattern.match(head):
            return media_type
    shebang = _SHEBANG.match(head)
    return _SHEBANG_TYPES.get(shebang.group(1), "text/x-shell") if shebang else ""


def _disagreement(promised: str, found: str) -> tuple[str, ...]:
    return () if promised in {OCTETS, found} else (f"the name says {promised}, the content is {found}",)
