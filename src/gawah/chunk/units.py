"""Structural blocks to units that are never cut without need, and units to pieces of about the target size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import regex

from gawah.text import grapheme_floor, sentences, trim
from gawah.types import Block, BlockKind, Document, Span

_SMALL_CHARS = 200  # a shorter piece joins its neighbour …
_JOINED_SHARE = 1.3  # … if both stay under this multiple of the target (RETRIEVAL, rule 2)
_GIANT_SHARE = 2  # a line or sentence over this multiple of the target is cut inside

_LINE_KINDS = frozenset({BlockKind.CODE, BlockKind.TABLE})
_LINE = regex.compile(r"[^\n]+")
_LAST_BLANK = regex.compile(r"(?r)\s")
_NEXT_BLANK = regex.compile(r"\s")
_BLANK_LINES = regex.compile(r"\n(?:[^\S\n]*+\n)++")


@dataclass(frozen=True, slots=True)
class Unit:
    """A range that stays whole while it fits, and where it may be cut when it does not: code and tables at lines."""

    span: Span
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring units of one section: a chunk to be. `section` is the number of the section's heading."""

    units: tuple[Unit, ...]
    section: int

    @property
    def span(self) -> Span:
        return Span(self.units[0].span.start, self.units[-1].span.end)


def units_of(text: str, span: Span, kind: BlockKind, target: int) -> list[Unit]:
    """A block as units: itself, or what packing its lines (code, tables) or sentences to the target gives."""
    bare = trim(text, span.start, span.end)
    if bare is None:
        return []
    if len(bare) <= target:
        return [Unit(bare, kind)]
    parts: list[Unit] = []
    for part in parts_of(text, Unit(bare, kind)):
        if len(part.span) <= _GIANT_SHARE * target:
            parts.append(part)
        else:
            parts.extend(Unit(piece, kind) for piece in _cut_evenly(text, part.span, target))
    return [Unit(group.span, kind) for group in packed([(0, part) for part in parts], target)]


def parts_of(text: str, unit: Unit) -> list[Unit]:
    """Lines of code and tables, sentences of prose."""
    if unit.kind not in _LINE_KINDS:
        return [Unit(span, unit.kind) for span in sentences(text, unit.span)]
    lines = (trim(text, *match.span()) for match in _LINE.finditer(text, unit.span.start, unit.span.end))
    return [Unit(line, unit.kind) for line in lines if line is not None]


def ranges(document: Document) -> Iterator[Block]:
    """The whole text as blocks that do not overlap, in order: those of the document, and paragraphs between them.

    A block inside another one adds nothing but its heading, if it is one.
    """
    at = 0
    for block in sorted(document.blocks, key=lambda block: (block.span.start, block.span.end)):
        start, end = max(at, block.span.start), max(at, block.span.end)
        yield from _paragraphs(document.text, at, start)
        if block.kind is BlockKind.HEADING or end > start:
            yield replace(block, span=Span(start, end))
        at = end
    yield from _paragraphs(document.text, at, len(document.text))


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    for match in _BLANK_LINES.finditer(text, start, end):
        if not text[start : match.start()].isspace() and match.start() > start:
            yield Block(BlockKind.PARAGRAPH, Span(start, match.start()))
        start = match.end()
    if not text[start:end].isspace() and end > start:
        yield Block(BlockKind.PARAGRAPH, Span(start, end))


def packed(units: Sequence[tuple[int, Unit]], target: int) -> list[Group]:
    """Neighbouring (section, unit) pairs of one section together while they stay within the target."""
    groups: list[Group] = []
    opened: list[Unit] = []
    current = 0
    for section, unit in units:
        if opened and (section != current or unit.span.end - opened[0].span.start > target):
            groups.append(Group(tuple(opened), current))
            opened = []
        opened.append(unit)
        current = section
    if opened:
        groups.append(Group(tuple(opened), current))
    return groups


def joined(groups: Sequence[Group], target: int) -> list[Group]:
    """Groups under 200 characters put to their neighbour in the same section, if both stay under 1.3 × the target."""
    result: list[Group] = []
    for group in groups:
        last = result[-1] if result else None
        if (
            last is not None
            and last.section == group.section
            and min(len(last.span), len(group.span)) < _SMALL_CHARS
            and group.span.end - last.span.start <= _JOINED_SHARE * target
        ):
            result[-1] = Group(last.units + group.units, group.section)
        else:
            result.append(group)
    return result


def halves(text: str, group: Group) -> tuple[Group, Group]:
    """The group cut in two at the best boundary inside, nearest to its middle.

    Between units; else between the lines or sentences of its only unit; else at a line end or blank; else between
    grapheme clusters; inside a cluster only when there is nothing else. Raises ValueError for a single character.
    """
    units = group.units if len(group.units) > 1 else tuple(parts_of(text, group.units[0]))
    if len(units) > 1:
        middle = (group.span.start + group.span.end) // 2
        at = min(range(1, len(units)), key=lambda index: abs(units[index].span.start - middle))
        first, second = units[:at], units[at:]
        if len(group.units) == 1:  # lines and sentences go on as one unit a side
            kind = group.units[0].kind
            first = (Unit(Span(first[0].span.start, first[-1].span.end), kind),)
            second = (Unit(Span(second[0].span.start, second[-1].span.end), kind),)
        return Group(first, group.section), Group(second, group.section)
    left, right = _torn(text, group.span)
    kind = group.units[0].kind
    return Group((Unit(left, kind),), group.section), Group((Unit(right, kind),), group.section)


def cut_blindly(text: str, target: int) -> list[Unit]:
    """The whole text every `target` characters, moved back to a grapheme boundary; blank cuts are left out."""
    cuts = _cut_every(text, Span(0, len(text)), target)
    return [Unit(cut, BlockKind.PARAGRAPH) for cut in cuts if not cut.slice(text).isspace()]


def _cut_every(text: str, span: Span, size: int) -> Iterator[Span]:
    start = span.start
    while start < span.end:
        end = min(start + size, span.end)
        if end < span.end:
            floor = grapheme_floor(text, end)
            end = floor if floor > start else end
        yield Span(start, end)
        start = end


def _cut_evenly(text: str, span: Span, target: int) -> Iterator[Span]:
    """Pieces of at most `target` characters, each ending at the last blank inside it, else at a grapheme boundary."""
    start = span.start
    while span.end - start > target:
        blank = _LAST_BLANK.search(text, start + target // 2, start + target + 1)
        end = start + target if blank is None else blank.start()
        floor = grapheme_floor(text, end)
        end = floor if floor > start else end
        piece = trim(text, start, end)
        if piece is not None:
            yield piece
        start = end
    rest = trim(text, start, span.end)
    if rest is not None:
        yield rest


def _torn(text: str, span: Span) -> tuple[Span, Span]:
    if len(span) < 2:
        raise ValueError(f"the character at {span.start} alone exceeds the window: the encoder's window is too small")
    middle = (span.start + span.end) // 2
    for cut in _cuts_near(text, span, middle):
        left, right = trim(text, span.start, cut), trim(text, cut, span.end)
        if left is not None and right is not None and grapheme_floor(text, cut) == cut:
            return left, right
    return Span(span.start, middle), Span(middle, span.end)


def _cuts_near(text: str, span: Span, middle: int) -> Iterator[int]:
    before = _LAST_BLANK.search(text, span.start, middle)
    after = _NEXT_BLANK.search(text, middle, span.end)
    blanks = [match.end() for match in (before, after) if match is not None]
    yield from sorted(blanks, key=lambda cut: abs(cut - middle))
    floor = grapheme_floor(text, middle)
    yield floor
    yield from (cut for cut in range(middle, min(span.end, middle + len(span) // 2)) if cut > span.start)
