"""Text to the spans that can each state something by themselves: sentences, items, table rows, headings, lines of code."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from gawah.text.boundaries import trim
from gawah.text.rows import are_rows
from gawah.text.sentences import sentences
from gawah.types import Span

_FENCE = regex.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_OPENS = regex.compile(r"[ \t]*(?:[-*+•][ \t]|\d{1,3}[.)][ \t]|>)")  # items and quoted lines go on in the lines below
_HEADING = regex.compile(r"[ \t]*#{1,6}[ \t]")  # does not, nor do rows


def statements(text: str) -> list[Span]:
    """Spans in order, none without a letter or a digit. Hard-wrapped lines of a paragraph stay together."""
    return [
        statement
        for group, whole in _groups(text)
        for statement in ([group] if whole else sentences(text, group))
        if any(character.isalnum() for character in statement.slice(text))
    ]


def lines(text: str) -> list[Span]:
    """Every line with a letter or a digit, without the blanks around it."""
    found, at = [], 0
    for line in text.split("\n"):
        span = trim(text, at, at + len(line))
        if span is not None and any(map(str.isalnum, line)):
            found.append(span)
        at += len(line) + 1
    return found


def _groups(text: str) -> Iterator[tuple[Span, bool]]:
    """Ranges that no sentence crosses, and whether one is a statement as it stands."""
    start, at, fence = 0, 0, ""
    pieces = text.splitlines(keepends=True)
    for line, is_row in zip(pieces, are_rows(pieces), strict=True):
        end = at + len(line)
        mark = _FENCE.match(line)
        whole = bool(fence or mark or is_row or _HEADING.match(line))
        if whole or not line.strip() or _OPENS.match(line):
            yield Span(start, at), False
            start = at
        if whole:
            line_span = trim(text, at, end)
            if line_span is not None and mark is None:
                yield line_span, True
            start = end
        if mark and not fence:
            fence = mark.group(1)[0] * 3
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        at = end
    yield Span(start, at), False
