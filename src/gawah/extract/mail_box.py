"""An MBOX file to the bytes of its messages (RFC 4155; quoting as in mboxrd).

Between messages stands an empty line and "From ADDRESS DATE", with a date as C's asctime writes it, before a header.
Any other line that begins with "From " is somebody's text and stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEADER_NEXT = rb"(?=>?[!-9;-~]+[ \t]*:)"
_ZONE = rb"(?:[A-Z]{1,5}|[+-]\d{4})"
_DATE = (
    rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} +"
    rb"\d{1,2}:\d\d(?::\d\d)?(?: +" + _ZONE + rb"){0,2} +\d{4}(?: +" + _ZONE + rb"){0,2}"
)
# The address may be absent, "-", or written with blanks ("ann at example.org").
_SEPARATOR = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From (?:[^\n]{0,400}? )??"
    + _DATE
    + rb"(?: remote from [^\n]*)?[ \t]*\r?\n"
    + _HEADER_NEXT
)
_FIRST_LINE = re.compile(rb"From [^\n]*\n" + _HEADER_NEXT)  # at the file's begin any date will do
_QUOTED_FROM = re.compile(rb"(?m)^>(>*From )")


def messages(data: bytes) -> Iterator[bytes]:
    """The messages in order, without the lines between them and with their quoted "From " lines as they were."""
    first = _FIRST_LINE.match(data)
    start = first.end() if first else 0
    for mark in _SEPARATOR.finditer(data, start):
        yield from _message(data[start : mark.start()])
        start = mark.end()
    yield from _message(data[start:])


def _message(raw: bytes) -> Iterator[bytes]:
    if not raw.strip():
        return
    unquoted = _QUOTED_FROM.sub(rb"\1", raw)
    # A mail parser takes a first line "From " for an envelope and drops it; behind an empty line it is text.
    yield b"\n" + unquoted if unquoted.startswith(b"From ") else unquoted
