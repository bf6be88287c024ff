"""A PDF to a document: pages read, judged, freed of furniture, put in reading order and written as one text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gawah.errors import ExtractionError
from gawah.extract.canonical import language_of, require_visible, stem
from gawah.extract.pdf.flow import add_paragraphs, usual_size, with_footnotes
from gawah.extract.pdf.furniture import furniture
from gawah.extract.pdf.headings import mark_headings
from gawah.extract.pdf.initials import with_initials
from gawah.extract.pdf.joints import vocabulary
from gawah.extract.pdf.lines import connected, lines_of
from gawah.extract.pdf.order import regions
from gawah.extract.pdf.paragraphs import Paragraph, paragraph_of, paragraphs
from gawah.extract.pdf.pdfium import open_pdf
from gawah.extract.pdf.reading import (
    ReadByEye,
    Reading,
    mend_words,
    quality_of,
    read_pages,
    require_text,
    warnings_of,
)
from gawah.extract.pdf.runs import PageText, Run
from gawah.extract.pdf.slants import Setting
from gawah.extract.pdf.tables import Table, is_continued, is_rest_of_row, n_repeated_head_rows, table_of
from gawah.extract.pdf.writer import Writer
from gawah.fingerprint import document_id
from gawah.types import BlockKind, Box, Conservation, Document, PageBoxes, Removal, SourceFile

_NO_TITLE = re.compile(
    r"untitled|.*\.(?:docx?|pptx?|xlsx?|html?|pdf|indd|qxd|tex|dvi|ps|rtf|odt|txt|wpd|fm|md)|microsoft (?:word|powerpoint)\b.*"
    r"|document\d*|slide \d+|title|about:blank|[\W\d_]*",
    re.IGNORECASE,
)
_LONGEST_TITLE_CHARS = 200


class PdfExtractor:
    """application/pdf. `read_by_eye` reads the pages whose text is an image or in a code; without it they stay unread."""

    name = "pdf"
    version = 4

    def __init__(self, read_by_eye: ReadByEye | None = None) -> None:
        self._read_by_eye = read_by_eye

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the metadata's, when it is one, else the first page's largest heading, else the file's name.

        Raises ExtractionError `encrypted`, `damaged`, `too_large`, `no_text`, `garbled`, `empty`, `ocr_unavailable` or
        `ocr_failed`.
        """
        if not data.strip(b" \t\r\n\x00"):
            raise ExtractionError("empty", "there is no text in it")
        with open_pdf(data) as pdf:
            reading = read_pages(pdf, self._read_by_eye)
            mend_words(reading, data)
            given_title, declared = pdf.title(), pdf.language()
            bookmarks = pdf.bookmarks()
            labels = {page.number: pdf.label(page.number - 1) for page in reading.pages}
            is_mended = pdf.is_mended
        require_text(reading)
        parts = _parts(reading)
        mark_headings([part for part in parts if isinstance(part, Paragraph) and not part.mark], bookmarks)
        writer = Writer(labels, vocabulary(run.words for page in reading.pages for run in page.runs))
        for part in parts:
            if isinstance(part, Table):
                writer.write_table(part)
            else:
                writer.write_paragraph(part)
        text = writer.text
        require_visible(text)
        return Document(
            id=document_id(source.collection, source.name),
            source=source,
            title=_title(given_title, parts, source.name),
            language=_language(text, declared),
            text=text,
            blocks=tuple(writer.blocks),
            places=tuple(writer.places),
            extractor=f"{self.name}/{self.version}",
            conservation=_books(reading, writer),
            warnings=warnings_of(reading, is_mended=is_mended),
            removed=tuple(reading.removed),
            quality=quality_of(reading, sum(isinstance(part, Table) for part in parts)),
        )


def _parts(reading: Reading) -> list[Paragraph | Table]:
    """Paragraphs and tables in reading order, those that go on in the next column or on the next page in one piece."""
    reading.added["blank between words"] += with_initials(reading.pages)
    marked = furniture(reading.pages)
    usual = usual_size(reading.pages)
    parts: list[Paragraph | Table] = []
    for page in reading.pages:
        _note_removed(reading, page, marked)
        kept = [run for run in page.runs if id(run) not in marked]
        for setting in _settings(page):
            runs, n_blanks = connected([run for run in kept if (run.turn, run.slant) == setting])
            reading.added["blank between words"] += n_blanks
            for region in regions(runs):
                reading.most_columns = max(reading.most_columns, region.n_columns_beside)
                if region.cuts:
                    _add_table(reading, parts, table_of(region))
                else:
                    add_paragraphs(parts, with_footnotes(paragraphs(region), page, usual))
        parts += [paragraph_of(remark) for remark in page.remarks]
    return parts


def _settings(page: PageText) -> list[Setting]:
    """The turns and slants of a page's runs, first those of most of its text, slanted before level."""
    found = dict.fromkeys((run.turn, run.slant) for run in page.runs)
    return sorted(found, key=lambda setting: (setting[0] != page.turn, setting[0], setting[1] is None))


def _add_table(reading: Reading, parts: list[Paragraph | Table], table: Table) -> None:
    last = parts[-1] if parts else None
    if not isinstance(last, Table) or not is_continued(last, table):
        parts.append(table)
        return
    n_heads = n_repeated_head_rows(last, table)
    for row in table.rows[:n_heads]:
        runs = [run for cell in row for run in cell]
        _remove(reading, "head of a table, repeated", runs)
    rows = table.rows[n_heads:]
    if rows and is_rest_of_row(last.rows[-1], rows[0]):
        for cell, more in zip(last.rows[-1], rows.pop(0), strict=True):
            cell.extend(more)
    last.rows.extend(rows)
    last.pages = (last.pages[0], table.pages[1])


def _note_removed(reading: Reading, page: PageText, marked: dict[int, str]) -> None:
    for reason in dict.fromkeys(marked[id(run)] for run in page.runs if id(run) in marked):
        for turn in range(4):
            runs = [run for run in page.runs if marked.get(id(run)) == reason and run.turn == turn]
            for line in lines_of(runs):
                _remove(reading, reason, line.runs)


def _remove(reading: Reading, reason: str, runs: Sequence[Run]) -> None:
    page = runs[0].page
    boxes = tuple(Box(page, *(round(side, 2) for side in run.on_page(run.x0, run.x1))) for run in runs)
    reading.removed.append(Removal(reason, " ".join(run.words for run in runs), PageBoxes(page, page, "", boxes)))
    reading.dropped[reason] += sum(len(run.words) for run in runs)


def _books(reading: Reading, writer: Writer) -> Conservation:
    dropped, added = reading.dropped + writer.dropped, reading.added + writer.added
    for page in reading.pages:
        dropped += page.dropped
        added += page.added
    return Conservation(
        reading.n_read, writer.length, {k: n for k, n in dropped.items() if n}, {k: n for k, n in added.items() if n}
    )


def _language(text: str, declared: str) -> str:
    """The declared tag, unless the text is in another script than the Latin of the tag that programs write unasked."""
    found = language_of(text)
    is_plain_english = declared.lower().startswith("en") and found not in ("und", "und-Latn")
    return found if is_plain_english else language_of(text, declared)


def _title(given: str, parts: Sequence[Paragraph | Table], name: str) -> str:
    title = " ".join(given.split())
    if title and len(title) <= _LONGEST_TITLE_CHARS and title.isprintable() and not _NO_TITLE.fullmatch(title):
        return title
    headings = [part for part in parts if isinstance(part, Paragraph) and part.kind is BlockKind.HEADING]
    largest = [part for part in headings if part.level == 1]
    # Several headings of the first level are chapters; the one that stands above them all is the title.
    if len(largest) == 1 and largest[0] in headings[:2] and largest[0].lines[0].runs[0].page <= 2:
        return " ".join(largest[0].text.split())
    return stem(name)
