"""Plain text to a document: paragraphs are what blank lines separate. A log's lines stay whole when it is cut."""

from __future__ import annotations

from gawah.extract.canonical import read_text
from gawah.extract.decode import declared_encoding
from gawah.extract.lines import paragraph, runs_of_lines
from gawah.types import BlockKind, Document, SourceFile


class PlainExtractor:
    """text/plain and every text of unknown type."""

    name = "plain"
    version = 1

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """Raises ExtractionError `undecodable` or `empty`."""
        own = read_text(data, declared_encoding(data))
        kind = BlockKind.CODE if source.name.lower().endswith(".log") else BlockKind.PARAGRAPH
        blocks = (paragraph(own.text, *run, kind) for run in runs_of_lines(own.text))
        return own.document(source, f"{self.name}/{self.version}", blocks)
