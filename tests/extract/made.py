"""Small packages made by code: ZIP files from a mapping, minimal OOXML around a body, hostile variants of any of them."""

import io
import zipfile
from pathlib import Path

from gawah.errors import ExtractionError
from gawah.extract.registry import extract
from gawah.media_types import media_type_of
from gawah.testing.extractor import assert_is_sound, source_of

DATA = Path(__file__).parent / "data"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def read(name, data):
    """As ingest reads it, and sound; raises ExtractionError."""
    document = extract(source_of(name, data, media_type_of(name)), data)
    assert_is_sound(document)
    return document


def code_of(name, data):
    """The code a file is refused with, "" when it is read."""
    try:
        read(name, data)
    except ExtractionError as error:
        return error.reason_code
    return ""


def zipped(parts, *, stored=()):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, compress_type=kind)
    return stream.getvalue()


def rels(*items):
    """A .rels part of (id, kind, target)."""
    rows = "".join(f'<Relationship Id="{i}" Type="{RELS}/{kind}" Target="{target}"/>' for i, kind, target in items)
    return f'<Relationships xmlns="{_PACKAGE_RELS}">{rows}</Relationships>'


def ooxml(main, parts, *, title=""):
    """A package whose main part is named; `parts` are its XML parts."""
    links = [("r1", "officeDocument", main)]
    made = {"[Content_Types].xml": "<Types/>", **parts}
    if title:
        links.append(("r2", "metadata/core-properties", "docProps/core.xml"))
        made["docProps/core.xml"] = (
            f'<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></cp:coreProperties>'
        )
    return zipped({"_rels/.rels": rels(*links), **made})


def workbook(sheets, *, extra=None, title="", book=""):
    """An XLSX of (name, state, sheetData and what follows) triples."""
    rows = "".join(f'<sheet name="{n}" state="{state}" r:id="s{i}"/>' for i, (n, state, _) in enumerate(sheets))
    links = [(f"s{i}", "worksheet", f"worksheets/{i}.xml") for i in range(len(sheets))]
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{S}" xmlns:r="{RELS}">{book}<sheets>{rows}</sheets></workbook>',
        **{
            f"xl/worksheets/{i}.xml": f'<worksheet xmlns="{S}">{body}</worksheet>'
            for i, (_, _, body) in enumerate(sheets)
        },
        **(extra or {}),
    }
    for kind in ("styles", "sharedStrings"):
        if f"xl/{kind}.xml" in parts:
            links.append((kind, kind, f"{kind}.xml"))
    parts["xl/_rels/workbook.xml.rels"] = rels(*links)
    return ooxml("xl/workbook.xml", parts, title=title)


def docx(body, *, extra=None, links=(), title=""):
    """A DOCX of a body's XML; `w:` is bound. `links` are relationships of the main part."""
    parts = {
        "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{RELS}"><w:body>{body}</w:body></w:document>',
        "word/_rels/document.xml.rels": rels(*links),
        **(extra or {}),
    }
    return ooxml("word/document.xml", parts, title=title)


def words(text):
    return f'<w:p><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def blocks(document):
    return [
        (block.kind.value, block.level, block.span.slice(document.text) or block.title) for block in document.blocks
    ]


def place_of(document, text):
    """The locator that a citation of these words would have."""
    from gawah.fragment import locate
    from gawah.types import Span

    start = document.text.index(text)
    return locate(document.places, document.text, Span(start, start + len(text)))


def removed(document):
    return {item.reason: item.text for item in document.removed}
