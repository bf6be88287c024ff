"""The parts of a message (headers, body, attachments) to canonical text, whether MIME or Outlook packed them.

An attachment is read by the extractor of its type and stands behind the body under a heading of its name; what cannot
be read is named in a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gawah.errors import ExtractionError
from gawah.extract.assembly import Assembly, Where
from gawah.extract.decode import decode
from gawah.extract.html import HtmlExtractor
from gawah.extract.plain import PlainExtractor
from gawah.media_types import UNKNOWN_TYPE, media_type_of
from gawah.types import BlockKind, Conservation, Document, Locator, MailPart, SourceFile, Span

Read = Callable[[SourceFile, bytes], Document]
_STUB_SHARE = 0.25  # a plain part under this share of the HTML part's text says "your program cannot show this"
_MOST_ATTACHMENTS = 200
_MARK = "byte order mark"
_TEXTS = frozenset({"text/html", "text/csv", "text/markdown", "text/tab-separated-values"})  # what is not read as plain
_SIGNATURE = "-- "  # the line above one, which never goes on


class Letter:
    """Where messages of one file are put. `read` is how an attachment becomes a document."""

    def __init__(self, source: SourceFile, read: Read) -> None:
        self.assembly = Assembly()
        self.n_inline_images = 0
        self._source = source
        self._read = read
        self._n_attachments = 0

    def put_headers(self, lines: Sequence[str], part: str) -> None:
        taken = self.assembly.take_lines([" ".join(line.split()) for line in lines])
        self.assembly.put(BlockKind.PARAGRAPH, taken, in_part(part))

    def put_body(
        self, plain: tuple[bytes, str] | None, html: tuple[bytes, str] | None, parts: tuple[str, str], level: int
    ) -> str:
        """Bytes with their declared encoding; the plain text is preferred unless it is a stub beside the HTML.

        Returns the part that was put, "" for none.
        """
        as_plain = self._plain(*plain, parts[0]) if plain else None
        if as_plain is not None and html is None:
            self.assembly.include(as_plain, in_part(parts[0]))
            return parts[0]
        as_html = self._html(*html, parts[1]) if html else None
        if as_html is None and as_plain is None:
            return ""
        n_plain = len(as_plain.text) if as_plain else 0
        if as_plain is not None and (as_html is None or n_plain >= _STUB_SHARE * len(as_html.text)):
            self.assembly.include(as_plain, in_part(parts[0]))
            return parts[0]
        assert as_html is not None
        self.assembly.include(as_html, in_part(parts[1]), deeper=level)
        return parts[1]

    def put_attachment(self, name: str, declared: str, data: bytes, part: str, level: int) -> None:
        self._n_attachments += 1
        shown = " ".join(name.split()) or f"part {part}"
        if self._n_attachments > _MOST_ATTACHMENTS:
            self.assembly.warnings.append(f"attachment {shown!r} was not read: there are more than {_MOST_ATTACHMENTS}")
            return
        promised = media_type_of(shown)
        if promised == UNKNOWN_TYPE:
            promised = "text/plain" if declared.startswith("text/") and declared not in _TEXTS else declared
        source = replace(self._source, name=f"{self._source.name}/{shown}", media_type=promised)
        try:
            document = self._read(source, data)
        except ExtractionError as error:
            why = "its type is not read" if error.reason_code == "unsupported_type" else str(error)
            self.assembly.warnings.append(f"attachment {shown!r} was not read ({error.reason_code}): {why}")
            return
        self.assembly.name(shown, level)
        self.assembly.include(document, in_part(part), deeper=level, name=shown)

    def unflow(self, data: bytes, charset: str, *, delete_space: bool) -> tuple[bytes, str]:
        """A plain part with format=flowed, with its soft line breaks and stuffing taken out, and its encoding.

        `delete_space`: it says DelSp=yes, and the blank before a soft break is no part of the text.
        """
        try:
            decoded = decode(data, charset)
        except ExtractionError:
            return data, charset
        text = decoded.text.replace("\r\n", "\n")
        joined = unflowed(text, delete_space=delete_space)
        self.assembly.drop(self.assembly.take(" " * (len(text) - len(joined))), "soft line break")
        return joined.encode(), "utf-8"

    def finish(self) -> None:
        if self.n_inline_images:
            self.assembly.warnings.append(f"images inside the text, not read: {self.n_inline_images:,}")

    def _plain(self, data: bytes, charset: str, part: str) -> Document | None:
        return self._try(PlainExtractor().extract, "text/plain", data, charset, part)

    def _html(self, data: bytes, charset: str, part: str) -> Document | None:
        return self._try(HtmlExtractor().extract, "text/html", data, charset, part)

    def _try(self, extract: Read, media_type: str, data: bytes, charset: str, part: str) -> Document | None:
        """A part of the body; None when nothing is in it, with a warning when it cannot be read."""
        try:
            decoded = decode(data, charset)
            marked = decoded.text.encode("utf-8-sig")  # the mark outdoes what the HTML says about itself
            document = extract(replace(self._source, media_type=media_type), marked)
        except ExtractionError as error:
            if error.reason_code != "empty":
                self.assembly.warnings.append(f"part {part} was not read ({error.reason_code}): {error}")
            return None
        books = _without_our_mark(document.conservation)
        return replace(document, conservation=books, warnings=decoded.warnings + document.warnings)


def _without_our_mark(books: Conservation) -> Conservation:
    """The books without the byte order mark that was put before the text and is in no file."""
    dropped = {**books.dropped, _MARK: books.dropped.get(_MARK, 0) - 1}
    if dropped[_MARK] < 0:  # it went with something else
        return books
    return replace(books, read=books.read - 1, dropped={reason: n for reason, n in dropped.items() if n})


def in_part(part: str) -> Where:
    def where(span: Span) -> Locator:
        return MailPart(part, span.start, span.end)

    return where


def unflowed(text: str, *, delete_space: bool = False) -> str:
    """Text whose sender broke its lines for display with their ends joined again (RFC 3676, 4.2 to 4.5); LF line ends.

    A blank that a line of words begins with was put there so that no program takes it for something else: it goes.
    """
    lines: list[str] = []
    open_depth = -1  # of quoting, of a line that goes on in the next
    for line in text.split("\n"):
        words = line.lstrip(">")
        marks = line[: len(line) - len(words)]
        bare = words.removeprefix(" ")
        is_signature = bare == _SIGNATURE
        if open_depth == len(marks) and bare and not is_signature:
            lines[-1] = (lines[-1][:-1] if delete_space else lines[-1]) + bare
        else:
            lines.append(marks + (words if marks else bare))
        open_depth = len(marks) if bare.endswith(" ") and not is_signature else -1
    return "\n".join(lines)
