"""CSV and TSV to a document. The canonical text is the file; every row is a block with its row number."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gawah.extract.canonical import read_text
from gawah.extract.csv_cells import count_cells, scan_cells, scan_rows, sniff_delimiter
from gawah.types import Block, BlockKind, CsvCells, Document, Place, SourceFile, Span

_NUMERIC = re.compile(r"[+\-−]?[$€£¥]?\s*[\d٠-٩۰-۹०-९][\d٠-٩۰-۹०-९.,' \u00a0:/-]*\s*[%€]?")
_LONGEST_HEADER_CHARS = 200  # the column names stand before every chunk of the table; more would crowd out its rows


class TableExtractor:
    """text/csv and text/tab-separated-values."""

    name = "table"
    version = 1

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The first row is a heading when none of its cells is a number and other rows follow.

        Rows are counted from 1, header and blank rows included (RFC 7111). Raises ExtractionError `undecodable` or
        `empty`.
        """
        own = read_text(data)
        preferred = "\t" if source.media_type == "text/tab-separated-values" else ","
        table = _read_table(own.text, sniff_delimiter(own.text, preferred))
        warnings = [f"{table.n_ragged} rows have another number of columns than the first"] if table.n_ragged else []
        extractor = f"{self.name}/{self.version}"
        return own.document(source, extractor, table.blocks, places=table.places, warnings=warnings)


@dataclass(frozen=True, slots=True)
class _Table:
    blocks: list[Block]
    places: list[Place]
    n_ragged: int


def _read_table(text: str, delimiter: str) -> _Table:
    blocks: list[Block] = []
    places: list[Place] = []
    n_columns, n_ragged = 0, 0
    for number, row in enumerate(scan_rows(text, delimiter), start=1):
        if not text[row.start : row.end].strip():
            continue
        n_cells = count_cells(text, row, delimiter)
        n_columns = n_columns or n_cells
        n_ragged += n_cells != n_columns
        blocks.append(Block(BlockKind.TABLE, row))
        places.append(Place(row, CsvCells(number, number)))
    if len(blocks) > 1:
        header = [cell.value for cell in scan_cells(text, blocks[0].span, delimiter)]
        title = column_names(header)
        if title and not any(map(is_numeric, header)):
            row = blocks[0].span
            whole = fits_title(header)
            # A header row that does not fit into a title stays a row of its own as well, or its words would be lost.
            blocks[0] = Block(BlockKind.HEADING, row if whole else Span(row.start, row.start), 2, title)
            if not whole:
                blocks.insert(1, Block(BlockKind.TABLE, row))
    return _Table(blocks, places, n_ragged)


def column_names(header: list[str]) -> str:
    """Like "city | country | population", cut at a column's end when it gets long."""
    names = [" ".join(value.split()) for value in header]
    names = [name for name in names if name]
    kept: list[str] = []
    length = 0
    for name in names:
        if kept and length + len(name) > _LONGEST_HEADER_CHARS:
            return " | ".join([*kept, "…"])
        kept.append(name[:_LONGEST_HEADER_CHARS].rstrip())
        length += len(name) + 3
    return " | ".join(kept)


def is_numeric(value: str) -> bool:
    """Whether a cell's text is a number, an amount, a share or a date, so that it names no column."""
    return _NUMERIC.fullmatch(value.strip()) is not None


def fits_title(header: list[str]) -> bool:
    """Whether `column_names` holds all the words of the header row."""
    return not column_names(header).endswith("…") and all(len(value) <= _LONGEST_HEADER_CHARS for value in header)
