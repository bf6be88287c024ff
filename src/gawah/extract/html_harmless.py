"""HTML to HTML with nothing in it that acts, loads or hides: the elements of a text, its words, and a range of them marked.

What is not named here is left out: every script, style, form, frame, picture, address and attribute. A picture stands as
the words that describe it. The walk does not recurse.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gawah.extract.canonical import canonicalise, read_text
from gawah.extract.decode import declared_encoding
from gawah.extract.html import DELETED, FURNITURE, NO_WORDS, refuse_depth
from gawah.extract.html_style import is_hidden

_AS_THEY_ARE = frozenset({
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "thead", "tbody",
    "tfoot", "tr", "td", "th", "pre", "code", "blockquote", "em", "strong", "b", "i", "u", "s", "del", "ins", "sub", "sup",
    "small", "br", "hr", "div", "span", "figure", "figcaption", "q", "cite", "kbd", "samp", "var", "bdi", "bdo",
    "ruby", "rt", "rp", "abbr", "dfn",
})  # fmt: skip
# Landmarks would be landmarks of the page around it; a fold or a label is its text.
_AS_DIV = frozenset({
    "html", "body", "main", "article", "section", "header", "footer", "nav", "aside", "address", "details", "summary",
    "fieldset", "legend", "form", "center", "hgroup", "search", "dialog", "option", "textarea",
})  # fmt: skip
_VOID = frozenset({"br", "hr"})
_NUMBERS = frozenset({"colspan", "rowspan", "start", "value"})
_DIRECTIONS = frozenset({"ltr", "rtl", "auto"})
_CITED = ' id="cited"'  # of the first mark: where a frame begins to show the page


@dataclass(slots=True)
class _Words:
    """Words in the page: their place among the pieces, and whether they are part of the page's own text."""

    at: int
    text: str
    is_own: bool


def harmless_html(data: bytes, ranges: Sequence[tuple[str, int, str]]) -> tuple[str, bool]:
    """A piece of HTML, and whether anything is marked in it. Each range is (words, rank, class of the mark).

    The words are marked at their occurrence number `rank`, from 0, or the last; white space does not count. Where ranges
    lie upon each other the later one is marked. Raises ExtractionError as the extractor of HTML does.
    """
    own = read_text(data, declared_encoding(data))
    refuse_depth(own.text)
    root = LexborHTMLParser(own.text).root
    pieces: list[str] = []
    found: list[_Words] = []
    if root is not None:
        for piece, is_own in _pieces(root):
            if is_own is None:
                pieces.append(piece)
            else:
                found.append(_Words(len(pieces), piece, is_own))
                pieces.append(html.escape(piece))
    is_marked = _mark(pieces, [one for one in found if one.is_own] or found, ranges)
    return "".join(pieces), is_marked


def _pieces(root: LexborNode) -> Iterator[tuple[str, bool | None]]:
    """(tag, None) and (words, whether they are the page's own), in order."""
    node: LexborNode | None = root
    closing: list[tuple[int, str]] = []
    furniture: list[int] = []
    while node is not None:
        child = None
        if node.is_text_node:
            yield canonicalise(node.text_content or "")[0], not furniture
        elif node.is_element_node and (node.tag or "") not in NO_WORDS and not is_hidden(node):
            tag = node.tag or ""
            opening, end = _tags(node, tag)
            if opening:
                yield opening, None
            if end:
                closing.append((node.mem_id, end))
            if tag in FURNITURE or tag in DELETED:
                furniture.append(node.mem_id)
            child = node.child
        if child is not None:
            node = child
            continue
        while node is not None:
            if closing and closing[-1][0] == node.mem_id:
                yield closing.pop()[1], None
            if furniture and furniture[-1] == node.mem_id:
                furniture.pop()
            if node.mem_id == root.mem_id:
                return
            if node.next is not None:
                node = node.next
                break
            node = node.parent


def _tags(node: LexborNode, tag: str) -> tuple[str, str]:
    """The opening and the closing tag; both empty for what only its children are shown of."""
    if tag == "img":
        alternative = " ".join((node.attributes.get("alt") or "").split())
        return (f'<span class="picture">{html.escape(alternative)}</span>' if alternative else ""), ""
    if tag == "a":
        return '<span class="link">', "</span>"
    if tag in _VOID:
        return f"<{tag}>", ""
    name = tag if tag in _AS_THEY_ARE else "div" if tag in _AS_DIV else ""
    return (f"<{name}{_attributes(node)}>", f"</{name}>") if name else ("", "")


def _attributes(node: LexborNode) -> str:
    """Direction, language and the numbers of tables and lists."""
    kept = []
    for name, given in (node.attributes or {}).items():
        value = (given or "").strip().lower()
        is_number = name in _NUMBERS and value.isascii() and value.isdigit() and len(value) <= 4
        is_language = name == "lang" and value.isascii() and value.replace("-", "").isalnum() and len(value) <= 35
        if is_number or is_language or (name == "dir" and value in _DIRECTIONS):
            kept.append(f' {name}="{value}"')
    return "".join(kept)


def _mark(pieces: list[str], found: list[_Words], ranges: Sequence[tuple[str, int, str]]) -> bool:
    shown = [squeezed(one.text) for one in found]
    whole = "".join(shown)
    names: dict[int, str] = {}  # of the characters that are marked, counted without blanks
    for words, rank, name in ranges:
        wanted = squeezed(words)
        start = nth_place(whole, wanted, rank) if wanted else -1
        names.update(dict.fromkeys(range(start, start + len(wanted)), name) if start >= 0 else {})
    at, is_first = 0, True
    for one, bare in zip(found, shown, strict=True):
        own = [names.get(at + index) for index in range(len(bare))]
        at += len(bare)
        if not any(own):
            continue
        written = []
        for words, mark in _runs(one.text, own):
            if mark is None:
                written.append(html.escape(words))
                continue
            written.append(f'<mark class="{mark}"{_CITED if is_first else ""}>{html.escape(words)}</mark>')
            is_first = False
        pieces[one.at] = "".join(written)
    return bool(names)


def _runs(text: str, names: Sequence[str | None]) -> Iterator[tuple[str, str | None]]:
    """The text in pieces of one mark each; `names` are those of its characters without blanks.

    A blank between two characters of the same mark is in it.
    """
    following = iter(names)
    named = ["" if character.isspace() else next(following) for character in text]
    ahead: list[str | None] = []  # from the end: the mark of the next character that is no blank
    for name in reversed(named):
        ahead.append(name if name != "" else ahead[-1] if ahead else None)
    before: str | None = None
    for index, name in enumerate(named):
        if name == "":
            named[index] = before if before == ahead[-1 - index] else None
        else:
            before = name
    for name, run in groupby(zip(text, named, strict=True), key=lambda pair: pair[1]):
        yield "".join(character for character, _ in run), name


def squeezed(text: str) -> str:
    """The text without its white space."""
    return "".join(text.split())


def occurrences(text: str, wanted: str) -> Iterator[int]:
    """Where the words begin in a text, from the left, also where they lie upon each other; nowhere when there are none.

    It takes time in proportion to the text even where both are one letter over and over: places that are less than half the words'
    length apart are as far apart as the words' period, and only as much is compared again.
    """
    n, period = len(wanted), 0
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at
        if period and text[at + n : at + n + period] == wanted[n - period :]:
            at += period
            continue
        following = text.find(wanted, at + 1)
        if 0 <= 2 * (following - at) <= n:
            period = following - at
        at = following


def nth_place(text: str, wanted: str, rank: int) -> int:
    """Where the words stand for the time number `rank`, from 0, or the last time before that; -1 when they do not."""
    found = -1
    for found in islice(occurrences(text, wanted), rank + 1):  # noqa: B007 — the last one counts
        pass
    return found
