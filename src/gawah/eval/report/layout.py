"""Parts of a page: sections, figures with their caption and table, notes."""

from __future__ import annotations

from collections.abc import Sequence

from gawah.eval.report.markup import Markup, element, joined


def section(key: str, title: str, *parts: str) -> Markup:
    return element("section", element("h2", title, id=key), *parts, aria_labelledby=key)


def figure(drawings: Sequence[Markup], caption: str, *tables: Markup) -> Markup:
    """Drawings side by side where there is room, what they show, and the numbers that they were drawn from."""
    return joined([
        element("figure", element("div", *drawings, class_="panels"), element("figcaption", caption)),
        *tables,
    ])  # fmt: skip


def note(words: str) -> Markup:
    return element("p", words, class_="note")


def folded(summary: str, *parts: str) -> Markup:
    """What is long and seldom read: closed until it is opened."""
    return element("details", element("summary", summary), *parts)


def tiles(rows: Sequence[tuple[str, str, str]]) -> Markup:
    """(what, how many, what else) each in a tile."""
    return element(
        "dl",
        *(
            element(
                "div", element("dt", what), element("dd", many, class_="many"), element("dd", beside, class_="beside")
            )
            for what, many, beside in rows
        ),
        class_="tiles",
    )
