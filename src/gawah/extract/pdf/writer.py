"""Paragraphs and tables in order to canonical text, with blocks, a place for every run of letters, and books.

A place is what stands on one line in one direction, with its box and the widths of its characters. What joins lines,
cells, rows and blocks is counted as added and has no place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import add
from typing import Literal

from gawah.extract.pdf.frame import to_page
from gawah.extract.pdf.joints import joint
from gawah.extract.pdf.letters import SOFT_HYPHEN
from gawah.extract.pdf.paragraphs import Paragraph
from gawah.extract.pdf.runs import Run
from gawah.extract.pdf.tables import Cell, Table
from gawah.types import Advance, Block, BlockKind, Box, PageBoxes, Place, Span

_FORWARDS: tuple[Literal["right", "up", "left", "down"], ...] = ("right", "up", "left", "down")
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

    def _write_run(self, run: Run, n_chars: int) -> None:
        label = self.labels.get(run.page, "")
        for first, past, toward in _stretches(run, n_chars):
            edges = _edges(run, first, past, is_back=toward != _FORWARDS[run.turn])
            low, high = min(edges[0], edges[-1]), max(edges[0], edges[-1])
            box = Box(run.page, *(round(side, 2) for side in to_page(run.turn, low, run.y0, high, run.y1)))
            advance = Advance(toward, _tenths(run, first, past, edges))
            span = Span(self.length + first, self.length + past)
            self.places.append(Place(span, PageBoxes(run.page, run.page, label, (box,)), advance))
        self._put(run.text[:n_chars])


_Toward = Literal["right", "left", "up", "down"]


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


def _glyph_starts(run: Run, first: int, past: int) -> list[int]:
    """The indexes of the characters that do not share the glyph of the one before."""
    lefts, rights = run.lefts, run.rights
    later = (i for i in range(first + 1, past) if lefts[i] != lefts[i - 1] or rights[i] != rights[i - 1])
    return [first, *later]


def _edges(run: Run, first: int, past: int, *, is_back: bool) -> list[float]:
    """Where the glyphs part, half-way between two, in the direction they go in; never turning back."""
    starts = _glyph_starts(run, first, past)
    near = [-run.rights[i] if is_back else run.lefts[i] for i in starts]
    far = [-run.lefts[i] if is_back else run.rights[i] for i in starts]
    between = [total / 2 for total in map(add, far[:-1], near[1:])]
    edges = accumulate([near[0], *between, max(far[-1], near[0])], max)
    return [-edge for edge in edges] if is_back else list(edges)


def _tenths(run: Run, first: int, past: int, edges: list[float]) -> tuple[int, ...]:
    """The width of each character's glyph in tenths of a point, -1 for one that shares the glyph before."""
    marks = [round(abs(edge - edges[0]) * 10) for edge in edges]
    tenths = [-1] * (past - first)
    for start, width in zip(_glyph_starts(run, first, past), (b - a for a, b in pairwise(marks)), strict=True):
        tenths[start - first] = width
    return tuple(tenths)
