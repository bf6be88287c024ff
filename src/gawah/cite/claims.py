"""A resolved text and its markers to claims: its sentences, each with the markers that stand in it or right behind it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from gawah.cite.marks import Mark
from gawah.text import sentences, trim
from gawah.types import Claim, Span

# Items, rows, headings: no sentence goes on into them. "*emphasis*" and "-5 °C" begin no item.
_OWN_LINE = re.compile(r"[ \t]*(?:[|>]|[-*+•][ \t]|#{1,6}[ \t]|\d{1,3}[.)][ \t])")
_FENCE = re.compile(r"[ ]{0,3}(?:`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}[ \t][^\n]*")
_ENDS_CLAIM = ("|", ":", "：")  # a table row, a lead-in


def find_claims(text: str, marks: Sequence[Mark], copied: Sequence[Span]) -> tuple[Claim, ...]:
    """Claims in order. `marks` and `copied` as a MarkerStream leaves them.

    A marker belongs to the sentence before it, even when it stands behind the full stop; at the beginning of a line with
    words behind it, to the sentence that follows. Sentences copied from a source together share the markers behind them.
    A sentence needs a letter or a digit; a block of code is one, a heading only with a marker. Its span leaves out markers at its ends.
    """
    words = without_marks(text, marks)
    spans = [
        sentence
        for group, is_code in _groups(words, marks)
        for sentence in (_whole(words, group) if is_code else sentences(words, group))
        if any(character.isalnum() for character in sentence.slice(words))
    ]
    found: list[dict[int, None]] = [{} for _ in spans]
    starts = [span.start for span in spans]
    for mark in marks:
        at = bisect_right(starts, mark.span.start) - 1
        if at + 1 < len(spans) and (at < 0 or _leads(words, mark, spans[at + 1])):
            at += 1
        if at >= 0:
            for shared in range(_first_copied(spans, at, mark, copied, words), at + 1):
                found[shared][mark.number] = None
    return tuple(
        Claim(span, tuple(numbers), "cited" if numbers else "uncited")
        for span, numbers in zip(spans, found, strict=True)
        if numbers or not _HEADING.fullmatch(span.slice(words))
    )


def without_marks(text: str, marks: Sequence[Mark]) -> str:
    """The text with blanks for markers: the words of every span, at the same offsets."""
    pieces, at = [], 0
    for mark in marks:
        pieces += [text[at : mark.span.start], " " * len(mark.span)]
        at = mark.span.end
    return "".join([*pieces, text[at:]])


def _whole(words: str, group: Span) -> list[Span]:
    span = trim(words, group.start, group.end)
    return [] if span is None else [span]


def _leads(words: str, mark: Mark, following: Span) -> bool:
    """Whether the marker begins the line of the sentence that follows it."""
    line_start = words.rfind("\n", 0, mark.span.start) + 1
    return (
        not words[line_start : mark.span.start].strip(" \t-*+•") and "\n" not in words[mark.span.end : following.start]
    )


def _first_copied(spans: Sequence[Span], at: int, mark: Mark, copied: Sequence[Span], words: str) -> int:
    """The first of the sentences copied together with sentence `at`, if the marker stands right behind what was copied."""
    position = bisect_right(copied, mark.span.start, key=lambda span: span.end) - 1
    if position < 0 or words[copied[position].end : mark.span.start].strip():
        return at
    while at > 0 and spans[at - 1].start >= copied[position].start:
        at -= 1
    return at


def _groups(words: str, marks: Sequence[Mark]) -> Iterator[tuple[Span, bool]]:
    """Ranges no sentence crosses, and whether one is a block of code: lines that end in a marker end such a range, lines
    that begin an item, a row or a heading begin one.
    """
    mark_ends = {mark.span.end for mark in marks}
    start, fence, at = 0, "", 0
    for line in words.splitlines(keepends=True):
        end = at + len(line)
        opens = _FENCE.match(line)
        if fence:
            # A marker behind code stands there only where copied words with an open fence are over.
            if (opens and line.strip().startswith(fence)) or at + len(line.rstrip("\n")) in mark_ends:
                yield Span(start, end), True
                start, fence = end, ""
        else:
            if opens or _OWN_LINE.match(line):
                yield Span(start, at), False
                start, fence = at, opens.group().strip() if opens else ""
            if not fence and (at + len(line.rstrip("\n")) in mark_ends or line.rstrip().endswith(_ENDS_CLAIM)):
                yield Span(start, end), False
                start = end
        at = end
    yield Span(start, at), bool(fence)
