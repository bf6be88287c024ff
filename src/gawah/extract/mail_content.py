"""A leaf of a MIME message to its bytes, the encoding of characters they are in, and what was wrong with them.

Base64 (RFC 2045, 6.8) is decoded here: programs that put encoded pieces together leave padding inside, where other
decoders stop without a word.
"""

from __future__ import annotations

import binascii
import codecs
import re
from dataclasses import dataclass
from email.errors import HeaderParseError, MessageError
from email.message import Message

CODED = (LookupError, ValueError, HeaderParseError, binascii.Error)
"""What broken coded words, names and encodings raise."""

_BASE64_LINE = re.compile(rb"(?m)^[ \t]*[A-Za-z0-9+/][A-Za-z0-9+/=]*[ \t\r]*$")
_FOREIGN = re.compile(rb"[^A-Za-z0-9+/=\s]")
_RUN = re.compile(rb"([A-Za-z0-9+/]+)(=*)")
_CUT_SHORT = "its base64 is cut short; what is whole was read"
_UTF_8 = ("", "utf-8", "utf8", "us-ascii")
_UTF_7 = ("utf-7", "unicode-1-1-utf-7")


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes with their transfer encoding undone, the declared encoding of characters ("" when none), and faults."""

    data: bytes
    charset: str
    faults: tuple[str, ...] = ()


def content_of(part: Message) -> Content:
    """What a leaf holds. Nothing is raised: what cannot be decoded is given as it stands."""
    faults: tuple[str, ...] = ()
    raw, charset = _raw(part), _charset(part)
    coding = str(part.get("Content-Transfer-Encoding", "")).partition(";")[0].strip().lower()
    if coding == "base64" and not part.is_multipart():
        data, faults = unbase64(raw)
        if (
            not faults
            and charset.lower() in _UTF_8
            and part.get_content_maintype() == "text"
            and not raw.rstrip().endswith(b"=")
        ):
            whole = _whole_characters(data)  # cut between two groups: half a character says that there was more
            data, faults = whole, (_CUT_SHORT,) if len(whole) < len(data) else ()
    else:
        data = _decoded(part, raw)
    if charset.lower() in _UTF_7:
        try:
            return Content(data.decode("utf-7").encode(), "utf-8", faults)
        except ValueError:
            faults += (f"it says it is {charset}, which it is not",)
    return Content(data, charset, faults)


def unbase64(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of every padded run, one behind the other, and what is wrong with the coding.

    Of a run that is cut short all whole bytes are given, at the end no half of a UTF-8 character. What has not one line of
    base64 is given as it is.
    """
    if not raw.strip():
        return b"", ()
    if not _BASE64_LINE.search(raw):
        return raw, ("it says it is base64, which it is not",)
    clean = _FOREIGN.sub(b"", raw)
    faults = ["its base64 has characters in it that are none; they were left out"] if len(clean) != len(raw) else []
    data, n_cut, is_cut = bytearray(), 0, False
    for run in _RUN.finditer(b"".join(clean.split())):
        letters = run.group(1)
        is_cut = len(letters) % 4 == 1 or len(run.group(2)) < -len(letters) % 4
        n_cut += is_cut
        whole = letters[:-1] if len(letters) % 4 == 1 else letters
        data += binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))
    if n_cut:
        faults.append(_CUT_SHORT)
    if is_cut:
        return _whole_characters(bytes(data)), tuple(faults)
    return bytes(data), tuple(faults)


def _whole_characters(data: bytes) -> bytes:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data)
    except UnicodeDecodeError:  # not UTF-8 at all
        return data
    n_pending = len(decoder.getstate()[0])
    return data[:-n_pending] if n_pending else data


def _raw(part: Message) -> bytes:
    try:
        payload = part.get_payload()
    except (MessageError, TypeError, *CODED):
        return b""
    return payload.encode("utf-8", "surrogateescape") if isinstance(payload, str) else b""


def _decoded(part: Message, raw: bytes) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (MessageError, *CODED):
        payload = None
    return payload if isinstance(payload, bytes) else raw


def _charset(part: Message) -> str:
    try:
        return str(part.get_content_charset("") or "")
    except (MessageError, *CODED):
        return ""
