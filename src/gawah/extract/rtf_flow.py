"""Paragraphs, tables and notes of an RTF file as its reader comes to their ends, to blocks of the document."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gawah.extract.assembly import Assembly
from gawah.extract.raised import EDGES, Height
from gawah.extract.rtf_words import DEFAULT_CODEC
from gawah.types import BlockKind

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_BODY_LEVEL = 9


@dataclass(slots=True)
class State:
    """What a group inherits and its end restores. `target` is where text goes: body, skip, or a word for elsewhere."""

    target: str = "body"
    reason: str = ""
    is_hidden: bool = False
    is_deleted: bool = False  # by a tracked change
    is_struck: bool = False
    height: Height = ""
    codec: str = DEFAULT_CODEC
    n_fallback: int = 1  # characters after \u that stand for it in programs that know no Unicode
    style: int = 0
    level: int = -1
    is_item: bool = False
    in_table: bool = False
    begins: bool = True  # no word of the group has come yet
    is_optional: bool = False  # the group began with \*


@dataclass(slots=True)
class Style:
    """A paragraph style of the style sheet; level -1 when it has no outline level."""

    number: int = 0
    level: int = -1
    name: str = ""


@dataclass(slots=True)
class _Flow:
    """A run of paragraphs: the body's, or a note's."""

    text: str = ""
    cell: list[str] = field(default_factory=list)
    row: list[list[str]] = field(default_factory=list)
    rows: list[list[list[str]]] = field(default_factory=list)


class Writing:
    """What has been written since the last paragraph ended. Text goes to the body, or to the innermost open note."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.styles: dict[int, Style] = {}
        self.set_title = ""
        self._flow = _Flow()
        self._outer: list[tuple[int, _Flow]] = []  # of the notes that are open: the depth each began at
        self._notes: list[str] = []

    def write(self, taken: str, *, height: Height = "") -> None:
        before, after = EDGES[height]
        self._flow.text += f"{before}{taken}{after}"

    def open_note(self, depth: int) -> None:
        """A note or text box, whose paragraphs stand behind the one that is open now."""
        self._outer.append((depth, self._flow))
        self._flow = _Flow()

    def close_note(self, depth: int, state: State) -> None:
        """Ends the notes that began deeper than `depth`."""
        if self._outer and self._outer[-1][0] > depth:
            self.end_paragraph(state)
            self._end_table()
            _, self._flow = self._outer.pop()

    def finish(self, state: State) -> None:
        self.end_paragraph(state)
        self._end_table()
        self._put_notes()

    def end_paragraph(self, state: State) -> None:
        if state.in_table:
            self.end_piece(ends_cell=False)
            return
        flow, text = self._flow, self.assembly.sign(self._flow.text)
        flow.text = ""
        if not text.strip():
            self.assembly.drop(text, "white space")
            return
        self._end_table()
        if self._outer:  # a note stands behind the paragraph that refers to it
            self._notes.append(text)
            return
        style = self.styles.get(state.style, Style())
        heading = _HEADING.fullmatch(style.name.strip())
        is_title = style.name.strip().casefold() == "title"
        outline = state.level if state.level >= 0 else style.level
        level = outline + 1 if 0 <= outline < _BODY_LEVEL else int(heading.group(1)) if heading else int(is_title)
        if is_title and not self.set_title:
            self.set_title = " ".join(text.split())
        kind = BlockKind.HEADING if level else BlockKind.ITEM if state.is_item else BlockKind.PARAGRAPH
        self.assembly.put(kind, text, level=level)
        self._put_notes()

    def _put_notes(self) -> None:
        for note in self._notes:
            self.assembly.put(BlockKind.PARAGRAPH, note)
        self._notes.clear()

    def end_piece(self, *, ends_cell: bool) -> None:
        flow = self._flow
        flow.cell.append(self.assembly.sign(flow.text))
        flow.text = ""
        if ends_cell:
            flow.row.append(flow.cell)
            flow.cell = []

    def end_row(self, word: str) -> None:
        flow = self._flow
        if word == "row" and (flow.row or flow.cell):
            flow.rows.append([*flow.row, *([flow.cell] if flow.cell else [])])
            flow.row, flow.cell = [], []

    def _end_table(self) -> None:
        flow = self._flow
        self.end_row("row")
        rows, flow.rows = flow.rows, []
        if not rows:
            return
        if self._outer:
            self._notes.extend(piece for row in rows for cell in row for piece in cell)
        else:
            self.assembly.table(rows)
            self._put_notes()
