"""What the styles of a DOCX say about structure: heading levels, lists, hidden text, tables of contents."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gawah.extract.ooxml import is_on
from gawah.extract.package import Element, attribute, child, local, whole
from gawah.extract.raised import Height, height_of

_LONGEST_CHAIN = 20  # styles that one style is based on; a ring of them would never end
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_CONTENTS = re.compile(r"toc [1-9]|table of figures", re.IGNORECASE)
_HIDING = ("vanish",)
_STRIKING = ("strike", "dstrike")
_TITLE_LEVEL = 1
_HEIGHTS: dict[str, Height] = {"superscript": "raised", "subscript": "sunk"}
_BODY_LEVEL = 9  # the outline level of body text (ECMA-376 part 1, 17.3.1.20)


@dataclass(frozen=True, slots=True)
class Style:
    """`level` is 0 for what is no heading; `is_hidden`, `is_struck` are None when the style says nothing about it."""

    level: int = 0
    is_title: bool = False
    is_item: bool = False
    is_contents: bool = False
    is_hidden: bool | None = None
    is_struck: bool | None = None


class Styles:
    """Styles by their ids, each with what it inherits."""

    def __init__(self, root: Element | None) -> None:
        items = [item for item in root if local(item) == "style"] if root is not None else []
        self._items = {attribute(item, "styleId"): item for item in items}
        self._known: dict[str, Style] = {"": Style()}

    def of(self, style_id: str) -> Style:
        if style_id not in self._known:
            self._known[style_id] = self._resolve(style_id)
        return self._known[style_id]

    def of_paragraph(self, properties: Element | None) -> Style:
        """The paragraph's style, overridden by its own outline level and list."""
        style = self.of(_value(properties, "pStyle"))
        own_level, own_list = _level(properties), _is_item(properties)
        if own_level is None and own_list is None:
            return style
        level = style.level if own_level is None else own_level
        is_item = style.is_item if own_list is None else own_list
        return replace(style, level=level, is_item=is_item)

    def reason_to_leave_out(self, run_properties: Element | None, paragraph: Style) -> str:
        """Why a run is not read: struck out or hidden, by itself, its character style or its paragraph's; else empty."""
        by_run = self.of(_value(run_properties, "rStyle"))
        for reason, names, styles in (
            ("deleted", _STRIKING, (by_run.is_struck, paragraph.is_struck)),
            ("hidden", _HIDING, (by_run.is_hidden, paragraph.is_hidden)),
        ):
            if next((said for said in (_switch(run_properties, names), *styles) if said is not None), False):
                return reason
        return ""

    def height(self, run_properties: Element | None) -> Height:
        """Whether a run is a superscript or a subscript, by itself or its character style, or moved up or down."""
        if run_properties is None:
            return ""
        own = _value(run_properties, "vertAlign")
        style = self._items.get(_value(run_properties, "rStyle")) if not own else None
        named = _HEIGHTS.get(own or _value(child(style, "rPr"), "vertAlign"), "")
        return named or height_of(_value(run_properties, "position"))

    def _resolve(self, style_id: str) -> Style:
        level: int | None = None
        is_item: bool | None = None
        is_hidden: bool | None = None
        is_struck: bool | None = None
        is_title = is_contents = False
        for _ in range(_LONGEST_CHAIN):
            item = self._items.get(style_id)
            if item is None:
                break
            name = _value(item, "name")
            heading = _HEADING.fullmatch(name)
            is_title = is_title or name.casefold() == "title"
            is_contents = is_contents or bool(_CONTENTS.fullmatch(name))
            if level is None:
                own = _level(child(item, "pPr"))
                level = own if own is not None else int(heading.group(1)) if heading else None
            is_item = _is_item(child(item, "pPr")) if is_item is None else is_item
            is_hidden = _switch(child(item, "rPr"), _HIDING) if is_hidden is None else is_hidden
            is_struck = _switch(child(item, "rPr"), _STRIKING) if is_struck is None else is_struck
            style_id = _value(item, "basedOn")
        if is_title and not level:
            level = _TITLE_LEVEL
        return Style(level or 0, is_title, bool(is_item), is_contents, is_hidden, is_struck)


def _switch(properties: Element | None, names: tuple[str, ...]) -> bool | None:
    """Whether one of the switches is on; None where none is there."""
    there = [name for name in names if child(properties, name) is not None]
    return any(is_on(properties, name) for name in there) if there else None


def _value(element: Element | None, name: str) -> str:
    found = child(element, name)
    return attribute(found, "val") if found is not None else ""


def _level(properties: Element | None) -> int | None:
    """The level that an outline level makes: 0 for body text, None when nothing is said."""
    outline = whole(_value(properties, "outlineLvl"), -1)
    if outline < 0:
        return None
    return outline + 1 if outline < _BODY_LEVEL else 0


def _is_item(properties: Element | None) -> bool | None:
    """Whether a list is set; number 0 takes a paragraph out of its style's list."""
    numbering = child(properties, "numPr")
    if numbering is None:
        return None
    number = child(numbering, "numId")
    return number is not None and attribute(number, "val") != "0"
