"""Which elements of a page are superscripts, subscripts and fractions: the marks at their edges (see `raised`)."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from gawah.extract.raised import BAR, EDGES, FRACTION, FRACTION_END, Height

_HEIGHTS: dict[str, Height] = {"sup": "raised", "sub": "sunk"}
# Which child of an element of MathML, from 0, stands where.
_CHILDREN: dict[str, dict[int, Height]] = {
    "msup": {1: "raised"},
    "msub": {1: "sunk"},
    "msubsup": {1: "sunk", 2: "raised"},
}
_MOST_CHILDREN = 3


def marks_before(node: LexborNode, tag: str) -> str:
    if tag in _HEIGHTS:
        return EDGES[_HEIGHTS[tag]][0]
    if tag[:1] != "m":  # every element of MathML begins so
        return ""
    return _of_child(node, BAR, 0) + (FRACTION if tag == "mfrac" else "")


def marks_after(node: LexborNode, tag: str) -> str:
    if tag in _HEIGHTS:
        return EDGES[_HEIGHTS[tag]][1]
    if tag[:1] != "m":
        return ""
    return (FRACTION_END if tag == "mfrac" else "") + _of_child(node, "", 1)


def _of_child(node: LexborNode, of_denominator: str, edge: int) -> str:
    """The last child of a fraction is its denominator; of a base with marks the others are these. `edge`: 0 before, 1 after."""
    parent = (node.parent.tag if node.parent is not None else "") or ""
    if parent != "mfrac" and parent not in _CHILDREN:
        return ""
    n_before = 0
    before = node.prev
    while before is not None and n_before <= _MOST_CHILDREN:
        n_before += bool(before.is_element_node)
        before = before.prev
    if parent == "mfrac":
        return of_denominator if n_before == 1 else ""
    return EDGES[_CHILDREN[parent].get(n_before, "")][edge]
