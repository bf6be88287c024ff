"""Large first letters belong to their words; numbers in the margin to their lines."""

import pytest
from tests.extract.pdf.reading import BoxReader, locator_of, read

from gawah.testing.pdf import Page, pdf, width, wrapped

TEXT = (
    "lines of the chapter stand beside the large letter and go on below it to the end of the page, where it ends. " * 2
)


def chapter(letter, first, *, size, n_beside, gap=2.0):
    """A chapter that begins with a letter that reaches over some of its lines."""
    indent = width(letter, size) + gap
    beside = wrapped(f"{first} {TEXT}", 400 - indent)[:n_beside]
    rest = f"{first} {TEXT}".split(" ", sum(len(line.split()) for line in beside))[-1]
    page = Page().text(72, 707 - 0.72 * size, letter, size).lines(72 + indent, 700, beside)
    return page.lines(72, page.y, wrapped(rest, 400))


@pytest.mark.parametrize(("size", "n_beside"), [(28, 2), (44, 3)])
@pytest.mark.parametrize(
    ("letter", "first", "expected"),
    [("T", "he first", "The first"), ("A", "fter these", "After these"), ("W", "HEN the", "WHEN the")],
)
def test_a_large_letter_begins_its_word(size, n_beside, letter, first, expected):
    data = pdf([chapter(letter, first, size=size, n_beside=n_beside)])
    document = read(data)
    assert document.text == f"{expected} {TEXT}".strip()
    assert len(document.blocks) == 1
    found = locator_of(document, expected)
    assert BoxReader(data).inside(found) == expected
    assert found.boxes[0].y1 - found.boxes[0].y0 > 0.7 * size


def test_a_large_letter_that_is_a_word_stands_apart():
    document = read(
        pdf([chapter("A", "dog and", size=28, n_beside=2, gap=6).text(72, 400, "It was the dog of the keeper.")])
    )
    assert document.text.startswith("A dog and lines of the chapter")


def test_a_large_letter_alone_stays_a_heading():
    page = Page().text(72, 700, "A", 28).lines(72, 660, wrapped(TEXT, 400))
    assert read(pdf([page])).text.startswith("A\n\nlines of the chapter")


def test_a_small_mark_is_still_raised():
    page = (
        Page().text(72, 700, "The dam was raised in 1947").text(72 + width("The dam was raised in 1947"), 704, "3", 6)
    )
    assert read(pdf([page])).text == "The dam was raised in 1947^3"


@pytest.mark.parametrize("mark", ["{}", "{}.", "({})"])
def test_numbers_in_the_margin_begin_their_clauses_which_are_whole(mark):
    page, y, clauses = Page(), 740, []
    for number in range(1, 7):
        clause = f"The keeper of gate {number} shall report to the council within {number + 1} days and shall keep the book of readings in the house that belongs to it."
        page.text(50, y, mark.format(number)).lines(78, y, wrapped(clause, 400))
        y = page.y - 6
        clauses.append(f"{mark.format(number)} {clause}")
    document = read(pdf([page]))
    assert [block.span.slice(document.text) for block in document.blocks] == clauses
    assert {block.kind.value for block in document.blocks} == {"item"}


def test_numbered_lines_are_entries_of_their_own():
    page = Page()
    for number in range(1, 9):
        page.text(50, 700 - 14 * number, str(number)).text(
            72, 700 - 14 * number, f"Anna of the town of Place {number} on the river with the long name"
        )
    document = read(pdf([page]))
    assert len(document.blocks) == 8
    assert document.text.splitlines()[2] == "3 Anna of the town of Place 3 on the river with the long name"
