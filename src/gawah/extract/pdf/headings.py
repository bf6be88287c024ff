"""Which paragraphs are headings, and of which level: by size and weight against the body's, and by the outline.

Levels are the distinct sizes (and weights) of headings in a document, largest first; level 1 is the title's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gawah.extract.pdf.paragraphs import Paragraph
from gawah.extract.pdf.pdfium import Bookmark
from gawah.types import BlockKind

_LARGER = 1.12  # times the body's size
_LONGEST_CHARS = 200
_MOST_LINES = 4
_DEEPEST = 6
_LONGEST_BOLD_CHARS = 120
_SENTENCE_END = re.compile(r"[.!?;,।۔؟。！？]$")
_LETTER = re.compile(r"[^\W\d_]")
_NUMBERED = re.compile(r"(?:\d{1,2}|[A-Z])((?:\.\d{1,2})*)\.?\s+[^\W\d_]")


def body_size(paragraphs: Sequence[Paragraph]) -> float:
    """The size of most letters, to half a point."""
    sizes = Counter[float]()
    for paragraph in paragraphs:
        for line in paragraph.lines:
            for run in line.runs:
                sizes[round(run.size * 2) / 2] += len(run.text)
    return max(sizes, key=lambda size: (sizes[size], -size)) if sizes else 10.0


def mark_headings(paragraphs: Sequence[Paragraph], bookmarks: Sequence[Bookmark]) -> None:
    """Sets kind and level of those that are headings."""
    body = body_size(paragraphs)
    bold_share = _bold_share(paragraphs)
    outline = {(_bare(mark.title), mark.page): mark.level for mark in bookmarks}
    ranks: dict[int, tuple[float, bool]] = {}
    listed: dict[int, int] = {}
    for paragraph in paragraphs:
        if not _may_be_heading(paragraph):
            continue
        page = paragraph.lines[0].runs[0].page
        level = outline.get((_bare(paragraph.text), page))
        size = round(paragraph.size * 2) / 2
        if level is not None:
            listed[id(paragraph)] = level
        if size > _LARGER * body or (
            paragraph.is_bold and bold_share < 0.4 and _is_bold_heading(paragraph, size, body)
        ):
            ranks[id(paragraph)] = (size, paragraph.is_bold)
        elif level is not None:
            ranks[id(paragraph)] = (body, True)
    order = sorted(set(ranks.values()), reverse=True)
    offset = _outline_offset(ranks, listed, order)
    for paragraph in paragraphs:
        if id(paragraph) in ranks:
            paragraph.kind = BlockKind.HEADING
            level = listed.get(id(paragraph), -offset) + offset or order.index(ranks[id(paragraph)]) + 1
            paragraph.level = max(1, min(_DEEPEST, level))


def _outline_offset(
    ranks: dict[int, tuple[float, bool]], listed: dict[int, int], order: list[tuple[float, bool]]
) -> int:
    """How much deeper the outline's first level stands than level 1: one, when something larger stands above it all."""
    if not listed:
        return 0
    top = min(order.index(ranks[key]) for key, level in listed.items() if level == min(listed.values()))
    return 1 if top > 0 else 0


def _bold_share(paragraphs: Sequence[Paragraph]) -> float:
    n_bold = sum(len(paragraph.text) for paragraph in paragraphs if paragraph.is_bold)
    return n_bold / max(1, sum(len(paragraph.text) for paragraph in paragraphs))


def _may_be_heading(paragraph: Paragraph) -> bool:
    text = paragraph.text.strip()
    if paragraph.kind is BlockKind.ITEM and _NUMBERED.match(text) is None:
        return False
    return len(text) <= _LONGEST_CHARS and len(paragraph.lines) <= _MOST_LINES and _LETTER.search(text) is not None


def _is_bold_heading(paragraph: Paragraph, size: float, body: float) -> bool:
    text = paragraph.text.strip()
    return size >= 0.95 * body and len(text) <= _LONGEST_BOLD_CHARS and _SENTENCE_END.search(text) is None


def _bare(title: str) -> str:
    """A title without numbering, case and blanks, to be compared."""
    return re.sub(r"[\W_]+", "", re.sub(r"^\s*(?:chapter|section)?\s*[\dA-Z]?[\d.]*\s+", "", title).casefold())
