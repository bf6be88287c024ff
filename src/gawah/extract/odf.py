"""What ODT, ODS and ODP have in common: the package with its properties and styles, and text with its blanks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gawah.errors import ExtractionError
from gawah.extract.assembly import Assembly
from gawah.extract.package import Element, Package, attribute, below, local, whole
from gawah.extract.raised import EDGES, Height

_BLANKS = re.compile(r"[ \t\r\n]+")
_MOST_BLANKS = 100  # of one element that stands for several
_ASIDE = frozenset({"note", "text-box", "annotation", "desc", "object"})
_NO_TEXT = frozenset({
    "ruby-text", "soft-page-break", "bookmark", "bookmark-start", "bookmark-end", "reference-mark-start",
    "reference-mark-end", "note-citation", "event-listeners", "tracked-changes", "title", "annotation-end",
})  # fmt: skip


def open_package(data: bytes) -> Package:
    """Raises ExtractionError as Package does, and `encrypted` for a file with a password."""
    package = Package(data)
    manifest = package.find("META-INF/manifest.xml")
    if manifest and next(below(package.xml(manifest), "encryption-data"), None) is not None:
        raise ExtractionError("encrypted", "it is protected by a password; save it without one")
    return package


def meta_title(package: Package) -> str:
    """The title in the properties; empty when there is none."""
    if not package.find("meta.xml"):
        return ""
    title = next(below(package.xml("meta.xml"), "title"), None)
    return (title.text or "") if title is not None else ""


def flow(
    assembly: Assembly, element: Element, aside: list[Element], height: Callable[[str], Height] = lambda _: ""
) -> Iterator[str]:
    """The taken text of a paragraph with runs of blanks as one; what hangs on it is put into `aside`.

    `height` says of a style where its text stands; the edges of superscripts and subscripts are marked (see `raised`).
    """
    yield _flowing(assembly, element.text or "")
    for inner in element:
        name = local(inner)
        if name in _ASIDE:
            aside.append(inner)
        elif name == "s":
            yield assembly.make(" " * min(whole(attribute(inner, "c"), 1), _MOST_BLANKS), "blanks")
        elif name == "tab":
            yield assembly.make("\t", "tab")
        elif name == "line-break":
            yield assembly.make("\n", "line break")
        elif name == "hidden-text" or (name == "hidden-paragraph" and attribute(inner, "is-hidden") == "true"):
            assembly.remove("hidden", attribute(inner, "string-value") or all_words(inner))
        elif name not in _NO_TEXT:
            before, after = EDGES[height(attribute(inner, "style-name")) if name == "span" else ""]
            yield before
            yield from flow(assembly, inner, aside, height)
            yield after
        yield _flowing(assembly, inner.tail or "")


def _flowing(assembly: Assembly, raw: str) -> str:
    """ODF collapses white space (ODF 1.3 part 3, 6.1.2)."""
    text = assembly.take(raw)
    collapsed = _BLANKS.sub(" ", text)
    assembly.drop(" " * (len(text) - len(collapsed)), "white space")
    return collapsed


def all_words(element: Element) -> str:
    """All text inside paragraphs below an element, a blank between them."""
    paragraphs = [item for item in element.iter() if local(item) in ("p", "h")]
    return " ".join("".join(item.itertext()) for item in paragraphs) if paragraphs else "".join(element.itertext())
