"""XLS (Excel 97 and before) to a document: as xlsx.py does it for XLSX, from the cells that xlrd reads."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any

from gawah.errors import ExtractionError
from gawah.extract.assembly import Assembly, fixed, sane_title
from gawah.extract.canonical import stem
from gawah.extract.cell_dates import iso_date, kind_of_format
from gawah.extract.ole import FAULTS, open_ole
from gawah.extract.sheet import Cell, Row, column_letters, number_text, put_sheet
from gawah.types import BlockKind, Document, SheetRange, SourceFile

_WHOLE_UP_TO = 1e15  # whole numbers up to here are written without a fraction
_TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR = 1, 2, 3, 4, 5  # xlrd's cell types
_VISIBLE, _HIDDEN = 0, 1
_FAULTS = (
    struct.error, IndexError, KeyError, ValueError, AssertionError, TypeError, AttributeError, EOFError, OverflowError,
    ArithmeticError, OSError, NotImplementedError, RecursionError,
)  # fmt: skip


class XlsExtractor:
    """application/vnd.ms-excel."""

    name = "xls"
    version = 1

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the file's name. Raises ExtractionError `damaged`, `encrypted` or `empty`."""
        book = _opened(data)
        assembly = Assembly()
        states: dict[int, list[str]] = {}
        for sheet in book.sheets():
            if sheet.visibility != _VISIBLE:
                states.setdefault(sheet.visibility, []).append(sheet.name)
            name = sheet.name or "Sheet"
            put_sheet(assembly, name, _rows(assembly, book, sheet))
            for (row, column), note in sorted(sheet.cell_note_map.items()):
                where = fixed(SheetRange(name, f"{column_letters(column + 1)}{row + 1}"))
                assembly.put(BlockKind.PARAGRAPH, assembly.take(note.text or ""), where)
        for state, names in sorted(states.items()):
            words = "hidden sheets, read all the same" if state == _HIDDEN else "very hidden sheets"
            assembly.warnings.append(f"{words}: {', '.join(names)}")
        return assembly.document(source, f"{self.name}/{self.version}", title=sane_title(stem(source.name)))


def _opened(data: bytes) -> Any:
    """The book as xlrd reads it. It gets the workbook's stream: of a damaged compound file it would follow a ring of sectors until memory ends."""
    import xlrd

    stream = _stream(data)
    try:
        return xlrd.open_workbook(file_contents=stream, formatting_info=True, ragged_rows=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        if "encrypted" in str(error):
            raise ExtractionError("encrypted", "it is protected by a password; save it without one") from error
        raise ExtractionError("damaged", f"the workbook cannot be read ({error}); save it again") from error
    except _FAULTS as error:
        raise ExtractionError("damaged", f"the workbook is cut short or damaged ({error}); save it again") from error


def _stream(data: bytes) -> bytes:
    with open_ole(data) as ole:
        found = {entry[0].casefold(): entry for entry in ole.listdir() if len(entry) == 1}
        entry = found.get("workbook") or found.get("book")
        if entry is None:
            raise ExtractionError("damaged", "its part 'Workbook' is missing; save it again")
        try:
            return bytes(ole.openstream(entry).read())
        except FAULTS as error:
            raise ExtractionError(
                "damaged", f"the workbook is cut short or damaged ({error}); save it again"
            ) from error


def _rows(assembly: Assembly, book: Any, sheet: Any) -> Iterator[Row]:
    merged = {
        (top, left): f"{column_letters(left + 1)}{top + 1}:{column_letters(right)}{bottom}"
        for top, bottom, left, right in sheet.merged_cells
    }
    for row in range(sheet.nrows):
        cells: list[Cell] = []
        for column in range(sheet.row_len(row)):
            kind = sheet.cell_type(row, column)
            if kind not in (_TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR):
                continue
            text = _value(book, sheet, row, column, kind)
            taken = assembly.take(text)
            line = " ".join(taken.split())
            assembly.drop(" " * (len(taken) - len(line)), "white space")
            if line:
                a1 = merged.get((row, column), f"{column_letters(column + 1)}{row + 1}")
                cells.append(Cell(column + 1, line, kind == _TEXT, a1))
        if cells:
            yield row + 1, cells


def _value(book: Any, sheet: Any, row: int, column: int, kind: int) -> str:
    """What a cell shows. The file holds numbers in binary: their shortest spelling stands for them."""
    from xlrd.biffh import error_text_from_code

    value = sheet.cell_value(row, column)
    if kind == _TEXT:
        return str(value)
    if kind == _BOOLEAN:
        return "TRUE" if value else "FALSE"
    if kind == _ERROR:
        return str(error_text_from_code.get(value, "#ERROR"))
    if kind == _DATE:
        style = book.xf_list[sheet.cell_xf_index(row, column)].format_key
        pattern = book.format_map.get(style)
        shows = kind_of_format(style, pattern.format_str if pattern is not None else "")
        date = iso_date(value, shows or "both", from_1904=book.datemode == 1)
        if date:
            return date
    return str(int(value)) if value == int(value) and abs(value) < _WHOLE_UP_TO else number_text(repr(value))
