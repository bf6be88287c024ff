"""Runs: words of one line with no wide blank between them, in the reading frame; and what is known of a page's text."""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import sub
from statistics import median

from gawah.extract.pdf.frame import RTL, Frame, Slant, to_page
from gawah.extract.pdf.letters import SOFT_HYPHEN

# Shares of the letter size.
NEW_WORD = 0.2  # a wider gap inside a word parts it; a space is a quarter of the size
NEW_RUN = 0.8  # a wider gap parts runs; word spaces of justified text rarely reach it
BACKWARDS = 0.5
OFF_LINE = 0.45
DROPPED = 1.7  # times the size of the letters beside it: of a large letter that reaches down over lines
_ALIKE = 0.06
_TRACKED_GAPS, _TRACKED_SHARE = (
    3,
    0.9,
)  # how many gaps tell that letters are set apart, and the share that is to be alike
_BOLD_SHARE = 0.97  # of a run's letters


@dataclass(slots=True, eq=False)
class Run:
    """Words of one line. lefts and rights: where the glyph of each character of `text` begins and ends along the line;
    letters of one ligature have the same.

    x0, y0, x1, y1: the ink; bottom, top: the cells of the font, which are the same for every letter of it. `slant` is that
    of a page whose lines are not level, and whose runs are set straight; `confidence` under 1 where a machine was not sure of the words. `tracking`: how far apart
    its letters are set, as in a spaced heading. `hang`: where the words begin behind a list mark or number; `initial`: a
    large letter that begins its first word.
    """

    text: str
    lefts: array[float]
    rights: array[float]
    x0: float
    y0: float
    x1: float
    y1: float
    bottom: float
    top: float
    size: float
    is_bold: bool
    page: int
    turn: int
    n_letters_by_style: dict[tuple[float, bool], int] = field(default_factory=dict)
    slant: Slant | None = None
    confidence: float = 1.0
    tracking: float = 0.0
    hang: float | None = None
    initial: Run | None = None

    @property
    def words(self) -> str:
        """The text with its large first letter."""
        return self.initial.text + self.text if self.initial else self.text

    def on_page(self, x0: float, x1: float) -> tuple[float, float, float, float]:
        """What of the run lies between two places along its line, in PDF user space."""
        box = (x0, self.y0, x1, self.y1)
        return to_page(self.turn, *(self.slant.along(*box) if self.slant else box))

    @property
    def middle(self) -> float:
        return (self.bottom + self.top) / 2

    @property
    def begins_bold(self) -> bool:
        return next(iter(self.n_letters_by_style), (0.0, self.is_bold))[1]

    @property
    def is_rtl(self) -> bool:
        return self.lefts[0] > self.rights[-1]


@dataclass(frozen=True, slots=True)
class Remark:
    """What was put upon a page, in lines, and the mark before it, which is not among the letters read: `[Note by Ann] `."""

    mark: str
    runs: list[Run]
    is_item: bool = False


@dataclass(slots=True)
class PageText:
    """What a page says, in runs, and the books of its characters.

    number: of the page, from 1; box: what of it shows, in user space; turn: quarter turns of most of its text.
    `aslant` and `outside` are words that stand at an odd angle, or outside of what the page shows.

    confidence: of a page that was read by eye, from 0 to 1, None of all others; `unreadable` are words that were too
    unsure to keep, each with its box in user space, and `notes` what else is to be said of the reading.

    remarks: comments and the like, which follow the page's text; `hidden` is text upon the page that does not show, each with
    its box in user space, and `unread` counts what upon it cannot be read, by name.
    """

    number: int
    box: tuple[float, float, float, float]
    runs: list[Run] = field(default_factory=list)
    turn: int = 0
    n_read: int = 0
    n_letters: int = 0
    n_garbled: int = 0
    n_invisible: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)
    aslant: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    confidence: float | None = None
    unreadable: list[tuple[str, tuple[float, float, float, float]]] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    remarks: list[Remark] = field(default_factory=list)
    hidden: list[tuple[str, tuple[float, float, float, float]]] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    n_fields: int = 0

    def frame_box(self) -> tuple[float, float, float, float]:
        """What of the page shows, in the reading frame of most of its text."""
        return to_page((4 - self.turn) % 4, *self.box)


def tracking_of(spans: Sequence[tuple[int, int]], units: str, frame: Frame, size: float) -> float:
    """How far apart, in points, the letters of one text object are set, as in a spaced heading; 0 when they are not.

    That is so when nearly all gaps inside of its words are wide and alike; `spans` are the words' places in `units`. What
    is not mostly letters is left alone: digits in a row may be numbers of their own.
    """
    lefts, rights = frame.cell_lefts, frame.cell_rights
    gaps: list[float] = []
    for start, end in spans:
        gaps.extend(map(sub, lefts[start + 1 : end], rights[start : end - 1]))
        if gaps and gaps[0] < (NEW_WORD - _ALIKE) * size:
            return 0.0  # as in nearly all text
    usual = median(gaps) if len(gaps) >= _TRACKED_GAPS else 0.0
    if not NEW_WORD * size < usual <= size:
        return 0.0
    n_alike = sum(abs(gap - usual) <= _ALIKE * size for gap in gaps)
    n_letters = sum(unit.isalpha() for start, end in spans for unit in units[start:end])
    is_words = 2 * n_letters > sum(end - start for start, end in spans)
    return usual if is_words and n_alike >= _TRACKED_SHARE * len(gaps) else 0.0


def gap_between(before: Run, run: Run) -> float | None:
    """How far a word stands behind a run along its line; None when it does not go on there."""
    size = max(before.size, run.size)
    if is_dropped(before, run):
        return None
    if before.turn != run.turn or before.slant != run.slant or before.text[-1] == SOFT_HYPHEN:
        return None
    if abs(before.middle - run.middle) > OFF_LINE * size and not before.bottom <= run.middle <= before.top:
        return None
    forwards = run.x0 - before.x1
    if _is_rtl(run) or _is_rtl(before):
        gap = max(forwards, before.x0 - run.x1)
        return gap if gap <= NEW_RUN * size else None
    widest = NEW_RUN * size + 2 * min(before.tracking, run.tracking)  # on either side of the blank
    return forwards if -BACKWARDS * size <= forwards <= widest else None


def is_dropped(before: Run | None, run: Run) -> bool:
    """Whether a run is a large letter that reaches down beside the words that it begins."""
    if before is None or len(before.text) != 1 or not run.text[:1].isalpha():
        return False
    return before.size >= DROPPED * run.size and before.y0 < run.bottom - 0.3 * run.size


def _is_rtl(run: Run) -> bool:
    return RTL.match(run.text) is not None and unicodedata.bidirectional(run.text[0]) in ("R", "AL")


def append_blank(run: Run, following: Run) -> None:
    """Puts a blank behind a run, that takes the room up to what follows."""
    run.text += " "
    if following.x0 >= run.rights[-1]:
        run.lefts.append(run.rights[-1])
        run.rights.append(following.x0)
    else:
        run.lefts.append(following.x1)
        run.rights.append(max(following.x1, run.lefts[-2]))


def append_mark(run: Run, following: Run, mark: str) -> None:
    """Puts a character behind a run that has no place of its own: it stands where what follows begins."""
    edge = following.x0 if following.x0 >= run.lefts[-1] else following.x1
    run.text += mark
    run.lefts.append(edge)
    run.rights.append(edge)


def append(run: Run, following: Run) -> None:
    """Puts a run behind another one of the same line."""
    run.text += following.text
    run.lefts.extend(following.lefts)
    run.rights.extend(following.rights)
    styles = run.n_letters_by_style
    for style, n_letters in following.n_letters_by_style.items():
        styles[style] = styles.get(style, 0) + n_letters
    if len(following.text) * 2 > len(run.text):
        run.bottom, run.top = following.bottom, following.top
    run.x0, run.x1 = min(run.x0, following.x0), max(run.x1, following.x1)
    run.y0, run.y1 = min(run.y0, following.y0), max(run.y1, following.y1)
    _settle_style(run)


def _settle_style(run: Run) -> None:
    """The size of most letters; bold when nearly all are."""
    styles = run.n_letters_by_style
    if len(styles) > 1:
        sizes = Counter[float]()
        for (size, _), n_letters in styles.items():
            sizes[size] += n_letters
        run.size = max(sizes, key=lambda size: (sizes[size], size))
        run.is_bold = sum(n for (_, is_bold), n in styles.items() if is_bold) > _BOLD_SHARE * sum(styles.values())
