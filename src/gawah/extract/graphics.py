"""The words of what is drawn in OOXML: charts, diagrams (SmartArt), and the descriptions of images."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gawah.extract.ooxml import drawing_paragraphs, relations
from gawah.extract.package import Element, Package, attribute, below, child, local

_FILE_NAME = re.compile(r"\S+\.\w{2,5}|(?:image|picture|grafik|bild|diagram|chart) ?\d*", re.IGNORECASE)
_MOST_POINTS = 500  # of one series; what draws more is a data set


def alternative_text(properties: Element) -> str:
    """What is said about an image for those who do not see it; not the file name that programs put there."""
    text = attribute(properties, "descr")
    return "" if _FILE_NAME.fullmatch(text.strip()) else text


def graphic_texts(package: Package, part: str, holder: Element) -> Iterator[list[str]]:
    """The paragraphs, as raw lines, of a chart or diagram that is referred to inside an element of a part."""
    for element in holder.iter():
        name = local(element)
        if name == "chart":
            root = _related(package, part, attribute(element, "id"))
            if root is not None:
                yield from _chart(root)
        elif name == "relIds":
            root = _related(package, part, attribute(element, "dm"))
            if root is not None:
                for body in below(root, "t"):
                    if local(body.getparent()) == "pt":
                        yield from drawing_paragraphs(body)


def _related(package: Package, part: str, relation_id: str) -> Element | None:
    relation = relations(package, part).get(relation_id)
    if relation is None or not package.find(relation.target):
        return None
    return package.xml(relation.target)


def _chart(root: Element) -> Iterator[list[str]]:
    """Titles, then a line for each series: its name, and each category with its value."""
    for title in below(root, "rich"):
        yield from drawing_paragraphs(title)
    for series in below(root, "ser"):
        name = " ".join(_points(child(series, "tx")))
        categories, values = _points(child(series, "cat")), _points(child(series, "val"))
        labels = [f"{category} " for category in categories[: len(values)]]
        labels += [""] * (len(values) - len(labels))
        points = ", ".join(label + value for label, value in zip(labels, values, strict=True))
        yield [f"{name}: {points}" if name and points else name or points]


def _points(holder: Element | None) -> list[str]:
    if holder is None:
        return []
    return [value.text or "" for value in below(holder, "v")][:_MOST_POINTS]
