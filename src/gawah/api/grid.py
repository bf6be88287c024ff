"""A spreadsheet's or a table file's places to a window of rows and cells, numbered and named as the original has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gawah.errors import NotFoundError, UsageError
from gawah.extract.csv_cells import scan_cells, sniff_delimiter
from gawah.extract.sheet import column_letters, column_number
from gawah.types import CsvCells, Document, Place, SheetRange, Span

ROWS = 120
_ROWS_BEFORE = 20  # the cited range
_MOST_COLUMNS = 256
_CELL_CHARS = 5_000  # of one cell; the whole of it is in the text
_WINDOW_CHARS = 1_000_000
_SHORT_CHARS = 80  # of a cell, when the window is full
_A1 = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})(?::([A-Z]{1,3})([1-9][0-9]{0,6}))?")


class Cell(NamedTuple):
    """A cell with something in it: rows and columns from 1, those that are merged into it counted, and its span."""

    row: int
    column: int
    n_rows: int
    n_columns: int
    span: Span


def window(document: Document, sheet: str, row: int, span: Span | None) -> dict[str, Any]:
    """`sheets`, and the rows of one. UsageError for a document without cells, NotFoundError for another sheet."""
    kinds = {type(place.locator) for place in document.places}
    if CsvCells in kinds:
        return _csv_window(document, row, span)
    if SheetRange not in kinds:
        raise UsageError("this document has no cells; spreadsheets, CSV and TSV have")
    names = list(dict.fromkeys(p.locator.sheet for p in document.places if isinstance(p.locator, SheetRange)))
    touched = next(
        (p for p in document.places if span and p.span.overlaps(span) and isinstance(p.locator, SheetRange)), None
    )
    cited = touched.locator.sheet if touched and isinstance(touched.locator, SheetRange) else names[0]
    name = sheet or cited
    if name not in names:
        raise NotFoundError(f"there is no sheet {name}")
    cells = list(_sheet_cells(document, name))
    last = max((cell.row + cell.n_rows - 1 for cell in cells), default=0)
    first_row = _first_row(cells, row, span if name == cited else None)
    shown = [cell for cell in cells if first_row < cell.row + cell.n_rows and cell.row < first_row + ROWS]
    body = _body(document, shown, first_row, last, max((c.column + c.n_columns - 1 for c in cells), default=0))
    columns = [{"number": at, "name": column_letters(at)} for at in range(1, body.pop("n_shown") + 1)]
    return {"sheets": names, "sheet": name, "columns": columns, **body}


def _sheet_cells(document: Document, name: str) -> Iterator[Cell]:
    for place in document.places:
        if isinstance(place.locator, SheetRange) and place.locator.sheet == name:
            match = _A1.fullmatch(place.locator.a1)
            if match is None:
                continue
            left, top, right, bottom = match.groups()
            column, row = column_number(left), int(top)
            n_columns = column_number(right) - column + 1 if right else 1
            yield Cell(row, column, int(bottom) - row + 1 if bottom else 1, n_columns, place.span)


def _csv_window(document: Document, row: int, span: Span | None) -> dict[str, Any]:
    """A row of the file is a place; its fields are read as the extractor reads them."""
    text, preferred = document.text, "\t" if document.source.media_type == "text/tab-separated-values" else ","
    delimiter = sniff_delimiter(text, preferred)
    rows = [place for place in document.places if isinstance(place.locator, CsvCells)]
    last = max(place.locator.last_row for place in rows if isinstance(place.locator, CsvCells))
    whole = [Cell(_row_of(place), 1, 1, 1, place.span) for place in rows]
    first_row = _first_row(whole, row, span)
    cells = [
        Cell(_row_of(place), column, 1, 1, cell.span)
        for place in rows
        if first_row <= _row_of(place) < first_row + ROWS
        for column, cell in enumerate(scan_cells(text, place.span, delimiter), 1)
        if cell.value
    ]
    head = scan_cells(text, rows[0].span, delimiter)
    body = _body(document, cells, first_row, last, max(len(head), *(cell.column for cell in cells), 0))
    columns = [{"number": at, "name": str(at)} for at in range(1, body.pop("n_shown") + 1)]
    return {"sheets": [], "sheet": "", "columns": columns, **body}


def _row_of(place: Place) -> int:
    assert isinstance(place.locator, CsvCells)
    return place.locator.first_row


def _first_row(cells: list[Cell], row: int, span: Span | None) -> int:
    """Of the window: the one asked for, or a few above the cited."""
    if row:
        return row
    cited = min((cell.row for cell in cells if span and cell.span.overlaps(span)), default=1)
    return max(1, cited - _ROWS_BEFORE)


def _body(document: Document, cells: list[Cell], first_row: int, last_row: int, n_columns: int) -> dict[str, Any]:
    """The window's rows, empty ones too, each with its cells from left to right; values without the quotes around them.

    A cell that reaches out of the window is as high as what shows of it, and no longer than a person reads in a grid.
    """
    by_row: dict[int, list[dict[str, Any]]] = {}
    is_csv, n_chars = isinstance(document.places[0].locator, CsvCells), 0
    end = min(last_row, first_row + ROWS - 1)
    for cell in sorted(cells, key=lambda cell: (cell.row, cell.column, cell.span.start)):
        if cell.column > _MOST_COLUMNS:
            continue
        most = _CELL_CHARS if n_chars < _WINDOW_CHARS else _SHORT_CHARS
        value = document.text[cell.span.start : min(cell.span.end, cell.span.start + most)]
        n_chars += len(value)
        value = value.replace('""', '"') if is_csv else value
        row = max(cell.row, first_row)
        by_row.setdefault(row, []).append({
            "column": cell.column,
            "n_rows": max(1, min(cell.row + cell.n_rows - 1, end) - row + 1),
            "n_columns": max(1, min(cell.n_columns, _MOST_COLUMNS - cell.column + 1)),
            "from": cell.span.start,
            "to": cell.span.end,
            "text": value + "…" if len(cell.span) > most else value,
        })  # fmt: skip
    return {
        "n_rows": last_row,
        "n_columns": n_columns,
        "first_row": first_row,
        "rows": [{"number": number, "cells": by_row.get(number, [])} for number in range(first_row, end + 1)],
        "n_shown": min(n_columns, _MOST_COLUMNS),
    }
