"""Reading order: columns one after the other, whatever the content stream's order; what spans them where it stands."""

import pytest
from tests.extract.pdf.reading import chunks_of, locator_of, read

from gawah.testing.pdf import Page, pdf, width, wrapped

LEFT = (
    "The committee met in March and reviewed every item of the annual report before it took a vote on the matter. "
    "Two members asked for the figures of the northern district, which had not been printed in the first volume."
)
RIGHT = (
    "In the afternoon the treasurer explained how the budget of the coming year differs from the one that went before. "
    "Nobody objected to the change, and the chair closed the meeting shortly after five with thanks to all the staff."
)


def columns(*texts, width=160, gap=24, top=700, left=60):
    """(x, y, line) of texts set side by side."""
    return [
        [(left + number * (width + gap), top - 12 * row, line) for row, line in enumerate(wrapped(text, width))]
        for number, text in enumerate(texts)
    ]


def row_major(placed):
    return [cell for row in zip(*placed, strict=False) for cell in row]


def test_two_short_columns_are_read_left_then_right():
    page = Page()
    page.lines(60, 700, ["The committee reviewed the annual", "report and"])
    page.lines(320, 700, ["approved the budget for the", "coming fiscal year."])
    sentence = "The committee reviewed the annual report and approved the budget for the coming fiscal year."
    assert sentence in read(pdf([page])).text


@pytest.mark.parametrize("n_columns", [2, 3])
@pytest.mark.parametrize("order", ["column by column", "row by row", "backwards"])
def test_the_order_of_the_content_stream_does_not_matter(n_columns, order):
    texts = [LEFT, RIGHT, LEFT.upper()][:n_columns]
    placed = columns(*texts, width=150)
    cells = row_major(placed) if order == "row by row" else [cell for column in placed for cell in column]
    page = Page()
    for x, y, line in cells[::-1] if order == "backwards" else cells:
        page.text(x, y, line)
    for column in placed:  # what zip left over in row order
        for cell in column:
            if cell not in cells:
                page.text(*cell)
    document = read(pdf([page]))
    flat = " ".join(document.text.split())
    assert flat == " ".join(texts)
    assert document.quality["columns"] == n_columns


def test_a_heading_over_both_columns_is_read_before_and_between_them():
    page = Page()
    page.text(60, 740, "An annual report on the state of all northern districts", 16)
    for column in columns(LEFT, RIGHT, width=230, top=700):
        for cell in column:
            page.text(*cell)
    page.text(60, 600, "A second part, which is set across the whole of the page again", 16)
    for column in columns(LEFT.upper(), RIGHT.upper(), width=230, top=560):
        for cell in column:
            page.text(*cell)
    text = " ".join(read(pdf([page])).text.split())
    parts = ["An annual report", LEFT, RIGHT, "A second part", LEFT.upper(), RIGHT.upper()]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)


def test_columns_whose_lines_do_not_stand_level_are_still_columns():
    page = Page()
    for number, column in enumerate(columns(LEFT, RIGHT, width=200)):
        for x, y, line in column:
            page.text(x, y - 5 * number, line)
    assert " ".join(read(pdf([page])).text.split()) == f"{LEFT} {RIGHT}"


def test_a_sentence_goes_on_over_the_page_break_and_every_character_has_its_page():
    first, second = Page(), Page()
    first.lines(60, 700, [*wrapped(LEFT, 300)[:-1], "and the first page ends with alpha"])
    second.lines(60, 700, ["beta begins the second one, and so on."])
    document = read(pdf([first, second]))
    assert "alphabeta" not in document.text
    assert "alpha beta begins" in document.text
    pages = {place.span.start: place.locator.first_page for place in document.places}
    assert set(pages.values()) == {1, 2}
    covered = {offset for place in document.places for offset in range(place.span.start, place.span.end)}
    assert all(offset in covered for offset, letter in enumerate(document.text) if not letter.isspace())
    assert locator_of(document, "alpha").first_page == 1
    assert locator_of(document, "beta").first_page == 2
    both = locator_of(document, "alpha beta")
    assert (both.first_page, both.last_page, [box.page for box in both.boxes]) == (1, 2, [1, 2])


def test_pages_that_say_the_same_are_two_chunks_in_two_places():
    slide = Page(size=(400, 300)).text(40, 250, "Questions", 24).text(40, 200, "Thank you for listening to us today.")
    document = read(pdf([slide, slide]))
    chunks = [chunk for chunk in chunks_of(document) if "Thank you" in chunk.content]
    assert len({chunk.id for chunk in chunks}) == 2
    assert [document.text.count(words) for words in ("Questions", "Thank you")] == [2, 2]
    spots = [place.locator.first_page for place in document.places if "Thank" in place.span.slice(document.text)]
    assert spots == [1, 2]


def test_columns_whose_lines_reach_a_little_into_each_other_are_read_one_after_the_other():
    page, columns = Page(), [wrapped(f"{LEFT} {LEFT}", 220), wrapped(f"{RIGHT} {RIGHT}", 220)]
    for number, line in enumerate(columns[0]):
        page.text(60 + (7 if number % 3 == 0 else 0), 700 - 12 * number, line)
    for number, line in enumerate(columns[1]):
        page.text(60 + max(width(line) for line in columns[0]) + 2, 700 - 12 * number, line)
    assert " ".join(read(pdf([page])).text.split()) == " ".join([*columns[0], *columns[1]])
