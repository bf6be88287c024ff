"""Furniture leaves the text and is written down; what only looks like it stays."""

import pytest
from tests.extract.pdf.reading import read

from gawah.extract.pdf.page_numbers import is_set_off
from gawah.testing.pdf import Page, pdf, wrapped

TOPICS = ("harbours and tides", "rivers and their mouths", "wells and springs", "lakes and ponds", "snow and ice")


def body(topic):
    return wrapped(f"This page is about {topic}, of which a good deal can be said. " * 12, 450)


def book(n_pages=5, head="A History of Water", first_number=1):
    pages = []
    for number in range(n_pages):
        page = Page()
        page.text(60, 760, head, 9).lines(60, 700, body(TOPICS[number]))
        pages.append(page.text(300, 30, str(first_number + number), 9))
    return pages


def reasons(document):
    return {removal.text: removal.reason for removal in document.removed}


def test_running_heads_and_page_numbers_go_and_are_kept_with_their_boxes():
    document = read(pdf(book()))
    assert "History of Water" not in document.text
    assert [removal.text for removal in document.removed] == [
        words for number in range(1, 6) for words in ("A History of Water", str(number))
    ]
    assert set(reasons(document).values()) == {"running head", "page number"}
    (box,) = document.removed[0].locator.boxes
    assert (box.page, round(box.x0), round(box.y0)) == (1, 60, 758)
    assert document.conservation.dropped["running head"] == 5 * len("A History of Water")


def test_a_sentence_goes_on_under_a_foot_and_a_head():
    pages = [Page().text(60, 760, "A History of Water", 9) for _ in range(4)]
    for number, page in enumerate(pages):
        page.lines(
            60,
            700,
            ["this page " + line[10:] if not row else line for row, line in enumerate(body(TOPICS[number])[:-1])],
        )
        page.lines(60, page.y, [f"and what page {number} says does not end with it but"])
    document = read(pdf(pages))
    assert "does not end with it but this page is about rivers" in document.text


def test_a_head_on_two_pages_only_is_text():
    assert read(pdf(book(2))).text.count("A History of Water") == 2


def test_numbers_in_a_table_at_the_edge_are_not_page_numbers():
    pages = []
    for number in range(4):
        page = Page()
        for line in range(38):
            for column, x in enumerate((60, 160, 260, 360, 460)):
                page.text(x, 760 - 18 * line, str(number + 3 * line + column))
        pages.append(page)
    document = read(pdf(pages))
    assert document.removed == () or all("repeated" in removal.reason for removal in document.removed)


def numbered(lines_of_page, n_pages=5):
    """Pages of text, each with the words that a function of the page's number puts at places."""
    pages = []
    for number in range(1, n_pages + 1):
        page = Page().lines(72, 690, body(TOPICS[number % 5]))
        for x, y, words, *size in lines_of_page(number):
            page.text(x, y, words, *size)
        pages.append(page)
    return read(pdf(pages))


def test_amounts_at_the_edges_of_pages_stay():
    document = numbered(
        lambda i: [(72, 770, f"Account balance: {i * 137} EUR"), (72, 40, f"Total due: {i * 1313} EUR")]
    )
    for i in range(1, 6):
        assert f"Account balance: {i * 137} EUR" in document.text
        assert f"Total due: {i * 1313} EUR" in document.text
    assert not document.removed


def test_an_amount_set_apart_from_its_label_stays_with_it():
    document = numbered(lambda i: [(72, 770, "Account balance"), (400, 770, f"{i * 137} EUR")])
    assert document.text.count("Account balance") == 5
    assert all(f"{i * 137} EUR" in document.text for i in range(1, 6))


@pytest.mark.parametrize(
    "foot",
    [
        lambda i: f"Annual report 2023, page {i + 6}",
        lambda i: f"{i + 6} - Annual report",
        lambda i: f"Preface {('v', 'vi', 'vii', 'viii', 'ix')[i - 1]}",
        lambda i: f"Page {i} of 5",
        lambda i: f"Page {(i - 1) % 2 + 1} of 2",
        lambda i: "Form 27-B, 3rd edition",
    ],
)
def test_a_foot_whose_number_counts_the_pages_goes(foot):
    document = numbered(lambda i: [(72, 40, foot(i))])
    assert [removal.text for removal in document.removed] == [foot(i) for i in range(1, 6)]


def test_numbered_headings_larger_than_the_text_stay():
    document = numbered(lambda i: [(72, 750, f"Section {i}", 14)])
    assert all(f"Section {i}" in document.text for i in range(1, 6))
    assert not document.removed


@pytest.mark.parametrize("levels", [lambda i: (142, 97), lambda i: (142 + i, 97 * i), lambda i: (142 * i, 97 + i)])
def test_the_repeated_head_of_a_table_and_its_rows_stay(levels):
    def cells(i):
        rows = [("Station", "Level"), *zip(("Devkund", "Karli"), map(str, levels(i)), strict=True)]
        return [(x, 770 - 14 * at, word) for at, row in enumerate(rows) for x, word in zip((72, 200), row, strict=True)]

    document = numbered(cells, 4)
    assert all(word in document.text for i in range(1, 5) for _, _, word in cells(i))
    assert document.text.count("Station") == document.text.count("Level") == 4
    assert not document.removed


def test_rows_at_the_foot_stay_where_they_are_the_same_on_every_page_too():
    rows = [("Net amount", "17.50"), ("Grand total", "21.75")]
    document = numbered(
        lambda i: [
            (x, 60 - 14 * row, word) for row, words in enumerate(rows) for x, word in zip((72, 400), words, strict=True)
        ]
    )
    assert [document.text.count(word) for words in rows for word in words] == [5] * 4


def test_rows_set_in_one_piece_stay():
    document = numbered(
        lambda i: [(72, 770, "Station Level"), (72, 756, f"Devkund {142 + i}"), (72, 742, f"Karli {97 * i}"),
                   (72, 54, "Net amount 17.50"), (72, 40, "Grand total 21.75")], 4
    )  # fmt: skip
    for words in ("Station Level", "Devkund", "Karli", "Net amount 17.50", "Grand total 21.75"):
        assert document.text.count(words) == 4
    assert not document.removed


def test_a_foot_of_two_lines_goes():
    document = numbered(lambda i: [(72, 54, "Annual report 2023"), (72, 42, f"Page {i + 3}")])
    assert len(document.removed) == 10


def test_a_head_in_two_parts_with_a_page_number_goes():
    document = numbered(lambda i: [(72, 770, "A History of Water"), (500, 770, str(i + 40))])
    assert "History" not in document.text
    assert len(document.removed) >= 5


def test_a_column_of_line_numbers_goes():
    page = Page()
    lines = wrapped("What the witness said on the first day was put down in full, line by line. " * 14, 400)
    for number, line in enumerate(lines, start=1):
        page.text(60 - (4 if number > 9 else 0), 720 - 24 * number, str(number)).text(100, 720 - 24 * number, line)
    document = read(pdf([page]))
    assert (
        " ".join(document.text.split())
        == ("What the witness said on the first day was put down in full, line by line. " * 14).strip()
    )
    assert set(reasons(document).values()) == {"line number"}


@pytest.mark.parametrize("first", ["Anna", "anna"])
def test_the_numbers_of_entries_of_one_line_stay(first):
    page = Page()
    for number in range(1, 13):
        words = f"{first} Number{number - 1} of the town by the river" + " and of the mill" * (number % 3)
        page.text(60, 740 - 24 * number, str(number), 16).text(100, 740 - 24 * number, words, 16)
    document = read(pdf([page]))
    assert not document.removed
    assert all(f"{number} {first} Number{number - 1} of" in document.text for number in range(1, 13))


def test_the_numbers_of_clauses_stay():
    page, y = Page(), 760
    for number in range(1, 21):
        page.text(60, y, str(number), 10)
        y = (
            page.lines(
                90,
                y,
                wrapped(
                    f"Party {number} shall keep the weir in the state in which it was found, and mend what "
                    "the flood has broken before the end of the year.",
                    420,
                    10,
                ),
            ).y
            - 4
        )
    document = read(pdf([page]))
    assert not document.removed
    assert all(f"{number} Party {number} shall" in document.text for number in range(1, 21))


def test_a_numbered_first_column_of_a_table_stays():
    page = Page()
    for number in range(1, 15):
        page.text(60, 720 - 16 * number, str(number)).text(120, 720 - 16 * number, f"item {number}").text(
            300, 720 - 16 * number, f"{number}.00"
        )
    document = read(pdf([page]))
    assert "7 | item 7 | 7.00" in document.text
    assert not document.removed


def test_what_stands_sideways_in_the_margin_goes_and_what_lies_outside_of_the_page_too():
    page = Page(crop=(40, 40, 572, 752)).lines(90, 700, body("tides"))
    page.text(60, 300, "printed by nobody", 7, angle=(0, 1)).text(5, 10, "crop mark 12-B", 6)
    document = read(pdf([page]))
    assert reasons(document) == {"printed by nobody": "stamp in the margin", "crop mark 12-B": "outside of the page"}
    assert document.conservation.dropped["outside of the page"] == len("cropmark12-B")


def test_a_word_across_the_page_goes():
    page = Page().lines(60, 700, body("tides")).text(200, 300, "DRAFT", 60, angle=(0.7071, 0.7071))
    assert reasons(read(pdf([page]))) == {"DRAFT": "text at an angle"}


def test_a_lone_page_number_goes_from_a_lone_page_but_a_title_that_is_a_year_does_not():
    lone = read(pdf([Page().lines(60, 700, body("tides")).text(300, 30, "- 12 -", 9)]))
    assert reasons(lone) == {"- 12 -": "page number"}
    assert "1984" in read(pdf([Page(size=(300, 200)).text(40, 180, "1984", 20)])).text


def test_a_bold_look_made_by_printing_twice_is_read_once():
    page = Page().text(60, 740, "Warning here").lines(60, 700, body("tides")).text(60.4, 740, "Warning here")
    document = read(pdf([page]))
    assert document.text.count("Warning here") == 1
    assert document.conservation.dropped["printed twice"] == len("Warninghere")


def test_the_same_words_in_another_size_elsewhere_are_read_too():
    page = Page().text(24, 240, "mark", 10).text(48, 480, "mark", 20)  # the same cell, each on the grid of its size
    document = read(pdf([page]))
    assert document.text.count("mark") == 2
    assert "printed twice" not in document.conservation.dropped


@pytest.mark.parametrize("fact", ["Room {}", "Lecture hall {}", "Rule {} of the gate", "Day {} of the flood"])
def test_facts_that_count_along_with_the_pages_are_text(fact):
    document = numbered(lambda i: [(72, 760, fact.format(i))])
    assert not document.removed
    assert all(fact.format(number) in document.text for number in range(1, 6))


@pytest.mark.parametrize("head", ["Water | {}", "{} · Water", "Water, pag. {}", "जल पृष्ठ {}", "Water p. {}"])
def test_a_number_that_stands_as_a_page_number_does_goes_with_its_head(head):
    if not head.isascii() and "·" not in head:
        assert is_set_off(head.format(7), head.index("{"), head.index("{") + 1)
        return
    document = numbered(lambda i: [(72, 760, head.format(i))])
    assert [removal.text for removal in document.removed] == [head.format(number) for number in range(1, 6)]
