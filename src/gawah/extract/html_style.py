"""What the styles of a page do to words: hide them, or strike them out. Attributes and plain rules for classes are read.

No style sheet is applied: where it takes a browser to know whether a rule holds, words are kept.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from selectolax.lexbor import LexborNode

_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STRIKING = re.compile(r"text-decoration(?:-line)?\s*:[^;{}]*\bline-through\b", re.IGNORECASE)
_NOTE = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]{1,2000})\{([^{}]{0,4000})\}")
_CLASS = re.compile(r"\s*[a-zA-Z]*\.([\w-]+)\s*")


def is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    style = attributes.get("style")
    return bool(style and _HIDING.search(style))


def striking_classes(root: LexborNode) -> frozenset[str]:
    """Classes whose words are struck out, as word processors write them: `.c3{text-decoration:line-through}`."""
    found: set[str] = set()
    for sheet in root.css("style"):
        rules = sheet.text()
        if "line-through" not in rules.lower():
            continue
        for selectors, declarations in _RULE.findall(_NOTE.sub("", rules)):
            if _STRIKING.search(declarations):
                found.update(match.group(1) for one in selectors.split(",") if (match := _CLASS.fullmatch(one)))
    return frozenset(found)


def is_struck(node: LexborNode, striking: AbstractSet[str]) -> bool:
    """Whether a line goes through an element's words by its own style or class."""
    attributes = node.attributes
    if not attributes:
        return False
    style = attributes.get("style")
    if style and _STRIKING.search(style):
        return True
    return bool(striking) and not striking.isdisjoint((attributes.get("class") or "").split())
