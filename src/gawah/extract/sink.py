"""Where the paragraphs and tables of a word processor's file go: onto the page, or into a cell of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from gawah.extract.assembly import Assembly
from gawah.types import BlockKind

Rows = list[list[list[str]]]
"""Rows of cells of pieces of taken text."""


class Sink(Protocol):
    """Takes paragraphs, headings, items and tables in reading order."""

    def put(self, kind: BlockKind, text: str, level: int) -> None: ...

    def table(self, rows: Rows) -> None: ...


@dataclass(slots=True)
class Page:
    """Everything becomes a block of the document."""

    assembly: Assembly

    def put(self, kind: BlockKind, text: str, level: int) -> None:
        self.assembly.put(kind, text, level=level)

    def table(self, rows: Rows) -> None:
        self.assembly.table(rows)


@dataclass(slots=True)
class CellText:
    """A cell holds paragraphs and the cells of a table inside it, in reading order."""

    pieces: list[str] = field(default_factory=list)

    def put(self, kind: BlockKind, text: str, level: int) -> None:  # noqa: ARG002 — a cell has no blocks
        self.pieces.append(text)

    def table(self, rows: Rows) -> None:
        self.pieces.extend(piece for row in rows for cell in row for piece in cell)
