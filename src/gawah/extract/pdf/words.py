"""The characters of a page to runs: words found, split where their letters part, and put together line by line."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import sub

from gawah.extract.pdf.frame import RTL, Frame, Slant, frame_of, to_page
from gawah.extract.pdf.letters import BLANKS, ODD, letters_of
from gawah.extract.pdf.page import PageChars, PdfPage, Style
from gawah.extract.pdf.runs import (
    BACKWARDS,
    NEW_WORD,
    OFF_LINE,
    PageText,
    Run,
    append,
    append_blank,
    append_mark,
    gap_between,
    is_dropped,
    tracking_of,
)
from gawah.extract.pdf.slants import Setting, settings_of

_WORD = re.compile(f"[^{BLANKS}]+")
_BLANKS = re.compile(f"[{BLANKS}]+")
_MARKED = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0e4e\u1ab0-\u1aff]"
)
_SAME_BOX_PT = 0.05
_RAISED_SIZE, _RAISED_BY = 0.8, 0.15  # shares of the size of the letter before, under and over which a mark is raised
_RAISED = "^"
_LEAST_STEP = 1e-4  # so that letters without a size have one
# Control, private-use and replacement characters.
_GARBLED = re.compile("[\x00\x01\x03-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")


@dataclass(slots=True)
class _Word:
    """A word to be: indexes of its first character and past its last, and whether a blank stands before it."""

    start: int
    end: int
    style: Style
    turn: int
    slant: Slant | None
    n_blanks: int
    is_spaced: bool


def read_page(page: PdfPage, number: int, only: frozenset[int] | None = None) -> PageText:
    """The runs of a page, in the order of its content; `number` counts from 1. With `only`, those of these text objects."""
    chars = page.characters()
    result = PageText(number, page.box())
    words = _words(page, chars, result, only)
    frames: dict[Setting, Frame] = {}
    by_object: dict[int, list[_Word]] = {}
    for word in words:
        by_object.setdefault(id(word.style), []).append(word)
    tracking: dict[int, float] = {}
    builder = _Builder(result, chars.units, page)
    for word in words:
        frame = frames.get((word.turn, word.slant))
        if frame is None:
            frame = frames[word.turn, word.slant] = frame_of(chars, word.turn, word.slant)
        if id(word.style) not in tracking:
            spans = [(each.start, each.end) for each in by_object[id(word.style)]]
            tracking[id(word.style)] = tracking_of(spans, chars.units, frame, word.style.size or 1.0)
        builder.take(word, frame, tracking[id(word.style)])
    builder.flush()
    turns = Counter[int]()
    for run in result.runs:
        turns[run.turn] += len(run.text)
    result.turn = min(turns, key=lambda turn: (-turns[turn], turn)) if turns else 0
    return result


def _words(page: PdfPage, chars: PageChars, result: PageText, only: frozenset[int] | None) -> list[_Word]:
    units = chars.units
    spans = [match.span() for match in _WORD.finditer(units)]
    between = [index for blanks in _BLANKS.finditer(units) for index in range(*blanks.span())]
    if only is not None:
        spans = _spans_of(only, page, spans)
        belongs = [address in only for address in page.text_objects(between)]
        between = [index for index, belonging in zip(between, belongs, strict=True) if belonging]
    starts = [start for start, _ in spans]
    styles = page.styles(starts)
    real = [index for index, made in zip(between, page.generated(between), strict=True) if not made]
    result.n_letters = sum(end - start for start, end in spans)
    result.n_read = result.n_letters + len(real)
    result.n_garbled = len(_GARBLED.findall(units)) + page.n_unmapped(starts)
    blanks_before = _counts_before(starts, real)
    result.dropped["white space"] += len(real) - sum(blanks_before)
    angles = _angles(page, starts, styles)
    settings = settings_of(angles, [end - start for start, end in spans], result.box)
    words, last_end = [], 0
    for (start, end), style, angle, n_blanks in zip(spans, styles, angles, blanks_before, strict=True):
        result.n_invisible += 0 if style.is_visible else end - start
        setting = settings[angle]
        if setting is None:
            result.aslant.append(units[start:end])
            result.dropped["text at an angle"] += end - start
            result.dropped["white space"] += n_blanks
        else:
            words.append(_Word(start, end, style, *setting, n_blanks, is_spaced=start > last_end))
        last_end = end
    return words


def _spans_of(only: frozenset[int], page: PdfPage, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The words, or pieces of words, that are of these text objects."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        belongs = [address in only for address in page.text_objects(list(range(start, end)))]
        edges = [start, *(start + at for at in range(1, end - start) if belongs[at] != belongs[at - 1]), end]
        found += [(a, b) for a, b in pairwise(edges) if belongs[a - start]]
    return found


def _angles(page: PdfPage, starts: Sequence[int], styles: Sequence[Style]) -> list[float]:
    """At which angle each word runs, in degrees: that of its matrix, half a turn on where the font size is negative."""
    angles: dict[int, float] = {}
    for start, style in zip(starts, styles, strict=True):
        if id(style) not in angles:  # words of one text object have one style
            is_turned = page.raw.FPDFText_GetFontSize(page.text, start) < 0
            angles[id(style)] = style.angle + 180 * is_turned
    return [angles[id(style)] for style in styles]


def _counts_before(starts: Sequence[int], blanks: Sequence[int]) -> list[int]:
    """How many of the blanks stand between each word and the one before it; those after the last are left over."""
    counts, at = [], 0
    for start in starts:
        first = at
        while at < len(blanks) and blanks[at] < start:
            at += 1
        counts.append(at - first)
    return counts


class _Builder:
    """Puts words to runs, one after the other."""

    def __init__(self, result: PageText, units: str, page: PdfPage) -> None:
        self.page = page
        self.result = result
        self.units = units
        self.box = result.box
        self.is_odd = ODD.search(units) is not None
        self.has_rtl = RTL.search(units) is not None
        self.has_marks = _MARKED.search(units) is not None
        self.printed: set[tuple[tuple[str, float], int, int]] = set()
        self.current: Run | None = None
        self.last = 0  # index of the last character that was put to a run

    def take(self, word: _Word, frame: Frame, tracking: float) -> None:
        """Splits the word where its letters part, by more than they all do, and puts each piece to the run it belongs to."""
        n_blanks, is_spaced = word.n_blanks, word.is_spaced
        for start, end in self._pieces(word, frame, tracking):
            run = self._run_of(word, start, end, frame)
            if run is not None:
                run.tracking = tracking
            is_raised = (
                run is not None and not n_blanks and self._is_mark(start, frame) and not is_dropped(self.current, run)
            )
            self._put(run, n_blanks, is_spaced=is_spaced, is_raised=is_raised)
            n_blanks, is_spaced = 0, False
            self.last = end - 1 if run else self.last

    def flush(self) -> None:
        if self.current is not None:
            self.result.runs.append(self.current)
            self.current = None

    def _pieces(self, word: _Word, frame: Frame, tracking: float) -> list[tuple[int, int]]:
        start, end, size = word.start, word.end, word.style.size or 1.0
        if end - start == 1:
            return [(start, end)]
        bottoms, widest = frame.bottoms[start:end], NEW_WORD * size + tracking
        gaps = list(map(sub, frame.cell_lefts[start + 1 : end], frame.cell_rights[start : end - 1]))
        level = max(bottoms) - min(bottoms) <= OFF_LINE * size
        is_even = max(bottoms) == min(bottoms)
        steps = [] if is_even else [i for i in range(start + 1, end) if self._parts_raised(i, frame)]
        if level and not steps and max(gaps) <= widest and min(gaps) >= -BACKWARDS * size:
            return [(start, end)]
        if (self.has_marks and _MARKED.search(self.units, start, end)) or (
            level and self.has_rtl and RTL.search(self.units, start, end)
        ):
            return [(start, end)]  # marks sit on their letters, and letters of such scripts run into each other
        cuts = [start]
        for offset, gap in enumerate(gaps):
            off_line = abs(bottoms[offset + 1] - bottoms[offset]) > OFF_LINE * size
            if off_line or start + offset + 1 in steps or gap > widest or gap < -BACKWARDS * size:
                cuts.append(start + offset + 1)
        return list(zip(cuts, [*cuts[1:], end], strict=True))

    def _parts_raised(self, index: int, frame: Frame) -> bool:
        """Whether a raised mark begins at a character, or ended before it."""
        return self._is_raised(index, index - 1, frame) or self._is_raised(index - 1, index, frame)

    def _is_mark(self, index: int, frame: Frame) -> bool:
        """Whether a character stands raised and directly behind the last one."""
        lefts, rights, last = frame.cell_lefts, frame.cell_rights, self.last
        gap = max(lefts[index] - rights[last], lefts[last] - rights[index])  # of the cells, as ink stands within them
        return self.current is not None and gap <= NEW_WORD * self.current.size and self._is_raised(index, last, frame)

    def _is_raised(self, index: int, beside: int, frame: Frame) -> bool:
        """Whether a character is set clearly smaller than the one beside it, and clearly above its baseline."""
        if index == beside or frame.bottoms[index] <= frame.bottoms[beside]:
            return False  # the cell of a smaller letter begins higher even on the same baseline
        style, other = self.page.styles([index, beside])
        rise = self._height(index, frame) - self._height(beside, frame)
        return 0 < style.size < _RAISED_SIZE * other.size and rise > _RAISED_BY * other.size

    def _height(self, index: int, frame: Frame) -> float:
        """Where the baseline of a character lies across the lines of a frame."""
        x, y = ctypes.c_double(), ctypes.c_double()
        self.page.raw.FPDFText_GetCharOrigin(self.page.text, index, ctypes.byref(x), ctypes.byref(y))
        point = to_page((4 - frame.turn) % 4, x.value, y.value, x.value, y.value)[:2]
        return frame.slant.height(*point) if frame.slant else point[1]

    def _run_of(self, word: _Word, start: int, end: int, frame: Frame) -> Run | None:
        """The piece as a run of its own; None when it is not to be read."""
        text = self.units[start:end]
        lefts, rights = frame.lefts[start:end], frame.rights[start:end]
        bottom, top = frame.bottoms[start], frame.tops[start]
        style = word.style if bottom == frame.bottoms[word.start] else self.page.styles([start])[0]
        low, high = min(frame.lows[start:end]), max(frame.highs[start:end])
        if self.is_odd and ODD.search(text):
            text, lefts, rights = self._letters(start, end, frame)
            if not text:
                return None
        x0, x1 = min(lefts), max(rights)
        if high <= low:  # a glyph without ink
            low, high = bottom, top
        run = Run(
            text, lefts, rights, x0, low, x1, high, bottom, top, style.size or top - bottom,
            style.is_bold, self.result.number, word.turn, {(style.size, style.is_bold): len(text)}, word.slant,
        )  # fmt: skip
        return run if self._is_to_be_read(run) else None

    def _letters(self, start: int, end: int, frame: Frame) -> tuple[str, array[float], array[float]]:
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
        frame_box = (run.x0, run.bottom, run.x1, run.top)
        x0, y0, x1, y1 = to_page(run.turn, *(run.slant.upright(*frame_box) if run.slant else frame_box))
        if not (self.box[0] <= (x0 + x1) / 2 <= self.box[2] and self.box[1] <= (y0 + y1) / 2 <= self.box[3]):
            result.outside.append(run.text)
            result.dropped["outside of the page"] += len(run.text)
            return False
        # Cells twice as large as the shift that counts: what stands so near has one of its four neighbours in common.
        step = max(_LEAST_STEP, run.size * 0.24)  # a share of the letters: a page may count in inches
        column, row = round(run.x0 / step), round(run.y0 / step)
        aside = column + (1 if run.x0 > column * step else -1)
        above = row + (1 if run.y0 > row * step else -1)
        seen, text = self.printed, (run.text, round(run.size, 1))  # another size has another grid
        key = (text, column, row)
        if key in seen or (text, aside, row) in seen or (text, column, above) in seen or (text, aside, above) in seen:
            result.dropped["printed twice"] += len(run.text)
            return False
        seen.add(key)
        return True

    def _put(self, run: Run | None, n_blanks: int, *, is_spaced: bool, is_raised: bool) -> None:
        dropped, added = self.result.dropped, self.result.added
        if run is None:
            dropped["white space"] += n_blanks
            return
        current = self.current
        gap = None if current is None else gap_between(current, run)
        if current is None or gap is None:
            self.flush()
            self.current = run
            dropped["white space"] += n_blanks
            return
        if is_raised and current.text[-1].isalnum():
            append_mark(current, run, _RAISED)  # "1947" and a small raised "3" are not 19473
            added["raised mark"] += 1
        elif is_spaced or gap > NEW_WORD * run.size:
            append_blank(current, run)
            dropped["white space"] += max(0, n_blanks - 1)
            added["blank between words"] += not n_blanks
        append(current, run)
