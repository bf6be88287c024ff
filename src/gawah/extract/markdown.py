"""Markdown to a document. The canonical text is the file; blocks say where its headings, fences, tables and items are."""

from __future__ import annotations

from gawah.extract.canonical import read_text
from gawah.extract.decode import declared_encoding
from gawah.extract.markdown_blocks import markdown_blocks
from gawah.types import Document, SourceFile


class MarkdownExtractor:
    """text/markdown."""

    name = "markdown"
    version = 1

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the first level-1 heading, else the front matter's, else the file's name.

        Raises ExtractionError `undecodable` or `empty`.
        """
        own = read_text(data, declared_encoding(data))
        blocks, given_title = markdown_blocks(own.text)
        first_heading = next((block.title for block in blocks if block.level == 1), "")
        title = first_heading or given_title
        return own.document(source, f"{self.name}/{self.version}", blocks, title=title)
