"""What DOCX, XLSX and PPTX have in common: relationships between parts, the title in the properties, DrawingML text."""

from __future__ import annotations

from dataclasses import dataclass

from gawah.extract.package import Element, Package, attribute, below, child, local, resolve
from gawah.extract.raised import EDGES, Height, height_of

_CORE_PROPERTIES = "docProps/core.xml"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relationship of a part: its kind (the last word of its type) and the entry it leads to ("" when outside)."""

    kind: str
    target: str


def relations(package: Package, part: str) -> dict[str, Relation]:
    """The relationships of a part by their ids; a part without any has none."""
    folder, _, name = part.rpartition("/")
    entry = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
    if not package.find(entry):
        return {}
    found: dict[str, Relation] = {}
    for item in below(package.xml(entry), "Relationship"):
        is_outside = attribute(item, "TargetMode") == "External"
        target = "" if is_outside else resolve(part, attribute(item, "Target"))
        found[attribute(item, "Id")] = Relation(attribute(item, "Type").rpartition("/")[2], target)
    return found


def parts_of_kind(package: Package, part: str, kind: str) -> list[str]:
    """Entries that a part relates to by a kind and that exist."""
    related = relations(package, part).values()
    return [package.find(item.target) for item in related if item.kind == kind and package.find(item.target)]


def main_part(package: Package, usual: str) -> str:
    """The part that the package is about."""
    return next(iter(parts_of_kind(package, "", "officeDocument")), usual)


def core_title(package: Package) -> str:
    """The title in the core properties; empty when there is none."""
    entry = next(iter(parts_of_kind(package, "", "core-properties")), package.find(_CORE_PROPERTIES))
    if not entry:
        return ""
    title = next(below(package.xml(entry), "title"), None)
    return (title.text or "") if title is not None else ""


def chosen(element: Element) -> Element | None:
    """The branch of an AlternateContent that is read: the first choice, else the fallback."""
    return child(element, "Choice") if child(element, "Choice") is not None else child(element, "Fallback")


def is_on(element: Element | None, *path: str) -> bool:
    """Whether a switch such as `<w:vanish/>` is there and not set to false."""
    found = child(element, *path)
    return found is not None and attribute(found, "val", "1") not in ("0", "false", "off", "none")


def drawing_paragraphs(body: Element) -> list[list[str]]:
    """The paragraphs of a DrawingML text body, each as its raw lines with marked superscripts (see `raised`)."""
    return [_drawing_lines(paragraph) for paragraph in body if local(paragraph) == "p"]


def _drawing_lines(paragraph: Element) -> list[str]:
    lines = [""]
    for element in paragraph.iter():
        name = local(element)
        if name == "t":
            before, after = EDGES[_height(element.getparent())]
            lines[-1] += f"{before}{element.text or ''}{after}"
        elif name == "br":
            lines.append("")
    return lines


def _height(run: Element) -> Height:
    properties = child(run, "rPr")
    return height_of(attribute(properties, "baseline")) if properties is not None else ""
