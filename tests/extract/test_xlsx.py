"""Workbooks: values as the file has them, every cell with its A1 range, what is hidden or not computed said."""

import io

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.made import DATA, S, blocks, code_of, place_of, read, rels, workbook

from gawah.chunk import Chunking
from gawah.extract.sandbox import Limits, Sandbox
from gawah.fragment import build, locate_each
from gawah.media_types import media_type_of
from gawah.testing.extractor import source_of
from gawah.types import SheetRange


def sheet(rows, *, after=""):
    """sheetData of rows of cells, each cell's XML or plain text."""
    body = "".join(
        "<row>" + "".join(cell if cell.startswith("<c") else text(cell) for cell in row) + "</row>" for row in rows
    )
    return f"<sheetData>{body}</sheetData>{after}"


def text(value):
    return f'<c t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>' if value else "<c/>"


def number(value, style=0):
    return f'<c s="{style}"><v>{value}</v></c>'


def one(rows, **options):
    return read("a.xlsx", workbook([("Costs", "visible", sheet(rows))], **options))


def styles(*codes):
    formats = "".join(f'<numFmt numFmtId="{164 + i}" formatCode="{code}"/>' for i, code in enumerate(codes))
    uses = "".join(f'<xf numFmtId="{164 + i}"/>' for i in range(len(codes)))
    return {
        "xl/styles.xml": f'<styleSheet xmlns="{S}"><numFmts>{formats}</numFmts><cellXfs><xf numFmtId="0"/>{uses}</cellXfs></styleSheet>'
    }


def test_case_21_torture():
    document = read("21-torture.xlsx", (DATA / "21-torture.xlsx").read_bytes())
    assert place_of(document, "00123") == SheetRange("Main", "E2")
    assert place_of(document, "merged") == SheetRange("Main", "A3:B4")
    assert place_of(document, "=B2*2") == SheetRange("Main", "F2")
    assert place_of(document, "2024-02-29") == SheetRange("Main", "C2")
    assert "1.234567890123457e+19" in document.text  # as the file has it
    assert {"secret", "verysecret", "CELLCOMMENT"} <= set(document.text.split("\n"))
    warnings = " ".join(document.warnings)
    assert "hidden sheets, read all the same: Hidden" in warnings
    assert "very hidden sheets: VH" in warnings
    assert "2 formulas have no value in the file: they stand as written: Main!F2, Main!E7" in warnings


def test_case_25_two_cells_in_far_corners_take_little_memory():
    data = (DATA / "25-far-cell.xlsx").read_bytes()
    with Sandbox(Limits(memory_bytes=64 << 20, cpu_s=10)) as sandbox:
        document = sandbox.extract(source_of("far.xlsx", data, media_type_of("far.xlsx")), data)
    assert [(p.span.slice(document.text), p.locator.a1) for p in document.places] == [
        ("near", "A1"),
        ("far", "XFD1048576"),
    ]


def test_case_behaviour_24_twenty_thousand_rows_become_chunks_by_row_ranges():
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet("Orders")
    page.append(["order", "city", "total"])
    for index in range(20_000):
        page.append([f"O-{index:05}", "Bern", index])
    stream = io.BytesIO()
    book.save(stream)
    document = read("orders.xlsx", stream.getvalue())

    def count_tokens(texts):
        return [len(piece.split()) for piece in texts]

    chunks = Chunking().chunks(document, count_tokens=count_tokens, window_tokens=256)
    assert all(chunk.n_tokens <= 256 for chunk in chunks)
    assert all(chunk.text.startswith("[orders > Orders > order | city | total]\n") for chunk in chunks)
    assert all(chunk.content == chunk.span.slice(document.text) for chunk in chunks)
    locators = locate_each(document.places, document.text, [chunk.span for chunk in chunks])
    covered = []
    for chunk, locator in zip(chunks, locators, strict=True):
        first, last = locator.a1.split(":")
        rows = range(int(first[1:]), int(last[1:]) + 1)
        covered.extend(rows)
        assert (first[0], last[0]) == ("A", "C")
        assert chunk.content.startswith(f"O-{rows[0] - 2:05} |")
    assert covered == list(range(2, 20_002))
    assert build(locators[0]).startswith("#sheet=Orders&range=A2:C")


def test_numbers_stay_as_the_file_has_them_but_for_the_noise_of_doubles():
    document = one(
        [
            [
                number("12345678901234567890"),
                number("1.1000000000000001"),
                number("0.30000000000000004"),
                number("5E-3"),
                text("007"),
            ]
        ]
    )
    assert document.text == "12345678901234567890 | 1.1 | 0.3 | 5E-3 | 007"


@pytest.mark.parametrize(
    ("code", "serial", "shown"),
    [
        ("yyyy-mm-dd", "45351", "2024-02-29"),
        ("d. mmm yy", "1", "1900-01-01"),
        ("dd/mm/yyyy", "59", "1900-02-28"),
        ("dd/mm/yyyy", "61", "1900-03-01"),
        ("yyyy-mm-dd hh:mm", "45351.5625", "2024-02-29 13:30"),
        ("h:mm:ss", "0.50001157", "12:00:01"),
        ("[h]:mm", "1.5", "36:00:00"),
        ("[Red]0.00", "45351", "45351"),
        ("0 &quot;days&quot;", "45351", "45351"),
        ("General", "45351", "45351"),
        ("yyyy", "-5", "-5"),
        ("yyyy", "9999999", "9999999"),
        ("yyyy", "0", "0"),
    ],
)
def test_dates_become_iso_dates_and_other_numbers_stay(code, serial, shown):
    assert one([[number(serial, 1)]], extra=styles(code)).text == shown


def test_dates_may_count_from_1904():
    document = one(
        [[number("0.5", 1), number("366", 1)]], extra=styles("yyyy-mm-dd hh:mm"), book='<workbookPr date1904="1"/>'
    )
    assert document.text == "12:00 | 1905-01-01"


@given(st.dates(min_value=__import__("datetime").date(1900, 3, 1)))
@settings(max_examples=50)
def test_a_date_is_what_openpyxl_reads(day):
    from openpyxl.utils.datetime import to_excel

    from gawah.extract.cell_dates import iso_date

    assert iso_date(to_excel(day), "date", from_1904=False) == day.isoformat()


def test_strings_are_shared_rich_escaped_and_without_phonetic_readings():
    strings = (
        f'<sst xmlns="{S}"><si><r><t>Ge</t></r><r><t xml:space="preserve">bühr </t></r></si>'
        "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si><si><t>a_x000D_\nb_x0041_</t></si></sst>"
    )
    shared = ['<c t="s"><v>0</v></c>', '<c t="s"><v>1</v></c>', '<c t="s"><v>2</v></c>', '<c t="s"><v>99</v></c>']
    document = one([shared], extra={"xl/sharedStrings.xml": strings})
    assert document.text == "Gebühr | 東京 | a bA"


def test_the_first_row_of_words_names_the_columns_and_a_line_above_is_a_heading():
    document = one([["Prices 2024"], ["City", "", "Fee"], ["Bern", "", number("40")], ["Genf", "", number("50")]])
    assert blocks(document) == [
        ("heading", 2, "Costs"),
        ("heading", 3, "Prices 2024"),
        ("heading", 4, "City | | Fee"),
        ("table", 0, "Bern | | 40"),
        ("table", 0, "Genf | | 50"),
    ]
    assert document.blocks[2].title == "City | Fee"
    assert place_of(document, "Bern | | 40") == SheetRange("Costs", "A3:C3")


def test_column_names_hold_over_blank_rows_but_not_for_another_table():
    rows = [["City", "Fee"], ["Bern", number("40")], [], ["Genf", number("50")], [], ["Name", "Age", "Town"],
            ["Ada", number("36"), "x"], [], ["", "", "", "far", "away"]]  # fmt: skip
    headings = [(b[1], b[2]) for b in blocks(one(rows)) if b[0] == "heading"]
    assert headings == [(2, "Costs"), (4, "City | Fee"), (2, "Costs"), (4, "Name | Age | Town"), (2, "Costs")]


def test_a_first_row_with_a_number_names_no_columns():
    assert [b[0] for b in blocks(one([["Bern", number("40")], ["Genf", number("50")]]))] == [
        "heading",
        "table",
        "table",
    ]


def test_words_that_do_not_fit_a_heading_stay_a_row():
    long = "word " * 60
    document = one([[long, "b"], ["c", "d"]])
    assert ("table", 0, f"{long.strip()} | b") in blocks(document)


def test_a_formula_of_another_cell_without_value_is_said():
    shared = '<c r="B2"><f t="shared" si="0"/></c>'
    document = one([["a", '<c r="B1"><f t="shared" ref="B1:B2" si="0">A1+1</f></c>'], ["c", shared]])
    assert "=A1+1" in document.text
    assert "2 formulas have no value in the file: they stand as written: Costs!B1, Costs!B2" in document.warnings


def test_the_title_is_the_propertys_when_somebody_wrote_it():
    body = [("Costs", "visible", sheet([["x"]]))]
    assert read("a.xlsx", workbook(body, title="Fees of 2024")).title == "Fees of 2024"
    assert read("a.xlsx", workbook(body, title="Book1")).title == "a"


def test_a_workbook_of_openpyxl_reads_as_openpyxl_reads_it():
    book = openpyxl.Workbook()
    page = book.active
    values = [["id", "amount", "paid"], ["007", 1.5, True], ["x < y & z", -3, False], [None, "line\nbreak", "#N/A"]]
    for row in values:
        page.append(row)
    stream = io.BytesIO()
    book.save(stream)
    document = read("a.xlsx", stream.getvalue())
    assert document.text.split("\n") == [
        "id | amount | paid",
        "",
        "007 | 1.5 | TRUE",
        "x < y & z | -3 | FALSE",
        "| line break | #N/A",
    ]


@given(st.lists(st.lists(st.sampled_from(["", "a", "City", "12", " x  y ", "Z\n1"]), max_size=4), max_size=6))
@settings(max_examples=60)
def test_every_cell_with_words_has_its_place(rows):
    data = workbook([("S", "visible", sheet(rows))])
    expected = {
        f"{chr(65 + c)}{r + 1}": " ".join(value.split())
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
        if value.strip()
    }
    if not expected:
        assert code_of("a.xlsx", data) == "empty"
        return
    document = read("a.xlsx", data)
    assert {p.locator.a1: p.span.slice(document.text) for p in document.places} == expected


def test_cells_without_addresses_and_out_of_range_references_do_no_harm():
    odd = '<sheetData><row r="x"><c r="??"><v>1</v></c><c s="99"><v>2</v></c><c t="s"><v>-1</v></c><c t="e"><v>#REF!</v></c></row></sheetData><mergeCells><mergeCell ref="A1"/><mergeCell ref="no"/></mergeCells>'
    assert read("a.xlsx", workbook([("S", "visible", odd)])).text == "1 | 2 | | #REF!"


def test_a_workbook_without_words_is_empty():
    assert code_of("a.xlsx", workbook([("S", "visible", "<sheetData/>")])) == "empty"
    assert code_of("a.xlsx", workbook([])) == "empty"


def test_addresses_that_no_sheet_has_are_said_and_every_locator_has_a_fragment():
    far = '<sheetData><row r="1048577"><c><v>1</v></c></row></sheetData>'
    document = read("a.xlsx", workbook([("", "visible", sheet([["x"] * 16_400])), ("B", "visible", far)]))
    assert len(document.places) == 16_384
    assert [build(place.locator) for place in document.places][-1] == "#sheet=Sheet&range=XFD1"
    assert document.warnings == (
        "cells of 'Sheet' beyond the last column that a sheet can have were not read",
        "rows of 'B' beyond the last that a sheet can have were not read",
    )


@pytest.mark.parametrize("odd", ["\u00b2", "9" * 5000, "-1", "", "x", "\u0967"])
def test_odd_counts_in_attributes_do_no_harm(odd):
    body = f'<sheetData><row r="{odd}"><c s="{odd}" t="s"><v>{odd}</v></c><c s="{odd}"><v>7</v></c></row></sheetData>'
    assert "7" in read("a.xlsx", workbook([("S", "visible", body)])).text


def test_broken_addresses_get_no_invented_places():
    cells = "".join(
        f'<c r="{r}"><v>{n}</v></c>'
        for n, r in enumerate(("ZZZZ1", "A0", "1A", "A99999999", "A9999999", "B1"), start=11)
    )
    document = read("a.xlsx", workbook([("S", "visible", f'<sheetData><row r="1">{cells}</row></sheetData>')]))
    assert (document.text, [place.locator for place in document.places]) == ("16", [SheetRange("S", "B1")])
    assert [(item.reason, item.text) for item in document.removed] == [("no such cell", str(n)) for n in range(11, 16)]
    assert document.warnings == (
        "addresses that no sheet has; what stands there was set aside (5): S!ZZZZ1, S!A0, S!1A, S!A99999999, S!A9999999",
    )


def test_a_number_of_a_string_that_the_file_lacks_is_said():
    cells = '<c r="A1" t="s"><v>7</v></c><c r="B1"><v>1</v></c>'
    document = read("a.xlsx", workbook([("S", "visible", f'<sheetData><row r="1">{cells}</row></sheetData>')]))
    assert document.text == "1"
    assert document.warnings == ("cells whose text the file does not hold (1): S!A1",)


def test_superscripts_of_a_cell_do_not_run_into_digits():
    strings = (
        f'<sst xmlns="{S}"><si><r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>23</t></r></si>'
        '<si><r><t>10</t></r><r><rPr><vertAlign val="subscript"/></rPr><t>2</t></r></si><si><t>a_x0001_b</t></si></sst>'
    )
    cells = "".join(f'<c r="{column}1" t="s"><v>{n}</v></c>' for n, column in enumerate("ABC"))
    data = workbook(
        [("One", "visible", f"<sheetData><row r='1'>{cells}</row></sheetData>")],
        extra={"xl/sharedStrings.xml": strings},
    )
    assert read("a.xlsx", data).text == "10^23 | 10_2 | ab"


def test_embedded_objects_of_a_sheet_are_said_to_be_unread():
    cell = "<sheetData><row r='1'><c r='A1'><v>1</v></c></row></sheetData>"
    extra = {
        "xl/worksheets/_rels/0.xml.rels": rels(
            ("e1", "oleObject", "../embeddings/a.bin"), ("e2", "package", "../embeddings/b.docx")
        ),
        "xl/embeddings/a.bin": b"a",
        "xl/embeddings/b.docx": b"b",
    }
    document = read("a.xlsx", workbook([("One", "visible", cell)], extra=extra))
    assert document.warnings == ("embedded objects of 'One' that were not read: 2",)
