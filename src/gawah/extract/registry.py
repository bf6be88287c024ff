"""Which extractor reads which type, and the one call from bytes to a document in this process.

The sandbox runs the same call in a process of its own; nothing here limits memory or time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gawah.errors import ExtractionError
from gawah.extract.detect import DOCX, EML, EPUB, MBOX, ODS, ODT, PPTX, XLSX, ZIP, detect
from gawah.extract.ole import ENCRYPTED_OOXML, MSG, XLS
from gawah.extract.options import Options
from gawah.media_types import IMAGE_FORMATS, ZONE_TYPE
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


# Modules of this package and the extractors in them. Each is loaded when a file of its type comes, so that a question
# does not wait for the readers of every format; `preload` loads them all.
_CODE = ("code", "CodeExtractor")
_TABLE = ("table", "TableExtractor")
_JSON = ("structured", "JsonExtractor")
EXTRACTORS: dict[str, tuple[str, str]] = {
    "text/plain": ("plain", "PlainExtractor"),
    "text/markdown": ("markdown", "MarkdownExtractor"),
    "text/html": ("html", "HtmlExtractor"),
    "text/csv": _TABLE,
    "text/tab-separated-values": _TABLE,
    "application/json": _JSON,
    "application/jsonl": _JSON,
    DOCX: ("docx", "DocxExtractor"),
    PPTX: ("pptx", "PptxExtractor"),
    XLSX: ("xlsx", "XlsxExtractor"),
    ODS: ("ods", "OdsExtractor"),
    ODT: ("odt", "OdtExtractor"),
    XLS: ("xls", "XlsExtractor"),
    EPUB: ("epub", "EpubExtractor"),
    "application/rtf": ("rtf", "RtfExtractor"),
    **dict.fromkeys(_CODE_TYPES, _CODE),
}
_IMAGE = ("ocr.extractor", "ImageExtractor")
_MAIL = ("mail", "MailExtractor")
_MSG = ("msg", "MsgExtractor")
_PDF = ("pdf", "PdfExtractor")
_EYE = ("pdf.eye", "PageEye")
_SPEECH = ("speech", "SpeechExtractor")
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
    """Loads every extractor, and the libraries that those load when they first need them: a process that forks has them
    for its children.
    """
    for place in (*EXTRACTORS.values(), _IMAGE, _MAIL, _MSG, _PDF, _SPEECH, _EYE):
        _loaded(*place)
    import_module("gawah.extract.pdf.page").library()


@cache
def _loaded(module: str, name: str) -> Any:
    return getattr(import_module(f"gawah.extract.{module}"), name)


def _extractor(media_type: str, options: Options, before_page: Callable[[], None]) -> Extractor | None:
    made: Extractor
    if media_type.startswith(("audio/", "video/")):
        made = _loaded(*_SPEECH)(options)
    elif media_type in IMAGE_FORMATS:
        made = _loaded(*_IMAGE)(options, before_page)
    elif media_type == "application/pdf":
        made = _loaded(*_PDF)(_loaded(*_EYE)(options, before_page))
    elif media_type in (EML, MBOX, MSG):
        read = partial(extract, options=options, before_page=before_page)
        made = _loaded(*(_MSG if media_type == MSG else _MAIL))(read)
    else:
        place = EXTRACTORS.get(media_type) or (_CODE if media_type.startswith("text/x-") else None)
        if place is None:
            return None
        made = _loaded(*place)()
    return made


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
