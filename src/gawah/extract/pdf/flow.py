"""Paragraphs of one region after the other put together: those that go on in the next column, on the next page, or behind
the footnotes that stand between the two halves of a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gawah.extract.pdf.paragraphs import ENDS, OTHER_SIZE, Paragraph
from gawah.extract.pdf.runs import PageText
from gawah.extract.pdf.tables import Table
from gawah.types import BlockKind

_SMALLER = 0.93  # times the usual size: of footnotes
_LOWER_PART = 0.5  # of the page's height, where footnotes stand
# A note's number or sign, raised or not, before its first word; a letter only with what tells it from a word.
_NOTE = re.compile(
    r"(?:[(\[]?\d{1,3}[)\].:]?\^?|[*†‡§¶#]{1,3}|[(\[]?(?:[a-z]|[ivx]{1,5})(?:[)\].:]|\^))\s*[\"'“‘«(]?[^\W\d_]"
)
_TEXT_LINES = 4  # of a region: as many are running text
_SHORT = (
    0.6  # of the region's width: lines that all take less are none, and of fewer lines a shorter last one ends them
)


def usual_size(pages: Sequence[PageText]) -> float:
    """The size of most letters of the document, to half a point."""
    sizes = Counter[float]()
    for page in pages:
        for run in page.runs:
            sizes[round(run.size * 2) / 2] += len(run.text)
    return max(sizes, key=lambda size: (sizes[size], -size), default=10.0)


def with_footnotes(found: list[Paragraph], page: PageText, usual: float) -> list[Paragraph]:
    """Marks the last paragraphs of a region that are footnotes: set smaller than the text, low on the page, from the first
    one on that begins with a note's number or sign.
    """
    _, low, _, high = page.frame_box()
    small = len(found)
    while small and _is_small_and_low(found[small - 1], usual, low + _LOWER_PART * (high - low)):
        small -= 1
    first = next((index for index in range(small, len(found)) if _NOTE.match(found[index].text)), len(found))
    for paragraph in found[first:]:
        paragraph.is_footnote = True
    return found


def _is_small_and_low(paragraph: Paragraph, usual: float, limit: float) -> bool:
    return paragraph.size < _SMALLER * usual and paragraph.lines[0].middle < limit


def add_paragraphs(parts: list[Paragraph | Table], found: list[Paragraph]) -> None:
    """Puts a region's paragraphs to the parts before, the first one to the paragraph that it goes on from."""
    last = next(
        (part for part in reversed(parts) if isinstance(part, Table) or not (part.mark or part.is_footnote)), None
    )
    is_next = bool(parts) and last is parts[-1]
    if isinstance(last, Paragraph) and _continues(last, found[0]) and (is_next or found[0].text[:1].islower()):
        last.lines.extend(found[0].lines)
        last.is_open, last.fill = found[0].is_open, found[0].fill
        last.breadth = max(last.breadth, found[0].breadth)
        last.n_lines_around = found[0].n_lines_around
        found = found[1:]
    parts.extend(found)


def _continues(before: Paragraph, after: Paragraph) -> bool:
    """Whether a region's last paragraph goes on as the first one of a later region, column or page."""
    if before.level or after.level or after.kind is BlockKind.ITEM or after.is_footnote:
        return False
    if abs(before.size - after.size) > OTHER_SIZE * before.size or before.is_bold != after.is_bold:
        return False
    tail, head = before.text.rstrip(), after.text.lstrip()
    if ENDS.search(tail):
        return False
    says_so = head[:1].islower() or tail.endswith((",", "-", "\u00ad"))
    if before.lines[-1].runs[0].page != after.lines[0].runs[0].page and not _is_running_text(
        before, after, says_so=says_so
    ):
        return False
    return says_so or (before.is_open and not after.is_indented)


def _is_running_text(before: Paragraph, after: Paragraph, *, says_so: bool) -> bool:
    """Whether the text of two pages may run on: a few lines end with their page, as a slide's do, unless they are full.

    A lone line has no width to fill, so of two lone lines neither goes on; nor does what the next page says again.
    """
    if before.text.endswith(after.text) or max(before.n_lines_around, after.n_lines_around) == 1:
        return False
    is_text = before.n_lines_around >= _TEXT_LINES and before.breadth >= _SHORT
    return is_text or (says_so and before.fill >= _SHORT)
