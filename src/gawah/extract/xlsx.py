"""XLSX and XLSM to a document: sheets in the workbook's order, rows as lines, each cell with its A1 range.

Values, not formulas; a formula that the file holds no value of stands as itself, and is said. Macros are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gawah.errors import ExtractionError
from gawah.extract.assembly import Assembly, fixed, sane_title
from gawah.extract.canonical import stem
from gawah.extract.cell_dates import iso_date, kind_of_format
from gawah.extract.naming import named
from gawah.extract.ooxml import core_title, drawing_paragraphs, main_part, parts_of_kind, relations
from gawah.extract.package import Element, Package, attribute, below, child, elements, local, whole
from gawah.extract.sheet import Cell, Row, column_letters, column_number, number_text, put_sheet, said_of_formulas
from gawah.extract.xlsx_strings import marked_string, take_string
from gawah.types import BlockKind, Document, Removal, SheetRange, SourceFile

_A1 = re.compile(r"\$?([A-Z]{1,3})\$?([1-9][0-9]{0,6})")
_NO_PLACE = "no such cell"
_LAST_COLUMN = 16_384
_LAST_ROW = 1_048_576


class XlsxExtractor:
    """application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, macros or not."""

    name = "xlsx"
    version = 2

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the property's, else the file's name.

        Raises ExtractionError `damaged`, `encrypted`, `zip_bomb`, `doctype`, `too_deep` or `empty`.
        """
        package = Package(data)
        assembly = Assembly()
        book = _read_book(package)
        for sheet in book.sheets:
            _put_sheet(assembly, package, book, sheet)
        _warn(assembly, book)
        assembly.warnings += package.unread_pictures()
        title = sane_title(core_title(package), stem(source.name))
        return assembly.document(source, f"{self.name}/{self.version}", title=title)


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    state: str
    part: str


@dataclass(slots=True)
class _Book:
    """A workbook: its sheets, strings and date formats, and what there is to be said about it."""

    sheets: list[_Sheet]
    strings: list[str]
    formats: list[str]
    from_1904: bool
    uncomputed: list[str] = field(default_factory=list)
    hidden_cells: list[str] = field(default_factory=list)
    misplaced: list[str] = field(default_factory=list)  # addresses of cells and comments that no sheet has
    lost_strings: list[str] = field(default_factory=list)


def _read_book(package: Package) -> _Book:
    part = main_part(package, "xl/workbook.xml")
    root = package.xml(part)
    related = relations(package, part)
    sheets: list[_Sheet] = []
    for item in below(root, "sheet"):
        relation = related.get(next((str(v) for k, v in item.attrib.items() if str(k).endswith("}id")), ""))
        if relation is None or relation.kind != "worksheet":
            continue  # a chart, dialogue or macro sheet has no cells
        sheets.append(_Sheet(attribute(item, "name") or "Sheet", attribute(item, "state", "visible"), relation.target))
    if not sheets:
        raise ExtractionError("empty", "there is no sheet in it")
    properties = child(root, "workbookPr")
    from_1904 = properties is not None and attribute(properties, "date1904") in ("1", "true")
    strings = [marked_string(item) for entry in parts_of_kind(package, part, "sharedStrings")
               for item in elements(package.read(entry), entry, "si")]  # fmt: skip
    formats = next((_formats(package.xml(entry)) for entry in parts_of_kind(package, part, "styles")), [])
    return _Book(sheets, strings, formats, from_1904)


def _formats(styles: Element) -> list[str]:
    """For each cell style whether it shows a date, a time, both or neither."""
    codes = {attribute(item, "numFmtId"): attribute(item, "formatCode") for item in below(styles, "numFmt")}
    styles_of_cells = child(styles, "cellXfs")
    numbers = [attribute(item, "numFmtId", "0") for item in styles_of_cells] if styles_of_cells is not None else []
    return [kind_of_format(whole(number, 0), codes.get(number, "")) for number in numbers]


def _put_sheet(assembly: Assembly, package: Package, book: _Book, sheet: _Sheet) -> None:
    if not package.find(sheet.part):
        assembly.warnings.append(f"sheet {sheet.name!r} is missing in the file")
        return
    data = package.read(sheet.part)
    put_sheet(assembly, sheet.name, _rows(assembly, book, sheet, data, _merged(data, sheet.part)))
    for entry in parts_of_kind(package, sheet.part, "comments"):
        for item in elements(package.read(entry), entry, "comment"):
            text = child(item, "text")
            words = take_string(assembly, marked_string(text)) if text is not None else ""
            reference = attribute(item, "ref")
            first = _address(reference.partition(":")[0])
            if first is None:
                _set_aside(assembly, book, words, f"{sheet.name}!{reference}")
            else:
                assembly.put(
                    BlockKind.PARAGRAPH, words, fixed(SheetRange(sheet.name, f"{column_letters(first[0])}{first[1]}"))
                )
    n_embedded = sum(len(parts_of_kind(package, sheet.part, kind)) for kind in ("oleObject", "package"))
    if n_embedded:
        assembly.warnings.append(f"embedded objects of {sheet.name!r} that were not read: {n_embedded:,}")
    for entry in parts_of_kind(package, sheet.part, "drawing"):
        _put_text_boxes(assembly, package.xml(entry), sheet.name)


def _address(reference: str) -> tuple[int, int] | None:
    """Column and row (1-based) of a cell; None where no sheet has such a cell."""
    match = _A1.fullmatch(reference.upper())
    if match is None:
        return None
    column, row = column_number(match.group(1)), int(match.group(2))
    return (column, row) if column <= _LAST_COLUMN and row <= _LAST_ROW else None


def _set_aside(assembly: Assembly, book: _Book, taken: str, name: str) -> None:
    """Words whose place is none: a citation of them would lead nowhere."""
    book.misplaced.append(name)
    assembly.drop(taken, _NO_PLACE)
    if line := " ".join(taken.split()):
        assembly.removed.append(Removal(_NO_PLACE, line))


def _put_text_boxes(assembly: Assembly, drawing: Element, sheet_name: str) -> None:
    for anchor in drawing:
        start = child(anchor, "from")
        column, row = (_offset(child(start, name)) + 1 for name in ("col", "row"))
        where = fixed(SheetRange(sheet_name, f"{column_letters(column)}{row}"))
        for body in below(anchor, "txBody"):
            for lines in drawing_paragraphs(body):
                assembly.put(BlockKind.PARAGRAPH, assembly.take_marked(lines), where)


def _offset(element: Element | None) -> int:
    return min(whole(element.text, 0), _LAST_COLUMN - 1) if element is not None else 0


def _merged(data: bytes, part: str) -> dict[str, str]:
    """Merged ranges by their first cell. They stand behind the rows, so a sheet that has some is read twice."""
    if b"mergeCell" not in data:
        return {}
    found: dict[str, str] = {}
    for element in elements(data, part, "row", "mergeCell"):
        reference = attribute(element, "ref").replace("$", "") if local(element) == "mergeCell" else ""
        if reference and all(map(_address, reference.split(":"))):
            found[reference.partition(":")[0]] = reference
    return found


def _rows(assembly: Assembly, book: _Book, sheet: _Sheet, data: bytes, merged: dict[str, str]) -> Iterator[Row]:
    last_row, n_hidden_rows, n_hidden_columns = 0, 0, 0
    for element in elements(data, sheet.part, "row", "col"):
        is_hidden = element.get("hidden") in ("1", "true")
        if local(element) == "col":
            n_hidden_columns += is_hidden
            continue
        last_row = whole(element.get("r"), last_row + 1)
        if not 1 <= last_row <= _LAST_ROW:
            assembly.warnings.append(f"rows of {sheet.name!r} beyond the last that a sheet can have were not read")
            break
        cells = list(_cells(assembly, book, sheet, element, last_row, merged))
        n_hidden_rows += is_hidden and bool(cells)
        if cells:
            yield last_row, cells
    if n_hidden_rows or n_hidden_columns:
        book.hidden_cells.append(sheet.name)


def _cells(
    assembly: Assembly, book: _Book, sheet: _Sheet, row: Element, row_number: int, merged: dict[str, str]
) -> Iterator[Cell]:
    column = 0
    for element in row:
        reference = element.get("r") or ""
        match = _A1.fullmatch(reference.upper())
        if any(map(str.isalnum, reference)) and (match is None or int(match.group(2)) > _LAST_ROW):
            text, _ = _value(assembly, book, element, f"{sheet.name}!{reference}")
            _set_aside(assembly, book, text, f"{sheet.name}!{reference}")
            continue
        column = column_number(match.group(1)) if match else column + 1
        if column > _LAST_COLUMN:
            assembly.warnings.append(
                f"cells of {sheet.name!r} beyond the last column that a sheet can have were not read"
            )
            return
        a1 = f"{column_letters(column)}{row_number}"
        text, is_text = _value(assembly, book, element, f"{sheet.name}!{a1}")
        line = " ".join(text.split())
        if len(line) != len(text):
            assembly.drop(" " * (len(text) - len(line)), "white space")
        if line:
            yield Cell(column, line, is_text, merged.get(a1, a1))


def _value(assembly: Assembly, book: _Book, element: Element, name: str) -> tuple[str, bool]:
    """What a cell shows, taken, and whether it is text."""
    kind = element.get("t") or "n"
    value = formula = inline = None
    for inner in element:
        what = local(inner)
        if what == "v":
            value = inner.text
        elif what == "f":
            formula = inner
        elif what == "is":
            inline = inner
    if kind == "inlineStr" and inline is not None:
        return take_string(assembly, marked_string(inline)), True
    if value is None:
        return _uncomputed(assembly, book, formula, name), False
    if kind == "s":
        index = whole(value, len(book.strings))
        if not 0 <= index < len(book.strings):
            book.lost_strings.append(name)
            assembly.remove("number of a string", value)
            return "", True
        return take_string(assembly, book.strings[index]), True
    if kind == "b":
        assembly.drop(assembly.take(value), "truth value")
        return assembly.make("TRUE" if value.strip() in ("1", "true") else "FALSE", "truth value"), False
    if kind != "n":  # the text a formula gives, an error, an ISO date
        return take_string(assembly, value), kind == "str"
    style = whole(element.get("s"), 0)
    shows = book.formats[style] if style < len(book.formats) else ""
    return _number(assembly, value, shows, from_1904=book.from_1904), False


def _number(assembly: Assembly, raw: str, shows: str, *, from_1904: bool) -> str:
    plain = raw.strip()
    text = ""
    if shows:
        try:
            text = iso_date(float(plain), shows, from_1904=from_1904)
        except ValueError:
            text = ""
    text = text or number_text(plain)
    if text == raw:
        return assembly.take(raw)
    assembly.drop(assembly.take(raw), "number's spelling")
    return assembly.make(text, "number's spelling")


def _uncomputed(assembly: Assembly, book: _Book, formula: Element | None, name: str) -> str:
    """A formula whose value the file does not hold, as it is written; what shares another cell's formula has no text."""
    if formula is None:
        return ""
    book.uncomputed.append(name)
    text = assembly.take(formula.text or "")
    return assembly.make("=", "sign of a formula") + text if text else ""


def _warn(assembly: Assembly, book: _Book) -> None:
    hidden = [sheet.name for sheet in book.sheets if sheet.state == "hidden"]
    very_hidden = [sheet.name for sheet in book.sheets if sheet.state == "veryHidden"]
    for words, names in (("hidden sheets, read all the same", hidden), ("very hidden sheets", very_hidden)):
        if names:
            assembly.warnings.append(f"{words}: {', '.join(names)}")
    if book.hidden_cells:
        assembly.warnings.append(f"hidden rows or columns, read all the same, in: {', '.join(book.hidden_cells)}")
    for words, names in (
        ("addresses that no sheet has; what stands there was set aside", book.misplaced),
        ("cells whose text the file does not hold", book.lost_strings),
    ):
        if names:
            assembly.warnings.append(f"{words} ({len(names):,}): {named(names)}")
    assembly.warnings.extend(said_of_formulas(book.uncomputed))
