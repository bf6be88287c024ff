"""A citation to what a claim is held against: its quote, cut into statements, with the numbers and words of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gawah.text import Quantities, quantities, statements, stems
from gawah.types import Citation, NumberedSource, Span


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
        return self.text.startswith("|")


@dataclass(frozen=True)
class Quote:
    """A quote under its marker; it begins at `start` of the canonical text. `heading`: its document, section and place."""

    marker: int
    text: str
    start: int = 0
    heading: str = ""

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(Statement(self, span) for span in statements(self.text))

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
    headers = {source.number: _header(source) for source in sources}
    return {
        citation.marker: Quote(
            citation.marker,
            citation.quote,
            citation.span.start,
            f"{headers.get(citation.marker, '')}\n{citation.document_name}\n{citation.label}\n{citation.locator_label}",
        )
        for citation in citations
    }


def _header(source: NumberedSource) -> str:
    chunk = source.passage.chunk
    return chunk.text[: len(chunk.text) - len(chunk.content)]
