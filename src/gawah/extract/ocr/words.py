"""What was read in a picture: words with boxes and confidences, in lines, in reading order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OcrWord:
    """A word and its box in pixels, origin at the top left; confidence from 0 to 100."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float


@dataclass(frozen=True, slots=True)
class OcrLine:
    """Words in reading order; lines with the same block (a column, a heading) and paragraph belong together."""

    words: tuple[OcrWord, ...]
    block: int
    paragraph: int

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class OcrPage:
    """A picture of `width` x `height` pixels, read. Boxes are those of the picture as it was given.

    turn: which way the text runs in it, in quarter turns: 0 to the right, 1 up, 2 to the left, 3 down; skew_degrees: by
    how much more its lines rise. `unreadable` are words that were too unsure to keep; none of them is in `lines`. `script`: of most of it, as tesseract's finder names it, "" where it cannot tell.
    """

    width: int
    height: int
    lines: tuple[OcrLine, ...] = ()
    turn: int = 0
    skew_degrees: float = 0.0
    unreadable: tuple[OcrWord, ...] = ()
    script: str = ""

    @property
    def words(self) -> list[OcrWord]:
        return [word for line in self.lines for word in line.words]

    @property
    def confidence(self) -> float:
        """The mean of the words' confidences, by their letters; 0 without words. Words that were left out count."""
        return mean_confidence([*self.words, *self.unreadable])


def mean_confidence(words: Iterable[OcrWord]) -> float:
    weighed = [(len(word.text), word.confidence) for word in words]
    n_letters = sum(n for n, _ in weighed)
    return sum(n * confidence for n, confidence in weighed) / n_letters if n_letters else 0.0
