"""The words that were recognised in the picture of a page to runs, like those of a page with text, set straight.

A letter size is not recognised: it follows from how high a word's box is and from which of its letters reach up or
down. Sizes near that of most of the page's letters are taken for it, since boxes are a pixel or two off.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gawah.extract.ocr.words import OcrLine, OcrPage, OcrWord
from gawah.extract.pdf.drawing import Drawing
from gawah.extract.pdf.frame import RTL, Slant, to_page
from gawah.extract.pdf.letters import ODD, letters_of
from gawah.extract.pdf.runs import NEW_RUN, PageText, Run

# Heights over and under the baseline, in shares of the letter size, as most Latin fonts have them.
_TALL, _LOW, _DEEP = 0.72, 0.53, 0.21
_HAS_TALL = re.compile(r"[A-ZÀ-Þ0-9bdfhklißà-öø-ÿ!?()\[\]{}/|\\&%$€£@#'\"“”‘’*]")
_HAS_DEEP = re.compile(r"[gjpqyQçÇ,;()\[\]{}/|\\@$]")
_ALPHABETIC = re.compile(r"[A-Za-zÀ-ÿ0-9]")
_OTHER_HEIGHT = 1.0  # of a word in another script
_NEAR, _NEAR_IF_SHORT = 0.15, 0.25  # so far from the page's letter size a line's size is taken for it
_SHORT_LINE = 12  # letters
_LEAST_SIZE_PT = 1.0
_NARROW, _WIDE = frozenset("iljtfrI1.,:;'!|()[]"), frozenset("mwMW@%")
_LOW_CONFIDENCE = 70.0  # per cent; as of images


@dataclass(slots=True)
class _Word:
    """A word in the straightened reading frame, and its letters as they go into the text."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def is_rtl(self) -> bool:
        return RTL.search(self.text) is not None and any(unicodedata.bidirectional(c) in ("R", "AL") for c in self.text)


@dataclass(slots=True)
class _Line:
    words: list[_Word]
    size: float
    baseline: float

    @property
    def n_letters(self) -> int:
        return sum(len(word.text) for word in self.words)


def page_text(seen: OcrPage, drawing: Drawing, number: int, notes: tuple[str, ...] = ()) -> PageText:
    """The runs of a page, in the order in which its lines were read; `number` counts from 1."""
    turn = (seen.turn + drawing.rotation // 90) % 4
    page = PageText(number, drawing.box, turn=turn, confidence=round(seen.confidence / 100, 2), notes=notes)
    left, low, right, high = page.frame_box()
    slant = Slant(seen.skew_degrees, (left + right) / 2, (low + high) / 2) if seen.skew_degrees else None
    lines = [line for found in seen.lines if (line := _line(found, page, drawing, slant))]
    confidence = 1.0 if seen.confidence >= _LOW_CONFIDENCE else round(seen.confidence / 100, 2)
    for line in _with_even_sizes(lines):
        for words in _apart(line):
            run = _run(words, line, page)
            page.runs.append(replace(run, slant=slant, confidence=confidence))
    page.n_letters = sum(len(word.text) for word in seen.words)
    page.n_read = page.n_letters + sum(len(word.text) for word in seen.unreadable)
    page.dropped["unreadable words"] += page.n_read - page.n_letters
    page.unreadable = [(word.text, drawing.to_page(word.x0, word.y0, word.x1, word.y1)) for word in seen.unreadable]
    return page


def _line(line: OcrLine, page: PageText, drawing: Drawing, slant: Slant | None) -> _Line | None:
    words = [word for found in line.words if (word := _word(found, page, drawing, slant)).text]
    if not words:
        return None
    measured = [(*_size_and_baseline(word), len(word.text)) for word in words]
    alphabetic = [row for row, word in zip(measured, words, strict=True) if _ALPHABETIC.search(word.text)] or measured
    size = _weighed_median((size, weight) for size, _, weight in alphabetic)
    return _Line(
        words, max(_LEAST_SIZE_PT, size), _weighed_median((baseline, weight) for _, baseline, weight in alphabetic)
    )


def _word(word: OcrWord, page: PageText, drawing: Drawing, slant: Slant | None) -> _Word:
    text = word.text
    if ODD.search(text):
        text = letters_of(text, [False] * len(text), page.dropped, page.added)[0]
    box = to_page((4 - page.turn) % 4, *drawing.to_page(word.x0, word.y0, word.x1, word.y1))
    return _Word(text, *(slant.straight(*box) if slant else box))


def _size_and_baseline(word: _Word) -> tuple[float, float]:
    height = word.y1 - word.y0
    if not _ALPHABETIC.search(word.text):
        return height / _OTHER_HEIGHT, word.y0 + _DEEP * height
    above = _TALL if _HAS_TALL.search(word.text) else _LOW
    below = _DEEP if _HAS_DEEP.search(word.text) else 0.0
    size = height / (above + below)
    return size, word.y0 + below * size


def _weighed_median(values: Iterable[tuple[float, int]]) -> float:
    """The value on which half of the weight lies on either side."""
    rows = sorted(values)
    half, so_far = sum(weight for _, weight in rows) / 2, 0
    for value, weight in rows:
        so_far += weight
        if so_far >= half:
            return value
    return rows[-1][0]


def _with_even_sizes(lines: Sequence[_Line]) -> list[_Line]:
    if not lines:
        return []
    body = round(2 * _weighed_median((line.size, line.n_letters) for line in lines)) / 2
    body = max(_LEAST_SIZE_PT, body)
    return [replace(line, size=_evened(line, body)) for line in lines]


def _evened(line: _Line, body: float) -> float:
    near = _NEAR_IF_SHORT if line.n_letters < _SHORT_LINE else _NEAR
    return body if abs(line.size - body) <= near * body else max(_LEAST_SIZE_PT, round(2 * line.size) / 2)


def _apart(line: _Line) -> list[list[_Word]]:
    """The words of a line, in reading order, in groups with no wide blank inside, from left to right."""
    groups: list[list[int]] = []
    right = 0.0
    for index in sorted(range(len(line.words)), key=lambda index: line.words[index].x0):
        word = line.words[index]
        if groups and word.x0 - right <= NEW_RUN * line.size:
            groups[-1].append(index)
            right = max(right, word.x1)
        else:
            groups.append([index])
            right = word.x1
    return [[line.words[index] for index in sorted(group)] for group in groups]


def _run(words: Sequence[_Word], line: _Line, page: PageText) -> Run:
    text, lefts, rights = "", array("d"), array("d")
    for before, word in zip([None, *words], words, strict=False):
        if before is not None:
            text += " "
            is_back = word.x1 <= before.x0
            lefts.append(word.x1 if is_back else before.x1)
            rights.append(before.x0 if is_back else max(before.x1, word.x0))
            page.added["blank between words"] += 1
        text += word.text
        edges = _edges(word)
        lefts.extend(min(pair) for pair in pairwise(edges))
        rights.extend(max(pair) for pair in pairwise(edges))
    styles = Counter({(line.size, False): len(text)})
    return Run(
        text, lefts, rights,
        min(word.x0 for word in words), min(word.y0 for word in words),
        max(word.x1 for word in words), max(word.y1 for word in words),
        line.baseline - _DEEP * line.size, line.baseline + (1 - _DEEP) * line.size,
        line.size, False, page.number, page.turn, styles,  # noqa: FBT003
    )  # fmt: skip


def _edges(word: _Word) -> list[float]:
    """Where each letter of a word begins, in reading order, and the last one ends: its box by their usual widths."""
    widths = [0.5 if letter in _NARROW else 1.5 if letter in _WIDE else 1.0 for letter in word.text]
    unit = (word.x1 - word.x0) / sum(widths)
    at, step = (word.x1, -unit) if word.is_rtl else (word.x0, unit)
    edges = [at]
    for width in widths:
        at += step * width
        edges.append(at)
    return edges
