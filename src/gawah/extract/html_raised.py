"""Which elements of a page are superscripts and fractions: the marks at their edges (see `raised`)."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from gawah.extract.raised import BAR, FRACTION, FRACTION_END, LOWERED, RAISED


def marks_before(node: LexborNode, tag: str) -> str:
    if tag == "sup":
        return RAISED
    if tag[:1] != "m":  # every element of MathML begins so
        return ""
    return _of_child(node, BAR, RAISED) + (FRACTION if tag == "mfrac" else "")


def marks_after(node: LexborNode, tag: str) -> str:
    if tag == "sup":
        return LOWERED
    if tag[:1] != "m":
        return ""
    return (FRACTION_END if tag == "mfrac" else "") + _of_child(node, "", LOWERED)


def _of_child(node: LexborNode, of_denominator: str, of_exponent: str) -> str:
    """The last child of a fraction is its denominator, that of <msup> and <msubsup> its exponent."""
    parent = node.parent.tag if node.parent is not None else ""
    if parent not in ("mfrac", "msup", "msubsup"):
        return ""
    n_before = 0
    before = node.prev
    while before is not None and n_before <= 1:
        n_before += bool(before.is_element_node)
        before = before.prev
    if parent == "mfrac":
        return of_denominator if n_before == 1 else ""
    return of_exponent if n_before == (1 if parent == "msup" else 2) else ""
