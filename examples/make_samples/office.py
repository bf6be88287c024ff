"""Flat OpenDocument texts, and LibreOffice to turn them into the formats that offices use."""

import subprocess
import tempfile
from html import escape
from pathlib import Path

NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{urn}:1.0"'
    for name, urn in {
        "office": "office", "text": "text", "table": "table", "style": "style", "meta": "meta",
        "fo": "xsl-fo-compatible", "svg": "svg-compatible",
    }.items()
)  # fmt: skip
STYLES = """<style:style style:name="Standard" style:family="paragraph">
<style:paragraph-properties fo:margin-bottom="0.18cm" fo:text-align="justify" fo:orphans="2" fo:widows="2"/>
<style:text-properties style:font-name="Liberation Serif" fo:font-size="12pt" fo:language="en" fo:country="GB"/></style:style>
<style:style style:name="Heading_20_1" style:display-name="Heading 1" style:family="paragraph" style:default-outline-level="1">
<style:paragraph-properties fo:margin-top="0.5cm" fo:margin-bottom="0.25cm" fo:keep-with-next="always"/>
<style:text-properties fo:font-size="17pt" fo:font-weight="bold"/></style:style>
<style:style style:name="Heading_20_2" style:display-name="Heading 2" style:family="paragraph" style:default-outline-level="2">
<style:paragraph-properties fo:margin-top="0.4cm" fo:margin-bottom="0.15cm" fo:keep-with-next="always"/>
<style:text-properties fo:font-size="13pt" fo:font-weight="bold"/></style:style>
<style:style style:name="Cell" style:family="paragraph"><style:text-properties style:font-name="Liberation Serif" fo:font-size="10pt"/></style:style>
<style:style style:name="Footer" style:family="paragraph"><style:paragraph-properties fo:text-align="center"/>
<style:text-properties fo:font-size="8.5pt"/></style:style>"""
LAYOUT = """<style:page-layout style:name="page"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm"
fo:margin-top="1.8cm" fo:margin-bottom="1.8cm" fo:margin-left="2.2cm" fo:margin-right="2.2cm"/>
<style:header-style><style:header-footer-properties fo:min-height="0.8cm" fo:margin-bottom="0.4cm"/></style:header-style>
<style:footer-style><style:header-footer-properties fo:min-height="0.8cm" fo:margin-top="0.4cm"/></style:footer-style>
</style:page-layout>
<style:style style:name="cell" style:family="table-cell"><style:table-cell-properties fo:padding-top="0.03cm" fo:padding-bottom="0.03cm" fo:padding-left="0.15cm" fo:padding-right="0.15cm" fo:border="0.5pt solid #888888"/></style:style>
<style:style style:name="two" style:family="section"><style:section-properties text:dont-balance-text-columns="false">
<style:columns fo:column-count="2" fo:column-gap="0.8cm"/></style:section-properties></style:style>"""
TEXT_CM = 16.6  # A4 without the margins of LAYOUT
FILTERS = {"pdf": "pdf:writer_pdf_Export", "docx": "docx:MS Word 2007 XML", "rtf": "rtf:Rich Text Format", "odt": "odt", "xls": "xls:MS Excel 97"}


def paragraph(text: str, style: str = "Standard") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def heading(text: str, level: int = 1) -> str:
    return f'<text:h text:style-name="Heading_20_{level}" text:outline-level="{level}">{escape(text)}</text:h>'


def bullets(items: list[str]) -> str:
    return "<text:list>" + "".join(f"<text:list-item>{paragraph(escape(item))}</text:list-item>" for item in items) + "</text:list>"


def table(name: str, header: list[str], rows: list[list[str]]) -> str:
    """Columns are as wide as their longest cell wants."""

    def row(cells: list[str]) -> str:
        return "<table:table-row>" + "".join(
            f'<table:table-cell table:style-name="cell" office:value-type="string">{paragraph(escape(cell), "Cell")}</table:table-cell>' for cell in cells
        ) + "</table:table-row>"

    longest = [max(len(row[number]) for row in [header, *rows]) + 4 for number in range(len(header))]
    tenths = [round(10 * TEXT_CM * chars / sum(longest)) for chars in longest]
    columns = "".join(f'<table:table-column table:style-name="column{width}"/>' for width in tenths)
    return (
        f'<table:table table:name="{name}">{columns}<table:table-header-rows>{row(header)}</table:table-header-rows>'
        + "".join(map(row, rows)) + "</table:table>"
    )


def two_columns(name: str, body: str) -> str:
    return f'<text:section text:style-name="two" text:name="{name}">{body}</text:section>'


def note(number: int, text: str) -> str:
    return (
        f'<text:note text:id="n{number}" text:note-class="footnote"><text:note-citation>{number}</text:note-citation>'
        f"<text:note-body>{paragraph(escape(text))}</text:note-body></text:note>"
    )


def tracked(changes: dict[str, tuple[str, str]]) -> str:
    """The list of changes of a text: id to (insertion or deletion, deleted words)."""
    made = ""
    for name, (kind, words) in changes.items():
        inner = paragraph(escape(words)) if kind == "deletion" else ""
        made += (
            f'<text:changed-region text:id="{name}"><text:{kind}><office:change-info><dc:creator '
            'xmlns:dc="http://purl.org/dc/elements/1.1/">Sunita Kandpal</dc:creator><dc:date '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/">2026-02-16T10:00:00</dc:date></office:change-info>{inner}</text:{kind}></text:changed-region>'
        )
    return f'<text:tracked-changes text:track-changes="true">{made}</text:tracked-changes>'


def column_styles() -> str:
    """A style for every width in tenths of a centimetre."""
    return "".join(
        f'<style:style style:name="column{width}" style:family="table-column"><style:table-column-properties '
        f'style:column-width="{width / 10}cm"/></style:style>' for width in range(round(10 * TEXT_CM))
    )  # fmt: skip


def document(title: str, body: str, *, head: str = "", foot: str = "") -> str:
    """A flat text; `foot` may hold {page}."""
    page = '<text:page-number text:select-page="current">1</text:page-number>'
    header = f"<style:header>{paragraph(escape(head), 'Footer')}</style:header>" if head else ""
    footer = f"<style:footer>{paragraph(foot.replace('{page}', page), 'Footer')}</style:footer>" if foot else ""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {NAMESPACES} office:version="1.3" '
        'office:mimetype="application/vnd.oasis.opendocument.text"><office:meta>'
        f'<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">{escape(title)}</dc:title></office:meta>'
        '<office:font-face-decls><style:font-face style:name="Liberation Serif" svg:font-family="\'Liberation Serif\'"/></office:font-face-decls>'
        f"<office:styles>{STYLES}</office:styles><office:automatic-styles>{LAYOUT}{column_styles()}</office:automatic-styles>"
        f'<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="page">{header}{footer}</style:master-page>'
        f"</office:master-styles><office:body><office:text>{body}</office:text></office:body></office:document>"
    )


def convert(source: bytes, suffix: str, target: Path) -> None:
    """Writes `target` from a document with that suffix, by LibreOffice."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, target.stem + suffix)
        path.write_bytes(source)
        ending = target.suffix[1:]
        command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to"]
        command += [FILTERS.get(ending, ending), "--outdir", f"{folder}/out", str(path)]
        subprocess.run(command, check=True, capture_output=True)
        target.write_bytes(Path(folder, "out", target.name).read_bytes())
