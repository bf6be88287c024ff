"""A page as tests look at it: elements in a tree, read by the standard library's parser, which must find it well formed."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "col", "link", "img", "input"}


@dataclass
class Node:
    name: str
    attributes: dict
    children: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def walk(self):
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, name):
        return [node for node in self.walk() if node.name == name]


class _Tree(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = Node("#", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


def tree(page):
    parser = _Tree()
    parser.feed(page)
    parser.close()
    assert parser.open == [parser.root], f"<{parser.open[-1].name}> is not closed"
    return parser.root


def tables(page):
    """Every table by its caption: a list of rows, each a dict by column."""
    found = {}
    for table in tree(page).all("table"):
        (caption,) = table.all("caption")
        head, *rows = [[_plain(cell.text) for cell in row.all("th") + row.all("td")] for row in table.all("tr")]
        assert caption.text not in found, f"two tables are called {caption.text!r}"
        found[caption.text] = [dict(zip(head, row, strict=True)) for row in rows]
    return found


def by_first(rows):
    """Rows by their first cell."""
    return {next(iter(row.values())): row for row in rows}


def _plain(words):
    return words.replace("\N{NO-BREAK SPACE}", " ")
