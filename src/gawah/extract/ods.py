"""ODS to a document: sheets in order, rows as lines, each cell with its A1 range; as xlsx.py does it for XLSX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from gawah.extract.assembly import Assembly, fixed, sane_title
from gawah.extract.canonical import stem
from gawah.extract.odf import all_words, flow, meta_title, open_package
from gawah.extract.package import Element, attribute, child, elements, local, whole
from gawah.extract.sheet import Cell, Row, column_letters, number_text, put_sheet, said_of_formulas
from gawah.types import BlockKind, Document, SheetRange, SourceFile

_CONTENT = "content.xml"
_MOST_REPEATED = 1000  # cells or rows with something in them that one element stands for
_LAST_COLUMN = 16_384
_LAST_ROW = 1_048_576
_NUMBERS = frozenset({"float", "percentage", "currency"})


class OdsExtractor:
    """application/vnd.oasis.opendocument.spreadsheet."""

    name = "ods"
    version = 1

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the property's, else the file's name.

        Raises ExtractionError `damaged`, `encrypted`, `zip_bomb`, `doctype`, `too_deep` or `empty`.
        """
        package = open_package(data)
        reader = _Reader()
        for name, rows in groupby(reader.rows(package.read(_CONTENT)), key=lambda row: row[0]):
            put_sheet(reader.assembly, name, (row for _, row in rows))
            reader.put_comments(name)
        reader.warn()
        reader.assembly.warnings += package.unread_pictures()
        title = sane_title(meta_title(package), stem(source.name))
        return reader.assembly.document(source, f"{self.name}/{self.version}", title=title)


@dataclass(slots=True)
class _Reader:
    """The rows of all sheets in one pass, and what there is to be said about them."""

    assembly: Assembly = field(default_factory=Assembly)
    hidden_styles: set[str] = field(default_factory=set)
    hidden: list[str] = field(default_factory=list)
    uncomputed: list[str] = field(default_factory=list)
    comments: list[tuple[str, str, str]] = field(default_factory=list)

    def rows(self, data: bytes) -> Iterator[tuple[str, Row]]:
        sheet, number = "", 0
        for element in elements(data, _CONTENT, "style", "table-row"):
            if local(element) == "style":
                properties = child(element, "table-properties")
                if properties is not None and attribute(properties, "display") == "false":
                    self.hidden_styles.add(attribute(element, "name"))
                continue
            table = next(inner for inner in element.iterancestors() if local(inner) == "table")
            name = attribute(table, "name") or "table"
            if name != sheet:
                sheet, number = name, 0
                if attribute(table, "style-name") in self.hidden_styles:
                    self.hidden.append(name)
            n_repeated = _count(element, "number-rows-repeated")
            cells = list(self._cells(element, sheet, number + 1)) if number < _LAST_ROW else []
            if cells:
                yield sheet, (number + 1, cells)
                yield from self._repeated(sheet, number + 1, cells, n_repeated)
            number += n_repeated

    def _repeated(self, sheet: str, number: int, cells: list[Cell], n: int) -> Iterator[tuple[str, Row]]:
        """Further rows that are the same as one, each taken as often as it is shown."""
        for below in range(number + 1, number + min(n, _MOST_REPEATED)):
            copies = [
                Cell(c.column, self.assembly.take(c.text), c.is_text, f"{column_letters(c.column)}{below}")
                for c in cells
            ]
            yield sheet, (below, copies)
        if n > _MOST_REPEATED:
            self.assembly.warnings.append(
                f"row {number} of {sheet!r} is repeated {n:,} times; {_MOST_REPEATED:,} are read"
            )

    def put_comments(self, name: str) -> None:
        for sheet, a1, text in [item for item in self.comments if item[0] == name]:
            self.assembly.put(BlockKind.PARAGRAPH, text, fixed(SheetRange(sheet, a1)))
        self.comments = [item for item in self.comments if item[0] != name]

    def warn(self) -> None:
        if self.hidden:
            self.assembly.warnings.append(f"hidden sheets, read all the same: {', '.join(self.hidden)}")
        self.assembly.warnings.extend(said_of_formulas(self.uncomputed))

    def _cells(self, row: Element, sheet: str, number: int) -> Iterator[Cell]:
        column = 1
        for element in row:
            if local(element) not in ("table-cell", "covered-table-cell"):
                continue
            if column > _LAST_COLUMN:
                return
            said = {str(key).rpartition("}")[2]: str(value) for key, value in element.attrib.items()}
            n = max(1, whole(said.get("number-columns-repeated"), 1))
            if len(element) or "formula" in said or "value-type" in said:
                for at in range(column, min(column + min(n, _MOST_REPEATED), _LAST_COLUMN + 1)):
                    cell = self._cell(element, said, f"{sheet}!", number, at)
                    if cell is not None:
                        yield cell
            column += n

    def _cell(self, element: Element, said: dict[str, str], prefix: str, number: int, column: int) -> Cell | None:
        """`said` are the cell's attributes by their local names."""
        a1 = f"{column_letters(column)}{number}"
        for note in [inner for inner in element if local(inner) == "annotation"]:
            self.comments.append((prefix[:-1], a1, self.assembly.take(all_words(note))))
        text, is_text = self._value(element, said, prefix + a1)
        line = " ".join(text.split())
        if len(line) != len(text):
            self.assembly.drop(" " * (len(text) - len(line)), "white space")
        if not line:
            return None
        n_columns, n_rows = (whole(said.get(name), 1) for name in ("number-columns-spanned", "number-rows-spanned"))
        if n_columns > 1 or n_rows > 1:
            last = min(column + n_columns - 1, _LAST_COLUMN)
            a1 = f"{a1}:{column_letters(last)}{min(number + n_rows - 1, _LAST_ROW)}"
        return Cell(column, line, is_text, a1)

    def _value(self, element: Element, said: dict[str, str], name: str) -> tuple[str, bool]:
        kind = said.get("value-type", "")
        if kind in _NUMBERS:
            raw = said.get("value", "")
            text = number_text(raw)
            if text == raw:
                return self.assembly.take(raw), False
            self.assembly.drop(self.assembly.take(raw), "number's spelling")
            return self.assembly.make(text, "number's spelling"), False
        if kind == "date":
            text = self.assembly.take(said.get("date-value", "")).replace("T", " ")
            day = text.removesuffix(" 00:00:00")
            self.assembly.drop(text[len(day) :], "number's spelling")
            return day, False
        if kind == "boolean":
            return self.assembly.take(said.get("boolean-value", "").upper()), False
        aside: list[Element] = []
        pieces = ["".join(flow(self.assembly, inner, aside)) for inner in element if local(inner) in ("p", "h")]
        text = pieces[0] if pieces else ""
        for piece in pieces[1:]:
            text += self.assembly.make("\n", "line break") + piece
        formula = said.get("formula", "")
        if formula and not kind and not text.strip():
            self.uncomputed.append(name)
            return self.assembly.take(formula), False
        return text, kind in ("", "string")


def _count(element: Element, name: str) -> int:
    return max(1, whole(attribute(element, name), 1))
