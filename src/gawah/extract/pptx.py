"""PPTX to a document: slides in order, on each what is drawn from top to bottom and left to right, then its notes.

Where a placeholder has no position of its own it has its layout's or master's. Master and layout text is not read: it
is furniture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from gawah.errors import ExtractionError
from gawah.extract.assembly import Assembly, Where, fixed, sane_title
from gawah.extract.canonical import stem
from gawah.extract.graphics import alternative_text, graphic_texts
from gawah.extract.ooxml import chosen, core_title, drawing_paragraphs, main_part, parts_of_kind, relations
from gawah.extract.package import Element, Package, attribute, below, child, local
from gawah.extract.slide_layout import Layouts, Shape, placeholder_type, reading_order, shape_of
from gawah.types import BlockKind, Document, Slide, SourceFile

_SLIDE_LEVEL = 2
_NOTES_LEVEL = 3
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = {"ftr": "footer", "sldNum": "slide number", "dt": "date", "hdr": "header"}
_BULLETED = frozenset({"", "body", "obj"})  # placeholders whose paragraphs are list items unless they say otherwise
_SHAPES = frozenset({"sp", "pic", "graphicFrame", "grpSp", "cxnSp", "contentPart"})
_WORDS = frozenset({"t", "text"})


class PptxExtractor:
    """application/vnd.openxmlformats-officedocument.presentationml.presentation and its kin (slide shows, templates)."""

    name = "pptx"
    version = 3

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the property's, else the first slide's, else the file's name.

        Raises ExtractionError `damaged`, `encrypted`, `zip_bomb`, `doctype`, `too_deep` or `empty`.
        """
        package = Package(data)
        part = main_part(package, "ppt/presentation.xml")
        presentation = package.xml(part)
        deck = _Deck(package, runs_left=attribute(presentation, "rtl") in ("1", "true"))
        related = relations(package, part)
        for number, item in enumerate(below(presentation, "sldId"), start=1):
            relation = related.get(next((str(v) for k, v in item.attrib.items() if str(k).endswith("}id")), ""))
            if relation is None or not package.find(relation.target):
                deck.assembly.warnings.append(f"slide {number} is missing in the file")
                continue
            deck.add(relation.target, number)
        if not deck.n_slides:
            raise ExtractionError("empty", "there is no slide in it")
        deck.warn()
        assembly = deck.assembly
        assembly.warnings += package.unread_pictures()
        title = sane_title(core_title(package), assembly.first_heading, stem(source.name))
        return assembly.document(source, f"{self.name}/{self.version}", title=title)


@dataclass(frozen=True, slots=True)
class _Page:
    """The slide being read: its part, number and place."""

    part: str
    number: int
    where: Where


class _Deck:
    def __init__(self, package: Package, *, runs_left: bool) -> None:
        self.assembly = Assembly()
        self.n_slides = 0
        self._package = package
        self._layouts = Layouts(package)
        self._runs_left = runs_left
        self._hidden: list[int] = []

    def add(self, part: str, number: int) -> None:
        root = self._package.xml(part)
        self.n_slides += 1
        if attribute(root, "show", "1") in ("0", "false"):
            self._hidden.append(number)
        page = _Page(part, number, fixed(Slide(number, number)))
        self._remove_struck(root)
        tree = child(root, "cSld", "spTree")
        shapes = self._shapes(tree, part) if tree is not None else []
        titles = [shape for shape in shapes if placeholder_type(shape.element) in _TITLES]
        heading = " ".join(_words(title.element) for title in titles)
        if not heading.strip():
            self.assembly.name(f"Slide {number}", _SLIDE_LEVEL)
        for shape in titles:
            self._put_title(shape.element, page)
        rest = [shape for shape in shapes if shape not in titles]
        for shape in reading_order(rest, runs_left=self._runs_left):
            self._put(shape, page)
        self._put_notes(page)
        for entry in parts_of_kind(self._package, part, "comments"):
            for item in below(self._package.xml(entry), "cm"):
                self.assembly.remove("comment", _words(item))

    def _remove_struck(self, root: Element) -> None:
        """Takes struck-out runs out of a slide before it is read."""
        for run in below(root, "r"):
            properties, text = child(run, "rPr"), child(run, "t")
            if properties is None or text is None or attribute(properties, "strike", "noStrike") == "noStrike":
                continue
            self.assembly.remove("deleted", text.text or "")
            text.text = ""

    def warn(self) -> None:
        if self._hidden:
            numbers = ", ".join(map(str, self._hidden))
            what = f"slide {numbers} is" if len(self._hidden) == 1 else f"slides {numbers} are"
            self.assembly.warnings.append(f"{what} hidden, read all the same")

    def _shapes(self, tree: Element, part: str) -> list[Shape]:
        found: list[Shape] = []
        for element in tree:
            name = local(element)
            if name == "AlternateContent":
                branch = chosen(element)
                found.extend(self._shapes(branch, part) if branch is not None else [])
            elif name in _SHAPES:
                found.append(shape_of(element, self._layouts, part))
        return found

    def _put_title(self, element: Element, page: _Page) -> None:
        lines = list(chain.from_iterable(drawing_paragraphs(body) for body in below(element, "txBody")))
        raw = [line for paragraph in lines for line in paragraph]
        self.assembly.put(BlockKind.HEADING, self.assembly.take_marked(raw), page.where, _SLIDE_LEVEL)

    def _put(self, shape: Shape, page: _Page) -> None:
        element, name = shape.element, local(shape.element)
        properties = next(below(element, "cNvPr"), None)
        kind = placeholder_type(element)
        if properties is not None and attribute(properties, "hidden") in ("1", "true"):
            self.assembly.remove("hidden", _words(element))
        elif kind in _FURNITURE:
            self.assembly.remove(_FURNITURE[kind], _words(element))
        elif name == "grpSp":
            for inner in reading_order(self._shapes(element, page.part), runs_left=self._runs_left):
                self._put(inner, page)
        elif name == "graphicFrame":
            self._put_graphic(element, page)
        else:
            body = child(element, "txBody")
            if body is not None:
                self._put_paragraphs(body, page.where, may_be_list=kind is not None and kind in _BULLETED)
            if name == "pic" and properties is not None:
                words = self.assembly.take(alternative_text(properties))
                self.assembly.put(BlockKind.PARAGRAPH, words, page.where)

    def _put_paragraphs(self, body: Element, where: Where, *, may_be_list: bool) -> None:
        paragraphs = [element for element in body if local(element) == "p"]
        for paragraph, lines in zip(paragraphs, drawing_paragraphs(body), strict=True):
            properties = child(paragraph, "pPr")
            bullet = set() if properties is None else {local(item) for item in properties}
            is_item = bool(bullet & {"buChar", "buAutoNum", "buBlip"}) or (may_be_list and "buNone" not in bullet)
            kind = BlockKind.ITEM if is_item else BlockKind.PARAGRAPH
            self.assembly.put(kind, self.assembly.take_marked(lines), where)

    def _put_graphic(self, element: Element, page: _Page) -> None:
        table = next(below(element, "tbl"), None)
        if table is not None:
            self.assembly.table([self._row(row) for row in table if local(row) == "tr"], page.where)
            return
        embedded = next(below(element, "oleObj"), None)
        if embedded is not None:
            program = attribute(embedded, "progId") or "unknown kind"
            self.assembly.warnings.append(f"slide {page.number}: an embedded object was not read: {program}")
        for lines in graphic_texts(self._package, page.part, element):
            self.assembly.put(BlockKind.PARAGRAPH, self.assembly.take_marked(lines), page.where)

    def _row(self, row: Element) -> list[list[str]]:
        """The cells' paragraphs; what a merged cell covers is an empty cell."""
        cells: list[list[str]] = []
        for cell in row:
            if local(cell) == "tc":
                body = child(cell, "txBody")
                paragraphs: Sequence[list[str]] = drawing_paragraphs(body) if body is not None else []
                cells.append([self.assembly.take_marked(lines) for lines in paragraphs])
        return cells

    def _put_notes(self, page: _Page) -> None:
        for entry in parts_of_kind(self._package, page.part, "notesSlide"):
            bodies: list[Element] = []
            for shape in below(self._package.xml(entry), "sp"):
                body = child(shape, "txBody")
                if body is None:
                    continue
                kind = placeholder_type(shape)
                if kind in _FURNITURE:
                    self.assembly.remove(_FURNITURE[kind], _words(body))
                else:
                    bodies.append(body)
            if any(_words(body).strip() for body in bodies):
                self.assembly.name("Notes", _NOTES_LEVEL)
            for body in bodies:
                self._put_paragraphs(body, page.where, may_be_list=False)


def _words(element: Element) -> str:
    return "".join(inner.text or "" for inner in element.iter() if local(inner) in _WORDS)
