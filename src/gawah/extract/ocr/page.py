"""A picture of a page to its words: read as it stands, and where that goes badly looked at again in other ways.

Grain is filtered out before the first look. Every further look costs another run of tesseract, so it is taken only when
the last one was poor, and kept only when it is better: turned upright, in the languages of its script alone, enlarged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from PIL.Image import Image

from gawah.extract.ocr.picture import Setting, grey, has_grain, skew_degrees, without_grain
from gawah.extract.ocr.tesseract import Eyes, find_rotation, read
from gawah.extract.ocr.words import OcrLine, OcrPage, OcrWord, mean_confidence
from gawah.text import dominant_script

LOW_CONFIDENCE = 70.0
_GOOD_CONFIDENCE = 85.0  # beyond it no other look is taken; clean print has 90 to 96
_FEW_LETTERS = 12
_LONG_WORD = 4  # letters; such a word is wider than high
_UNREADABLE = 30.0  # words below are noise more often than words
_NO_PAGE = 40.0  # a page below is no page of text; pictures of snow have 30
_SMALL_LETTERS_PX = 20  # median height of a word's box; tesseract wants capitals of 20 to 30 pixels
_MOST_ENLARGED_PX = 6000
_LEAST_DPI, _MOST_DPI, _USUAL_DPI = 70, 1200, 300


@dataclass(frozen=True, slots=True)
class _Look:
    """One reading of the picture: how it was set, and the lines in the set picture's pixels."""

    setting: Setting
    lines: tuple[OcrLine, ...]

    @property
    def words(self) -> list[OcrWord]:
        return [word for line in self.lines for word in line.words]

    @property
    def is_good(self) -> bool:
        n_letters = sum(len(word.text) for word in self.words)
        return n_letters >= _FEW_LETTERS and mean_confidence(self.words) >= _GOOD_CONFIDENCE

    @property
    def worth(self) -> float:
        """Letters, each by the square of its confidence: much that is doubtful is worth less than a little that is sure."""
        return sum(len(word.text) * (word.confidence / 100) ** 2 for word in self.words)


def read_page(picture: Image, eyes: Eyes, dpi: int = 0) -> OcrPage:
    """The words of a picture with their boxes in its pixels; `dpi` 0 when it is not known.

    A page without text is an OcrPage without lines. Raises ExtractionError `ocr_failed`, `ocr_unavailable`.
    """
    dpi = dpi if _LEAST_DPI <= dpi <= _MOST_DPI else _USUAL_DPI
    plain = grey(picture)
    if has_grain(plain):
        plain = without_grain(plain)
    best = _look(plain, Setting(*plain.size), eyes, dpi)
    if sideways := _runs_sideways(best.lines):
        best = _look(plain, Setting(*plain.size, sideways), eyes, dpi)
    if not best.is_good:
        best = _turned(plain, best, eyes, dpi)
    script = dominant_script("".join(word.text for word in best.words))
    if (fewer := eyes.for_script(script)).languages != eyes.languages:
        best = max(best, _look(plain, best.setting, fewer, dpi), key=lambda look: look.worth)
    if not best.is_good and _may_be_enlarged(best, plain):
        best = max(best, _look(plain, replace(best.setting, scale=2), fewer, dpi), key=lambda look: look.worth)
    return _page(best)


def _look(plain: Image, setting: Setting, eyes: Eyes, dpi: int) -> _Look:
    """Reads a grey picture in a setting; the slant is found here, unless the setting has one."""
    if not setting.skew_degrees:
        setting = replace(setting, skew_degrees=skew_degrees(replace(setting, scale=1).apply(plain)))
    lines = read(eyes, setting.apply(plain), min(_MOST_DPI, dpi * setting.scale))
    return _Look(setting, tuple(lines))


def _runs_sideways(lines: Sequence[OcrLine]) -> int:
    """The quarter turns, clockwise, that set lines upright which tesseract read although they run up or down; 0 if none.

    It does so now and then, but not as well as with upright ones.
    """
    words = [word for line in lines for word in line.words if len(word.text) >= _LONG_WORD]
    n_tall = sum(word.y1 - word.y0 > word.x1 - word.x0 for word in words)
    if 2 * n_tall <= len(words):
        return 0
    steps = [after.y0 - before.y0 for line in lines for before, after in pairwise(line.words)]
    return 3 if sum(steps) > 0 else 1


def _turned(plain: Image, first: _Look, eyes: Eyes, dpi: int) -> _Look:
    """The better of the look and one at the picture turned as tesseract's finder says, or where it does not know at the
    picture turned all ways.
    """
    found = find_rotation(eyes, plain, dpi)
    turns = (1, 2, 3) if found is None else (found,) if found else ()
    best = first
    for quarter_turns in turns:
        look = _look(plain, Setting(*plain.size, quarter_turns), eyes, dpi)
        if look.worth > best.worth:
            best = look
    return best


def _may_be_enlarged(look: _Look, plain: Image) -> bool:
    heights = [word.y1 - word.y0 for word in look.words]
    return 2 * max(plain.size) <= _MOST_ENLARGED_PX and (not heights or median(heights) < _SMALL_LETTERS_PX)


def _page(look: _Look) -> OcrPage:
    setting = look.setting
    least = _UNREADABLE if mean_confidence(look.words) >= _NO_PAGE else 101.0
    lines: list[OcrLine] = []
    unreadable: list[OcrWord] = []
    for line in look.lines:
        words = [_led_back(word, setting) for word in line.words]
        kept = tuple(word for word in words if word.confidence >= least)
        unreadable += [word for word in words if word.confidence < least]
        if kept:
            lines.append(replace(line, words=kept))
    return OcrPage(
        setting.width, setting.height, tuple(lines), setting.quarter_turns, setting.skew_degrees, tuple(unreadable)
    )


def _led_back(word: OcrWord, setting: Setting) -> OcrWord:
    x0, y0, x1, y1 = setting.lead_back(word.x0, word.y0, word.x1, word.y1)
    return replace(word, x0=x0, y0=y0, x1=x1, y1=y1)
