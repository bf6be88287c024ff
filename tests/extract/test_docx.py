"""Word documents: the text as accepted, its structure, and every character either kept or written down as removed."""

import re
import zipfile
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from tests.extract.made import DATA, RELS, W, blocks, code_of, docx, place_of, read, removed, words

from gawah.types import CharRange

HEADINGS = (
    f'<w:styles xmlns:w="{W}">'
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    '<w:style w:styleId="Ring"><w:name w:val="Ring"/><w:basedOn w:val="Ring"/></w:style>'
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="Ghost"><w:name w:val="Ghost"/><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:styleId="L"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>'
    '<w:style w:styleId="C1"><w:name w:val="toc 1"/></w:style>'
    "</w:styles>"
)
NOTES = f'<w:footnotes xmlns:w="{W}"><w:footnote w:type="separator" w:id="0">{words("---")}</w:footnote><w:footnote w:id="1">{words("A note.")}</w:footnote><w:footnote w:id="2">{words("Orphan.")}</w:footnote></w:footnotes>'


def styled(style, text, more=""):
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{more}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


def made(body, **parts):
    """A document of a body with styles and further parts by name."""
    parts = {"styles": HEADINGS, **parts}
    extra = {f"word/{name}.xml": content for name, content in parts.items()}
    links = [(f"id{name}", re.sub(r"\d", "", name), f"{name}.xml") for name in parts]
    return docx(body, extra=extra, links=links)


def one(body, **parts):
    return read("a.docx", made(body, **parts))


def cell(*content, properties=""):
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(c if c.startswith('<') else words(c) for c in content)}</w:tc>"


def table(*rows):
    return "<w:tbl>" + "".join(f"<w:tr>{''.join(row)}</w:tr>" for row in rows) + "</w:tbl>"


def test_case_20_torture():
    document = read("20-torture.docx", (DATA / "20-torture.docx").read_bytes())
    assert "Body one with INSERTED" in document.text
    assert not re.search("DELETED|VANISHED|RUNHEAD", document.text)
    for present in ("SDTTEXT", "LINKTEXT", "TEXTBOX", "r1c0 NESTED-A NESTED-B | r1c1 | r1c2 r2c2"):
        assert present in document.text
    assert removed(document) == {"deleted": "DELETED", "hidden": "VANISHED", "header": "RUNHEAD"}
    assert document.warnings == ("it has tracked changes: 1 insertions read, 1 deletions left out",)
    assert document.text.count("TEXTBOX") == 1


def test_case_24_a_doctype_is_refused():
    assert code_of("24.docx", (DATA / "24-billion-laughs.docx").read_bytes()) == "doctype"


def test_headings_come_from_outline_levels_of_the_style_or_the_paragraph():
    body = (
        styled("T", "The Title")
        + styled("H1", "One")
        + styled("Mine", "Two")
        + styled("H1", "body", '<w:outlineLvl w:val="9"/>')
    )
    document = one(body + styled("Ring", "plain", '<w:outlineLvl w:val="3"/>'))
    assert blocks(document) == [
        ("heading", 1, "The Title"), ("heading", 1, "One"), ("heading", 2, "Two"), ("paragraph", 0, "body"), ("heading", 4, "plain"),
    ]  # fmt: skip
    assert document.title == "The Title"


def test_the_title_is_the_property_then_the_first_heading_then_the_name():
    assert read("f/a.docx", docx(words("x"), title="Lease of 2024")).title == "Lease of 2024"
    assert read("f/a.docx", docx(words("x"), title="Microsoft Word - lease.doc")).title == "a"
    assert one(styled("H1", "One")).title == "One"


def test_lists_are_items_of_the_paragraph_or_its_style():
    numbered = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    document = one(
        styled("L", "a") + styled("", "b", numbered) + styled("L", "c", '<w:numPr><w:numId w:val="0"/></w:numPr>')
    )
    assert blocks(document) == [("item", 0, "a"), ("item", 0, "b"), ("paragraph", 0, "c")]
    assert document.text == "a\nb\n\nc"


def test_hidden_text_is_out_unless_the_run_says_otherwise():
    runs = "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>gone</w:t></w:r><w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>seen</w:t></w:r></w:p>"
    by_style = styled("Ghost", "ghost")
    document = one(runs + by_style)
    assert (document.text, removed(document)) == ("seen", {"hidden": "gone ghost"})


@pytest.mark.parametrize("switch", ["<w:strike/>", "<w:dstrike w:val='true'/>"])
def test_struck_out_text_is_deleted_text(switch):
    """A price that was struck out is no answer to what something costs."""
    run = "<w:r><w:rPr>{}</w:rPr><w:t>{}</w:t></w:r>"
    document = one("<w:p>" + run.format(switch, "90 EUR") + run.format("<w:strike w:val='0'/>", "40 EUR") + "</w:p>")
    assert (document.text, removed(document)) == ("40 EUR", {"deleted": "90 EUR"})


def test_a_deleted_paragraph_mark_joins_two_paragraphs():
    mark = "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t xml:space='preserve'>first </w:t></w:r></w:p>"
    assert one(mark + words("second")).text == "first second"
    assert one(words("x") + mark).text == "x\n\nfirst"


def test_moved_text_stands_where_it_was_moved_to_and_deleted_rows_are_out():
    moved = (
        "<w:p><w:moveFrom><w:r><w:t>old </w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>new</w:t></w:r></w:moveTo></w:p>"
    )
    row = f"<w:tr><w:trPr><w:del/></w:trPr>{cell('x')}{cell('y')}</w:tr>"
    document = one(moved + f"<w:tbl>{row}<w:tr>{cell('a')}{cell('b')}</w:tr></w:tbl>")
    assert document.text == "new\n\na | b"
    assert removed(document) == {"deleted": "old xy"}


def test_a_note_stands_behind_the_paragraph_that_refers_to_it():
    body = '<w:p><w:r><w:t>See</w:t><w:footnoteReference w:id="1"/></w:r></w:p>' + words("Next.")
    document = one(body, footnotes=NOTES)
    assert document.text == "See\n\nA note.\n\nNext."
    assert removed(document) == {"note without reference": "Orphan."}


def test_heads_feet_comments_and_tables_of_contents_are_removed_and_kept_aside():
    contents = (
        "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr>"
        f"<w:sdtContent>{words('One 3')}</w:sdtContent></w:sdt>"
    )
    parts = {name: f'<w:{tag} xmlns:w="{W}">{words(text)}</w:{tag}>' for name, tag, text in
             (("header1", "hdr", "HEAD"), ("footer1", "ftr", "FOOT"), ("comments", "comments", "COMMENT"))}  # fmt: skip
    document = one(contents + styled("C1", "Two 4") + words("text"), **parts)
    assert document.text == "text"
    assert removed(document) == {
        "table of contents": "One 3 Two 4",
        "header": "HEAD",
        "footer": "FOOT",
        "comment": "COMMENT",
    }


def test_a_text_box_is_read_once_after_its_paragraph():
    box = f"<w:txbxContent>{words('BOX')}</w:txbxContent>"
    both = f'<mc:AlternateContent xmlns:mc="m"><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>'
    assert one(f"<w:p><w:r><w:t>a</w:t></w:r><w:r>{both}</w:r><w:r><w:t>b</w:t></w:r></w:p>").text == "ab\n\nBOX"


def test_fields_show_their_results_and_formulas_their_letters():
    field = '<w:p><w:r><w:fldChar/></w:r><w:r><w:instrText>REF x \\h</w:instrText></w:r><w:r><w:t>result </w:t></w:r><m:oMath xmlns:m="m"><m:r><m:t>x²</m:t></m:r></m:oMath></w:p>'
    assert one(field).text == "result x²"


def test_breaks_tabs_and_hyphens_are_made_of_their_elements():
    run = '<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d\u00ade</w:t><w:br w:type="page"/></w:r></w:p>'
    document = one(run)
    assert document.text == "a\tb\nc\u2011de"
    assert document.conservation.dropped == {"soft hyphen": 1}


def test_merged_and_nested_cells_keep_columns_and_order():
    inner = table([cell("in1"), cell("in2")])
    grid = table(
        [cell("wide", properties='<w:gridSpan w:val="2"/>'), cell("c")],
        [cell("tall", properties='<w:vMerge w:val="restart"/>'), cell("b1", inner), cell("c1")],
        [cell("", properties="<w:vMerge/>"), cell("b2"), cell("c2")],
    )
    document = one(grid)
    assert document.text == "wide | | c\ntall | b1 in1 in2 | c1\n| b2 | c2"
    assert [b[0] for b in blocks(document)] == ["table"]
    pipes = {i for i, letter in enumerate(document.text) if letter == "|"}
    assert not any(place.span.start <= at < place.span.end for place in document.places for at in pipes)


def test_a_table_of_one_cell_is_a_frame():
    assert blocks(one(table([cell(styled("H1", "In a frame"), "text")]))) == [
        ("heading", 1, "In a frame"),
        ("paragraph", 0, "text"),
    ]


def test_an_images_description_is_read_but_not_its_file_name():
    image = '<w:p><w:r><w:drawing><wp:inline xmlns:wp="p"><wp:docPr descr="{}"/></wp:inline></w:drawing></w:r></w:p>'
    assert one(words("x") + image.format("A red valve") + image.format("image1.png")).text == "x\n\nA red valve"


def test_charts_and_diagrams_are_read():
    holder = '<w:p><w:r><w:drawing><a:graphic xmlns:a="a"><a:graphicData>{}</a:graphicData></a:graphic></w:drawing></w:r></w:p>'
    body = holder.format('<c:chart xmlns:c="c" r:id="chart1"/>') + holder.format(
        '<dgm:relIds xmlns:dgm="d" r:dm="data"/>'
    )
    chart = (
        "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:title><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:title><c:ser>"
        "<c:tx><c:v>2024</c:v></c:tx><c:cat><c:v>Q1</c:v><c:v>Q2</c:v></c:cat><c:val><c:v>5</c:v><c:v>7</c:v></c:val></c:ser></c:chartSpace>"
    )
    diagram = "<dgm:dataModel xmlns:dgm='d' xmlns:a='a'><dgm:pt><dgm:t><a:p><a:r><a:t>Step one</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>"
    data = docx(
        body,
        extra={"word/c.xml": chart, "word/d.xml": diagram},
        links=[("chart1", "chart", "c.xml"), ("data", "diagramData", "d.xml")],
    )
    assert read("a.docx", data).text == "Sales\n\n2024: Q1 5, Q2 7\n\nStep one"


def test_strict_documents_have_other_namespaces():
    data = made(words("strict"))
    parts = {name: zipfile.ZipFile(BytesIO(data)).read(name) for name in zipfile.ZipFile(BytesIO(data)).namelist()}
    from tests.extract.made import zipped

    strict = {n: c.replace(W.encode(), b"http://purl.oclc.org/ooxml/wordprocessingml/main") for n, c in parts.items()}
    assert read("a.docx", zipped(strict)).text == "strict"


def test_a_quote_of_a_cell_is_found_in_the_extracted_text():
    document = one(table([cell("a"), cell("b")]))
    assert place_of(document, "b") == CharRange(4, 5, words="b")


def test_deep_nesting_is_refused_or_read_but_never_crashes():
    assert one("<w:sdt><w:sdtContent>" * 100 + words("deep") + "</w:sdtContent></w:sdt>" * 100).text == "deep"
    assert (
        code_of("a.docx", docx("<w:sdt><w:sdtContent>" * 300 + words("x") + "</w:sdtContent></w:sdt>" * 300))
        == "too_deep"
    )
    nested = words("core")
    for _ in range(60):
        nested = table([cell("l", nested), cell("r")])
    assert "core" in one(nested).text


_RUN = st.sampled_from([
    "<w:r><w:t xml:space='preserve'>alpha </w:t></w:r>", "<w:r><w:t>beta\u00a0</w:t><w:tab/></w:r>",
    "<w:ins><w:r><w:t>new</w:t></w:r></w:ins>", "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>",
    "<w:r><w:rPr><w:vanish/></w:rPr><w:t>ghost</w:t></w:r>", "<w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink>",
    "<w:r><w:br/></w:r>", "<w:r><w:footnoteReference w:id='1'/></w:r>", "<w:sdt><w:sdtContent><w:r><w:t>  in</w:t></w:r></w:sdtContent></w:sdt>",
    "<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:pict></w:r>", "<w:unknown><w:r><w:t>u</w:t></w:r></w:unknown>",
])  # fmt: skip
_PARAGRAPH = st.lists(_RUN, max_size=4).map(lambda runs: f"<w:p>{''.join(runs)}</w:p>")
_BODY = st.recursive(
    _PARAGRAPH,
    lambda inner: st.lists(st.lists(inner, min_size=1, max_size=2), min_size=1, max_size=2).map(
        lambda rows: table(*[[cell(content) for content in row] for row in rows])
    ),
    max_leaves=6,
)


@given(st.lists(_BODY, min_size=1, max_size=4).map("".join))
@settings(max_examples=80, deadline=None)
def test_every_character_of_the_file_is_in_the_books(body):
    data = made(body + words("end"), footnotes=NOTES)
    root = etree.fromstring(f'<x xmlns:w="{W}" xmlns:r="{RELS}">{body}</x>')
    notes = etree.fromstring(NOTES)
    n_chars = sum(len(t.text or "") for t in root.iter(f"{{{W}}}t", f"{{{W}}}delText")) + len("end")
    n_notes = sum(len(t.text) for t in notes.iter(f"{{{W}}}t")) - len("---")
    assert read("a.docx", data).conservation.read == n_chars + n_notes


@pytest.mark.parametrize(
    "body",
    ["", "<w:p/>", "<w:p><w:r><w:t> </w:t></w:r></w:p>", "<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>", "<w:tbl/>"],
)
def test_a_document_without_words_is_empty(body):
    assert code_of("a.docx", docx(body)) == "empty"


def run(text, properties=""):
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def test_superscripts_and_fractions_do_not_run_into_digits():
    raised = '<w:vertAlign w:val="superscript"/>'
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    half = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    power = "<m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>23</m:t></m:r></m:sup></m:sSup>"
    formula = (
        f'<w:p><m:oMath xmlns:m="{math}">{half}</m:oMath></w:p><w:p><m:oMath xmlns:m="{math}">{power}</m:oMath></w:p>'
    )
    document = one(f"<w:p>{run(10)}{run(2, raised)}{run(3, raised)}{run(' in 1')}{run('st', raised)}</w:p>{formula}")
    assert document.text == "10^23 in 1st\n\n1/2\n\n10^23"
    assert document.conservation.added["superscript or fraction"] == 3


def test_subscripts_and_moved_letters_do_not_run_into_digits():
    sunk, up, down = '<w:vertAlign w:val="subscript"/>', '<w:position w:val="6"/>', '<w:position w:val="-6"/>'
    body = f"{run(10)}{run(2, sunk)}{run(' H')}{run(2, sunk)}{run('O ')}{run(10)}{run(3, up)}{run(' ')}{run(10)}{run(4, down)}"
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    base = "<m:sSub><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sub><m:r><m:t>2</m:t></m:r></m:sub></m:sSub>"
    assert one(f"<w:p>{body}</w:p>").text == "10_2 H2O 10^3 10_4"
    assert one(f'<w:p><m:oMath xmlns:m="{math}">{base}</m:oMath></w:p>').text == "10_2"


def test_check_marks_are_read_and_other_symbols_counted():
    signs = "".join(
        f'<w:sym w:font="Wingdings" w:char="{code}"/>' for code in ("F0FC", "F0FE", "F0A8", "00FC", "F04A", "zz")
    )
    document = one(f'<w:p><w:r>{signs}<w:sym w:font="Symbol" w:char="F0B7"/><w:t> yes</w:t></w:r></w:p>')
    assert document.text == "✓☑☐✓ yes"
    assert document.conservation.added["symbol"] == 4
    assert document.warnings == ("symbols that were not read: Wingdings (2), Symbol (1)",)


def test_embedded_objects_are_said_to_be_unread():
    sheet = (
        '<w:object><o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" ProgID="Excel.Sheet.12"/></w:object>'
    )
    document = one(f"<w:p><w:r><w:t>see</w:t>{sheet}<w:object/></w:r></w:p>")
    assert document.text == "see"
    assert document.warnings == ("embedded objects that were not read: Excel.Sheet.12 (1), unknown kind (1)",)


def test_embedded_objects_and_controls_are_seen_outside_of_their_usual_element():
    office = "urn:schemas-microsoft-com:office:office"
    picture = f'<w:pict><o:OLEObject xmlns:o="{office}" ProgID="Visio.Drawing.11"/></w:pict>'
    document = one(
        f'<w:p><w:r><w:t>see</w:t>{picture}</w:r><w:r><w:pict><w:control w:name="Box"/></w:pict></w:r></w:p>'
    )
    assert document.text == "see"
    assert document.warnings == ("embedded objects that were not read: Visio.Drawing.11 (1), control (1)",)
