"""CSV and TSV: the csv module is the oracle for cells; every row is a block that knows its number."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.odd import odd_text, unless

from gawah.extract.csv_cells import DELIMITERS, count_cells, scan_cells, scan_rows, sniff_delimiter
from gawah.extract.table import TableExtractor, column_names
from gawah.testing.extractor import ExtractorContract, assert_is_sound, source_of
from gawah.types import CsvCells

csv_text = st.text(alphabet='ab1,;\t|"\n é', max_size=80)


def extract(text, media_type="text/csv"):
    data = text.encode()
    return TableExtractor().extract(source_of("prices.csv", data, media_type), data)


def cells(text, delimiter=","):
    return [[cell.value for cell in scan_cells(text, row, delimiter)] for row in scan_rows(text, delimiter)]


def rows(document):
    return [(block.kind.value, block.span.slice(document.text)) for block in document.blocks]


class TestContract(ExtractorContract):
    media_type = "text/csv"

    def extractor(self):
        return TableExtractor()

    def samples(self):
        return [
            b"name,eur\nfull,40\n", b"1,2\n", b"one cell", b'"never closed\n1,2\n', b"\n\n\n1;2\n\n", b"," * 300_000,
            b'"' * 200_000, b'a,"' + b"x\n" * 100_000, "शुल्क,रुपये\nपूरा,४०\n".encode(), "Gebühr;40\n".encode("latin-1"),
            b"\xef\xbb\xbfa\tb\r\n1\t2\r\n",
        ]  # fmt: skip


@given(csv_text, st.sampled_from(DELIMITERS))
def test_cells_are_those_of_the_csv_module(text, delimiter):
    assert cells(text, delimiter) == list(csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter))


@given(csv_text, st.sampled_from(DELIMITERS))
def test_rows_cover_the_text_and_cells_lie_in_their_row(text, delimiter):
    position = 0
    for row in scan_rows(text, delimiter):
        assert row.start == position
        position = row.end + 1
        found = scan_cells(text, row, delimiter)
        assert count_cells(text, row, delimiter) == len(found)
        for cell in found:
            assert row.holds(cell.span)
            own = cell.span.slice(text)
            assert own == cell.value or '"' in own
    assert not text[position:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a,"b, ""c"""\n', [["a", 'b, "c"']]),
        ('"two\nlines",x\ny', [["two\nlines", "x"], ["y"]]),
        ('"closed"tail,x', [["closedtail", "x"]]),
        ('mid"quote,x', [['mid"quote', "x"]]),
        ('"never closed,\nx', [["never closed,\nx"]]),
        (",,\n\n,", [["", "", ""], [], ["", ""]]),
        ('""', [[""]]),
        ("", []),
    ],
)
def test_quotes_and_gaps(text, expected):
    assert cells(text) == expected


def test_a_cells_span_is_its_own_words_without_the_quotes():
    text = 'a,"b c",d'
    (row,) = scan_rows(text, ",")
    assert [cell.span.slice(text) for cell in scan_cells(text, row, ",")] == ["a", "b c", "d"]


@pytest.mark.parametrize(
    ("text", "preferred", "expected"),
    [
        ("a,b\n1,2\n", ",", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ",", ";"),
        ("a\tb, c\n1\t2, 3\n", "\t", "\t"),
        ("a|b|c\nx|y|z\n", ",", "|"),
        ("one\ntwo\n", ",", ","),
        ("one\ntwo\n", "\t", "\t"),
        ("name,note\nx,one; two\ny,three\n", ",", ","),
        ('"a;b",c\n"d;e",f\n', ",", ","),
        ("", ",", ","),
    ],
)
def test_the_delimiter_is_the_one_that_makes_even_rows(text, preferred, expected):
    assert sniff_delimiter(text, preferred) == expected


def test_rows_are_blocks_under_a_heading_of_the_column_names():
    document = extract('City, Land,"People, 2024"\nBern,CH,134591\n\n"New\nTown",UK,1\n')
    assert rows(document) == [
        ("heading", 'City, Land,"People, 2024"'),
        ("table", "Bern,CH,134591"),
        ("table", '"New\nTown",UK,1'),
    ]
    heading = document.blocks[0]
    assert (heading.level, heading.title) == (2, "City | Land | People, 2024")
    assert [place.locator for place in document.places] == [CsvCells(1, 1), CsvCells(2, 2), CsvCells(4, 4)]
    assert [place.span for place in document.places] == [block.span for block in document.blocks]


@pytest.mark.parametrize("first", ["Bern,134591", "2024-01-05,x", "12 %,x", "x,-1.5", "$ 3,x", "१२,x"])
def test_a_first_row_with_a_number_is_no_header(first):
    assert rows(extract(first + "\na,b\n"))[0] == ("table", first)


def test_a_lone_row_is_a_row_not_a_heading():
    assert rows(extract("name,eur\n")) == [("table", "name,eur")]


def test_a_tab_separated_file_is_read_by_tabs():
    document = extract("name\tnote, long\nx\ty\n", "text/tab-separated-values")
    assert document.blocks[0].title == "name | note, long"


def test_rows_of_another_width_are_counted_in_a_warning():
    assert extract("a,b\n1,2\n3\n4,5,6\n").warnings == ("2 rows have another number of columns than the first",)


def test_many_column_names_are_cut_between_columns():
    title = column_names([f"column number {number}" for number in range(100)])
    assert len(title) < 260
    assert title.endswith("| …")
    assert column_names([" a\n b ", "", "c"]) == "a b | c"


@given(st.one_of(csv_text, odd_text))
def test_every_table_is_sound(text):
    document = unless(lambda: extract(text), "empty")
    if document is not None:
        assert_is_sound(document)
        assert len(document.places) == len(document.blocks)
