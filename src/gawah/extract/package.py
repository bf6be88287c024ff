"""A ZIP package (OOXML, ODF, EPUB) to its parts: inflated under limits and parsed without entities, DTD or network.

No name of an entry is ever a path on disk. Sizes in headers are not believed: bytes are counted while they inflate.
"""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, TypeAlias
from urllib.parse import unquote
from xml.parsers import expat

from lxml import etree

from gawah.errors import ExtractionError

MOST_ENTRIES = 20_000
MOST_PART_BYTES = 256 << 20
MOST_TOTAL_BYTES = 1 << 30
_PIECE_BYTES = 1 << 20
_PROLOG_BYTES = 4096
_MOST_DIGITS = 9
_PICTURES = (
    ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".svg", ".emf", ".wmf", ".emz", ".wmz", ".jp2", ".heic",
)  # fmt: skip
_ZIP_FAULTS = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, ValueError, KeyError, NotImplementedError,
)  # fmt: skip
Element: TypeAlias = Any  # lxml has no types


class Package:
    """The entries of a ZIP file in memory. `total` of what was inflated is limited over all reads."""

    def __init__(self, data: bytes) -> None:
        """Raises ExtractionError `damaged` or `zip_bomb`."""
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except _ZIP_FAULTS as error:
            reason = f"the ZIP package is cut short or damaged ({_said(error)}); save the file again"
            raise ExtractionError("damaged", reason) from error
        entries = self._archive.infolist()
        if len(entries) > MOST_ENTRIES:
            raise ExtractionError(
                "zip_bomb", f"it holds {len(entries):,} entries, more than the {MOST_ENTRIES:,} allowed"
            )
        self.n_inflated = 0
        self._entries = {entry.filename.lstrip("/"): entry for entry in entries if not entry.filename.endswith("/")}
        self._folded = {name.casefold(): name for name in self._entries}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def unread_pictures(self) -> list[str]:
        """A line when the package holds pictures, whose words no extractor reads; a program's preview is none."""
        n = sum(name.casefold().endswith(_PICTURES) and "thumbnail" not in name.casefold() for name in self._entries)
        if not n:
            return []
        return [
            f"{n:,} {'pictures were' if n > 1 else 'picture was'} not read: words in {'them' if n > 1 else 'it'} cannot be found"
        ]

    def find(self, name: str) -> str:
        """The entry's name as it is spelt in the package, letter case aside; empty when there is none."""
        plain = name.lstrip("/")
        return plain if plain in self._entries else self._folded.get(plain.casefold(), "")

    def read(self, name: str) -> bytes:
        """The bytes of an entry. Raises ExtractionError `damaged` (also when it is missing), `encrypted`, `zip_bomb`."""
        known = self.find(name)
        if not known:
            raise ExtractionError("damaged", f"its part {name!r} is missing; save the file again")
        entry = self._entries[known]
        if entry.flag_bits & 1:
            raise ExtractionError("encrypted", f"its part {name!r} is protected by a password; save it without one")
        pieces: list[bytes] = []
        size = 0
        try:
            with self._archive.open(entry) as stream:
                while piece := stream.read(_PIECE_BYTES):
                    size += len(piece)
                    self.n_inflated += len(piece)
                    self._require_room(name, size)
                    pieces.append(piece)
        except (*_ZIP_FAULTS, RuntimeError) as error:
            reason = f"its part {name!r} is damaged ({_said(error)}); save the file again"
            raise ExtractionError("damaged", reason) from error
        return b"".join(pieces)

    def xml(self, name: str) -> Element:
        """The root element of an XML part; raises ExtractionError as `read` and `parse_xml` do."""
        return parse_xml(self.read(name), name)

    def _require_room(self, name: str, size: int) -> None:
        if size > MOST_PART_BYTES:
            raise ExtractionError("zip_bomb", f"its part {name!r} inflates to more than {MOST_PART_BYTES >> 20} MiB")
        if self.n_inflated > MOST_TOTAL_BYTES:
            raise ExtractionError("zip_bomb", f"its parts inflate to more than {MOST_TOTAL_BYTES >> 20} MiB")


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__


def parse_xml(data: bytes, name: str) -> Element:
    """The root element. Raises ExtractionError `doctype`, `too_deep` or `damaged`."""
    refuse_doctype(data, name)
    try:
        root = etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as error:
        raise xml_fault(error, name) from error
    if root is None:
        raise ExtractionError("damaged", f"its part {name!r} holds no element; save the file again")
    return root


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, remove_comments=True, remove_pis=True
    )


def elements(data: bytes, name: str, *tags: str) -> Iterator[Element]:
    """Elements with these local names as they end, each cleared with all before it: for parts too large for a tree.

    Raises ExtractionError as `parse_xml` does, also half-way.
    """
    refuse_doctype(data, name)
    wanted = tuple(f"{{*}}{tag}" for tag in tags)
    try:
        for _, element in etree.iterparse(
            io.BytesIO(data), tag=wanted, resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False,
            remove_comments=True, remove_pis=True,
        ):  # fmt: skip
            yield element
            element.clear(keep_tail=False)
            parent = element.getparent()
            while element.getprevious() is not None:  # what follows may have been parsed already and is still to come
                del parent[0]
    except etree.XMLSyntaxError as error:
        raise xml_fault(error, name) from error


def xml_fault(error: etree.XMLSyntaxError, name: str) -> ExtractionError:
    if "depth" in str(error):
        return ExtractionError("too_deep", f"the elements of its part {name!r} are nested too deep to be a document's")
    return ExtractionError("damaged", f"its part {name!r} is no well-formed XML ({error.msg}); save the file again")


class _PrologOver(Exception):  # noqa: N818 — no error: the root element has begun
    pass


def refuse_doctype(data: bytes, name: str) -> None:
    """Raises ExtractionError `doctype` when a document type is declared: no office format needs one, bombs do."""

    def refuse(*_: object) -> None:
        reason = f"its part {name!r} declares a DOCTYPE, which no program writes and entity bombs need; it is not read"
        raise ExtractionError("doctype", reason)

    def stop(*_: object) -> None:
        raise _PrologOver

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        for start in range(0, len(data), _PROLOG_BYTES):
            parser.Parse(data[start : start + _PROLOG_BYTES])
    except _PrologOver:
        return
    except (expat.ExpatError, ValueError, LookupError) as error:
        reason = f"its part {name!r} is no well-formed XML ({_said(error)}); save the file again"
        raise ExtractionError("damaged", reason) from error


def local(element: Element) -> str:
    """The element's name without its namespace: transitional and strict OOXML differ in nothing else that matters."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str, default: str = "") -> str:
    """The value of an attribute by its local name."""
    value = element.get(name)
    if value is not None:
        return str(value)
    ending = "}" + name
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith(ending)), default)


def whole(written: str | None, otherwise: int) -> int:
    """A count as it is written in an attribute; what is none, or too long to count anything that exists, is `otherwise`."""
    text = (written or "").strip()
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else otherwise


def child(element: Element | None, *path: str) -> Element | None:
    """The first element along a path of local names."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def below(element: Element, name: str) -> Iterator[Element]:
    """Elements of a local name inside, in document order."""
    found: Iterator[Element] = element.iter(f"{{*}}{name}")
    return found


def resolve(base: str, target: str) -> str:
    """The entry that a relative reference from entry `base` means; ".." cannot leave the package."""
    path = unquote(target.partition("#")[0])
    joined = path if path.startswith("/") else posixpath.join(posixpath.dirname(base), path)
    return posixpath.normpath("/" + joined).lstrip("/")
