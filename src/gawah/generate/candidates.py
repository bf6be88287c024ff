"""A source's content to the pieces that may answer: sentences, whole list items, table rows, lines of code.

Every piece is a span of the content, so that it can be quoted letter for letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from gawah.media_types import is_by_line
from gawah.text import are_rows, sentences, trim
from gawah.types import CsvCells, NumberedSource, SheetRange, Span

LONG_CHARS = 600  # a longer piece is quoted only when nothing shorter answers as well

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]|$)|\[\^?[\w.-]{1,64}\]:[ \t]")  # and link definitions
_ROW = re.compile(r"[ \t]*\|")
_MAIL = ("message/rfc822", "application/mbox")
_FIELD = re.compile(
    r"(From|To|Cc|Date|Subject): "
)  # a message's head as extraction writes it; its subject is its heading
_TABLE_RULE = re.compile(r"[ \t]*\n[ \t]*\|?[ \t]*:?-+[-:| \t]*\n[ \t]*")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_DISPLAY = ("$$", "\\[")
_BLOCK_BELOW = re.compile(r"[ \t]*\n(?:[ \t]*\n)*[ ]{0,3}(`{3,}|~{3,})[^\n`]*\n")
_STOPS = ".!?…।۔"
_LEAD_IN_ENDS = (":", "：", ":**", ":*", ":_", ":-")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a source's content; `alone` when it stands on a line of its own (item, row, code).

    `head`: the names of a row's columns, which the row is read with, though not quoted with.
    """

    source: int
    span: Span
    text: str
    alone: bool
    head: str = ""

    @property
    def read_as(self) -> str:
        return f"{self.head}\n{self.text}" if self.head else self.text


def pieces_of(position: int, source: NumberedSource) -> list[Piece]:
    """Pieces in order; headings, heads of tables, fence lines and lines without a letter or a digit are none. `position` is the source's place among the sources.

    A lead-in ("… include:") takes what it leads to with it, up to LONG_CHARS characters; a sentence takes the block of
    code that it stands directly above, when both together have as many at most.
    """
    content = source.passage.chunk.content
    found = _found(source)
    heads = _heads_of_tables(content, [span for span, _ in found])
    found = [(span, alone) for span, alone in found if span not in heads.values()]
    spans = [span for span, _ in found]
    pieces = []
    for at, (span, alone) in enumerate(found):
        head = heads[span].slice(content) if span in heads else ""
        if _leads(content, spans, at):
            end = _end_of_lead(content, spans, at)
        else:
            end = span.end if alone else _end_of_described(content, span)
        text = content[span.start : end]
        pieces.append(Piece(position, Span(span.start, end), text, alone or "\n" in text, head))
    return pieces


def whole_passage(position: int, source: NumberedSource) -> list[Piece]:
    """All of a source as one piece, from its first words on, without the headings and rules above them; none of blanks."""
    content = source.passage.chunk.content
    within = trim(content, 0, len(content))
    if within is None or not any(map(str.isalnum, content)):
        return []
    first = min((span.start for span, _ in _found(source)), default=within.start)
    start = within.start if _FENCE.search(content[:first]) else first
    return [Piece(position, Span(start, within.end), content[start : within.end], alone=True)]


def _found(source: NumberedSource) -> list[tuple[Span, bool]]:
    """What has a letter or a digit, heads of tables with it."""
    content = source.passage.chunk.content
    return [(span, alone) for span, alone in _spans(source) if any(map(str.isalnum, span.slice(content)))]


def _spans(source: NumberedSource) -> Iterator[tuple[Span, bool]]:
    content = source.passage.chunk.content
    if is_by_line(source.passage.media_type) or isinstance(source.passage.locator, CsvCells | SheetRange):
        for span in _lines(content):
            line = trim(content, span.start, span.end)
            if line is not None:
                yield line, True
        return
    is_mail = source.passage.media_type in _MAIL
    for kind, span in _blocks(content, is_mail=is_mail):
        block = trim(content, span.start, span.end)
        if block is None:
            continue
        if kind in ("row", "code") or (kind == "item" and len(block) <= LONG_CHARS):
            yield block, True
        else:
            for sentence in sentences(content, span):
                yield sentence, False


def _lines(content: str) -> Iterator[Span]:
    start = 0
    for line in content.split("\n"):
        yield Span(start, start + len(line))
        start += len(line) + 1


def _blocks(content: str, *, is_mail: bool) -> Iterator[tuple[str, Span]]:
    """Lines of Markdown to (kind, span): row, code (a line each), item, text (a paragraph)."""
    fence, kind, start, end = "", "", 0, 0
    spans = list(_lines(content))
    rows = are_rows([span.slice(content) for span in spans])
    for span, is_row in zip(spans, rows, strict=True):
        line = span.slice(content)
        line_kind = _kind(line, kind, fence, is_row=is_row)
        if is_mail and (field := _FIELD.match(line)):
            line_kind = "heading" if field.group(1) == "Subject" else "row"
        if kind and line_kind != "more":
            yield kind, Span(start, end)
            kind = ""
        if line_kind == "fence":
            mark = _FENCE.match(line)
            fence = "" if fence or mark is None else mark.group(1)
        elif line_kind in ("row", "code"):
            yield line_kind, span
        elif line_kind in ("item", "text"):
            kind, start = line_kind, span.start
        end = span.end
    if kind:
        yield kind, Span(start, end)


def _kind(line: str, open_kind: str, fence: str, *, is_row: bool) -> str:
    """What a line is, given the block that is open and the fence we are in; "more" when it goes on with the block."""
    if fence:
        return "fence" if line.strip().startswith(fence) and not line.strip().strip(fence[0]) else "code"
    if _FENCE.match(line):
        return "fence"
    if not line.strip():
        return "blank"
    if _HEADING.match(line):
        return "heading"
    if is_row:
        return "row"
    if _ITEM.match(line):
        return "item"
    return "more" if open_kind else "text"


def _heads_of_tables(content: str, spans: list[Span]) -> dict[Span, Span]:
    """Each row of a Markdown table to the row above its rule."""
    heads: dict[Span, Span] = {}
    head = None
    for span, following in pairwise(spans):
        between = content[span.end : following.start]
        if _ROW.match(content, span.start) is None or _BLANK_LINE.search(between):
            head = None
        elif _TABLE_RULE.fullmatch(between):
            head = span
        if head is not None:
            heads[following] = head
    return heads


def _leads(content: str, spans: list[Span], at: int) -> bool:
    """Whether a piece says nothing without the next: it ends in a colon, or breaks off before a displayed formula."""
    text = spans[at].slice(content)
    if text.endswith(_LEAD_IN_ENDS):
        return True
    if at + 1 == len(spans) or text[-1] in _STOPS:
        return False
    following = spans[at + 1].start
    return content.startswith(_DISPLAY, following) and "#" not in content[spans[at].end : following]


def _end_of_lead(content: str, spans: list[Span], at: int) -> int:
    """Where what a lead-in leads to ends: its body, where the next line is deeper, else the pieces behind it up to a
    heading or another paragraph; as many as fit.
    """
    start, end = spans[at].start, spans[at].end
    has_body = at + 1 < len(spans) and _is_deeper(content, start, spans[at + 1].start)
    for span in spans[at + 1 :]:
        between = content[end : span.start]
        leads = end == spans[at].end
        if has_body:
            ends = not _is_deeper(content, start, span.start)
        else:
            ends = not leads and _is_new_paragraph(content, span, between)
        if span.end - start > LONG_CHARS or "#" in between or ends:
            break
        end = span.end
        if leads and not has_body and not _opens_list(content, span, between):
            break
    closing = re.match(r"\n[ ]{0,3}(?:`{3,}|~{3,})[ \t]*(?=\n|$)", content[end:])
    if closing and _FENCE.search(content[spans[at].end : end]):
        end += closing.end()
    return end


def _end_of_described(content: str, span: Span) -> int:
    """Where the fenced block right under a sentence ends: it says what the block does, and either is half without the other."""
    opening = _BLOCK_BELOW.match(content, span.end)
    if opening is None:
        return span.end
    closing = re.compile(rf"^[ ]{{0,3}}{opening[1]}[ \t]*$", re.MULTILINE).search(
        content, opening.end(), span.start + LONG_CHARS
    )
    return closing.end() if closing else span.end


def _opens_list(content: str, span: Span, between: str) -> bool:
    """Whether what follows a lead-in is of several pieces: items, rows, or the lines of a block of code."""
    line = content[content.rfind("\n", 0, span.start) + 1 : span.end]
    return bool(_ITEM.match(line) or _ROW.match(line) or _FENCE.search(between))


def _is_deeper(content: str, start: int, position: int) -> bool:
    """Whether a line is indented more than the one that leads to it: the body of a function goes on behind a blank line."""
    return _indent(content, position) > _indent(content, start)


def _indent(content: str, position: int) -> int:
    line = content[content.rfind("\n", 0, position) + 1 :].partition("\n")[0]
    return len(line) - len(line.lstrip(" \t"))


def _is_new_paragraph(content: str, span: Span, between: str) -> bool:
    """Whether the list, the table or the block of code is over."""
    line = content[content.rfind("\n", 0, span.start) + 1 : span.end]
    if _FENCE.search(between):
        return True
    return "\n\n" in between and not _ITEM.match(line)
