"""What a page shows, unit by unit, to canonical text with blocks, places and books.

A unit is a heading, paragraph, list item, preformatted text or table, as a list of runs in reading order. White space is
collapsed as a browser does. What is put between units, rows and cells is counted as added and has no place in the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gawah.extract.raised import SIGN, with_signs
from gawah.types import Block, BlockKind, CharRange, Conservation, Place, Span

BREAK = "\x00"  # a <br>, or the edge of a block where blocks cannot be: no canonical text holds a NUL
_BLANKS = re.compile(r"[ \t\n\f\r\x00]+")
_EDGE = re.compile(r"[\s\x00]*")
_BLANK_LINES = re.compile(r"(?:[^\S\n]*[\n\x00])*")


class Unseen(str):
    """The words that stand for an image, and marks of superscripts: indexed, but no reader sees them in the page."""

    __slots__ = ()


Runs = list[str]


@dataclass(slots=True)
class Unit:
    """One block to be. `rows` belong to tables only: rows of cells."""

    kind: BlockKind
    level: int = 0
    runs: Runs = field(default_factory=list)
    rows: list[list[Runs]] = field(default_factory=list)

    @property
    def is_bare(self) -> bool:
        return not self.runs and not self.rows


@dataclass(slots=True)
class Rendering:
    """The text so far and its books."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    blocks: list[Block] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def render(units: Sequence[Unit]) -> Rendering:
    """Units with nothing to show leave only their dropped blanks."""
    page = Rendering()
    for unit in units:
        if unit.rows:
            _render_table(page, unit)
            continue
        is_code = unit.kind is BlockKind.CODE
        joint = " " if unit.kind is BlockKind.HEADING else "\n"
        text = _verbatim(page, unit.runs) if is_code else _flow(page, unit.runs, joint)
        if not text:
            continue
        _separate(page, unit.kind)
        span = Span(page.length, page.length + len(text))
        title = " ".join(text.split()) if unit.kind is BlockKind.HEADING else ""
        page.blocks.append(Block(unit.kind, span, unit.level, title))
        page.places.append(Place(span, CharRange(span.start, span.end, words=_seen(unit.runs, text, joint))))
        _put(page, text)
    return page


def books(page: Rendering, n_read: int, dropped: Counter[str]) -> Conservation:
    """`n_read` are the characters of the page's text nodes, `dropped` those that never came to a unit."""
    total = page.dropped + dropped
    return Conservation(
        n_read, len(page.text), {k: n for k, n in total.items() if n}, {k: n for k, n in page.added.items() if n}
    )


def _put(page: Rendering, text: str) -> None:
    page.pieces.append(text)
    page.length += len(text)


def _add(page: Rendering, text: str, reason: str) -> None:
    page.added[reason] += len(text)
    _put(page, text)


def _separate(page: Rendering, kind: BlockKind) -> None:
    if page.blocks:
        both_items = kind is BlockKind.ITEM and page.blocks[-1].kind is BlockKind.ITEM
        _add(page, "\n" if both_items else "\n\n", "between blocks")


def _flow(page: Rendering, runs: Runs, joint: str) -> str:
    """Flowing text: runs of blanks become one, a break becomes the joint, the edges are bare."""
    raw = _without_edges(page, _signed(page, runs))

    def collapse(match: re.Match[str]) -> str:
        run = match.group()
        n_breaks = run.count(BREAK)
        n_blanks = len(run) - n_breaks
        if n_breaks == 0 or (joint == " " and n_blanks):
            page.dropped["white space"] += n_blanks - 1
            return " "
        page.dropped["white space"] += n_blanks
        made = joint if joint == " " else joint * n_breaks
        page.added["line break"] += len(made)
        return made

    return _BLANKS.sub(collapse, raw)


def _verbatim(page: Rendering, runs: Runs) -> str:
    """Preformatted text: line ends and blanks stay, but not at the ends of lines, nor blank lines at the edges."""
    raw = _signed(page, runs)
    blank_lines = _BLANK_LINES.match(raw)
    start = blank_lines.end() if blank_lines else 0
    end = _bare_end(raw, start)
    for edge in (raw[:start], raw[end:]):
        page.dropped["white space"] += len(edge) - edge.count(BREAK)
    body = raw[start:end]
    page.added["line break"] += body.count(BREAK)
    lines = body.replace(BREAK, "\n").split("\n")
    bare = [line.rstrip() for line in lines]
    page.dropped["white space"] += sum(len(line) for line in lines) - sum(len(line) for line in bare)
    return "\n".join(bare)


def _signed(page: Rendering, runs: Runs) -> str:
    text, n_added = with_signs("".join(runs))
    page.added[SIGN] += n_added
    return text


def _without_edges(page: Rendering, raw: str) -> str:
    lead = _EDGE.match(raw)
    start = lead.end() if lead else 0
    end = _bare_end(raw, start)
    for edge in (raw[:start], raw[end:]):
        page.dropped["white space"] += len(edge) - edge.count(BREAK)
    return raw[start:end]


def _bare_end(raw: str, start: int) -> int:
    end = len(raw)
    while end > start and (raw[end - 1] == BREAK or raw[end - 1].isspace()):
        end -= 1
    return end


def _seen(runs: Runs, text: str, joint: str) -> str:
    """The words as a reader sees them: the text itself, unless some of it stands for an image."""
    seen = [run for run in runs if not isinstance(run, Unseen)]
    return text if len(seen) == len(runs) else _flow(Rendering(), seen, joint)


def _render_table(page: Rendering, unit: Unit) -> None:
    """One line a row, cells joined by pipes. Cells have places, what joins them has none."""
    start = -1
    for row in unit.rows:
        cells = [(_flow(page, runs, " "), runs) for runs in row]
        if not any(text for text, _ in cells):
            continue
        if start < 0:
            _separate(page, unit.kind)
            start = page.length
        else:
            _add(page, "\n", "between rows")
        pending, is_first = "", True
        for text, runs in cells:
            if text:
                _add(page, pending.lstrip() if is_first else pending, "between cells")
                span = Span(page.length, page.length + len(text))
                page.places.append(Place(span, CharRange(span.start, span.end, words=_seen(runs, text, " "))))
                _put(page, text)
                pending, is_first = "", False
            pending = pending.rstrip() + " | "
    if start >= 0:
        page.blocks.append(Block(unit.kind, Span(start, page.length)))
