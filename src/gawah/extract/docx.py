"""DOCX to a document: the text as it stands when all tracked changes are accepted, with headings, items and tables.

An own walk over the XML, because what people put into a document is also in insertions, content controls, text boxes,
nested tables and notes. Deleted, struck-out and hidden text, comments, tables of contents, headers and footers are taken out and
kept as removals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from gawah.extract.assembly import Assembly, sane_title
from gawah.extract.canonical import stem
from gawah.extract.docx_styles import Style, Styles
from gawah.extract.graphics import alternative_text, graphic_texts
from gawah.extract.ooxml import chosen, core_title, main_part, parts_of_kind
from gawah.extract.package import Element, Package, attribute, below, child, local, whole
from gawah.extract.raised import BAR, EDGES, FRACTION, FRACTION_END
from gawah.extract.sink import CellText, Page, Sink
from gawah.types import BlockKind, Document, SourceFile

_CODE = re.compile(r"(?:[fF]0|00)?[0-9a-fA-F]{2}")
_DELETED = frozenset({"del", "moveFrom"})
_NO_TEXT = frozenset({
    "pPr", "rPr", "sectPr", "tblPr", "tblGrid", "trPr", "tcPr", "sdtPr", "instrText", "delInstrText", "rt", "fldData",
    "sym", "softHyphen", "proofErr", "tblPrEx", "object", "delText", "numPicBullet",
})  # fmt: skip
_WORDS = frozenset({"t", "delText"})
# Elements that stand for a character, and its reason in the books; a symbol's is found by its font and code.
_SIGNS = {
    "tab": ("\t", "tab"), "ptab": ("\t", "tab"), "cr": ("\n", "line break"), "br": ("\n", "line break"),
    "noBreakHyphen": ("\u2011", "hyphen"), "sym": ("", "symbol"),
}  # fmt: skip
# Signs of forms in the font Wingdings, by the last byte of their code.
_WINGDINGS = {0x6F: "☐", 0xA8: "☐", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"}
# Edges of the parts of a formula (OMML) that would run into each other.
_FORMULA = {"f": (FRACTION, FRACTION_END), "den": (BAR, ""), "sup": EDGES["raised"], "sub": EDGES["sunk"]}
# Objects stand in <w:object>, and in <w:pict> or a drawing where other programs wrote them.
_EMBEDDED = frozenset({"object", "OLEObject", "control"})
_PAGE_BREAKS = frozenset({"page", "column"})
_MOST_SPANNED = 64  # columns of one cell; Word allows 63


class DocxExtractor:
    """application/vnd.openxmlformats-officedocument.wordprocessingml.document, macros or not."""

    name = "docx"
    version = 3

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the property's, else that of the paragraph set as title, else the first heading, else the name.

        Raises ExtractionError `damaged`, `encrypted`, `zip_bomb`, `doctype`, `too_deep` or `empty`.
        """
        package = Package(data)
        part = main_part(package, "word/document.xml")
        body = child(package.xml(part), "body")
        walk = _Walk(package, part)
        if body is not None:
            walk.blocks(body, Page(walk.assembly))
        walk.finish()
        assembly = walk.assembly
        assembly.warnings += package.unread_pictures()
        title = sane_title(core_title(package), walk.title, assembly.first_heading, stem(source.name))
        return assembly.document(source, f"{self.name}/{self.version}", title=title)


class _Walk:
    def __init__(self, package: Package, part: str) -> None:
        self.assembly = Assembly()
        self.title = ""
        self._package = package
        self._part = part
        self._styles = Styles(next((package.xml(entry) for entry in parts_of_kind(package, part, "styles")), None))
        self._notes = {
            (kind, attribute(note, "id")): note
            for kind in ("footnote", "endnote")
            for entry in parts_of_kind(package, part, f"{kind}s")
            for note in below(package.xml(entry), kind)
            if attribute(note, "type") in ("", "normal")
        }
        self._changes: Counter[str] = Counter()
        self._unread: dict[str, Counter[str]] = {"embedded objects": Counter(), "symbols": Counter()}
        self._beside: list[Element] = []  # text boxes, notes and graphics of the open paragraph, read after it
        self._held = ""  # a paragraph whose end was deleted: the next one goes on

    def blocks(self, container: Element, sink: Sink) -> None:
        for element in container:
            name = local(element)
            if name == "p":
                self._paragraph(element, sink)
            elif name == "tbl":
                self._table(element, sink)
            elif name in _DELETED:
                self._remove_deleted(element)
            elif name == "sdt" and _is_contents(element):
                self.assembly.remove("table of contents", _all_words(element))
            elif name == "AlternateContent":
                branch = chosen(element)
                if branch is not None:
                    self.blocks(branch, sink)
            elif name == "altChunk":
                self.assembly.warnings.append("a file that is embedded as a part of the text (altChunk) was not read")
            elif name not in _NO_TEXT:
                self._changes["inserted"] += name in ("ins", "moveTo")
                self.blocks(element, sink)
        if self._held:
            held, self._held = self._held, ""
            sink.put(BlockKind.PARAGRAPH, held, 0)

    def finish(self) -> None:
        """What stands outside of the text, and what there is to be said."""
        for note in self._notes.values():
            self.assembly.remove("note without reference", _all_words(note))
        for kind, reason in (("header", "header"), ("footer", "footer"), ("comments", "comment")):
            for entry in dict.fromkeys(parts_of_kind(self._package, self._part, kind)):
                self.assembly.remove(reason, " ".join(filter(None, map(_all_words, self._package.xml(entry)))))
        if self._changes["inserted"] or self._changes["deleted"]:
            counts = f"{self._changes['inserted']:,} insertions read, {self._changes['deleted']:,} deletions left out"
            self.assembly.warnings.append(f"it has tracked changes: {counts}")
        for what, counted in self._unread.items():
            if counted:
                names = ", ".join(f"{name} ({n:,})" for name, n in counted.items())
                self.assembly.warnings.append(f"{what} that were not read: {names}")

    def _paragraph(self, paragraph: Element, sink: Sink) -> None:
        properties = child(paragraph, "pPr")
        style = self._styles.of_paragraph(properties)
        if style.is_contents:
            self.assembly.remove("table of contents", _all_words(paragraph))
            return
        outer, self._beside = self._beside, []
        text = self.assembly.sign(self._held + "".join(self._inline(paragraph, style)))
        beside, self._beside = self._beside, outer
        self._held = ""
        if child(properties, "rPr", "del") is not None:
            self._held = text
        elif text.strip():
            kind = BlockKind.HEADING if style.level else BlockKind.ITEM if style.is_item else BlockKind.PARAGRAPH
            if style.is_title and not self.title:
                self.title = " ".join(text.split())
            sink.put(kind, text, style.level)
        else:
            self.assembly.drop(text, "white space")
        for element in beside:
            self._aside(element, sink)

    def _inline(self, container: Element, style: Style) -> Iterator[str]:
        for element in container:
            name = local(element)
            if name == "t":
                yield self.assembly.take(element.text or "")
            elif name in _DELETED:
                self._remove_deleted(element)
            elif name == "r" and (why := self._styles.reason_to_leave_out(child(element, "rPr"), style)):
                self.assembly.remove(why, _all_words(element))
            elif name in _SIGNS:
                yield self._sign(element, name)
            elif name in ("txbxContent", "footnoteReference", "endnoteReference", "docPr", "graphicData"):
                self._beside.append(element)
                if name == "graphicData":
                    yield from self._inline(element, style)
            elif name in _EMBEDDED:
                self._unread["embedded objects"][_program(element)] += 1
            elif name == "AlternateContent":
                branch = chosen(element)
                if branch is not None:
                    yield from self._inline(branch, style)
            elif name not in _NO_TEXT:
                self._changes["inserted"] += name in ("ins", "moveTo")
                before, after = self._edges(element, name)
                yield before
                yield from self._inline(element, style)
                yield after

    def _sign(self, element: Element, name: str) -> str:
        """The character that an empty element stands for."""
        if name == "sym":
            return self._symbol(element)
        if name == "br" and attribute(element, "type") in _PAGE_BREAKS:
            return ""
        return self.assembly.make(*_SIGNS[name])

    def _symbol(self, element: Element) -> str:
        """A character of a font whose codes are no letters; "" where it is not known what it shows."""
        font, code = attribute(element, "font"), attribute(element, "char")
        sign = ""
        if font.casefold() == "wingdings" and _CODE.fullmatch(code):
            sign = _WINGDINGS.get(int(code, 16) & 0xFF, "")
        if not sign:
            self._unread["symbols"][font or "no font"] += 1
        return self.assembly.make(sign, "symbol")

    def _edges(self, element: Element, name: str) -> tuple[str, str]:
        """The marks around a run or a part of a formula; none around most."""
        if name == "r":
            return EDGES[self._styles.height(child(element, "rPr"))]
        return _FORMULA.get(name, ("", ""))

    def _aside(self, element: Element, sink: Sink) -> None:
        """What hangs on a paragraph: a text box, a note, an image's description, a chart's or diagram's words."""
        name = local(element)
        if name == "txbxContent":
            self.blocks(element, sink)
        elif name == "docPr":
            sink.put(BlockKind.PARAGRAPH, self.assembly.take(alternative_text(element)), 0)
        elif name == "graphicData":
            for lines in graphic_texts(self._package, self._part, element):
                sink.put(BlockKind.PARAGRAPH, self.assembly.take_marked(lines), 0)
        else:
            note = self._notes.pop((name.removesuffix("Reference"), attribute(element, "id")), None)
            if note is not None:
                self.blocks(note, sink)

    def _table(self, table: Element, sink: Sink) -> None:
        rows: list[list[Element]] = []
        for row in _through(table, "tr"):
            if child(row, "trPr", "del") is not None:
                self._remove_deleted(row)
            else:
                rows.append(list(_through(row, "tc")))
        if sum(map(len, rows)) == 1:  # a frame around text
            for cell in rows[0] or rows[-1]:
                self.blocks(cell, sink)
            return
        sink.table([[pieces for cell in row for pieces in self._cell(cell)] for row in rows])

    def _cell(self, cell: Element) -> list[list[str]]:
        """The cell's pieces, and an empty cell for each further column it spans."""
        inside = CellText()
        self.blocks(cell, inside)
        span = child(cell, "tcPr", "gridSpan")
        n_columns = whole(attribute(span, "val"), 1) if span is not None else 1
        return [inside.pieces, *([] for _ in range(min(n_columns, _MOST_SPANNED) - 1))]

    def _remove_deleted(self, element: Element) -> None:
        self._changes["deleted"] += 1
        self.assembly.remove("deleted", _all_words(element))


def _through(container: Element, wanted: str) -> Iterator[Element]:
    """Rows of a table or cells of a row, also those inside content controls and insertions."""
    for element in container:
        name = local(element)
        if name == wanted:
            yield element
        elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml"):
            yield from _through(element, wanted)


def _program(holder: Element) -> str:
    """The program that an embedded object belongs to, as the file names it; that of a control is not named."""
    if local(holder) == "control":
        return "control"
    embedded = next(holder.iter("{*}OLEObject"), None)
    return (attribute(embedded, "ProgID") if embedded is not None else "") or "unknown kind"


def _is_contents(control: Element) -> bool:
    gallery = child(control, "sdtPr", "docPartObj", "docPartGallery")
    return gallery is not None and attribute(gallery, "val").casefold() == "table of contents"


def _all_words(element: Element) -> str:
    return "".join(inner.text or "" for inner in element.iter() if local(inner) in _WORDS)
