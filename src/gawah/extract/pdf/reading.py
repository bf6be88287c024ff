"""The pages of a PDF one by one: read, judged, those that cannot be read left out and named; what to say of them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gawah.errors import ExtractionError
from gawah.extract.pdf.judge import PageKind, page_kind
from gawah.extract.pdf.page import PdfPage
from gawah.extract.pdf.pdfium import Pdf
from gawah.extract.pdf.poppler import PACKAGE, is_indic, is_installed, with_words_mended
from gawah.extract.pdf.remarks import annotations_shown, drawn_upon, put_upon, said_upon
from gawah.extract.pdf.runs import PageText
from gawah.extract.pdf.words import read_page
from gawah.types import Box, PageBoxes, Removal

ReadByEye = Callable[[PdfPage, int], PageText]
"""OCR: a page and its number to its text, without runs when there is none in it; raises ExtractionError."""

_INVISIBLE_SHARE = 0.1
_LOW_CONFIDENCE = 0.7  # as of images
_NAMED_PAGES = 8  # in a warning; all are counted


@dataclass(slots=True)
class Reading:
    """The pages that were read, what became of the others, and what was left out.

    seen: the confidence of each page that was read by eye, from 0 to 1; unseen: why one could not be.
    """

    pages: list[PageText] = field(default_factory=list)
    kinds: dict[int, PageKind] = field(default_factory=dict)
    seen: dict[int, float] = field(default_factory=dict)
    unseen: dict[int, ExtractionError] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)
    removed: list[Removal] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)
    rotations: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    n_read: int = 0
    n_fields: int = 0
    n_remarks: int = 0
    most_columns: int = 1

    def wanting_ocr(self) -> list[int]:
        """The numbers of the pages that only an eye can read, and none has."""
        return [number for number, kind in self.kinds.items() if kind in ("image_only", "garbled")]


def read_pages(pdf: Pdf, read_by_eye: ReadByEye | None) -> Reading:
    reading = Reading()
    for index in range(pdf.n_pages):
        with pdf.page(index) as source:
            if source is None:
                reading.broken.append(index + 1)
                continue
            page = read_page(source, index + 1)
            kind = page_kind(page, source)
            reading.rotations[index + 1] = source.rotation()
            wants_eye = read_by_eye is not None and kind in ("image_only", "garbled")
            seen = _seen(reading, read_by_eye, source, index + 1) if read_by_eye and wants_eye else None
            annotations = annotations_shown(source, pdf)
        reading.kinds[index + 1] = kind if seen is None else "text" if seen.runs else "picture"
        if seen is not None:
            reading.seen[index + 1] = seen.confidence if seen.runs and seen.confidence is not None else 1.0
            reading.notes += [note for note in seen.notes if note not in reading.notes]
        is_replaced = kind == "garbled" or (seen is not None and bool(seen.runs))
        if annotations:
            shown = seen if seen is not None and seen.runs else PageText(index + 1, page.box) if is_replaced else page
            upon = said_upon(shown, annotations, drawn_upon(pdf, index, annotations))
            put_upon(shown, upon)
            if kind == "blank" and page.runs:
                reading.kinds[index + 1] = "text"
            if shown is not page and shown is not seen:
                reading.n_read += shown.n_read
                _take(reading, shown)
        if is_replaced:
            _leave_out(reading, page, "garbled text" if kind == "garbled" else "words read anew by eye")
        else:
            reading.n_read += page.n_read
            _take(reading, page)
        if seen is not None:
            reading.n_read += seen.n_read
            _take(reading, seen)
    _say_unread(reading, pdf)
    return reading


def _seen(reading: Reading, read_by_eye: ReadByEye, source: PdfPage, number: int) -> PageText | None:
    """The page as an eye sees it; None when none can, which is written down. Without eyes no further page is tried."""
    blind = next((error for error in reading.unseen.values() if error.reason_code == "ocr_unavailable"), None)
    try:
        if blind is None:
            return read_by_eye(source, number)
        reading.unseen[number] = blind
    except ExtractionError as error:
        reading.unseen[number] = error
    return None


def _leave_out(reading: Reading, page: PageText, reason: str) -> None:
    """A page's own text is not to be indexed; what it says is written down as removed."""
    text = " ".join(run.text for run in page.runs)
    reading.n_read += page.n_read
    reading.dropped[reason] += page.n_read
    if text:
        reading.removed.append(Removal(reason, text, PageBoxes(page.number, page.number)))


def _take(reading: Reading, page: PageText) -> None:
    """The words of a page, if it has any that are to be read; its books in any case."""
    reading.n_fields += page.n_fields
    reading.n_remarks += sum(not remark.is_item for remark in page.remarks)
    reading.unread += page.unread
    if page.runs or page.remarks:
        reading.pages.append(page)
    else:
        reading.dropped += page.dropped
        reading.added += page.added
    for reason, words in (("text at an angle", page.aslant), ("outside of the page", page.outside)):
        if words:
            reading.removed.append(Removal(reason, " ".join(words), PageBoxes(page.number, page.number)))
    for text, box in page.hidden:
        place = PageBoxes(page.number, page.number, "", (Box(page.number, *(round(side, 2) for side in box)),))
        reading.removed.append(Removal("hidden upon the page", text, place))
    if page.unreadable:
        boxes = tuple(Box(page.number, *(round(side, 2) for side in box)) for _, box in page.unreadable)
        words = [word for word, _ in page.unreadable]
        reading.removed.append(
            Removal("unreadable words", " ".join(words), PageBoxes(page.number, page.number, "", boxes))
        )


def _say_unread(reading: Reading, pdf: Pdf) -> None:
    """What the document carries that is no text on a page."""
    unread = dict(sorted(reading.unread.items()))
    if n_files := pdf.n_files():
        unread["attached file"] = unread.get("attached file", 0) + n_files
    if unread:
        counted = ", ".join(f"{n} {name}{'s' if n > 1 else ''}" for name, n in unread.items())
        reading.notes.append(f"not read: {counted}")
    if pdf.has_xfa():
        reading.notes.append("it has an XFA form; what its fields show was read, its XML was not")


def mend_words(reading: Reading, data: bytes) -> None:
    """Has the words of pages in Indic scripts told apart by poppler, if it is installed; else says what is missing."""
    pages = [page for page in reading.pages if page.confidence is None and is_indic(page)]
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


def require_text(reading: Reading) -> None:
    if reading.pages:
        return
    kinds = set(reading.kinds.values())
    if reading.unseen:
        raise next(iter(reading.unseen.values()))
    if "garbled" in kinds:
        raise ExtractionError("garbled", "its fonts do not say which letters they draw; OCR would read it")
    if "image_only" in kinds:
        raise ExtractionError("no_text", "its pages are images without text; OCR would read it")
    if "picture" in kinds:
        raise ExtractionError("no_text", "its pages are pictures in which no text can be made out")
    if reading.broken and not kinds:
        raise ExtractionError("damaged", "none of its pages can be read; export it again")
    raise ExtractionError("empty", "there is no text in it")


def warnings_of(reading: Reading, *, is_mended: bool) -> tuple[str, ...]:
    warnings: list[str] = []
    if is_mended:
        warnings.append("recovered: the file is damaged; what could be found in it was read")
    by_kind: dict[str, list[int]] = {}
    for number, kind in reading.kinds.items():
        by_kind.setdefault(kind, []).append(number)
    images, garbled = by_kind.get("image_only", []), by_kind.get("garbled", [])
    for numbers, reason in (
        (reading.broken, "cannot be read; they are left out"),
        (images, f"are images with hardly any text; unread {_why(reading, images)}"),
        (garbled, f"are in fonts that do not say which letters they draw; unread {_why(reading, garbled)}"),
        (by_kind.get("picture", []), "are pictures in which no text can be made out"),
        (_with_invisible_text(reading.pages), "have invisible text, as OCR puts under a scan; it was taken as it is"),
    ):
        if numbers:
            warnings.append(f"{_named(numbers)} {reason}")
    if low := _hardly_legible(reading):
        named = ", ".join(f"{number} ({reading.seen[number] * 100:.0f} %)" for number in low[:_NAMED_PAGES])
        more = f" and {len(low) - _NAMED_PAGES} more" if len(low) > _NAMED_PAGES else ""
        warnings.append(f"low_confidence: {len(low)} of {len(reading.kinds)} pages were hardly legible: {named}{more}")
    return (*warnings, *reading.notes)


def _why(reading: Reading, numbers: Sequence[int]) -> str:
    """Why pages were not read by eye: the first reason there is."""
    error = next((reading.unseen[number] for number in numbers if number in reading.unseen), None)
    return "without OCR" if error is None else f"({error.reason_code}): {error}"


def _hardly_legible(reading: Reading) -> list[int]:
    return [number for number, confidence in reading.seen.items() if confidence < _LOW_CONFIDENCE]


def _with_invisible_text(pages: Sequence[PageText]) -> list[int]:
    return [page.number for page in pages if page.n_invisible > _INVISIBLE_SHARE * page.n_letters]


def _named(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:_NAMED_PAGES])
    more = f" and {len(numbers) - _NAMED_PAGES} more" if len(numbers) > _NAMED_PAGES else ""
    return f"{len(numbers)} page{'s' if len(numbers) > 1 else ''} ({shown}{more})"


def quality_of(reading: Reading, n_tables: int) -> dict[str, int]:
    unread = len(reading.broken) + len(reading.wanting_ocr())
    return {
        "pages": len(reading.broken) + len(reading.kinds),
        "pages_read": sum(kind == "text" for kind in reading.kinds.values()),
        "pages_ocr": len(reading.seen),
        "pages_unread": unread,
        "pages_low_confidence": len(_hardly_legible(reading)),
        "pages_invisible_text": len(_with_invisible_text(reading.pages)),
        "columns": reading.most_columns,
        "tables": n_tables,
        "fields": reading.n_fields,
        "notes": reading.n_remarks,
    }
