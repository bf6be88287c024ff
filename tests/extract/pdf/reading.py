"""Documents from bytes, and what stands in the boxes of a quote, read by pdfium itself."""

import ctypes

from gawah.chunk import chunk_document
from gawah.extract.pdf import PdfExtractor
from gawah.fragment import locate
from gawah.testing.extractor import assert_is_sound, source_of
from gawah.types import PageBoxes, Span


def read(data, name="a.pdf"):
    document = PdfExtractor().extract(source_of(name, data, "application/pdf"), data)
    assert_is_sound(document)
    return document


def span_of(document, words):
    start = document.text.index(words)
    return Span(start, start + len(words))


def locator_of(document, words):
    return locate(document.places, document.text, span_of(document, words))


def chunks_of(document):
    """By the default chunker, with words for tokens."""
    return chunk_document(document, count_tokens=lambda texts: [len(text.split()) for text in texts], window_tokens=256)


def letters(text):
    return sorted(letter for letter in text if letter.isalnum())


class BoxReader:
    """What pdfium finds in boxes: the characters whose middle lies inside, and those that a box touches."""

    def __init__(self, data):
        import pypdfium2

        self.pdf = pypdfium2.PdfDocument(data)
        self.pages = {}

    def inside(self, locator):
        assert isinstance(locator, PageBoxes)
        found = []
        for box in locator.boxes:
            for letter, x, y in self._characters(box.page):
                if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1:
                    found.append(letter)
        return "".join(found)

    def touched(self, locator):
        return "".join(self._text(box.page).get_text_bounded(box.x0, box.y0, box.x1, box.y1) for box in locator.boxes)

    def all_of(self, page):
        return self._text(page).get_text_range()

    def _text(self, page):
        if page not in self.pages:
            self.pages[page] = (self.pdf[page - 1].get_textpage(), None)
        return self.pages[page][0]

    def _characters(self, page):
        import pypdfium2.raw as raw

        text, known = self._text(page), self.pages[page][1]
        if known is None:
            known = []
            for index in range(text.count_chars()):
                edges = [ctypes.c_double() for _ in range(4)]
                raw.FPDFText_GetCharBox(text, index, *edges)
                left, right, bottom, top = (edge.value for edge in edges)
                known.append((chr(raw.FPDFText_GetUnicode(text, index)), (left + right) / 2, (bottom + top) / 2))
            self.pages[page] = (text, known)
        return known
