"""Tables: rows of cells joined by pipes that have no place; rows whole, on the page they stand on."""

import pytest
from tests.extract.pdf.reading import BoxReader, chunks_of, locator_of, read

from gawah.testing.pdf import Page, pdf, width, wrapped
from gawah.types import BlockKind

HEAD = ("Station", "Height", "Rain", "Days")
PROSE = "The stations below were read every morning of the year, and what they showed was put down by hand. " * 3


def row(number):
    return (f"Post {number}", f"{1200 + 7 * number} m", f"{300 + number}.{number % 10} mm", str(100 + number))


def table(page, y, rows, xs=(60, 200, 300, 420), pitch=16):
    for cells in rows:
        for x, cell in zip(xs, cells, strict=True):
            if cell:
                page.text(x, y, cell)
        y -= pitch
    return y


def rows_of(document):
    return [
        line
        for block in document.blocks
        if block.kind is BlockKind.TABLE
        for line in block.span.slice(document.text).splitlines()
    ]


def test_rows_are_lines_of_cells_between_the_prose():
    page = Page()
    y = page.lines(60, 740, wrapped(PROSE, 480)).y
    y = table(page, y - 14, [HEAD, *map(row, range(1, 9))])
    page.lines(60, y - 14, wrapped(PROSE.upper(), 480))
    document = read(pdf([page]))
    assert rows_of(document) == [" | ".join(cells) for cells in [HEAD, *map(row, range(1, 9))]]
    assert [block.kind.value for block in document.blocks] == ["paragraph", "table", "paragraph"]
    assert document.quality["tables"] == 1


def test_no_place_holds_a_pipe_and_no_box_holds_a_blank_between_cells():
    data = pdf([(page := Page(), table(page, 700, [HEAD, *map(row, range(1, 9))]))[0]])
    document = read(data)
    assert not any("|" in place.span.slice(document.text) for place in document.places)
    locator = locator_of(document, "Post 3 | 1221 m")
    assert [BoxReader(data).inside(locator)] == ["Post 31221 m"]
    assert len(locator.boxes) == 2
    assert document.conservation.added["between cells"] == 3 * 9 * len(" | ")


def test_an_empty_cell_keeps_its_column():
    rows = [HEAD, ("Post 1", "", "3.0 mm", "5"), ("Post 2", "900 m", "", "7"), *map(row, range(3, 7))]
    document = read(pdf([(page := Page(), table(page, 700, rows))[0]]))
    assert rows_of(document)[1:3] == ["Post 1 | | 3.0 mm | 5", "Post 2 | 900 m | | 7"]


def test_a_cell_of_two_lines_stays_in_its_row():
    page = Page()
    y = 700
    for number, name in enumerate(["ash", "beech", "cedar", "douglas fir"], start=1):
        page.text(60, y, f"No. {number}").text(160, y, f"the wood of {name}").text(340, y, f"{number}.50")
        page.text(160, y - 11, "as it was cut")
        y -= 32
    assert rows_of(read(pdf([page])))[1] == "No. 2 | the wood of beech as it was cut | 2.50"


def test_a_table_goes_on_over_the_page_break_with_its_head_said_once():
    first, second = Page(), Page()
    y = first.lines(60, 740, wrapped(PROSE, 480)).y
    table(first, y - 14, [HEAD, *map(row, range(1, 20))])
    y = table(second, 740, [HEAD, *map(row, range(20, 30))])
    second.lines(60, y - 14, wrapped(PROSE.upper(), 480))
    document = read(pdf([first, second]))
    assert rows_of(document) == [" | ".join(cells) for cells in [HEAD, *map(row, range(1, 30))]]
    assert document.quality["tables"] == 1
    assert [removal.reason for removal in document.removed] == ["head of a table, repeated"]
    assert locator_of(document, "Post 12").first_page == 1
    found = locator_of(document, " | ".join(row(25)))
    assert (found.first_page, found.last_page) == (2, 2)


def test_no_chunk_tears_a_row():
    first, second = Page(), Page()
    table(first, 740, [HEAD, *map(row, range(1, 40))])
    table(second, 740, [*map(row, range(40, 75))])
    document = read(pdf([first, second]))
    contents = [chunk.content for chunk in chunks_of(document)]
    for number in range(1, 75):
        assert any(" | ".join(row(number)) in content for content in contents)


def test_a_form_is_read_row_by_row():
    page = Page()
    for number, (name, value) in enumerate([("Name", "Ada Byron"), ("Born", "1815"), ("Town", "London")]):
        page.text(60, 700 - 18 * number, name).text(200, 700 - 18 * number, value)
    assert rows_of(read(pdf([page]))) == ["Name | Ada Byron", "Born | 1815", "Town | London"]


def wrapped_rows(page, rows, pitch, gap):
    """Rows whose cells are lists of lines, from y 700 down."""
    y = 700
    for row in rows:
        for x, lines in zip((72, 160, 340), row, strict=True):
            page.lines(x, y, lines, leading=pitch)
        y -= pitch * max(map(len, row)) + gap
    return page


DUTIES = [
    (["Section"], ["Duty of the owner"], ["Fine"]),
    (["12.1"], ["Keep the gates of the", "weir closed at night", "and in storms of force", "7 or more."], ["500 EUR"]),
    (["12.2"], ["Report every leak to", "the water board."], ["750 EUR", "at most"]),
    (["12.3"], ["Paint the gauge."], ["20 EUR"]),
]


@pytest.mark.parametrize("gap", [0, 6])
def test_a_row_whose_cells_have_many_lines_is_one_row(gap):
    duties = (
        DUTIES
        if gap
        else [[[line for line in cell if line not in ("7 or more.", "at most")] for cell in row] for row in DUTIES]
    )
    rows = rows_of(read(pdf([wrapped_rows(Page(), duties, 12, gap)])))
    assert rows == [" | ".join(" ".join(cell) for cell in row) for row in duties]


def test_rows_under_one_head_stay_rows():
    rows = [(["Fruit"], ["Kind"], ["Price"])]
    for name, kinds in (("Pome", ["apple", "pear", "quince"]), ("Stone", ["plum", "cherry", "peach"])):
        rows += [([name] if not number else [], [kind], [f"{number}.50"]) for number, kind in enumerate(kinds)]
    found = rows_of(read(pdf([wrapped_rows(Page(), rows, 12, 2)])))
    assert found == [
        " | ".join("".join(cell) for cell in row).replace(" |  | ", " | | ").removeprefix(" ") for row in rows
    ]


MARKS = ("Mark", "Station", "Place", "Year", "Height", "Believed")
PLACES = ["post office", "mill of Harish Tolia's", "cattle shed", "lower temple", "bus shelter", "tea stall, door post"]


def marks(page, y):
    """A table whose third column now and then reaches over the gutter of the text, with cells of two lines."""
    rows = [
        MARKS,
        *((f"FM-{n:02d}", "Ambari", place, f"20{n:02d}", f"{n}.59", "yes") for n, place in enumerate(PLACES)),
    ]
    for row in rows:
        for x, cell in zip((66, 139, 212, 317, 390, 463), row, strict=True):
            page.text(x, y, cell)
        if row[2].startswith(("mill", "bus")):
            y -= 12
            page.text(212, y, "in the old town")
        y -= 16
    return y, [
        " | ".join((*row[:2], row[2] + " in the old town" * row[2].startswith(("mill", "bus")), *row[3:]))
        for row in rows
    ]


@pytest.mark.parametrize("order", ["above", "below", "between"])
def test_a_table_directly_above_or_below_two_columns_is_whole(order):
    page, y = Page(), 740
    columns = [wrapped((words + " ") * 2, 222) for words in (PROSE, PROSE.upper())]
    if order != "above":
        page.lines(63, y, columns[0]).lines(309, y, columns[1])
        y = page.y - 8
    y, rows = marks(page, y)
    if order != "below":
        page.lines(63, y - 8, columns[0]).lines(309, y - 8, columns[1])
    document = read(pdf([page]))
    assert rows_of(document) == rows
    assert document.quality["tables"] == 1
    flowing = [block.span.slice(document.text) for block in document.blocks if block.kind is BlockKind.PARAGRAPH]
    assert " ".join(columns[0]) in flowing


def test_wide_blanks_of_justified_columns_are_no_table():
    page = Page()
    for x in (63, 309):
        for number, line in enumerate(wrapped(PROSE * 2, 200)):
            words = line.split()
            step = (222 - sum(width(word) for word in words)) / (len(words) - 1)
            at = x
            for word in words:
                page.text(at, 700 - 12 * number, word)
                at += width(word) + step
    assert read(pdf([page])).quality["tables"] == 0


def test_a_row_that_a_page_break_parts_is_one_row():
    first, second = Page(), Page()
    table(first, 740, [HEAD, *map(row, range(1, 9)), ("Post 9", "1209 m at the", "9.5 mm", "4")])
    table(second, 740, [HEAD, ("", "upper weir", "", ""), *map(row, range(10, 20))])
    document = read(pdf([first, second]))
    assert rows_of(document)[9] == "Post 9 | 1209 m at the upper weir | 9.5 mm | 4"
    found = locator_of(document, "at the upper")
    assert (found.first_page, found.last_page) == (1, 2)
