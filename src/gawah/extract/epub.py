"""EPUB to a document: the chapters in the order of the spine, each read as the web page it is.

No scripts, no remote parts. A chapter without a heading of its own gets the name that the table of contents gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborHTMLParser

from gawah.errors import ExtractionError
from gawah.extract.assembly import Assembly, Where, sane_title
from gawah.extract.canonical import stem
from gawah.extract.html import HtmlExtractor
from gawah.extract.naming import named
from gawah.extract.package import Element, Package, attribute, below, child, resolve
from gawah.types import BlockKind, Document, EpubPlace, Locator, SourceFile, Span

_CHAPTER_LEVEL = 1
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_FONT_MARKS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # scrambled fonts, not words
_SELF_CLOSED = re.compile(rb"<([A-Za-z][\w:-]*)((?:[^<>'\"]|'[^'<]*'|\"[^\"<]*\")*?)/>")
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())


class EpubExtractor:
    """application/epub+zip."""

    name = "epub"
    version = 2

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the metadata's, else the first heading, else the file's name.

        Raises ExtractionError `damaged`, `encrypted`, `zip_bomb`, `doctype`, `too_deep` or `empty`.
        """
        package = Package(data)
        book = _read_book(package)
        assembly = Assembly()
        assembly.warnings.extend(book.warnings)
        for item in book.spine:
            _put_chapter(assembly, package, book, item, source)
        assembly.warnings += package.unread_pictures()
        title = sane_title(book.title, assembly.first_heading, stem(source.name))
        return assembly.document(source, f"{self.name}/{self.version}", title=title, language=book.language)


@dataclass(frozen=True, slots=True)
class _Item:
    """A resource: its entry in the package, its type and properties; `entry` is what the book says it is."""

    entry: str
    media_type: str
    is_contents: bool


@dataclass(frozen=True, slots=True)
class _Book:
    title: str
    language: str
    spine: list[_Item]
    labels: dict[str, str]
    sealed: frozenset[str]
    warnings: tuple[str, ...]


def _read_book(package: Package) -> _Book:
    root_file = next(below(package.xml("META-INF/container.xml"), "rootfile"), None)
    if root_file is None:
        raise ExtractionError("damaged", "its container names no book; save the file again")
    opf = attribute(root_file, "full-path")
    root = package.xml(opf)
    items: dict[str, _Item] = {}
    contents = ""
    for element in below(root, "item"):
        entry = resolve(opf, attribute(element, "href"))
        is_contents = "nav" in attribute(element, "properties").split()
        items[attribute(element, "id")] = _Item(entry, attribute(element, "media-type"), is_contents)
        if is_contents or (not contents and attribute(element, "media-type") == "application/x-dtbncx+xml"):
            contents = entry
    names = [attribute(ref, "idref") for ref in below(root, "itemref")]
    spine = [items[name] for name in names if name in items]
    metadata = child(root, "metadata")
    return _Book(
        title=_first_text(metadata, "title"),
        language=_first_text(metadata, "language"),
        spine=spine,
        labels=_labels(package, contents) if contents and package.find(contents) else {},
        sealed=_sealed(package),
        warnings=tuple(_faults(package, items, names)),
    )


def _faults(package: Package, items: Mapping[str, _Item], names: Sequence[str]) -> Iterator[str]:
    """What the reading order leaves out, and what it names that is not there."""
    unknown = list(dict.fromkeys(name for name in names if name not in items))
    if unknown:
        yield f"its reading order names what the book does not have: {_quoted(unknown)}"
    read = {items[name].entry for name in names if name in items}
    others = {item.entry: None for item in items.values() if _is_page(item) and not item.is_contents}
    left_out = [entry for entry in others if entry not in read and package.find(entry)]
    if left_out:
        yield f"chapters outside of its reading order, not read: {_quoted(left_out)}"
    pictures = [item.entry for item in items.values() if item.entry in read and not _is_page(item)]
    if pictures:
        yield f"pages that are pictures, not read: {_quoted(pictures)}"


def _is_page(item: _Item) -> bool:
    return item.media_type in _PAGES or item.entry.lower().endswith((".xhtml", ".html", ".htm"))


def _quoted(names: Sequence[str]) -> str:
    return named([repr(name) for name in names])


def _first_text(element: Element | None, name: str) -> str:
    found = next(below(element, name), None) if element is not None else None
    return (found.text or "").strip() if found is not None else ""


def _sealed(package: Package) -> frozenset[str]:
    """Entries whose content is encrypted; fonts are only scrambled and do not count."""
    if not package.find("META-INF/encryption.xml"):
        return frozenset()
    entries: set[str] = set()
    for item in below(package.xml("META-INF/encryption.xml"), "EncryptedData"):
        method = child(item, "EncryptionMethod")
        if method is None or attribute(method, "Algorithm") not in _FONT_MARKS:
            entries.update(resolve("", attribute(reference, "URI")) for reference in below(item, "CipherReference"))
    return frozenset(entries)


def _labels(package: Package, contents: str) -> dict[str, str]:
    """What the table of contents calls each page; the first of several names for parts of one."""
    labels: dict[str, str] = {}
    for target, words in _links(package, contents):
        labels.setdefault(resolve(contents, target), " ".join(words.split()))
    return labels


def _links(package: Package, contents: str) -> Iterator[tuple[str, str]]:
    data = package.read(contents)
    if b"navMap" in data:  # NCX; its DOCTYPE is harmless to this parser, which knows no entities of a DTD
        for point in LexborHTMLParser(data).css("navPoint"):
            target, words = point.css_first("content"), point.css_first("text")
            if target is not None and words is not None:
                yield target.attributes.get("src") or "", words.text()
        return
    for link in LexborHTMLParser(_opened(data)).css("nav a[href]"):
        yield link.attributes.get("href") or "", link.text()


def _put_chapter(assembly: Assembly, package: Package, book: _Book, item: _Item, source: SourceFile) -> None:
    if not _is_page(item):
        return
    if item.entry in book.sealed:
        raise ExtractionError("encrypted", "its chapters are encrypted (DRM); only the shop's own reader opens them")
    if not package.find(item.entry):
        assembly.warnings.append(f"{item.entry!r} is missing in the file")
        return
    data = _opened(package.read(item.entry))
    try:
        page = HtmlExtractor().extract(replace(source, media_type="text/html"), data)
    except ExtractionError as error:
        if error.reason_code != "empty":
            assembly.warnings.append(f"{item.entry!r} was not read ({error.reason_code}): {error}")
        return
    if item.is_contents:
        assembly.remove("table of contents", page.text)
        return
    label = book.labels.get(item.entry, "")
    if label and not any(block.kind is BlockKind.HEADING for block in page.blocks):
        assembly.name(label, _CHAPTER_LEVEL)
    assembly.include(page, _at(item.entry), name=item.entry)


def _at(href: str) -> Where:
    def where(span: Span) -> Locator:
        return EpubPlace(href, span.start, span.end)

    return where


def _opened(data: bytes) -> bytes:
    """XHTML's self-closed elements as pairs of tags: to an HTML parser `<title/>` opens a title that never ends."""

    def pair(match: re.Match[bytes]) -> bytes:
        name = match.group(1)
        return match.group() if name.lower() in _VOID else b"<%b%b></%b>" % (name, match.group(2), name)

    return _SELF_CLOSED.sub(pair, data)
