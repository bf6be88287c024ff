"""The lines of a region to paragraphs, list items and headings to be.

A paragraph ends where the next line stands apart: by a wider gap, an indent, another size or weight, a list mark, or
because its first word would have had room on the line before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from gawah.extract.pdf.lines import Line, lines_of
from gawah.extract.pdf.order import Region
from gawah.extract.pdf.runs import Remark
from gawah.types import BlockKind

# Shares of the letter size, but where named otherwise.
_INDENT = 0.8
OTHER_SIZE = 0.12  # of the size itself
_WIDEST = 3.0  # the distance of two lines of one paragraph
_WIDER = 1.35  # times the usual distance of lines
_ROOM = 1.5  # letters that must have been left over on a line, besides the next line's first word
_FULL_LINE = 0.92  # of the region's width
_ITEM = re.compile(r"(?:[•●○◦▪■□☐☑‣–—*·-]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})[.)])\s+\S")
_SAME_HANG_PT = 2.0
ENDS = re.compile(r"[.!?…:;।॥۔؟。！？][\"'”’»)\]]*$")


@dataclass(slots=True, eq=False)
class Paragraph:
    """Lines that flow into each other. level: of a heading, 0 for text.

    is_open: whether its last line is full, so that it may go on in the next region; is_indented: whether its first line
    is, so that it does not continue another. n_lines_around: of its region; fill, breadth: how much of the region's width
    its last and its widest line take. mark: what is written before it, of a remark; is_footnote: below the text it belongs to. Neither goes on.
    """

    lines: list[Line]
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    is_open: bool = False
    is_indented: bool = False
    n_lines_around: int = 1
    fill: float = 1.0
    breadth: float = 1.0
    mark: str = ""
    is_footnote: bool = False

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size

    @property
    def is_bold(self) -> bool:
        return all(line.is_bold for line in self.lines)

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class _Measure:
    """Where the lines of a region begin and end, how far apart they usually are, and where words hang behind numbers."""

    left: float
    right: float
    pitch: float
    is_rtl: bool
    hangs: tuple[float, ...] = ()


def paragraphs(region: Region) -> list[Paragraph]:
    """The paragraphs of a region of flowing text, in order."""
    lines = region.lines
    measure = _measure(lines)
    found = [Paragraph([lines[0]])]
    for index in range(1, len(lines)):
        if _begins(found[-1].lines, lines[index], lines[index + 1] if index + 1 < len(lines) else None, measure):
            found.append(Paragraph([lines[index]]))
        else:
            found[-1].lines.append(lines[index])
    for paragraph in found:
        first, last = paragraph.lines[0], paragraph.lines[-1]
        if _ITEM.match(first.text) or _is_hung(first, measure):
            paragraph.kind = BlockKind.ITEM
        paragraph.is_indented = _indent(first, measure) > _INDENT * first.size
        width = measure.right - measure.left
        paragraph.n_lines_around = len(lines)
        paragraph.fill = (last.x1 - last.x0) / width if width > 0 else 1.0
        paragraph.breadth = max(line.x1 - line.x0 for line in paragraph.lines) / width if width > 0 else 1.0
        paragraph.is_open = width > 0 and (last.x1 - last.x0) > 0.6 * width and _slack(last, measure) < 0.15 * width
    return found


def paragraph_of(remark: Remark) -> Paragraph:
    """A remark upon a page, as a block of its own."""
    return Paragraph(lines_of(remark.runs), BlockKind.ITEM if remark.is_item else BlockKind.PARAGRAPH, mark=remark.mark)


def _measure(lines: Sequence[Line]) -> _Measure:
    drops = [a.middle - b.middle for a, b in pairwise(lines)]
    size = median(line.size for line in lines)
    close = [drop for drop in drops if 0.5 * size < drop < 1.9 * size]
    if len(close) < 0.25 * len(drops):  # set widely, as Nastaliq is
        close = sorted(drop for drop in drops if 0.5 * size < drop < _WIDEST * size)
        close = close[: len(close) // 2 + 1]
    return _Measure(
        left=min(line.x0 for line in lines),
        right=max(line.x1 for line in lines),
        pitch=median(close) if close else 1.2 * size,
        is_rtl=2 * sum(line.runs[0].is_rtl for line in lines) > len(lines),
        hangs=tuple(line.runs[0].hang for line in lines if line.runs[0].hang is not None),
    )


def _is_hung(line: Line, measure: _Measure) -> bool:
    """Whether a line begins with a mark or number behind which its words stand as those of another such line do."""
    hang = line.runs[0].hang
    return hang is not None and sum(abs(hang - other) < _SAME_HANG_PT for other in measure.hangs) > 1


def _indent(line: Line, measure: _Measure) -> float:
    return measure.right - line.x1 if measure.is_rtl else line.x0 - measure.left


def _slack(line: Line, measure: _Measure) -> float:
    """What is left over at the end of a line."""
    return line.x0 - measure.left if measure.is_rtl else measure.right - line.x1


def _begins(current: list[Line], line: Line, following: Line | None, measure: _Measure) -> bool:
    """Whether a line begins a new paragraph after `current`."""
    before, size = current[-1], max(line.size, current[-1].size)
    if before.middle - line.middle > max(_WIDER * measure.pitch, 1.15 * size):
        return True
    if _is_set_otherwise(line, before) or line.is_bold != before.is_bold:
        return True
    if line.runs[0].begins_bold and not current[-1].is_bold and ENDS.search(before.text):
        return True
    if _ITEM.match(line.text) and (
        ENDS.search(before.text) or _ITEM.match(current[0].text) or _is_short(before, line, measure)
    ):
        return True
    if _is_hung(line, measure):
        return True
    ends_short = bool(ENDS.search(before.text)) and _is_short(before, line, measure)
    if _is_hung(current[0], measure) and abs(line.x0 - (current[0].runs[0].hang or 0.0)) < _SAME_HANG_PT:
        return ends_short
    indent, indent_before = _indent(line, measure), _indent(before, measure)
    step = _INDENT * size
    if indent - indent_before > step:
        # The lines of an item hang behind its mark; else an indent begins a paragraph, unless all that follows has it.
        return not (len(current) == 1 and (_ITEM.match(before.text) or _hangs(line, following, measure)))
    if indent_before - indent > step and len(current) > 1:
        return _indent(current[0], measure) < indent_before - step  # it hung, and this begins the next one
    return ends_short


def _is_set_otherwise(line: Line, before: Line) -> bool:
    """Whether two lines have no size in common; a line with a small-letter head or a raised mark has several."""
    sizes = {size for run in line.runs for size, _ in run.n_letters_by_style}
    others = {size for run in before.runs for size, _ in run.n_letters_by_style}
    return not any(abs(a - b) <= OTHER_SIZE * max(a, b) for a in sizes for b in others)


def _hangs(line: Line, following: Line | None, measure: _Measure) -> bool:
    """Whether the lines from here on keep the indent: then the line before was the first of a hanging paragraph."""
    if following is None:
        return False
    return _indent(following, measure) > _INDENT * line.size and not line.text[:1].isupper()


def _is_short(before: Line, line: Line, measure: _Measure) -> bool:
    """Whether the first word of a line would have had room at the end of the one before."""
    first_word = line.runs[0].text.split(" ", 1)[0]
    run = line.runs[0]
    width = abs(run.rights[len(first_word) - 1] - run.lefts[0])
    return _slack(before, measure) > width + _ROOM * line.size
