"""The characters of a page to runs: words of one line with no wide blank between them.

Coordinates are those of the reading frame: x grows along the text, y upwards, whichever way the text is turned on the
page. `to_page` leads back to PDF user space.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import sub

from gawah.extract.pdf.letters import BLANKS, ODD, SOFT_HYPHEN, letters_of
from gawah.extract.pdf.pdfium import PageChars, PdfPage, Style

_WORD = re.compile(f"[^{BLANKS}]+")
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MARKED = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0e4e\u1ab0-\u1aff]")
# Shares of the letter size.
_NEW_WORD = 0.2  # a wider gap inside a word parts it; a space is a quarter of the size
_NEW_RUN = 0.8  # a wider gap parts runs; word spaces of justified text rarely reach it
_BACKWARDS = 0.5
_OFF_LINE = 0.45
_SLANT_DEGREES = 12  # text that runs at another angle than a quarter turn, by more, stands aslant
_SAME_BOX_PT = 0.05
_BOLD_SHARE = 0.97  # of a run's letters


@dataclass(slots=True, eq=False)
class Run:
    """Words of one line. lefts and rights: where the glyph of each character of `text` begins and ends along the line;
    letters of one ligature have the same.

    x0, y0, x1, y1: the ink; bottom, top: the cells of the font, which are the same for every letter of it.
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

    @property
    def middle(self) -> float:
        return (self.bottom + self.top) / 2

    @property
    def begins_bold(self) -> bool:
        return next(iter(self.n_letters_by_style), (0.0, self.is_bold))[1]

    @property
    def is_rtl(self) -> bool:
        return self.lefts[0] > self.rights[-1]


@dataclass(slots=True)
class PageText:
    """What a page says, in runs, and the books of its characters.

    number: of the page, from 1; box: what of it shows, in user space; turn: quarter turns of most of its text.
    `aslant` and `outside` are words that stand at an odd angle, or outside of what the page shows.
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

    def frame_box(self) -> tuple[float, float, float, float]:
        """What of the page shows, in the reading frame of most of its text."""
        return to_page((4 - self.turn) % 4, *self.box)


def to_page(turn: int, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
    """A box of the reading frame in PDF user space."""
    return ((x0, y0, x1, y1), (-y1, x0, -y0, x1), (-x1, -y1, -x0, -y0), (y0, -x1, y1, -x0))[turn]


@dataclass(slots=True)
class _Frame:
    """The parallel sequences of a page's characters in one reading frame."""

    lefts: array[float]
    rights: array[float]
    lows: array[float]
    highs: array[float]
    cell_lefts: array[float]
    cell_rights: array[float]
    bottoms: array[float]
    tops: array[float]


def _frame(chars: PageChars, turn: int) -> _Frame:
    """The characters in one frame. Letters that pdfium took out of one ligature have all of its ink, but part its cell."""

    def turned(numbers: array[float]) -> tuple[array[float], ...]:
        x0, y0, x1, y1 = (numbers[side::4] for side in range(4))
        if turn == 0:
            return x0, x1, y0, y1
        if turn == 1:
            return y0, y1, _negative(x1), _negative(x0)
        if turn == 2:
            return _negative(x1), _negative(x0), _negative(y1), _negative(y0)
        return _negative(y1), _negative(y0), x0, x1

    frame = _Frame(*turned(chars.tight), *turned(chars.loose))
    lefts, rights = frame.lefts, frame.rights
    n, first = len(lefts), 0
    same = [i for i in range(1, n) if lefts[i] == lefts[i - 1] and rights[i] == rights[i - 1] != lefts[i]]
    for position, index in enumerate(same):
        if position and same[position - 1] == index - 1:
            continue
        first, last = index - 1, index
        while last + 1 < n and lefts[last + 1] == lefts[first] and rights[last + 1] == rights[first]:
            last += 1
        if _RTL.match(chars.units[first]) is None and not chars.units[first].isspace():
            _share(frame.cell_lefts, frame.cell_rights, first, last)
    return frame


def _share(lefts: array[float], rights: array[float], first: int, last: int) -> None:
    left, width = lefts[first], (rights[first] - lefts[first]) / (last - first + 1)
    for index in range(first, last + 1):
        lefts[index] = left + width * (index - first)
        rights[index] = left + width * (index - first + 1)


def _negative(numbers: array[float]) -> array[float]:
    return array(numbers.typecode, [-number for number in numbers])


@dataclass(slots=True)
class _Word:
    """A word to be: indexes of its first character and past its last, and whether a blank stands before it."""

    start: int
    end: int
    style: Style
    turn: int
    n_blanks: int
    is_spaced: bool


def read_page(page: PdfPage, number: int) -> PageText:
    """The runs of a page, in the order of its content; `number` counts from 1."""
    chars = page.characters()
    result = PageText(number, page.box())
    words = _words(page, chars, result)
    frames: dict[int, _Frame] = {}
    builder = _Builder(result, chars.units)
    for word in words:
        frame = frames.get(word.turn)
        if frame is None:
            frame = frames[word.turn] = _frame(chars, word.turn)
        builder.take(word, frame)
    builder.flush()
    turns = Counter[int]()
    for run in result.runs:
        turns[run.turn] += len(run.text)
    result.turn = min(turns, key=lambda turn: (-turns[turn], turn)) if turns else 0
    return result


def _words(page: PdfPage, chars: PageChars, result: PageText) -> list[_Word]:
    units = chars.units
    spans = [match.span() for match in _WORD.finditer(units)]
    starts = [start for start, _ in spans]
    styles = page.styles(starts)
    between = [index for index, unit in enumerate(units) if _WORD.match(unit) is None]
    real = [index for index, made in zip(between, page.generated(between), strict=True) if not made]
    result.n_letters = sum(end - start for start, end in spans)
    result.n_read = result.n_letters + len(real)
    result.n_garbled = _n_garbled(units) + page.n_unmapped(starts)
    blanks_before = _counts_before(starts, real)
    result.dropped["white space"] += len(real) - sum(blanks_before)
    words, last_end = [], 0
    for (start, end), style, n_blanks in zip(spans, styles, blanks_before, strict=True):
        result.n_invisible += 0 if style.is_visible else end - start
        quarter = round(style.angle / 90)
        if abs(style.angle - 90 * quarter) > _SLANT_DEGREES:
            result.aslant.append(units[start:end])
            result.dropped["text at an angle"] += end - start
            result.dropped["white space"] += n_blanks
        else:
            words.append(_Word(start, end, style, quarter % 4, n_blanks, is_spaced=start > last_end))
        last_end = end
    return words


def _counts_before(starts: Sequence[int], blanks: Sequence[int]) -> list[int]:
    """How many of the blanks stand between each word and the one before it; those after the last are left over."""
    counts, at = [], 0
    for start in starts:
        first = at
        while at < len(blanks) and blanks[at] < start:
            at += 1
        counts.append(at - first)
    return counts


_GARBLED = re.compile("[\x00\x01\x03-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")


def _n_garbled(units: str) -> int:
    """Private-use, control and replacement characters."""
    return sum(1 for _ in _GARBLED.finditer(units))


class _Builder:
    """Puts words to runs, one after the other."""

    def __init__(self, result: PageText, units: str) -> None:
        self.result = result
        self.units = units
        self.box = result.box
        self.is_odd = ODD.search(units) is not None
        self.has_rtl = _RTL.search(units) is not None
        self.has_marks = _MARKED.search(units) is not None
        self.printed: set[tuple[str, int, int]] = set()
        self.current: Run | None = None

    def take(self, word: _Word, frame: _Frame) -> None:
        """Splits the word where its letters part, and puts each piece to the run it belongs to."""
        n_blanks, is_spaced = word.n_blanks, word.is_spaced
        for start, end in self._pieces(word, frame):
            self._put(self._run_of(word, start, end, frame), n_blanks, is_spaced=is_spaced)
            n_blanks, is_spaced = 0, False

    def flush(self) -> None:
        if self.current is not None:
            self.result.runs.append(self.current)
            self.current = None

    def _pieces(self, word: _Word, frame: _Frame) -> list[tuple[int, int]]:
        start, end, size = word.start, word.end, word.style.size or 1.0
        if end - start == 1:
            return [(start, end)]
        bottoms = frame.bottoms[start:end]
        gaps = list(map(sub, frame.cell_lefts[start + 1 : end], frame.cell_rights[start : end - 1]))
        level = max(bottoms) - min(bottoms) <= _OFF_LINE * size
        if level and max(gaps) <= _NEW_WORD * size and min(gaps) >= -_BACKWARDS * size:
            return [(start, end)]
        if (self.has_marks and _MARKED.search(self.units, start, end)) or (
            level and self.has_rtl and _RTL.search(self.units, start, end)
        ):
            return [(start, end)]  # marks sit on their letters, and letters of such scripts run into each other
        cuts = [start]
        for offset, gap in enumerate(gaps):
            off_line = abs(bottoms[offset + 1] - bottoms[offset]) > _OFF_LINE * size
            if off_line or gap > _NEW_WORD * size or gap < -_BACKWARDS * size:
                cuts.append(start + offset + 1)
        return list(zip(cuts, [*cuts[1:], end], strict=True))

    def _run_of(self, word: _Word, start: int, end: int, frame: _Frame) -> Run | None:
        """The piece as a run of its own; None when it is not to be read."""
        text = self.units[start:end]
        lefts, rights = frame.lefts[start:end], frame.rights[start:end]
        bottom, top = frame.bottoms[start], frame.tops[start]
        low, high = min(frame.lows[start:end]), max(frame.highs[start:end])
        if self.is_odd and ODD.search(text):
            text, lefts, rights = self._letters(start, end, frame)
            if not text:
                return None
        x0, x1 = min(lefts), max(rights)
        if high <= low:  # a glyph without ink
            low, high = bottom, top
        run = Run(
            text, lefts, rights, x0, low, x1, high, bottom, top, word.style.size or top - bottom,
            word.style.is_bold, self.result.number, word.turn, {(word.style.size, word.style.is_bold): len(text)},
        )  # fmt: skip
        return run if self._is_to_be_read(run) else None

    def _letters(self, start: int, end: int, frame: _Frame) -> tuple[str, array[float], array[float]]:
        same = [False] + [
            abs(frame.lefts[i] - frame.lefts[i - 1]) < _SAME_BOX_PT
            and abs(frame.rights[i] - frame.rights[i - 1]) < _SAME_BOX_PT
            for i in range(start + 1, end)
        ]
        text, origins = letters_of(self.units[start:end], same, self.result.dropped, self.result.added)
        lefts = array("d", [frame.lefts[start + origin] for origin in origins])
        rights = array("d", [frame.rights[start + origin] for origin in origins])
        return text, lefts, rights

    def _is_to_be_read(self, run: Run) -> bool:
        """Not what lies outside of the page, and not what is printed twice in one place, as for a bold look."""
        result = self.result
        x0, y0, x1, y1 = to_page(run.turn, run.x0, run.bottom, run.x1, run.top)
        if not (self.box[0] <= (x0 + x1) / 2 <= self.box[2] and self.box[1] <= (y0 + y1) / 2 <= self.box[3]):
            result.outside.append(run.text)
            result.dropped["outside of the page"] += len(run.text)
            return False
        step = max(1.0, run.size * 0.12)
        column, row = int(run.x0 / step), int(run.y0 / step)
        if any((run.text, column + dx, row + dy) in self.printed for dx in (-1, 0, 1) for dy in (-1, 0, 1)):
            result.dropped["printed twice"] += len(run.text)
            return False
        self.printed.add((run.text, column, row))
        return True

    def _put(self, run: Run | None, n_blanks: int, *, is_spaced: bool) -> None:
        dropped, added = self.result.dropped, self.result.added
        if run is None:
            dropped["white space"] += n_blanks
            return
        current = self.current
        gap = None if current is None else _gap(current, run)
        if current is None or gap is None:
            self.flush()
            self.current = run
            dropped["white space"] += n_blanks
            return
        if is_spaced or gap > _NEW_WORD * run.size:
            append_blank(current, run)
            dropped["white space"] += max(0, n_blanks - 1)
            added["blank between words"] += not n_blanks
        append(current, run)


def _gap(before: Run, run: Run) -> float | None:
    """How far a word stands behind a run along its line; None when it does not go on there."""
    size = max(before.size, run.size)
    if before.turn != run.turn or before.text[-1] == SOFT_HYPHEN:
        return None
    if abs(before.middle - run.middle) > _OFF_LINE * size and not before.bottom <= run.middle <= before.top:
        return None
    forwards = run.x0 - before.x1
    if _is_rtl(run) or _is_rtl(before):
        gap = max(forwards, before.x0 - run.x1)
        return gap if gap <= _NEW_RUN * size else None
    return forwards if -_BACKWARDS * size <= forwards <= _NEW_RUN * size else None


def _is_rtl(run: Run) -> bool:
    return _RTL.match(run.text) is not None and unicodedata.bidirectional(run.text[0]) in ("R", "AL")


def append_blank(run: Run, following: Run) -> None:
    """Puts a blank behind a run, that takes the room up to what follows."""
    run.text += " "
    if following.x0 >= run.rights[-1]:
        run.lefts.append(run.rights[-1])
        run.rights.append(following.x0)
    else:
        run.lefts.append(following.x1)
        run.rights.append(max(following.x1, run.lefts[-2]))


def _settle_style(run: Run) -> None:
    """The size of most letters; bold when nearly all are."""
    styles = run.n_letters_by_style
    if len(styles) > 1:
        sizes = Counter[float]()
        for (size, _), n_letters in styles.items():
            sizes[size] += n_letters
        run.size = max(sizes, key=lambda size: (sizes[size], size))
        run.is_bold = sum(n for (_, is_bold), n in styles.items() if is_bold) > _BOLD_SHARE * sum(styles.values())


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
