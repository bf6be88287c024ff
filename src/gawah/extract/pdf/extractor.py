"""A PDF to a document: pages read, judged, freed of furniture, put in reading order and written as one text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gawah.errors import ExtractionError
from gawah.extract.canonical import language_of, require_visible, stem
from gawah.extract.pdf.frame import to_page
from gawah.extract.pdf.furniture import furniture
from gawah.extract.pdf.headings import mark_headings
from gawah.extract.pdf.joints import vocabulary
from gawah.extract.pdf.judge import PageKind, page_kind
from gawah.extract.pdf.lines import connected, lines_of
from gawah.extract.pdf.order import regions
from gawah.extract.pdf.page import PdfPage
from gawah.extract.pdf.paragraphs import Paragraph, continues, paragraphs
from gawah.extract.pdf.pdfium import Pdf, open_pdf
from gawah.extract.pdf.poppler import PACKAGE, is_indic, is_installed, with_words_mended
from gawah.extract.pdf.runs import PageText, Run
from gawah.extract.pdf.tables import Table, is_continued, n_repeated_head_rows, table_of
from gawah.extract.pdf.words import read_page
from gawah.extract.pdf.writer import Writer
from gawah.fingerprint import document_id
from gawah.types import BlockKind, Box, Conservation, Document, PageBoxes, Removal, SourceFile

ReadByEye = Callable[[PdfPage, int], PageText | None]
"""OCR: a page and its number to its text, None when it cannot be read that way either."""

_NO_TITLE = re.compile(
    r"untitled|.*\.(?:docx?|pptx?|xlsx?|html?|pdf|indd|qxd|tex|dvi|ps|rtf|odt|txt|wpd|fm|md)|microsoft (?:word|powerpoint)\b.*"
    r"|document\d*|slide \d+|title|about:blank|[\W\d_]*",
    re.IGNORECASE,
)
_LONGEST_TITLE_CHARS = 200
_INVISIBLE_SHARE = 0.1
_NAMED_PAGES = 8  # in a warning; all are counted


class PdfExtractor:
    """application/pdf. `read_by_eye` reads the pages whose text is an image or in a code; without it they stay unread."""

    name = "pdf"
    version = 1

    def __init__(self, read_by_eye: ReadByEye | None = None) -> None:
        self._read_by_eye = read_by_eye

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the metadata's, when it is one, else the first page's largest heading, else the file's name.

        Raises ExtractionError `encrypted`, `damaged`, `too_large`, `no_text`, `garbled` or `empty`.
        """
        if not data.strip(b" \t\r\n\x00"):
            raise ExtractionError("empty", "there is no text in it")
        with open_pdf(data) as pdf:
            reading = _read(pdf, self._read_by_eye)
            _mend_words(reading, data)
            given_title, declared = pdf.title(), pdf.language()
            bookmarks = pdf.bookmarks()
            labels = {page.number: pdf.label(page.number - 1) for page in reading.pages}
            is_mended = pdf.is_mended
        _require_text(reading)
        parts = _parts(reading)
        mark_headings([part for part in parts if isinstance(part, Paragraph)], bookmarks)
        writer = Writer(labels, vocabulary(run.text for page in reading.pages for run in page.runs))
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
            warnings=_warnings(reading, is_mended=is_mended),
            removed=tuple(reading.removed),
            quality=_quality(reading, parts),
        )


@dataclass(slots=True)
class _Reading:
    """The pages that were read, what became of the others, and what was left out."""

    pages: list[PageText] = field(default_factory=list)
    kinds: dict[int, PageKind] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)
    removed: list[Removal] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)
    rotations: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    n_read: int = 0
    most_columns: int = 1

    def wanting_ocr(self) -> list[int]:
        """The numbers of the pages that only an eye can read."""
        return [number for number, kind in self.kinds.items() if kind in ("image_only", "garbled")]


def _read(pdf: Pdf, read_by_eye: ReadByEye | None) -> _Reading:
    reading = _Reading()
    for index in range(pdf.n_pages):
        with pdf.page(index) as source:
            if source is None:
                reading.broken.append(index + 1)
                continue
            page = read_page(source, index + 1)
            kind = page_kind(page, source)
            reading.rotations[index + 1] = source.rotation()
            seen = read_by_eye(source, index + 1) if read_by_eye and kind in ("image_only", "garbled") else None
        if seen is not None:
            page, kind = seen, "text"
        reading.kinds[index + 1] = kind
        if kind != "text":
            _leave_out(reading, page)
        else:
            _take(reading, page)
    return reading


def _leave_out(reading: _Reading, page: PageText) -> None:
    """A page that is not to be indexed; what it says is written down as removed."""
    text = " ".join(run.text for run in page.runs)
    reading.n_read += page.n_read
    if page.n_read:
        reading.dropped["garbled text" if reading.kinds[page.number] == "garbled" else "text on an image"] += (
            page.n_read
        )
    if text:
        reading.removed.append(Removal("garbled text", text, PageBoxes(page.number, page.number)))


def _take(reading: _Reading, page: PageText) -> None:
    reading.pages.append(page)
    reading.n_read += page.n_read
    for reason, words in (("text at an angle", page.aslant), ("outside of the page", page.outside)):
        if words:
            reading.removed.append(Removal(reason, " ".join(words), PageBoxes(page.number, page.number)))


def _mend_words(reading: _Reading, data: bytes) -> None:
    """Has the words of pages in Indic scripts told apart by poppler, if it is installed; else says what is missing."""
    pages = [page for page in reading.pages if is_indic(page)]
    if not pages:
        return
    rotations = [reading.rotations[page.number] for page in pages]
    if not is_installed():
        reading.notes.append(
            f"{_named([page.number for page in pages])} in an Indic script may have blanks inside words; "
            f"install {PACKAGE} and ingest it again"
        )
    elif not with_words_mended(data, pages, rotations):
        reading.notes.append(
            f"{_named([page.number for page in pages])} in an Indic script: {PACKAGE} could not read it"
        )


def _require_text(reading: _Reading) -> None:
    if reading.pages:
        return
    kinds = set(reading.kinds.values())
    if "garbled" in kinds:
        raise ExtractionError("garbled", "its fonts do not say which letters they draw; OCR would read it")
    if "image_only" in kinds:
        raise ExtractionError("no_text", "its pages are images without text; OCR would read it")
    if reading.broken and not kinds:
        raise ExtractionError("damaged", "none of its pages can be read; export it again")
    raise ExtractionError("empty", "there is no text in it")


def _parts(reading: _Reading) -> list[Paragraph | Table]:
    """Paragraphs and tables in reading order, those that go on in the next column or on the next page in one piece."""
    marked = furniture(reading.pages)
    parts: list[Paragraph | Table] = []
    for page in reading.pages:
        _note_removed(reading, page, marked)
        for turn in sorted({run.turn for run in page.runs}, key=lambda turn: (turn != page.turn, turn)):
            runs, n_blanks = connected([run for run in page.runs if run.turn == turn and id(run) not in marked])
            reading.added["blank between words"] += n_blanks
            for region in regions(runs):
                reading.most_columns = max(reading.most_columns, region.n_columns_beside)
                if region.cuts:
                    _add_table(reading, parts, table_of(region))
                else:
                    _add_paragraphs(parts, paragraphs(region))
    return parts


def _add_table(reading: _Reading, parts: list[Paragraph | Table], table: Table) -> None:
    last = parts[-1] if parts else None
    if not isinstance(last, Table) or not is_continued(last, table):
        parts.append(table)
        return
    n_heads = n_repeated_head_rows(last, table)
    for row in table.rows[:n_heads]:
        runs = [run for cell in row for run in cell]
        _remove(reading, "head of a table, repeated", runs)
    last.rows.extend(table.rows[n_heads:])
    last.pages = (last.pages[0], table.pages[1])


def _add_paragraphs(parts: list[Paragraph | Table], found: list[Paragraph]) -> None:
    last = parts[-1] if parts else None
    if isinstance(last, Paragraph) and continues(last, found[0]):
        last.lines.extend(found[0].lines)
        last.is_open = found[0].is_open
        found = found[1:]
    parts.extend(found)


def _note_removed(reading: _Reading, page: PageText, marked: dict[int, str]) -> None:
    for reason in dict.fromkeys(marked[id(run)] for run in page.runs if id(run) in marked):
        for turn in range(4):
            runs = [run for run in page.runs if marked.get(id(run)) == reason and run.turn == turn]
            for line in lines_of(runs):
                _remove(reading, reason, line.runs)


def _remove(reading: _Reading, reason: str, runs: Sequence[Run]) -> None:
    page = runs[0].page
    boxes = tuple(
        Box(page, *(round(side, 2) for side in to_page(run.turn, run.x0, run.y0, run.x1, run.y1))) for run in runs
    )
    reading.removed.append(Removal(reason, " ".join(run.text for run in runs), PageBoxes(page, page, "", boxes)))
    reading.dropped[reason] += sum(len(run.text) for run in runs)


def _books(reading: _Reading, writer: Writer) -> Conservation:
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


def _warnings(reading: _Reading, *, is_mended: bool) -> tuple[str, ...]:
    warnings: list[str] = []
    if is_mended:
        warnings.append("recovered: the file is damaged; what could be found in it was read")
    by_kind: dict[str, list[int]] = {}
    for number, kind in reading.kinds.items():
        by_kind.setdefault(kind, []).append(number)
    for numbers, reason in (
        (reading.broken, "cannot be read; they are left out"),
        (by_kind.get("image_only", []), "are images without text; unread without OCR"),
        (by_kind.get("garbled", []), "are in fonts that do not say which letters they draw; unread without OCR"),
        (_with_invisible_text(reading.pages), "have invisible text, as OCR puts under a scan; it was taken as it is"),
    ):
        if numbers:
            warnings.append(f"{_named(numbers)} {reason}")
    return (*warnings, *reading.notes)


def _with_invisible_text(pages: Sequence[PageText]) -> list[int]:
    return [page.number for page in pages if page.n_invisible > _INVISIBLE_SHARE * page.n_letters]


def _named(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:_NAMED_PAGES])
    more = f" and {len(numbers) - _NAMED_PAGES} more" if len(numbers) > _NAMED_PAGES else ""
    return f"{len(numbers)} page{'s' if len(numbers) > 1 else ''} ({shown}{more})"


def _quality(reading: _Reading, parts: Sequence[Paragraph | Table]) -> dict[str, int]:
    unread = len(reading.broken) + len(reading.wanting_ocr())
    return {
        "pages": len(reading.broken) + len(reading.kinds),
        "pages_read": len(reading.pages),
        "pages_unread": unread,
        "pages_invisible_text": len(_with_invisible_text(reading.pages)),
        "columns": reading.most_columns,
        "tables": sum(isinstance(part, Table) for part in parts),
    }
