"""Which extractor reads which type, and the one call from bytes to a document in this process.

The sandbox runs the same call in a process of its own; nothing here limits memory or time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gawah.errors import ExtractionError
from gawah.extract.code import CodeExtractor
from gawah.extract.detect import DOCX, EML, EPUB, MBOX, ODS, ODT, PPTX, XLSX, ZIP, detect
from gawah.extract.docx import DocxExtractor
from gawah.extract.epub import EpubExtractor
from gawah.extract.html import HtmlExtractor
from gawah.extract.mail import MailExtractor
from gawah.extract.markdown import MarkdownExtractor
from gawah.extract.msg import MsgExtractor
from gawah.extract.ocr.extractor import FORMATS, ImageExtractor
from gawah.extract.ods import OdsExtractor
from gawah.extract.odt import OdtExtractor
from gawah.extract.ole import ENCRYPTED_OOXML, MSG, XLS
from gawah.extract.options import Options
from gawah.extract.pdf import PdfExtractor
from gawah.extract.pdf.eye import PageEye
from gawah.extract.pdf.page import library
from gawah.extract.plain import PlainExtractor
from gawah.extract.pptx import PptxExtractor
from gawah.extract.rtf import RtfExtractor
from gawah.extract.speech import SpeechExtractor
from gawah.extract.structured import JsonExtractor
from gawah.extract.table import TableExtractor
from gawah.extract.xls import XlsExtractor
from gawah.extract.xlsx import XlsxExtractor
from gawah.media_types import ZONE_TYPE
from gawah.types import Document, SourceFile

if TYPE_CHECKING:  # ports need numpy, whose threads and start-up time the extraction processes must not have
    from gawah.ports import Extractor

SUPPORTED = (
    "plain text, Markdown, HTML, CSV, TSV, JSON, JSON Lines, source code, PDF, DOCX, ODT, RTF, XLSX, ODS, XLS, PPTX, EML, "
    "MBOX, MSG, EPUB, images, audio and video"
)
_CODE_TYPES = (
    "text/css", "text/javascript", "application/xml", "application/yaml", "application/toml", "application/sql",
)  # fmt: skip


EXTRACTORS: dict[str, Extractor] = {
    "text/plain": PlainExtractor(),
    "text/markdown": MarkdownExtractor(),
    "text/html": HtmlExtractor(),
    "text/csv": TableExtractor(),
    "text/tab-separated-values": TableExtractor(),
    "application/json": JsonExtractor(),
    "application/jsonl": JsonExtractor(),
    DOCX: DocxExtractor(),
    PPTX: PptxExtractor(),
    XLSX: XlsxExtractor(),
    ODS: OdsExtractor(),
    ODT: OdtExtractor(),
    XLS: XlsExtractor(),
    EPUB: EpubExtractor(),
    "application/rtf": RtfExtractor(),
    **dict.fromkeys(_CODE_TYPES, CodeExtractor()),
}
_ANY_CODE = CodeExtractor()
_DEFAULT = Options()


def _nobody_waits() -> None:
    """Called before a page is read by eye; in this process nothing has a limit."""


def extract(
    source: SourceFile,
    data: bytes,
    extra: Sequence[tuple[str, Extractor]] = (),
    options: Options = _DEFAULT,
    before_page: Callable[[], None] = _nobody_waits,
) -> Document:
    """The document of a file; its source carries the media type that the content has.

    `extra` are (end of a name, extractor) pairs that go before all others; `before_page` is called before each page that is
    read by eye. Raises ExtractionError: `empty`,
    `unsupported_type`, `undecodable`, `too_deep`, `damaged`, `encrypted`, `zip_bomb`, `doctype`, and what the extractor of
    the type raises.
    """
    for ending, extractor in extra:
        if source.name.endswith(ending):
            return extractor.extract(source, data)
    detection = detect(source.media_type, data)
    chosen = _extractor(detection.media_type, options, before_page)
    if chosen is None:
        raise _unsupported(detection.media_type)
    document = chosen.extract(replace(source, media_type=detection.media_type), data)
    return replace(document, warnings=detection.warnings + document.warnings) if detection.warnings else document


def extractor_for(media_type: str) -> str:
    """As "name/version" of the extractor that reads a type today; empty when none does."""
    chosen = _extractor(media_type, _DEFAULT, _nobody_waits)
    return "" if chosen is None else f"{chosen.name}/{chosen.version}"


def preload() -> None:
    """Loads the libraries that extractors load when they first need them: a process that forks has them for its children."""
    library()


def _extractor(media_type: str, options: Options, before_page: Callable[[], None]) -> Extractor | None:
    if media_type.startswith(("audio/", "video/")):
        return SpeechExtractor(options)
    if media_type in FORMATS:
        return ImageExtractor(options, before_page)
    if media_type == "application/pdf":
        return PdfExtractor(PageEye(options, before_page))
    if media_type in (EML, MBOX, MSG):
        read = partial(extract, options=options, before_page=before_page)
        return MsgExtractor(read) if media_type == MSG else MailExtractor(read)
    is_code = media_type.startswith("text/x-")
    return EXTRACTORS.get(media_type) or (_ANY_CODE if is_code else None)


def _unsupported(media_type: str) -> ExtractionError:
    if media_type == ENCRYPTED_OOXML:
        return ExtractionError("encrypted", "it is protected by a password; save it without one")
    if media_type == ZONE_TYPE:
        reason = "it is the mark that Windows sets on a download, not a document; delete it"
    elif media_type == ZIP:
        reason = "it is a ZIP archive; one is read as a folder when its name ends in .zip, but not inside another file"
    else:
        reason = f"its content is {media_type}; what can be read is {SUPPORTED}"
    return ExtractionError("unsupported_type", reason)
