"""What goes on over a page break and what does not; footnotes between the halves of a sentence."""

import pytest
from tests.extract.pdf.reading import chunks_of, locator_of, read

from gawah.testing.pdf import Page, pdf, wrapped

TEXT = (
    "The council met in the hall by the river and spoke of the dam, of the water and of those who live below it. " * 4
)


def blocks(document):
    return [block.span.slice(document.text) for block in document.blocks]


@pytest.mark.parametrize(
    "slides",
    [
        ["The Devkund weir is 4 metres high", "The Lohari dam is 9 metres high", "Thank you for coming"],
        ["water levels this year", "rain gauges this year", "thanks"],
        ["The same words stand here", "The same words stand here"],
        ["alpha", "beta"],
    ],
)
def test_slides_of_one_line_are_blocks_of_their_own(slides):
    document = read(pdf([Page(size=(720, 540)).text(60, 300, words, 28) for words in slides]))
    assert blocks(document) == slides
    assert [place.locator.first_page for place in document.places] == list(range(1, len(slides) + 1))


def test_slides_of_two_lines_are_blocks_of_their_own():
    slides = [
        ["The weir at Devkund was built", "in 1910"],
        ["rain gauges were set up in the", "upper reach"],
        ["Who reads them"],
    ]
    document = read(pdf([Page(size=(720, 540)).lines(60, 300, lines, 24, 30) for lines in slides]))
    assert blocks(document) == [" ".join(lines) for lines in slides]


def test_two_pages_of_the_same_full_lines_are_two_blocks():
    lines = wrapped(TEXT.replace(". ", ", "), 460)[:6]
    document = read(pdf([Page().lines(72, 700, lines) for _ in range(2)]))
    assert blocks(document) == [" ".join(lines)] * 2


@pytest.mark.parametrize("word", ["the", "Vienna"])
def test_a_sentence_of_running_text_goes_on_overleaf(word):
    lines = wrapped("the council met in the hall by the river and spoke of the dam and of the water " * 8, 460)
    lines[5] = f"{word} {lines[5].split(' ', 1)[1]}"
    document = read(pdf([Page().lines(72, 400, lines[:5]), Page().lines(72, 700, lines[5:])]))
    assert blocks(document) == [" ".join(lines)]


@pytest.mark.parametrize("note", ["1 See the archive at Bern, box 12.", "* From a letter.", "a) As told by Ann."])
def test_a_sentence_goes_on_over_the_footnote_which_stands_behind_it(note):
    first = Page().lines(
        72,
        400,
        [*wrapped(TEXT, 460), "The treaty was signed in the presence of all the delegates who were then able to"],
    )
    first.lines(72, 90, [note], 7, 9)
    second = Page().lines(72, 700, [*wrapped("travel through the mountains before winter came. " + TEXT, 460)])
    document = read(pdf([first, second]))
    assert "who were then able to travel through the mountains before winter came." in document.text
    assert blocks(document)[-1] == note
    found = locator_of(document, "able to travel")
    assert (found.first_page, found.last_page) == (1, 2)
    assert locator_of(document, note).first_page == 1


def test_a_sentence_goes_on_over_a_footnote_between_two_columns():
    page = Page()
    left = [*wrapped(TEXT, 220), "The treaty was signed by all who were then"]
    page.lines(60, 700, left).lines(60, 90, ["1 See the archive at Bern."], 7, 9)
    page.lines(320, 700, wrapped("able to come to the city. " + TEXT, 220))
    assert "who were then able to come" in read(pdf([page])).text


def test_small_print_without_a_number_stays_where_it_is():
    page = Page().lines(72, 400, wrapped(TEXT, 460)).lines(72, 90, ["Printed at the mill in a small edition."], 7, 9)
    assert blocks(read(pdf([page])))[1:] == ["Printed at the mill in a small edition."]


def test_twin_slides_have_chunks_with_places_of_their_own():
    document = read(pdf([Page(size=(720, 540)).lines(60, 400, wrapped(TEXT, 560, 20), 20, 26) for _ in range(2)]))
    assert document.text.count(TEXT.strip()) == 2
    assert len({chunk.id for chunk in chunks_of(document)}) == len(chunks_of(document))
