"""Where the shapes of a slide are, and the order in which a person reads them: rows from the top, each from the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gawah.extract.ooxml import parts_of_kind
from gawah.extract.package import Element, Package, attribute, child, local

_SAME_ROW = 0.5  # of the lower shape's height that must lie beside the first shape of a row
_LIKE_A_BODY = frozenset({"", "obj", "subTitle", "tbl", "chart", "dgm", "media", "clipArt", "pic"})
_PROPERTIES = ("nvSpPr", "nvPicPr", "nvGraphicFramePr", "nvGrpSpPr", "nvCxnSpPr")

Frame = tuple[int, int, int, int]
"""Left, top, width, height in EMU, in the coordinates of the group or slide that the shape stands in."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape and its frame; None when the file gives it none."""

    element: Element
    frame: Frame | None


class Layouts:
    """The frames of placeholders in layouts and masters, read once each."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._known: dict[str, list[tuple[str, str, Frame | None]]] = {}

    def frame(self, slide: str, kind: str, index: str) -> Frame | None:
        """The frame that a placeholder of a slide inherits: the layout's with its index or type, else the master's."""
        for layout in parts_of_kind(self._package, slide, "slideLayout"):
            own = self._placeholders(layout)
            found = next((f for _, i, f in own if index and i == index), None)
            found = found or next((f for k, _, f in own if k == kind and f), None)
            if found:
                return found
            for master in parts_of_kind(self._package, layout, "slideMaster"):
                wanted = "title" if kind == "ctrTitle" else "body" if kind in _LIKE_A_BODY else kind
                found = next((f for k, _, f in self._placeholders(master) if k == wanted and f), None)
                if found:
                    return found
        return None

    def _placeholders(self, part: str) -> list[tuple[str, str, Frame | None]]:
        if part not in self._known:
            tree = child(self._package.xml(part), "cSld", "spTree")
            shapes = [element for element in tree if _placeholder(element) is not None] if tree is not None else []
            self._known[part] = [(*_kind_and_index(shape), _own_frame(shape)) for shape in shapes]
        return self._known[part]


def shape_of(element: Element, layouts: Layouts, slide: str) -> Shape:
    frame = _own_frame(element)
    if local(element) == "grpSp" and (frame is None or not frame[2] or not frame[3]):
        frame = _around(element)
    if frame is None and _placeholder(element) is not None:
        frame = layouts.frame(slide, *_kind_and_index(element))
    return Shape(element, frame)


def _around(group: Element) -> Frame | None:
    """The frame around the shapes of a group that states none: then its coordinates are those outside of it."""
    frames = [frame for inner in group if (frame := _own_frame(inner)) is not None]
    if not frames:
        return None
    left, top = min(frame[0] for frame in frames), min(frame[1] for frame in frames)
    right, bottom = max(frame[0] + frame[2] for frame in frames), max(frame[1] + frame[3] for frame in frames)
    return left, top, right - left, bottom - top


def placeholder_type(element: Element) -> str | None:
    """The type of a placeholder ("" for one without a type), None for any other shape."""
    placeholder = _placeholder(element)
    return None if placeholder is None else attribute(placeholder, "type")


def reading_order(shapes: Sequence[Shape], *, runs_left: bool = False) -> list[Shape]:
    """Rows from top to bottom, each from left to right (or right to left); shapes without a frame last, as they come.

    A shape belongs to a row when half of the lower one's height lies beside the row's first shape.
    """
    framed = sorted(((shape.frame, number) for number, shape in enumerate(shapes) if shape.frame), key=_top_first)
    rows: list[list[tuple[Frame, int]]] = []
    for frame, number in framed:
        if rows and _beside(rows[-1][0][0], frame):
            rows[-1].append((frame, number))
        else:
            rows.append([(frame, number)])
    ordered: list[int] = []
    for row in rows:
        row.sort(key=lambda item: (-item[0][0] - item[0][2] if runs_left else item[0][0], item[0][1], item[1]))
        ordered.extend(number for _, number in row)
    return [shapes[number] for number in ordered] + [shape for shape in shapes if shape.frame is None]


def _top_first(item: tuple[Frame, int]) -> tuple[int, int, int]:
    (left, top, _, _), number = item
    return top, left, number


def _beside(first: Frame, other: Frame) -> bool:
    overlap = min(first[1] + first[3], other[1] + other[3]) - max(first[1], other[1])
    return overlap >= _SAME_ROW * max(1, min(first[3], other[3]))


def _placeholder(element: Element) -> Element | None:
    for name in _PROPERTIES:
        found = child(element, name, "nvPr", "ph")
        if found is not None:
            return found
    return None


def _kind_and_index(element: Element) -> tuple[str, str]:
    placeholder = _placeholder(element)
    return (attribute(placeholder, "type"), attribute(placeholder, "idx")) if placeholder is not None else ("", "")


def _own_frame(element: Element) -> Frame | None:
    holder = {"graphicFrame": element, "grpSp": child(element, "grpSpPr")}.get(local(element), child(element, "spPr"))
    position, size = child(holder, "xfrm", "off"), child(holder, "xfrm", "ext")
    if position is None or size is None:
        return None
    numbers = [attribute(position, "x"), attribute(position, "y"), attribute(size, "cx"), attribute(size, "cy")]
    try:
        left, top, width, height = (int(number) for number in numbers)
    except ValueError:
        return None
    return left, top, width, height
