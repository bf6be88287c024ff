"""Lines to paragraphs, words broken at a line's end, lists, headings and titles."""

import pytest
from tests.extract.pdf.reading import chunks_of, read

from gawah.extract.pdf.joints import joint, vocabulary
from gawah.testing.pdf import Page, pdf, wrapped

TEXT = (
    "Water is found nearly everywhere on the planet, in seas, in rivers and below the ground, and nobody can do without. "
    * 3
)


def blocks(document):
    return [(block.kind.value, block.level, block.span.slice(document.text)) for block in document.blocks]


@pytest.mark.parametrize(
    ("before", "after", "words", "expected"),
    [
        ("the", "end", "", (0, " ")),
        ("an exam-", "ple", "", (1, "")),
        ("an exam\u2010", "ple", "", (1, "")),
        ("an exam\u00ad", "ple", "", (1, "")),
        ("a well-", "known fact", "It is well-known here.", (0, "")),
        ("a well-", "known fact", "It is wellknown and well-known.", (1, "")),
        ("Anglo-", "Saxon", "", (0, "")),
        ("state-of-the-", "art", "", (0, "")),
        ("2018\u2013", "23", "", (0, "")),
        ("pre-", "and postwar", "", (0, " ")),
        ("a dash -", "and more", "", (0, " ")),
        ("https://", "www.example.org", "", (0, "")),
        ("Write to hydro-", "office@example.org today", "", (0, "")),
        ("https://example.org/data-", "sets/", "", (0, "")),
        ("Pass --max-", "level to it", "", (0, "")),
        ("Run read-", "gauge.py, then", "", (0, "")),
        ("give N-", "acetylcysteine", "", (0, "")),
        ("the V2-", "adapter", "", (0, "")),
        ("(infra-", "structure).", "", (1, "")),
        ("its infra-", "structure:", "", (1, "")),
        ("e-", "and other commerce", "", (0, " ")),
        ("漢字", "仮名", "", (0, "")),
        ("घर", "में", "", (0, " ")),
    ],
)
def test_what_stands_between_two_lines(before, after, words, expected):
    assert joint(before, after, vocabulary([words])) == expected


def test_a_word_broken_at_a_line_is_whole_and_its_hyphen_is_in_the_books():
    page = Page().lines(
        60, 700, ["Irrigation needs infra-", "structure that is well-", "known to every well-known engi-", "neer."]
    )
    document = read(pdf([page]))
    assert document.text == "Irrigation needs infrastructure that is well-known to every well-known engineer."
    assert document.conservation.dropped["hyphen at a line end"] == 2


def test_a_gap_an_indent_and_a_short_line_each_end_a_paragraph():
    lines = wrapped(TEXT, 300)
    page = Page()
    y = page.lines(60, 740, lines).y
    y = page.lines(60, y - 10, lines).y
    page.text(80, y, lines[0]).lines(60, y - 12, lines[1:])
    document = read(pdf([page]))
    assert [kind for kind, _, _ in blocks(document)] == ["paragraph"] * 3
    assert {text for _, _, text in blocks(document)} == {TEXT.strip()}


def test_items_are_blocks_of_their_own_with_their_second_lines():
    page = Page()
    y = page.lines(60, 740, wrapped(TEXT, 400)).y
    for mark, words in (("1.", "boil the water for ten minutes"), ("2.", "let it cool"), ("3.", "drink it")):
        page.text(70, y - 6, mark).text(90, y - 6, words).text(90, y - 18, "and wait a while before the next step")
        y -= 26
    document = read(pdf([page]))
    items = [text for kind, _, text in blocks(document) if kind == "item"]
    assert items == [
        f"{mark} {words} and wait a while before the next step"
        for mark, words in (("1.", "boil the water for ten minutes"), ("2.", "let it cool"), ("3.", "drink it"))
    ]


def chaptered():
    page = Page().text(60, 750, "On Water", 22)
    y = 720
    for chapter in ("Rivers", "Lakes"):
        page.text(60, y, chapter, 15)
        y = page.lines(60, y - 20, wrapped(TEXT, 480)).y
        page.text(60, y - 8, f"How {chapter.lower()} begin", 10, "F2")
        y = page.lines(60, y - 24, wrapped(TEXT.upper(), 480)).y - 24
    return page


def test_headings_have_levels_by_size_and_weight_and_the_largest_is_the_title():
    document = read(pdf([chaptered()]))
    assert [(block.level, block.title) for block in document.blocks if block.level] == [
        (1, "On Water"), (2, "Rivers"), (3, "How rivers begin"), (2, "Lakes"), (3, "How lakes begin"),
    ]  # fmt: skip
    assert document.title == "On Water"


def test_chunks_know_their_sections():
    sections = [chunk.section for chunk in chunks_of(read(pdf([chaptered()])))]
    assert list(dict.fromkeys(sections)) == [
        "Rivers", "Rivers > How rivers begin", "Lakes", "Lakes > How lakes begin",
    ]  # fmt: skip


def test_the_outline_makes_a_plain_line_a_heading():
    page = Page().text(60, 740, "Introduction").lines(60, 716, wrapped(TEXT, 480))
    document = read(pdf([page], outline=[("1. Introduction", 0)]))
    assert [(block.level, block.title) for block in document.blocks if block.level] == [(1, "Introduction")]


@pytest.mark.parametrize(
    ("given_title", "expected"),
    [
        ("Rules for Harbour Pilots", "Rules for Harbour Pilots"),
        ("Microsoft Word - draft3.doc", "On Water"),
        ("untitled", "On Water"),
        ("report.indd", "On Water"),
        ("", "On Water"),
    ],
)
def test_a_sane_title_of_the_metadata_counts_more_than_the_largest_heading(given_title, expected):
    assert read(pdf([chaptered()], title=given_title)).title == expected


def test_without_either_the_files_name_is_the_title():
    assert read(pdf([Page().lines(60, 700, wrapped(TEXT, 300))]), "folder/tide tables.pdf").title == "tide tables"
