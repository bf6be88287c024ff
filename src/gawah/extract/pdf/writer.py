"""Paragraphs and tables in order to canonical text, with blocks, a place for every run of letters, and books.

A place is what stands on one line in one direction, with its box and the widths of its characters. What joins lines,
cells, rows and blocks is counted as added and has no place.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, repeat
from operator import add, sub
from typing import Literal

from gawah.extract.pdf.joints import joint
from gawah.extract.pdf.letters import SOFT_HYPHEN
from gawah.extract.pdf.paragraphs import Paragraph
from gawah.extract.pdf.runs import Run
from gawah.extract.pdf.tables import Cell, Table
from gawah.types import Advance, Block, BlockKind, Box, PageBoxes, Place, Span

_FORWARDS: tuple[Literal["right", "up", "left", "down"], ...] = ("right", "up", "left", "down")
_WORD = re.compile(r" *[^ ]+")
_RISE = 0.35  # of the letter size: by how much the ends of one box on a slanted line may lie apart in height
_OVERLAP = 0.35  # of the letter size: how far a letter may reach back over the one before


@dataclass(slots=True)
class Writer:
    """The text so far. `labels` are the printed page numbers, `words` those of the document, for hyphens."""

    labels: Mapping[int, str]
    words: frozenset[str]
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    blocks: list[Block] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def write_paragraph(self, paragraph: Paragraph) -> None:
        self._separate(paragraph.kind)
        start = self.length
        self._add(paragraph.mark, "mark of a note")
        self._flow([run for line in paragraph.lines for run in line.runs])
        span = Span(start, self.length)
        title = ""
        if paragraph.kind is BlockKind.HEADING:
            title = " ".join("".join(self.pieces).split()) if start == 0 else self._since(start)
        self.blocks.append(Block(paragraph.kind, span, paragraph.level, title))

    def write_table(self, table: Table) -> None:
        """One line a row, cells joined by pipes."""
        self._separate(BlockKind.TABLE)
        start = self.length
        for number, row in enumerate(table.rows):
            if number:
                self._add("\n", "between rows")
            self._write_row(row)
        self.blocks.append(Block(BlockKind.TABLE, Span(start, self.length)))

    def _write_row(self, row: list[Cell]) -> None:
        pending, is_first = "", True
        for cell in row:
            if cell:
                self._add(pending.lstrip() if is_first else pending, "between cells")
                self._flow(cell)
                pending, is_first = "", False
            pending = pending.rstrip() + " | "

    def _since(self, start: int) -> str:
        """The text from there on, on one line."""
        collected: list[str] = []
        length = self.length
        for piece in reversed(self.pieces):
            if length <= start:
                break
            collected.append(piece)
            length -= len(piece)
        return " ".join("".join(reversed(collected)).split())

    def _separate(self, kind: BlockKind) -> None:
        if self.blocks:
            both_items = kind is BlockKind.ITEM and self.blocks[-1].kind is BlockKind.ITEM
            self._add("\n" if both_items else "\n\n", "between blocks")

    def _flow(self, runs: Sequence[Run]) -> None:
        for run, following in pairwise([*runs, None]):
            assert run is not None
            if following is None:
                n_gone, between = (1 if run.text.endswith(SOFT_HYPHEN) else 0), ""
            elif following.page == run.page and abs(following.middle - run.middle) < 0.4 * run.size:
                n_gone, between = (1 if run.text.endswith(SOFT_HYPHEN) else 0), " "
            else:
                n_gone, between = joint(run.text, following.text, self.words)
            if run.initial:
                self._write_initial(run.initial)
            self._write_run(run, len(run.text) - n_gone)
            if n_gone:
                self.dropped["hyphen at a line end"] += n_gone
            if between:
                self._add(between, "between lines")

    def _add(self, text: str, reason: str) -> None:
        if text:
            self.added[reason] += len(text)
            self._put(text)

    def _put(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def _write_initial(self, run: Run) -> None:
        """A large letter: its box is whole, and not one with that of the line it stands beside, which is as low as a line."""
        box = Box(
            run.page, *(round(side, 2) for side in run.on_page(run.lefts[0], run.rights[len(run.text.rstrip()) - 1]))
        )
        locator = PageBoxes(run.page, run.page, self.labels.get(run.page, ""), (box,), run.confidence)
        self.places.append(Place(Span(self.length, self.length + len(run.text)), locator))
        self._put(run.text)

    def _write_run(self, run: Run, n_chars: int) -> None:
        label = self.labels.get(run.page, "")
        for first, past, toward in _pieces(run, n_chars):
            low, high, tenths = _along(run, first, past, is_back=toward != _FORWARDS[run.turn])
            box = Box(run.page, *(round(side, 2) for side in run.on_page(low, high)))
            if run.slant is not None:  # along the side of the box, not along the line
                share = math.cos(math.radians(run.slant.degrees))
                tenths = tuple(round(tenth * share) if tenth > 0 else tenth for tenth in tenths)
            advance = Advance(toward, tenths)
            span = Span(self.length + first, self.length + past)
            locator = PageBoxes(run.page, run.page, label, (box,), run.confidence)
            self.places.append(Place(span, locator, advance))
        self._put(run.text[:n_chars])


_Toward = Literal["right", "left", "up", "down"]


def _pieces(run: Run, n_chars: int) -> list[tuple[int, int, _Toward]]:
    """The stretches of a run; word by word where its line is aslant, or the box around it would reach into others.

    A word that rises by much goes in parts, down to its letters.
    """
    stretches = _stretches(run, n_chars)
    if run.slant is None:
        return stretches
    longest = _RISE * run.size / max(1e-6, abs(math.sin(math.radians(run.slant.degrees))))
    found: list[tuple[int, int, _Toward]] = []
    for start, end, toward in stretches:
        for word in _WORD.finditer(run.text[start:end]):
            first, past = start + word.start(), start + word.end()
            width = max(run.rights[first:past]) - min(run.lefts[first:past])
            step = math.ceil((past - first) / max(1, math.ceil(width / longest)))
            found += [(at, min(at + step, past), toward) for at in range(first, past, step)]
    return found


def _stretches(run: Run, n_chars: int) -> list[tuple[int, int, _Toward]]:
    """(first, past the last character, direction) of each stretch whose glyphs follow each other in one direction."""
    lefts = run.lefts[:n_chars]
    forwards, backwards = _FORWARDS[run.turn], _FORWARDS[(run.turn + 2) % 4]
    if n_chars and all(b - a > -_OVERLAP * run.size for a, b in pairwise(lefts)):
        return [(0, n_chars, forwards)]
    found: list[tuple[int, int, _Toward]] = []
    first = 0
    while first < n_chars:
        other = next(
            (lefts[index] for index in range(first + 1, n_chars) if lefts[index] != lefts[first]), lefts[first]
        )
        is_back = other < lefts[first]
        past = first + 1
        while past < n_chars and _goes_on(run, past, is_back=is_back):
            past += 1
        found.append((first, past, backwards if is_back else forwards))
        first = past
    return found


def _goes_on(run: Run, index: int, *, is_back: bool) -> bool:
    if is_back:
        return run.rights[index] <= run.rights[index - 1] + _OVERLAP * run.size
    return run.lefts[index] >= run.lefts[index - 1] - _OVERLAP * run.size


def _along(run: Run, first: int, past: int, *, is_back: bool) -> tuple[float, float, tuple[int, ...]]:
    """Where a stretch begins and ends along its line, and the width of each character's glyph in tenths of a point.

    Glyphs part half-way between the ink of two; a character that shares the glyph before has -1.
    """
    near, far = run.lefts[first:past].tolist(), run.rights[first:past].tolist()
    if is_back:
        near, far = [-edge for edge in far], [-edge for edge in near]
    is_shared = [a == b for a, b in pairwise(zip(near, far, strict=True))]
    if True in is_shared:
        starts = [0, *(index for index, shared in enumerate(is_shared, start=1) if not shared)]
        near, far = [near[index] for index in starts], [far[index] for index in starts]
    between = [total / 2 for total in map(add, far[:-1], near[1:])]
    edges = list(accumulate([near[0], *between, max(far[-1], near[0])], max))
    marks = [round(edge * 10) for edge in map(sub, edges, repeat(edges[0]))]
    widths = list(map(sub, marks[1:], marks[:-1]))
    if True in is_shared:
        in_order = iter(widths[1:])
        widths = [widths[0], *(-1 if shared else next(in_order) for shared in is_shared)]
    ends = (-edges[-1], -edges[0]) if is_back else (edges[0], edges[-1])
    return (*ends, tuple(widths))
