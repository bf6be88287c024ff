"""Pages that were read to one canonical text: paragraphs joined over their lines, a place for every word."""

from __future__ import annotations

import re
from collections import Counter

from gawah.extract.ocr.page import LOW_CONFIDENCE
from gawah.extract.ocr.paragraphs import is_short, paragraphs
from gawah.extract.ocr.words import OcrLine, OcrPage, OcrWord
from gawah.types import Block, BlockKind, Conservation, ImageBox, Place, Removal, Span

_HYPHENATED = re.compile(r"[^\W\d_]{2,}[-‐]$")


class Writer:
    """Takes page by page; `text`, `blocks`, `places`, `removed` and `conservation` are what has come of them."""

    def __init__(self, vocabulary: frozenset[str]) -> None:
        """`vocabulary`: all words of the document in small letters; a hyphen at a line's end stays in words it knows."""
        self._vocabulary = vocabulary
        self._pieces: list[str] = []
        self._at = 0
        self._n_read = 0
        self._dropped: Counter[str] = Counter()
        self._added: Counter[str] = Counter()
        self.blocks: list[Block] = []
        self.places: list[Place] = []
        self.removed: list[Removal] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def conservation(self) -> Conservation:
        return Conservation(self._n_read, self._at, dict(self._dropped), dict(self._added))

    def write(self, page: OcrPage, number: int) -> None:
        """Writes the page with that number, from 1."""
        for paragraph in paragraphs(page):
            if self._at:
                self._add("\n\n")
            start = self._at
            for index, line in enumerate(paragraph):
                if index:
                    self._join(paragraph[index - 1], line, page)
                self._line(line, page, number)
            self.blocks.append(Block(BlockKind.PARAGRAPH, Span(start, self._at)))
        if page.unreadable:
            text = " ".join(word.text for word in page.unreadable)
            self.removed.append(Removal(f"unreadable words on page {number}", text))
            n_letters = sum(len(word.text) for word in page.unreadable)
            self._n_read += n_letters
            self._dropped["unreadable words"] += n_letters

    def _line(self, line: OcrLine, page: OcrPage, number: int) -> None:
        for index, word in enumerate(line.words):
            if index:
                self._add(" ")
            self._n_read += len(word.text)
            self.places.append(Place(Span(self._at, self._at + len(word.text)), _box(word, page, number)))
            self._put(word.text)

    def _join(self, before: OcrLine, after: OcrLine, page: OcrPage) -> None:
        """Puts what stands between two lines of a paragraph: a line that stops short keeps its break."""
        last, first = before.words[-1].text, after.words[0].text
        if _HYPHENATED.search(last) and first[:1].islower():
            whole = (last + first).lower().strip(".,;:!?")
            if whole not in self._vocabulary:
                self._drop_hyphen()
            return
        block = [line for line in page.lines if line.block == before.block]
        self._add("\n" if is_short(before, block, page.turn) else " ")

    def _drop_hyphen(self) -> None:
        self._pieces[-1] = self._pieces[-1][:-1]
        self._at -= 1
        self._dropped["hyphen at a line's end"] += 1
        place = self.places[-1]
        self.places[-1] = Place(Span(place.span.start, place.span.end - 1), place.locator)

    def _add(self, separator: str) -> None:
        self._added["between words"] += len(separator)
        self._put(separator)

    def _put(self, text: str) -> None:
        self._pieces.append(text)
        self._at += len(text)


def _box(word: OcrWord, page: OcrPage, number: int) -> ImageBox:
    x, y = 100 * word.x0 / page.width, 100 * word.y0 / page.height
    width, height = 100 * (word.x1 - word.x0) / page.width, 100 * (word.y1 - word.y0) / page.height
    confidence = 1.0 if page.confidence >= LOW_CONFIDENCE else round(page.confidence / 100, 2)
    return ImageBox(round(x, 3), round(y, 3), round(width, 3), round(height, 3), number, confidence)
