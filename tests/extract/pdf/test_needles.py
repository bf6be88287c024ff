"""Two-column documents with needles that wrap lines, columns and pages, hyphenated ones and table rows: none destroyed."""

import random

import pytest
from tests.extract.pdf.reading import BoxReader, chunks_of, letters, locator_of, read

from gawah.testing.pdf import Page, pdf, width
from gawah.types import BlockKind

SUBJECTS = [
    "the keeper",
    "a pilot",
    "the dredger",
    "our survey",
    "the harbour office",
    "a diver",
    "the old crane",
    "the night watch",
]
VERBS = [
    "recorded",
    "inspected",
    "abandoned",
    "reconstructed",
    "overestimated",
    "photographed",
    "underlined",
    "misinterpreted",
]
OBJECTS = [
    "the northern breakwater",
    "an uncharacteristically large anchorage",
    "several lighthouses",
    "the administration building",
    "a counterweight of concrete",
    "the infrastructure below the waterline",
    "every navigational buoy",
    "the thunderstorm warnings",
]
PLACES = [
    "near Saltholm",
    "off Kirkwall",
    "at low tide",
    "behind the customs house",
    "in the second week of June",
    "before nightfall",
]
COLUMN, TOP, BOTTOM, LEADING = 235, 730, 90, 12


def sentences(draw, n):
    """Different sentences, each with a number of its own, so that a needle occurs once."""
    for number in range(n):
        parts = [draw.choice(words) for words in (SUBJECTS, VERBS, OBJECTS, PLACES)]
        yield f"In entry {1000 + number} {' '.join(parts)}."


def broken(text, hyphenate):
    """Lines that fit a column; long words are broken with a hyphen, as typesetting programs do."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if width(longer) <= COLUMN:
            line = longer
            continue
        cut = next((at for at in range(len(word) - 3, 3, -1) if width(f"{line} {word[:at]}-") <= COLUMN), 0)
        if hyphenate and cut and word.isalpha() and word.islower():
            lines.append(f"{line} {word[:cut]}-")
            line = word[cut:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def document(seed, *, hyphenate, row_major):
    """Pages of two columns under a running head, and the needles with the pages that they stand on."""
    draw = random.Random(seed)
    said = list(sentences(random.Random(seed + 1), 220))
    paragraphs = [said[start : start + 5] for start in range(0, len(said), 5)]
    lines = []
    for paragraph in paragraphs:
        lines += [(line, number == 0) for number, line in enumerate(broken(" ".join(paragraph), hyphenate))]
    per_column = (TOP - BOTTOM) // LEADING
    pages, where = [], []
    for number, start in enumerate(range(0, len(lines), 2 * per_column)):
        page = Page().text(60, 765, "Annals of the Harbour Board", 8).text(300, 40, str(number + 1), 8)
        cells = []
        for column in range(2):
            part = lines[start + column * per_column : start + (column + 1) * per_column]
            for row, (line, is_first) in enumerate(part):
                cells.append((row, 55 + 262 * column + 12 * is_first, TOP - LEADING * row, line))
                where.append(number + 1)
        for _, x, y, line in sorted(cells) if row_major else cells:
            page.text(x, y, line)
        pages.append(page)
    rows = [(f"Berth {n}", draw.choice(OBJECTS).split()[-1], f"{n * 3}.{n} m", str(7000 + n)) for n in range(1, 40)]
    pages += tables(rows, len(pages))
    page_of = {
        word: page for (line, _), page in zip(lines, where, strict=True) for word in line.split() if word.isdecimal()
    }
    needles = {sentence: page_of[number_of(sentence)] for paragraph in paragraphs for sentence in paragraph}
    return pdf(pages), needles, [" | ".join(row) for row in rows]


def number_of(sentence):
    return sentence.split()[2]


def tables(rows, n_before):
    """The rows on two pages."""
    pages = []
    for number, part in enumerate((rows[:22], rows[22:])):
        page = Page().text(60, 765, "Annals of the Harbour Board", 8).text(300, 40, str(n_before + number + 1), 8)
        for index, cells in enumerate(part):
            for x, cell in zip((60, 180, 330, 460), cells, strict=True):
                page.text(x, 720 - 18 * index, cell)
        pages.append(page)
    return pages


@pytest.fixture(scope="module", params=[(3, False, False), (5, True, False), (7, True, True)], ids=str)
def made(request):
    seed, hyphenate, row_major = request.param
    data, needles, rows = document(seed, hyphenate=hyphenate, row_major=row_major)
    return data, read(data), needles, rows


def test_no_needle_is_destroyed(made):
    _, document, needles, rows = made
    contents = [chunk.content for chunk in chunks_of(document)]
    destroyed = [needle for needle in [*needles, *rows] if not any(needle in content for content in contents)]
    assert destroyed == []


def test_every_needle_is_on_its_page(made):
    _, document, needles, _ = made
    wrong = [needle for needle, page in needles.items() if locator_of(document, number_of(needle)).first_page != page]
    assert wrong == []


def test_the_boxes_of_every_needle_hold_its_letters(made):
    data, document, needles, rows = made
    reader = BoxReader(data)
    right = sum(letters(reader.inside(locator_of(document, needle))) == letters(needle) for needle in [*needles, *rows])
    assert right >= 0.99 * (len(needles) + len(rows))


def test_the_furniture_is_gone_and_the_table_is_one(made):
    _, document, _, rows = made
    assert "Annals" not in document.text
    tables = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    assert [len(block.span.slice(document.text).splitlines()) for block in tables] == [len(rows)]
