"""A picture of a page to its words: read as it stands, and where that goes badly looked at again in other ways.

Grain is filtered out, the way the picture lies and its script are asked for, the slant is measured. Each further look
costs another run of tesseract, so it is taken only when the last one was poor, and kept only when it is better: in all
languages, turned another way, enlarged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from PIL.Image import Image

from gawah.extract.ocr.columns import in_columns
from gawah.extract.ocr.picture import Setting, grey, has_grain, is_blank, skew_degrees, without_grain
from gawah.extract.ocr.tesseract import Eyes, find_orientation, read
from gawah.extract.ocr.words import OcrLine, OcrPage, OcrWord, mean_confidence

LOW_CONFIDENCE = 70.0
_GOOD_CONFIDENCE = 85.0  # beyond it no other look is taken; clean print has 90 to 96
_DOUBTFUL = 50.0  # so words of another script are read, which is the reason to look with other languages
_DOUBTFUL_SHARE = 0.05
_FEW_LETTERS = 12
_FINDER_PX = 2400  # the longer side of the picture in which the orientation is looked for
_LONG_WORD = 4  # letters; such a word is wider than high
_UNREADABLE = 30.0  # words below are noise more often than words
_NO_PAGE = 40.0  # a page below is no page of text; pictures of snow have 30
_SMALL_LETTERS_PX = 20  # median height of a word's box; tesseract wants capitals of 20 to 30 pixels
_MOST_ENLARGED_PX = 6000
_LEAST_DPI, _MOST_DPI, _USUAL_DPI = 70, 1200, 300


@dataclass(frozen=True, slots=True)
class _Look:
    """One reading of the picture: how it was set, the lines in the set picture's pixels, and the script that was found."""

    setting: Setting
    lines: tuple[OcrLine, ...]
    script: str = ""

    @property
    def words(self) -> list[OcrWord]:
        return [word for line in self.lines for word in line.words]

    @property
    def is_good(self) -> bool:
        words = self.words
        n_letters = sum(len(word.text) for word in words)
        n_doubtful = sum(len(word.text) for word in words if word.confidence < _DOUBTFUL)
        return (
            n_letters >= _FEW_LETTERS
            and n_doubtful <= _DOUBTFUL_SHARE * n_letters
            and mean_confidence(words) >= _GOOD_CONFIDENCE
            and not _is_sideways(self.lines)
        )

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
    if is_blank(plain):
        return OcrPage(*plain.size)
    if has_grain(plain):
        plain = without_grain(plain)
    best = _upright(plain, eyes, dpi)
    if not best.is_good and _may_be_enlarged(best, plain):
        larger = replace(_look(plain, replace(best.setting, scale=2), eyes, dpi), script=best.script)
        best = max(best, larger, key=lambda look: look.worth)
    return _page(best)


def _look(plain: Image, setting: Setting, eyes: Eyes, dpi: int) -> _Look:
    """Reads a grey picture in a setting; the slant is found here, unless the setting has one."""
    if not setting.skew_degrees:
        setting = replace(setting, skew_degrees=skew_degrees(replace(setting, scale=1).apply(plain)))
    lines = read(eyes, setting.apply(plain), min(_MOST_DPI, dpi * setting.scale))
    return _Look(setting, tuple(in_columns(lines)))


def _upright(plain: Image, eyes: Eyes, dpi: int) -> _Look:
    """The best look at a grey picture as tesseract's finder says it lies, in the languages of the script it names; where
    that goes badly in all languages too, and turned the other ways.
    """
    scale = -(-max(plain.size) // _FINDER_PX)
    found = find_orientation(eyes, plain.reduce(scale) if scale > 1 else plain, max(_LEAST_DPI, dpi // scale))
    turns = found.quarter_turns if found else 0
    fewer = eyes.for_script(found.script) if found else eyes
    best = _look(plain, Setting(*plain.size, turns), fewer, dpi)
    if not best.is_good and fewer.languages != eyes.languages:
        best = max(best, _look(plain, best.setting, eyes, dpi), key=lambda look: look.worth)
    others = ((0,) if turns else ()) if found else (1, 2, 3)
    for other in () if best.is_good else others:
        look = _look(plain, Setting(*plain.size, other), eyes, dpi)
        if look.worth > best.worth * (0.5 if _is_sideways(best.lines) else 1.0):
            best = look
    return replace(best, script=found.script if found else "")


def _is_sideways(lines: Sequence[OcrLine]) -> bool:
    """Whether the words run up or down: tesseract reads such lines too now and then, but not as well as upright ones."""
    words = [word for line in lines for word in line.words if len(word.text) >= _LONG_WORD]
    return 2 * sum(word.y1 - word.y0 > word.x1 - word.x0 for word in words) > len(words)


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
        setting.width,
        setting.height,
        tuple(lines),
        setting.quarter_turns,
        setting.skew_degrees,
        tuple(unreadable),
        look.script,
    )


def _led_back(word: OcrWord, setting: Setting) -> OcrWord:
    x0, y0, x1, y1 = setting.lead_back(word.x0, word.y0, word.x1, word.y1)
    return replace(word, x0=x0, y0=y0, x1=x1, y1=y1)
