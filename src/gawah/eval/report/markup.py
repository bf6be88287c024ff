"""Words to HTML. Whatever is not `Markup` is escaped here, and nowhere else: a question can bring no tag and no attribute."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

# What HTML text cannot hold (C0 but tab and line ends, C1, lone surrogates, noncharacters of the BMP).
_NOT_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_REPLACEMENT = "\ufffd"
# Bidi embeddings, overrides and isolates (Unicode UAX #9), which turn what stands beside them round; the marks U+200E, U+200F
# and U+061C stay, Urdu and Persian are written with them.
_STEERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_VOID = frozenset({"meta", "br", "col"})


class Markup(str):
    """HTML that was made here, to be left as it is."""

    __slots__ = ()


def escaped(words: str) -> Markup:
    r"""Words as HTML text or attribute value, with bidi controls shown as \u202e; Markup passes unchanged."""
    if isinstance(words, Markup):
        return words
    shown = _STEERING.sub(lambda match: f"\\u{ord(match.group()):04x}", _NOT_HTML.sub(_REPLACEMENT, words))
    return Markup(html.escape(shown, quote=True))


def element(name: str, /, *children: str, **attributes: str) -> Markup:
    """An element with its children; attribute names are written as Python has them (`class_`, `aria_label`)."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{''.join(map(escaped, children))}</{name}>")


def joined(parts: Iterable[str], separator: str = "") -> Markup:
    return Markup(escaped(separator).join(map(escaped, parts)))


def told(words: str, name: str = "p", **attributes: str) -> Markup:
    """Words of a question, a needle or a document, in any script: their own direction, apart from what is around them."""
    return element(name, words, dir="auto", **attributes)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str,
    marked: Iterable[int] = (),
    class_: str = "counted",
) -> Markup:
    """A table that scrolls by itself where the page is narrow. The first cell of a row is its heading; rows whose number
    is in `marked` are set off; `class_` is "worded" where cells are words. Raises ValueError for a row of another length.
    """
    set_off = frozenset(marked)
    body: list[Markup] = []
    for number, row in enumerate(rows):
        if len(row) != len(head):
            raise ValueError(f"every row must have {len(head)} cells")
        first, *others = row
        cells = [element("th", first, scope="row"), *(element("td", cell) for cell in others)]
        body.append(element("tr", *cells, **({"class_": "marked"} if number in set_off else {})))
    columns = element("tr", *(element("th", name, scope="col") for name in head))
    whole = element(
        "table", element("caption", caption), element("thead", columns), element("tbody", *body), class_=class_
    )
    return element("div", whole, class_="scroll", role="region", tabindex="0", aria_label=caption)
