"""OpenDocument text and sheets: the same claims as for DOCX and XLSX, in the other spelling."""

import pytest
from tests.extract.made import blocks, code_of, place_of, read, removed, zipped

from gawah.types import SheetRange

NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("style", "style"),
        ("draw", "drawing"),
    )
)


def package(kind, body, *, styles="", extra=None):
    content = f"<office:document-content {NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles><office:body>{body}</office:body></office:document-content>"
    parts = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **(extra or {})}
    return zipped(parts, stored={"mimetype"})


def odt(body, **options):
    return package("text", f"<office:text>{body}</office:text>", **options)


def ods(*tables, **options):
    return package("spreadsheet", f"<office:spreadsheet>{''.join(tables)}</office:spreadsheet>", **options)


def p(text, style="S"):
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def sheet(name, *rows, style="ta1"):
    return f'<table:table table:name="{name}" table:style-name="{style}"><table:table-column/>{"".join(rows)}</table:table>'


def row(*cells, more=""):
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


def cell(text="", kind="string", more=""):
    if not text and not more:
        return "<table:table-cell/>"
    value = {
        "string": "",
        "float": f'office:value="{text}"',
        "date": f'office:date-value="{text}"',
        "boolean": f'office:boolean-value="{text}"',
    }[kind]
    return f'<table:table-cell office:value-type="{kind}" {value} {more}><text:p>{text}</text:p></table:table-cell>'


def test_text_has_headings_items_tables_and_notes():
    note = "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>"
    inner = "<table:table><table:table-row><table:table-cell><text:p>in1</text:p></table:table-cell><table:table-cell><text:p>in2</text:p></table:table-cell></table:table-row></table:table>"
    body = (
        '<text:h text:outline-level="2">Fees</text:h>' + p("Forty" + note + " euro") + f"<text:list><text:list-item>{p('one')}</text:list-item><text:list-item>{p('two')}</text:list-item></text:list>"
        f"<table:table><table:table-row><table:table-cell>{p('a')}{inner}</table:table-cell><table:table-cell>{p('b')}</table:table-cell></table:table-row></table:table>"
    )  # fmt: skip
    document = read("a.odt", odt(body))
    assert blocks(document) == [
        ("heading", 2, "Fees"), ("paragraph", 0, "Forty euro"), ("paragraph", 0, "A note."), ("item", 0, "one"), ("item", 0, "two"), ("table", 0, "a in1 in2 | b"),
    ]  # fmt: skip
    assert document.title == "Fees"


def test_blanks_collapse_and_elements_stand_for_blanks():
    document = read(
        "a.odt", odt(p("a\n   b<text:s text:c='3'/>c<text:tab/>d<text:line-break/>e<text:span>f</text:span>  g"))
    )
    assert document.text == "a b   c\td\nef g"


@pytest.mark.parametrize("said", ['style:text-line-through-style="solid"', 'style:text-line-through-type="single"'])
def test_struck_out_text_is_deleted_text(said):
    styles = (
        f'<style:style style:name="Struck"><style:text-properties {said}/></style:style>'
        '<style:style style:name="N" style:parent-style-name="Struck"><style:text-properties style:text-line-through-style="none" style:text-line-through-type="none"/></style:style>'
    )
    body = p(
        'It costs <text:span text:style-name="Struck">90</text:span><text:span text:style-name="N">40</text:span> EUR'
    ) + p("old", "Struck")
    document = read("a.odt", odt(body, styles=styles))
    assert document.text == "It costs 40 EUR"
    assert [(item.reason, item.text) for item in document.removed] == [("deleted", "90 old")]


def test_changes_comments_contents_and_hidden_text_are_out():
    styles = '<style:style style:name="H"><style:text-properties text:display="none"/></style:style><style:style style:name="H2" style:parent-style-name="H"/>'
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>DELETED</text:p></text:deletion></text:changed-region>"
        "<text:changed-region><text:insertion/></text:changed-region></text:tracked-changes>"
        f"<text:table-of-content><text:index-body>{p('CONTENTS')}</text:index-body></text:table-of-content>"
        + p("seen<office:annotation><text:p>COMMENT</text:p></office:annotation>") + p("GHOST", "H2") + p('a<text:span text:style-name="H">SPAN</text:span>b')
        + f'<text:section text:display="none">{p("SECTION")}</text:section>'
    )  # fmt: skip
    header = f"<office:document-styles {NAMESPACES}><style:header>{p('HEAD')}</style:header></office:document-styles>"
    document = read("a.odt", odt(body, styles=styles, extra={"styles.xml": header}))
    assert document.text == "seen\n\nab"
    gone = [(item.reason, item.text) for item in document.removed]
    assert gone == [
        ("deleted", "DELETED"), ("table of contents", "CONTENTS"), ("comment", "COMMENT"), ("hidden", "GHOST SPAN SECTION"), ("header", "HEAD"),
    ]  # fmt: skip
    assert document.warnings == ("it has tracked changes: 1 insertions read, 1 deletions left out",)


def test_the_title_is_the_property_or_the_paragraph_set_as_title():
    styles = '<style:style style:name="P1" style:parent-style-name="Title"/><style:style style:name="Title"/>'
    body = p("The Lease", "P1") + '<text:h text:outline-level="1">One</text:h>'
    meta = '<office:document-meta xmlns:office="o" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>From meta</dc:title></office:document-meta>'
    assert read("a.odt", odt(body, styles=styles)).title == "The Lease"
    assert read("a.odt", odt(body, styles=styles, extra={"meta.xml": meta})).title == "From meta"


def test_text_boxes_are_read_after_their_paragraph():
    box = f"<draw:frame><draw:text-box>{p('BOX')}</draw:text-box></draw:frame>"
    assert read("a.odt", odt(p(f"a{box}b"))).text == "ab\n\nBOX"


def test_sheets_give_typed_values_with_a1_ranges():
    document = read("a.ods", ods(
        sheet("Costs", row(cell("City"), cell("Fee"), cell("Due")), row(cell("Bern"), cell("1.1000000000000001", "float"), cell("2024-02-29T13:30:00", "date"))),
        sheet("More", row(cell(more="table:number-columns-repeated='16383'"), cell("007")), row(cell("merged", more="table:number-columns-spanned='2' table:number-rows-spanned='3'"))),
    ))  # fmt: skip
    assert document.text.split("\n\n") == ["City | Fee | Due", "Bern | 1.1 | 2024-02-29 13:30:00", "| 007\nmerged"]
    assert place_of(document, "1.1") == SheetRange("Costs", "B2")
    assert place_of(document, "007") == SheetRange("More", "XFD1")
    assert place_of(document, "merged") == SheetRange("More", "A2:B4")


def test_repeated_cells_and_rows_are_read_as_shown_within_limits():
    document = read(
        "a.ods",
        ods(
            sheet(
                "S",
                row(cell("x", more="table:number-columns-repeated='3'"), more="table:number-rows-repeated='2'"),
                row(more="table:number-rows-repeated='1000000'"),
                row(cell("y")),
            )
        ),
    )
    assert [p.locator.a1 for p in document.places] == ["A1", "B1", "C1", "A2", "B2", "C2", "A1000003"]
    bomb = read("a.ods", ods(sheet("S", row(cell("x"), more="table:number-rows-repeated='1048576'"))))
    assert bomb.text.count("x") == 1000
    assert bomb.warnings == ("row 1 of 'S' is repeated 1,048,576 times; 1,000 are read",)


def test_hidden_sheets_comments_and_formulas_without_value_are_said_and_read():
    styles = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    note = "<table:table-cell office:value-type='string'><office:annotation><text:p>NOTE</text:p></office:annotation><text:p>v</text:p></table:table-cell>"
    document = read(
        "a.ods",
        ods(
            sheet("A", row(note, '<table:table-cell table:formula="of:=[.A1]"/>')),
            sheet("B", row(cell("secret")), style="ta2"),
            styles=styles,
        ),
    )
    assert document.text.split() == ["v", "|", "of:=[.A1]", "NOTE", "secret"]
    assert place_of(document, "NOTE") == SheetRange("A", "A1")
    assert document.warnings == (
        "hidden sheets, read all the same: B",
        "1 formula has no value in the file: it stands as written: A!B1",
    )


def test_a_midnight_is_a_day():
    assert (
        read("a.ods", ods(sheet("S", row(cell("2024-05-01T00:00:00", "date"), cell("true", "boolean"))))).text
        == "2024-05-01 | TRUE"
    )


@pytest.mark.parametrize("name", ["a.odt", "a.ods"])
def test_a_file_with_a_password_says_so_and_one_without_words_is_empty(name):
    make = odt if name.endswith("t") else ods
    manifest = '<m:manifest xmlns:m="m"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    assert code_of(name, make("", extra={"META-INF/manifest.xml": manifest})) == "encrypted"
    assert code_of(name, make("")) == "empty"
    assert removed(read("a.odt", odt(p("x")))) == {}


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("super 58%", "10^23 m"),
        ("33% 58%", "10^23 m"),
        ("sub 58%", "10_23 m"),
        ("-20% 58%", "10_23 m"),
        ("0% 100%", "1023 m"),
    ],
)
def test_superscripts_do_not_run_into_digits(position, expected):
    styles = f'<style:style style:name="U"><style:text-properties style:text-position="{position}"/></style:style>'
    document = read("a.odt", odt(p('10<text:span text:style-name="U">23</text:span> m'), styles=styles))
    assert document.text == expected
