"""EML and MBOX to a document: headers people read, the body, and the attachments that can be read, each with its part.

Parts are numbered as IMAP does (RFC 3501, 6.4.5): "1.2", "0" for the headers; in an MBOX after the message's number,
"3/1.2". Nothing of a message is run, fetched or written to disk.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from email import message_from_bytes, policy
from email.errors import MessageError
from email.header import decode_header
from email.message import Message

from gawah.errors import ExtractionError
from gawah.extract.assembly import sane_title
from gawah.extract.canonical import stem
from gawah.extract.detect import MBOX
from gawah.extract.letter import Letter, Read
from gawah.extract.mail_box import messages
from gawah.extract.mail_content import CODED, content_of
from gawah.types import Document, SourceFile

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_DEEPEST_MESSAGE = 10  # messages inside messages
_DEEPEST_PART = 60
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")


class MailExtractor:
    """message/rfc822 and application/mbox. `read` reads attachments: the registry's own call."""

    name = "mail"
    version = 3

    def __init__(self, read: Read) -> None:
        self._read = read

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the subject, for a mailbox the file's name. Raises ExtractionError `too_deep` or `empty`."""
        letter = Letter(source, self._read)
        subject = ""
        try:
            if source.media_type == MBOX:
                for number, raw in enumerate(messages(data), start=1):
                    message = _parsed(raw)
                    letter.assembly.warnings.extend(
                        f"message {number} is malformed: {line}" for line in _defects(message)
                    )
                    _Walk(letter, f"{number}/").message(message, level=1, heading=True)
            else:
                message = _parsed(data)
                subject = _header(message, "Subject")
                letter.assembly.warnings.extend(f"the message is malformed: {line}" for line in _defects(message))
                _Walk(letter, "").message(message, level=0, heading=False)
        except RecursionError as error:
            raise ExtractionError("too_deep", "its parts are nested too deep to be a message's") from error
        letter.finish()
        title = sane_title(subject, stem(source.name))
        return letter.assembly.document(source, f"{self.name}/{self.version}", title=title)


def _parsed(data: bytes) -> Message:
    # The older policy: the newer one's header parser raises on headers that real mail is full of.
    return message_from_bytes(data, policy=policy.compat32)


class _Walk:
    def __init__(self, letter: Letter, prefix: str) -> None:
        self._letter = letter
        self._prefix = prefix

    def message(self, message: Message, *, level: int, heading: bool, path: str = "", depth: int = 0) -> None:
        """Headers, body and attachments of a message; headings inside are deeper than `level`."""
        here = f"{self._prefix}{path}"
        shown = [(name, _header(message, name)) for name in _SHOWN_HEADERS]
        subject = dict(shown)["Subject"]
        if heading:
            self._letter.assembly.name(subject or "(no subject)", level)
        self._letter.put_headers(
            [f"{name}: {value}" for name, value in shown if value], f"{here}.0" if path else f"{here}0"
        )
        if message.is_multipart() and message.get_content_maintype() == "multipart":
            self._part(message, path, level, depth)
        else:
            self._part(message, f"{path}.1" if path else "1", level, depth)

    def _part(self, part: Message, path: str, level: int, depth: int) -> None:
        if path.count(".") > _DEEPEST_PART:
            raise ExtractionError("too_deep", f"its parts are nested more than {_DEEPEST_PART} deep")
        kind = part.get_content_type()
        children = _children(part)
        self._outside(part)
        if kind == "multipart/alternative":
            self._alternatives(part, path, level, depth)
        elif kind == "multipart/related":
            for number, inner in enumerate(children, start=1):
                if number > 1 and inner.get_content_maintype() == "image":
                    self._letter.n_inline_images += 1
                else:
                    self._part(inner, _joined(path, number), level, depth)
        elif kind == "multipart/encrypted" or "pkcs7-mime" in kind:
            self._letter.assembly.warnings.append(
                f"part {self._prefix}{path or '1'} is encrypted or sealed and was not read"
            )
        elif kind == "message/rfc822" and children:
            self._inner_message(children[0], path, level, depth)
        elif children:
            for number, inner in enumerate(children, start=1):
                self._part(inner, _joined(path, number), level, depth)
        else:
            self._leaf(part, kind, path, level)

    def _outside(self, part: Message) -> None:
        """What stands before the first boundary and behind the last: for programs without MIME, or lost there."""
        for text in (part.preamble, part.epilogue):
            if text and text.strip():
                words = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                self._letter.assembly.remove("outside of the parts", words)

    def _inner_message(self, message: Message, path: str, level: int, depth: int) -> None:
        if depth >= _DEEPEST_MESSAGE:
            line = f"part {self._prefix}{path} was not read: messages are nested more than {_DEEPEST_MESSAGE} deep"
            self._letter.assembly.warnings.append(line)
        else:
            self.message(message, level=level + 1, heading=True, path=path, depth=depth + 1)

    def _alternatives(self, part: Message, path: str, level: int, depth: int) -> None:
        """The same words several times: the plain or the HTML ones; of what is neither, the last and richest."""
        found: dict[str, tuple[Message, str]] = {}
        beside: dict[str, list[tuple[Message, str]]] = {"text/plain": [], "text/html": []}
        others: list[tuple[Message, str]] = []
        for number, inner in enumerate(_children(part), start=1):
            leaf, *more = _leaves(inner, _joined(path, number))
            kind = leaf[0].get_content_type()
            if kind in beside and kind not in found:
                found[kind], beside[kind] = leaf, more
            else:
                others.append((inner, _joined(path, number)))
        if found:
            plain, html = found.get("text/plain"), found.get("text/html")
            parts = (f"{self._prefix}{plain[1] if plain else ''}", f"{self._prefix}{html[1] if html else ''}")
            put = self._letter.put_body(
                self._bytes(*plain) if plain else None, self._content(*html) if html else None, parts, level
            )
            for kind, leaves in beside.items():
                is_put = kind in found and put == f"{self._prefix}{found[kind][1]}"
                self._put_beside(leaves, level, depth, is_put=is_put)
        elif others:
            self._part(*others.pop(), level, depth)
        for other, at in others:
            line = f"part {self._prefix}{at} was not read: another form of the same words ({other.get_content_type()})"
            self._letter.assembly.warnings.append(line)

    def _put_beside(self, leaves: Sequence[tuple[Message, str]], level: int, depth: int, *, is_put: bool) -> None:
        """What stands with one of several forms of a body, pictures and files; its further words only where it was put."""
        for leaf, path in leaves:
            if leaf.get_content_maintype() == "image" and leaf.get_content_disposition() != "attachment":
                self._letter.n_inline_images += 1
            elif is_put or _is_file(leaf) or leaf.get_content_maintype() != "text":
                self._part(leaf, path, level, depth)

    def _leaf(self, part: Message, kind: str, path: str, level: int) -> None:
        here = f"{self._prefix}{path}"
        name, is_attached = _file_name(part), _is_file(part)
        if kind in ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"):
            return
        if (kind == "text/plain" and not is_attached) or kind.startswith("multipart/"):  # or its boundary is missing
            self._letter.put_body(self._bytes(part, path), None, (here, here), level)
        elif kind == "text/html" and not is_attached:
            self._letter.put_body(None, self._content(part, path), (here, here), level)
        else:
            self._letter.put_attachment(name, kind, self._content(part, path)[0], here, level + 1)

    def _content(self, part: Message, path: str) -> tuple[bytes, str]:
        """Bytes and their declared encoding; faults of their coding become warnings."""
        content = content_of(part)
        self._letter.assembly.warnings.extend(f"part {self._prefix}{path}: {fault}" for fault in content.faults)
        return content.data, content.charset

    def _bytes(self, part: Message, path: str) -> tuple[bytes, str]:
        data, charset = self._content(part, path)
        if _says(part, "format", "flowed"):
            return self._letter.unflow(data, charset, delete_space=_says(part, "delsp", "yes"))
        return data, charset


def _says(part: Message, parameter: str, word: str) -> bool:
    return str(part.get_param(parameter, "")).lower() == word


def _joined(path: str, number: int) -> str:
    return f"{path}.{number}" if path else str(number)


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [item for item in payload if isinstance(item, Message)] if isinstance(payload, list) else []


def _leaves(part: Message, path: str) -> list[tuple[Message, str]]:
    """What a multipart/related or a mixture holds, in order, with their paths; a part that is none is its own."""
    waiting, found = [(part, path)], []
    while waiting:
        inner, at = waiting.pop()
        children = _children(inner) if inner.get_content_maintype() == "multipart" else []
        if children:
            waiting += [(child, f"{at}.{number}") for number, child in enumerate(children, start=1)][::-1]
        else:
            found.append((inner, at))
    return found


def _is_file(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or bool(
        _file_name(part) and part.get_content_type() != "text/html"
    )


def _all_parts(message: Message) -> Iterator[Message]:
    waiting = [message]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(_children(part)))


def _defects(message: Message) -> Iterator[str]:
    """What the parser found wrong, in words, each once: "start boundary not found (in 2 parts)"."""
    names = (type(defect).__name__.removesuffix("Defect") for part in _all_parts(message) for defect in part.defects)
    for name, count in Counter(names).items():
        words = _WORD_START.sub(" ", name).lower()
        yield f"{words} (in {count:,} parts)" if count > 1 else words


def _header(message: Message, name: str) -> str:
    return _decoded(message.get(name, ""))


def _file_name(part: Message) -> str:
    try:
        return _decoded(part.get_filename(""))
    except (MessageError, TypeError, *CODED):
        return ""


def _decoded(value: object) -> str:
    """A header with its coded words (RFC 2047) decoded, on one line; as it is written when they are broken."""
    try:
        pieces = decode_header(value)  # type: ignore[arg-type]
        text = "".join(_word(piece, charset) for piece, charset in pieces)
    except CODED:
        text = str(value)
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return " ".join(clean.split())


def _word(piece: bytes | str, charset: str | None) -> str:
    if isinstance(piece, str):
        return piece
    if charset and charset != "unknown-8bit":
        return piece.decode(charset, "replace")
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return piece.decode("cp1252", "replace")
