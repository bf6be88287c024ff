"""Outlook's MSG to a document: headers, body and attachments, as mail.py does it for MIME (MS-OXMSG, MS-OXPROPS).

Parts are numbered alike: "0" the headers, "1" the body, "2" and on the attachments, "3.1" the body of a message in one.
"""

from __future__ import annotations

import codecs
from datetime import UTC, datetime, timedelta
from typing import Any

from gawah.errors import ExtractionError
from gawah.extract.assembly import sane_title
from gawah.extract.canonical import stem
from gawah.extract.letter import Letter, Read, in_part
from gawah.extract.ole import FAULTS, open_ole
from gawah.extract.rtf import RtfExtractor
from gawah.extract.rtf_packed import unpacked_rtf
from gawah.types import Document, SourceFile

_DEEPEST_MESSAGE = 10
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_TEXT, _BYTES, _TIME, _NUMBER, _STORAGE = 0x1F, 0x102, 0x40, 0x3, 0xD
_STRING8 = 0x1E
_SUBJECT, _BODY, _HTML, _RTF = 0x37, 0x1000, 0x1013, 0x1009
_SENDER, _SENDER_SMTP, _SENDER_ADDRESS, _TO, _CC = 0xC1A, 0x5D01, 0xC1F, 0xE04, 0xE03
_SENT, _DELIVERED, _CODE_PAGE, _MESSAGE_CODE_PAGE = 0x39, 0xE06, 0x3FDE, 0x3FFD
_LONG_NAME, _SHORT_NAME, _DATA, _MIME, _CONTENT_ID = 0x3707, 0x3704, 0x3701, 0x370E, 0x3712
_HEADER_BYTES = {"top": 32, "inner": 24, "attachment": 8}
_MOST_STREAM_BYTES = 256 << 20


class MsgExtractor:
    """application/vnd.ms-outlook. `read` reads attachments: the registry's own call."""

    name = "msg"
    version = 2

    def __init__(self, read: Read) -> None:
        self._read = read

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the subject, else the file's name. Raises ExtractionError `damaged` or `empty`."""
        letter = Letter(source, self._read)
        with open_ole(data) as ole:
            try:
                subject = _message(letter, _Storage(ole, (), "top"), source, prefix="", level=0, depth=0)
            except (*FAULTS, RecursionError) as error:
                raise ExtractionError(
                    "damaged", f"the message is cut short or damaged ({error}); save it again"
                ) from error
        letter.finish()
        return letter.assembly.document(
            source, f"{self.name}/{self.version}", title=sane_title(subject, stem(source.name))
        )


class _Storage:
    """The properties of a message or attachment: streams by number and type, and the fixed ones in their table."""

    def __init__(self, ole: Any, path: tuple[str, ...], kind: str) -> None:
        self._ole = ole
        self.path = path
        depth = len(path) + 1
        entries = ole.listdir(streams=True, storages=True)
        self.names = sorted(
            {entry[depth - 1] for entry in entries if tuple(entry[: depth - 1]) == path and len(entry) >= depth}
        )
        self._fixed: dict[tuple[int, int], int] = {}
        table = self._stream("__properties_version1.0")[_HEADER_BYTES[kind] :]
        for at in range(0, len(table) - 15, 16):
            tag = int.from_bytes(table[at : at + 4], "little")
            self._fixed[tag >> 16, tag & 0xFFFF] = int.from_bytes(table[at + 8 : at + 16], "little")
        page = self.number(_MESSAGE_CODE_PAGE) or self.number(_CODE_PAGE)
        self.codec = _codec(page)
        self.html_codec = _codec(self.number(_CODE_PAGE) or page)

    def inner(self, name: str, kind: str) -> _Storage:
        return _Storage(self._ole, (*self.path, name), kind)

    def number(self, tag: int) -> int:
        return self._fixed.get((tag, _NUMBER), 0) & 0xFFFFFFFF

    def time(self, tag: int) -> str:
        """In UTC, to the minute; empty when there is none."""
        ticks = self._fixed.get((tag, _TIME), 0)
        try:
            return (_EPOCH + timedelta(microseconds=ticks // 10)).strftime("%Y-%m-%d %H:%M UTC") if ticks else ""
        except OverflowError:
            return ""

    def text(self, tag: int) -> str:
        wide = self._stream(f"__substg1.0_{tag:04X}{_TEXT:04X}")
        if wide:
            return wide.decode("utf-16-le", "replace").rstrip("\x00")
        return self._stream(f"__substg1.0_{tag:04X}{_STRING8:04X}").decode(self.codec, "replace").rstrip("\x00")

    def binary(self, tag: int) -> bytes:
        return self._stream(f"__substg1.0_{tag:04X}{_BYTES:04X}")

    def _stream(self, name: str) -> bytes:
        path = [*self.path, name]
        if not self._ole.exists(path) or self._ole.get_size(path) > _MOST_STREAM_BYTES:
            return b""
        with self._ole.openstream(path) as stream:
            data: bytes = stream.read()
        return data


def _message(letter: Letter, storage: _Storage, source: SourceFile, *, prefix: str, level: int, depth: int) -> str:
    """Puts a message and returns its subject."""
    subject = " ".join(storage.text(_SUBJECT).split())
    address = storage.text(_SENDER_SMTP) or storage.text(_SENDER_ADDRESS)
    sender = storage.text(_SENDER)
    if "@" in address and address not in sender:
        sender = f"{sender} <{address}>".strip()
    headers = (
        ("From", sender),
        ("To", storage.text(_TO)),
        ("Cc", storage.text(_CC)),
        ("Date", storage.time(_SENT) or storage.time(_DELIVERED)),
        ("Subject", subject),
    )
    if depth:
        letter.assembly.name(subject or "(no subject)", level)
    letter.put_headers([f"{name}: {value}" for name, value in headers if value], f"{prefix}0")
    _put_body(letter, storage, source, f"{prefix}1", level)
    number = 1
    for name in storage.names:
        if name.lower().startswith("__attach_version1.0_"):
            number += 1
            attachment = storage.inner(name, "attachment")
            _put_attachment(letter, attachment, source, part=f"{prefix}{number}", level=level, depth=depth)
    return subject


def _put_body(letter: Letter, storage: _Storage, source: SourceFile, part: str, level: int) -> None:
    plain = storage.text(_BODY)
    html = storage.binary(_HTML) or storage.text(_HTML).encode()
    as_plain = (plain.encode("utf-8", "replace"), "utf-8") if plain.strip() else None
    as_html = (html, storage.html_codec) if html.strip() else None
    if as_plain or as_html:
        letter.put_body(as_plain, as_html, (part, part), level)
        return
    packed = storage.binary(_RTF)
    if packed:
        try:
            letter.assembly.include(RtfExtractor().extract(source, unpacked_rtf(packed)), in_part(part), deeper=level)
        except ExtractionError as error:
            if error.reason_code != "empty":
                letter.assembly.warnings.append(f"part {part} was not read ({error.reason_code}): {error}")


def _put_attachment(
    letter: Letter, attachment: _Storage, source: SourceFile, *, part: str, level: int, depth: int
) -> None:
    name = attachment.text(_LONG_NAME) or attachment.text(_SHORT_NAME)
    message = next((item for item in attachment.names if item.upper() == f"__SUBSTG1.0_{_DATA:04X}{_STORAGE:04X}"), "")
    if message and depth < _DEEPEST_MESSAGE:
        inner = attachment.inner(message, "inner")
        _message(letter, inner, source, prefix=f"{part}.", level=level + 1, depth=depth + 1)
    elif message:
        line = f"part {part} was not read: messages are nested more than {_DEEPEST_MESSAGE} deep"
        letter.assembly.warnings.append(line)
    elif attachment.text(_CONTENT_ID) and attachment.text(_MIME).startswith("image/"):
        letter.n_inline_images += 1
    else:
        declared = attachment.text(_MIME) or "application/octet-stream"
        letter.put_attachment(name, declared, attachment.binary(_DATA), part, level + 1)


def _codec(page: int) -> str:
    name = {65001: "utf-8", 1200: "utf-16-le", 20127: "ascii", 28591: "latin-1"}.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
