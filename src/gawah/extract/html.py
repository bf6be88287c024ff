"""HTML to a document: what a reader sees of the page, with its headings, paragraphs, items, tables and code.

The canonical text is not the file's: entities are decoded, white space is collapsed, scripts and navigation are left
out and written down. Each place carries the words a reader sees, so that a browser can find them. The walk over the
tree does not recurse; nesting that would take the parser quadratic time is refused before parsing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gawah.errors import ExtractionError
from gawah.extract.canonical import canonicalise, language_of, read_text, require_visible, stem
from gawah.extract.decode import declared_encoding
from gawah.extract.html_raised import marks_after, marks_before
from gawah.extract.html_style import is_hidden, is_struck, striking_classes
from gawah.extract.html_units import BREAK, Runs, Unit, Unseen, books, render
from gawah.fingerprint import document_id
from gawah.types import BlockKind, Document, Removal, SourceFile

# Parsing time grows with the square of the depth (26 s at 100,000 levels); browsers stop at 512.
_DEEPEST = 3000
_LONGEST_TAG_CHARS = 4000
_LONGEST_REMOVAL_CHARS = 2000  # enough to see what it was; all of it is in the books
NO_WORDS = frozenset({"head", "script", "style", "template", "iframe", "noembed", "noframes", "object", "datalist"})
DELETED = frozenset({"del", "s", "strike"})
FURNITURE = frozenset({"nav", "footer", "aside", "noscript"})
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_ITEMS = frozenset({"li", "dt", "dd"})
_BLOCKS = _ITEMS | {
    "address", "article", "blockquote", "body", "caption", "center", "details", "dialog", "dir", "div", "dl",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "main", "menu",
    "nav", "aside", "ol", "optgroup", "option", "p", "search", "section", "select", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul", "noscript", "textarea", "pre",
}  # fmt: skip
_MAKES_LAYOUT = frozenset({"table", "pre", "article", "section", *_HEADINGS})
_TAG = re.compile(r"<(?:(/?)([a-zA-Z][^\s/>]*)|(!--))")
_RAW_TEXT = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"})
_NEVER_NESTS = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "rb", "rt", "rp",
    "colgroup", "caption", "html", "head", "body",
})  # fmt: skip


class HtmlExtractor:
    """text/html and XHTML."""

    name = "html"
    version = 3

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the page's <title>, else its first <h1>, else the file's name.

        Raises ExtractionError `undecodable`, `too_deep` or `empty`.
        """
        own = read_text(data, declared_encoding(data))
        refuse_depth(own.text)
        root = LexborHTMLParser(own.text).root
        if root is None:
            raise ExtractionError("empty", "there is no element in it")
        striking = striking_classes(root)
        walk = _Walk(NO_WORDS | FURNITURE, striking)
        page = render(walk.units(root))
        warnings = own.warnings
        if not page.text.strip():
            walk = _Walk(NO_WORDS, striking)
            page = render(walk.units(root))
            warnings = (*warnings, "all its text is in navigation, asides or footers, so these were kept")
        text = page.text
        require_visible(text)
        n_dropped_before = sum(own.conservation.dropped.values())
        dropped = walk.dropped + Counter(own.conservation.dropped)
        return Document(
            id=document_id(source.collection, source.name),
            source=source,
            title=_title(root) or next((b.title for b in page.blocks if b.level == 1), "") or stem(source.name),
            language=language_of(text, root.attributes.get("lang") or ""),
            text=text,
            blocks=tuple(page.blocks),
            places=tuple(page.places),
            extractor=f"{self.name}/{self.version}",
            conservation=books(page, walk.n_read + n_dropped_before, dropped),
            warnings=warnings,
            removed=tuple(walk.removed),
        )


class _Walk:
    """One pass over the tree. `leave_out` are the elements whose text stays out, `striking` the classes whose words are struck."""

    def __init__(self, leave_out: frozenset[str], striking: frozenset[str]) -> None:
        self.leave_out = leave_out
        self._striking = striking
        self.n_read = 0
        self.dropped: Counter[str] = Counter()
        self.removed: list[Removal] = []
        self._units: list[Unit] = [Unit(BlockKind.PARAGRAPH)]
        self._kinds: list[BlockKind] = [BlockKind.PARAGRAPH]
        self._holder = ""  # the heading, preformatted text or data table that takes all text up to its end
        self._holder_id = 0
        self._left_out_id = 0
        self._table: Unit | None = None

    def units(self, root: LexborNode) -> list[Unit]:
        node: LexborNode | None = root
        while node is not None:
            child = node.child if self._enter(node) else None
            if child is not None:
                node = child
                continue
            while node is not None:
                if node.is_element_node:
                    self._leave(node)
                if node.mem_id == root.mem_id:
                    return self._units
                following = node.next
                if following is not None:
                    node = following
                    break
                node = node.parent
        return self._units

    def _enter(self, node: LexborNode) -> bool:
        """Takes a node; whether its children are to be walked."""
        if node.is_text_node:
            self._take(node.text_content or "")
            return False
        tag = node.tag or ""
        if not node.is_element_node:
            return False
        if reason := self._reason_to_leave_out(node, tag):
            self._left_out_id = node.mem_id
            self._remove(node, reason)
            return False
        if marks := marks_before(node, tag):
            self._runs().append(Unseen(marks))
        if tag == "br":
            self._runs().append(BREAK)
        elif tag == "img":
            self._take_alternative(node.attributes.get("alt") or "")
        elif self._holder:
            self._enter_held(tag)
        elif tag in _HEADINGS:
            self._hold(node, tag, Unit(BlockKind.HEADING, _HEADINGS[tag]))
        elif tag == "pre":
            self._hold(node, tag, Unit(BlockKind.CODE))
        elif tag == "table" and not _is_layout(node):
            self._table = Unit(BlockKind.TABLE)
            self._hold(node, tag, self._table)
        elif tag in _BLOCKS:
            if tag in _ITEMS:
                self._kinds.append(BlockKind.ITEM)
            self._begin(Unit(self._kinds[-1]))
        return True

    def _reason_to_leave_out(self, node: LexborNode, tag: str) -> str:
        if tag in self.leave_out:
            return tag
        if tag in DELETED or is_struck(node, self._striking):
            return "deleted"
        return "hidden" if is_hidden(node) else ""

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if node.mem_id == self._left_out_id:
            return
        if marks := marks_after(node, tag):
            self._runs().append(Unseen(marks))
        if self._holder:
            if node.mem_id == self._holder_id:
                self._release()
            elif tag == "caption":
                self._set_apart()
            elif tag in _BLOCKS:
                self._runs().append(BREAK)
        elif tag in _BLOCKS:
            if tag in _ITEMS and len(self._kinds) > 1:
                self._kinds.pop()
            self._begin(Unit(self._kinds[-1]))

    def _release(self) -> None:
        """The end of a heading, preformatted text or table."""
        if self._table is not None and self._table.rows:
            self._set_apart()
        self._holder, self._table = "", None
        self._begin(Unit(self._kinds[-1]))

    def _set_apart(self) -> None:
        """What stands in a table but in no cell, a caption above all, becomes a paragraph before it."""
        self._units.insert(-1, Unit(BlockKind.PARAGRAPH, runs=self._units[-1].runs))
        self._units[-1].runs = []

    def _begin(self, unit: Unit) -> None:
        """A new unit; one that nothing was put into makes way for it."""
        if self._units[-1].is_bare:
            self._units.pop()
        self._units.append(unit)

    def _hold(self, node: LexborNode, tag: str, unit: Unit) -> None:
        self._begin(unit)
        self._holder, self._holder_id = tag, node.mem_id

    def _enter_held(self, tag: str) -> None:
        """Inside a heading, preformatted text or table there are no blocks: only rows, cells and breaks."""
        if self._table is not None and tag == "tr":
            self._table.rows.append([])
        elif self._table is not None and tag in ("td", "th"):
            if not self._table.rows:
                self._table.rows.append([])
            self._table.rows[-1].append([])
        elif tag in _BLOCKS and self._holder != "pre":
            self._runs().append(BREAK)

    def _runs(self) -> Runs:
        """Where text goes now: the open cell, or the open unit."""
        if self._table is not None and self._table.rows and self._table.rows[-1]:
            return self._table.rows[-1][-1]
        return self._units[-1].runs

    def _take(self, raw: str) -> None:
        self.n_read += len(raw)
        text, dropped = canonicalise(raw)
        self.dropped.update(dropped)
        if not self._holder and text.isspace() and not self._units[-1].runs:
            self.dropped["white space"] += len(text)  # between two blocks; most of a page's text nodes are such
            return
        self._runs().append(text)

    def _take_alternative(self, raw: str) -> None:
        self.n_read += len(raw)
        text, dropped = canonicalise(raw)
        self.dropped.update(dropped)
        self._runs().append(Unseen(text))

    def _remove(self, node: LexborNode, reason: str) -> None:
        texts = [inner.text_content or "" for inner in node.traverse(include_text=True) if inner.is_text_node]
        n_chars = sum(map(len, texts))
        self.n_read += n_chars
        self.dropped[reason] += n_chars
        words = " ".join(canonicalise(" ".join(texts))[0].split())
        removal = Removal(reason, "" if reason in NO_WORDS else words[:_LONGEST_REMOVAL_CHARS])
        if (words and removal.text) or (words and reason != "head" and removal not in self.removed):
            self.removed.append(removal)


def _is_layout(table: LexborNode) -> bool:
    """Whether a table only arranges a page: it holds other tables, headings or code."""
    if table.attributes.get("role") in ("presentation", "none"):
        return True
    return any(inner.tag in _MAKES_LAYOUT for inner in table.traverse() if inner.mem_id != table.mem_id)


def _title(root: LexborNode) -> str:
    node = root.css_first("head > title")
    return " ".join(canonicalise(node.text())[0].split()) if node is not None else ""


def refuse_depth(text: str) -> None:
    if any(depth > _DEEPEST for depth in _depths(text)):
        reason = f"its elements are nested more than {_DEEPEST:,} deep; no browser shows such a page"
        raise ExtractionError("too_deep", reason)


def _depths(text: str) -> Iterator[int]:
    """The depth after each tag, as if every element that must be closed were closed where it says."""
    depth, position, is_drawing = 0, 0, False
    while (tag := _TAG.search(text, position)) is not None:
        position = tag.end()
        if tag.group(3):
            end = text.find("-->", position)
            position = end if end >= 0 else len(text)
            continue
        name = tag.group(2).lower()
        if name in ("svg", "math"):
            is_drawing = not tag.group(1)
        if tag.group(1):
            depth = max(0, depth - (name not in _NEVER_NESTS))
        elif name in _RAW_TEXT:
            closing = re.compile(f"</{re.escape(name)}", re.IGNORECASE).search(text, position)
            position = closing.end() if closing else len(text)
        elif name not in _NEVER_NESTS and not (is_drawing and _closes_itself(text, position)):
            depth += 1
        yield depth


def _closes_itself(text: str, position: int) -> bool:
    """Whether a tag ends in "/>", which means something in drawings and formulas only."""
    end = text.find(">", position, position + _LONGEST_TAG_CHARS)
    return end > 0 and text[end - 1] == "/"
