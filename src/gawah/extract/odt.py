"""ODT to a document: the text as it stands with all changes accepted, with headings, items, tables and notes."""

from __future__ import annotations

from collections.abc import Iterator

from gawah.extract.assembly import Assembly, sane_title
from gawah.extract.canonical import stem
from gawah.extract.odf import all_words, flow, meta_title, open_package
from gawah.extract.package import Element, Package, attribute, below, child, local, whole
from gawah.extract.raised import Height
from gawah.extract.sink import CellText, Page, Sink
from gawah.types import BlockKind, Document, SourceFile

_LONGEST_CHAIN = 20  # styles that one style is based on
_INDEXES = frozenset({
    "table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index",
})  # fmt: skip
_NO_TEXT = frozenset({"sequence-decls", "variable-decls", "user-field-decls", "forms", "dde-connection-decls"})
_MOST_REPEATED = 64


class OdtExtractor:
    """application/vnd.oasis.opendocument.text."""

    name = "odt"
    version = 3

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the property's, else that of the paragraph set as title, else the first heading, else the name.

        Raises ExtractionError `damaged`, `encrypted`, `zip_bomb`, `doctype`, `too_deep` or `empty`.
        """
        package = open_package(data)
        content = package.xml("content.xml")
        walk = _Walk(_Styles(package, content))
        body = child(content, "body", "text")
        if body is not None:
            walk.blocks(body, Page(walk.assembly))
        walk.remove_furniture(package)
        assembly = walk.assembly
        assembly.warnings += package.unread_pictures()
        title = sane_title(meta_title(package), walk.title, assembly.first_heading, stem(source.name))
        return assembly.document(source, f"{self.name}/{self.version}", title=title)


class _Styles:
    """Which styles are titles, which hide what is set in them, and which strike it out."""

    def __init__(self, package: Package, content: Element) -> None:
        roots = [content] + ([package.xml("styles.xml")] if package.find("styles.xml") else [])
        self._items = {attribute(item, "name"): item for root in roots for item in below(root, "style")}

    def is_title(self, name: str) -> bool:
        return any(attribute(item, "name") == "Title" for item in self._chain(name))

    def reason_to_leave_out(self, name: str) -> str:
        """Why text in a style is not read: struck out or hidden; else empty."""
        if self._said(name, "text-line-through-style", "text-line-through-type") not in ("", "none"):
            return "deleted"
        return "hidden" if self._said(name, "display") == "none" else ""

    def _said(self, name: str, *attributes: str) -> str:
        """The nearest style's word on one of the attributes."""
        values = (attribute(properties, key) for item in self._chain(name) for properties in item for key in attributes)
        return next(filter(None, values), "")

    def height(self, name: str) -> Height:
        """Where text stands: "super", "sub", or moved by a share of its height, negative when it is lower."""
        for item in self._chain(name):
            for properties in item:
                if position := attribute(properties, "text-position"):
                    if position.startswith(("sub", "-")):
                        return "sunk"
                    return "" if position[0] == "0" else "raised"
        return ""

    def _chain(self, name: str) -> Iterator[Element]:
        for _ in range(_LONGEST_CHAIN):
            item = self._items.get(name)
            if item is None:
                return
            yield item
            name = attribute(item, "parent-style-name")


class _Walk:
    def __init__(self, styles: _Styles) -> None:
        self.assembly = Assembly()
        self.title = ""
        self._styles = styles

    def blocks(self, container: Element, sink: Sink, kind: BlockKind = BlockKind.PARAGRAPH) -> None:
        for element in container:
            name = local(element)
            if name in ("p", "h"):
                self._paragraph(element, sink, kind)
            elif name == "table":
                self._table(element, sink)
            elif name in _INDEXES:
                self.assembly.remove("table of contents", all_words(element))
            elif name == "tracked-changes":
                self._changes(element)
            elif name == "section" and attribute(element, "display") == "none":
                self.assembly.remove("hidden", all_words(element))
            elif name in ("list-item", "list-header"):
                self.blocks(element, sink, BlockKind.ITEM)
            elif name == "annotation":
                self.assembly.remove("comment", all_words(element))
            elif name in ("text-box", "frame", "custom-shape", "rect", "g", "object") or name not in _NO_TEXT:
                self.blocks(element, sink, kind)

    def remove_furniture(self, package: Package) -> None:
        if not package.find("styles.xml"):
            return
        for name in ("header", "footer"):
            for element in below(package.xml("styles.xml"), name):
                self.assembly.remove(name, all_words(element))

    def _changes(self, element: Element) -> None:
        regions = list(below(element, "changed-region"))
        deleted = [item for region in regions for item in below(region, "deletion")]
        for item in deleted:
            self.assembly.remove(
                "deleted", " ".join(all_words(inner) for inner in item if local(inner) in ("p", "h", "list"))
            )
        if regions:
            counts = f"{len(regions) - len(deleted):,} insertions read, {len(deleted):,} deletions left out"
            self.assembly.warnings.append(f"it has tracked changes: {counts}")

    def _paragraph(self, element: Element, sink: Sink, kind: BlockKind) -> None:
        style = attribute(element, "style-name")
        if why := self._styles.reason_to_leave_out(style):
            self.assembly.remove(why, all_words(element))
            return
        for span in below(element, "span"):
            if span.text and (why := self._styles.reason_to_leave_out(attribute(span, "style-name"))):
                self.assembly.remove(why, span.text)
                span.text = ""
        aside: list[Element] = []
        text = self.assembly.sign("".join(flow(self.assembly, element, aside, self._styles.height)))
        level = 0
        if local(element) == "h":
            kind, level = BlockKind.HEADING, whole(attribute(element, "outline-level"), 1)
        elif self._styles.is_title(style):
            kind, level = BlockKind.HEADING, 1
            self.title = self.title or " ".join(text.split())
        if text.strip():
            sink.put(kind, text, level)
        else:
            self.assembly.drop(text, "white space")
        for inner in aside:
            self._aside(inner, sink)

    def _aside(self, element: Element, sink: Sink) -> None:
        name = local(element)
        if name == "note":
            body = child(element, "note-body")
            if body is not None:
                self.blocks(body, sink)
        elif name == "annotation":
            self.assembly.remove("comment", all_words(element))
        elif name == "desc":
            sink.put(BlockKind.PARAGRAPH, self.assembly.take("".join(element.itertext())), 0)
        else:
            self.blocks(element, sink)

    def _table(self, table: Element, sink: Sink) -> None:
        rows = [list(_cells(row)) for row in _rows(table)]
        if sum(map(len, rows)) == 1:  # a frame around text
            for cell in next(row for row in rows if row):
                self.blocks(cell, sink)
            return
        sink.table([[self._cell(cell) for cell in row] for row in rows])

    def _cell(self, cell: Element) -> list[str]:
        inside = CellText()
        self.blocks(cell, inside)
        return inside.pieces


def _rows(table: Element) -> Iterator[Element]:
    for element in table:
        name = local(element)
        if name == "table-row":
            yield element
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(element)


def _cells(row: Element) -> Iterator[Element]:
    """The cells, what a merged cell covers among them, repeated ones as often as they are shown."""
    for element in row:
        if local(element) in ("table-cell", "covered-table-cell"):
            yield from [element] * min(whole(attribute(element, "number-columns-repeated"), 1), _MOST_REPEATED)
