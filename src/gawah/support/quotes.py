"""A citation to what a claim is held against: its quote, cut into statements, with the numbers and words of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gawah.media_types import is_by_line
from gawah.text import Quantities, lines, quantities, statements, stems
from gawah.types import Citation, CsvCells, NumberedSource, SheetRange, Span


@dataclass(frozen=True)
class Statement:
    """A statement of a quote; `span` counts in the quote, `heading` is what the source is called."""

    quote: Quote
    span: Span

    @cached_property
    def text(self) -> str:
        return self.span.slice(self.quote.text)

    @property
    def is_row(self) -> bool:
        return self.text.startswith("|") or " | " in self.text


@dataclass(frozen=True)
class Quote:
    """A quote under its marker; it begins at `start` of the canonical text. `heading`: its document and section; not its
    place, where every number would be one of the source's.
    `by_line`: each line says something by itself, as in tables and code.
    """

    marker: int
    text: str
    start: int = 0
    heading: str = ""
    by_line: bool = False

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        spans = lines(self.text) if self.by_line else statements(self.text)
        return tuple(Statement(self, span) for span in spans)

    @cached_property
    def whole(self) -> str:
        """Heading and quote: all that the source says."""
        return f"{self.heading}\n{self.text}"

    @cached_property
    def heading_stems(self) -> frozenset[str]:
        return stems(self.heading)

    @cached_property
    def quantities(self) -> Quantities:
        return quantities(self.whole)


def quotes_of(citations: Sequence[Citation], sources: Sequence[NumberedSource]) -> dict[int, Quote]:
    """The quotes by marker; a source's header (title and section) is part of what it is called."""
    by_number = {source.number: source for source in sources}
    return {citation.marker: _quote(citation, by_number[citation.marker]) for citation in citations}


def _quote(citation: Citation, source: NumberedSource) -> Quote:
    passage, chunk = source.passage, source.passage.chunk
    header = chunk.text[: len(chunk.text) - len(chunk.content)]
    label = citation.label if citation.label != citation.locator_label else ""
    names = (header, citation.document_name, label)
    by_line = is_by_line(passage.media_type) or isinstance(passage.locator, CsvCells | SheetRange)
    return Quote(citation.marker, citation.quote, citation.span.start, "\n".join(names), by_line)
