"""A source falls into pieces that can be quoted letter for letter."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.generate.candidates import LONG_CHARS, pieces_of, whole_passage
from gawah.testing.generator import make_source
from gawah.types import CsvCells, SheetRange


def texts(content, **passage):
    source = make_source(1, content)
    return [piece.text for piece in pieces_of(0, replace(source, passage=replace(source.passage, **passage)))]


def test_prose_falls_into_sentences_also_over_line_ends():
    assert texts("One thing is\nthis. Another, e.g. that.\n\nA third") == [
        "One thing is\nthis.",
        "Another, e.g. that.",
        "A third",
    ]


def test_items_are_whole_with_all_their_sentences_and_lines():
    assert texts("* one. More of one\n  and more.\n* two\n\n1. three\n2) four") == [
        "* one. More of one\n  and more.",
        "* two",
        "1. three",
        "2) four",
    ]


def test_a_long_item_falls_into_its_sentences():
    long = "* " + "Word word word word. " * 60
    assert set(texts(long)) == {"* Word word word word.", "Word word word word."}


def test_rows_and_lines_of_code_are_pieces_and_furniture_is_none():
    content = "# Heading\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n```rust\nlet x = 1;\n\nx + 1\n```\n\n---\n\n[ref]: http://x\nEnd."
    assert texts(content) == ["| 1 | 2 |", "let x = 1;", "x + 1", "End."]


def test_a_row_is_read_with_the_head_of_its_table():
    content = "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n\n| 5 | 6 |\nOne.\n\n| c |\n|---|\n| 7 |"
    pieces = pieces_of(0, make_source(1, content))
    assert [(piece.text, piece.head) for piece in pieces] == [
        ("| 1 | 2 |", "| a | b |"),
        ("| 3 | 4 |", "| a | b |"),
        ("| 5 | 6 |", ""),
        ("One.", ""),
        ("| 7 |", "| c |"),
    ]
    assert pieces[1].read_as == "| a | b |\n| 3 | 4 |"


def test_a_whole_passage_begins_with_the_head_of_its_table():
    table = "| a | b |\n|---|:-:|\n| 1 | 2 |"
    (piece,) = whole_passage(0, make_source(1, f"# Title\n\n{table}"))
    assert piece.text == table


def test_a_head_without_rows_is_a_piece():
    assert texts("| a | b |\n|---|---|\n\nOne.") == ["| a | b |", "One."]


def test_lines_without_a_letter_or_a_digit_are_no_pieces():
    assert texts("```\nif x {\n}\n```\n\n…\n\n† ‡") == ["if x {"]
    assert not whole_passage(0, make_source(1, "---\n…"))


def test_words_that_break_off_before_a_formula_take_it_with_them():
    formula = "$$E = 1 - \\frac{a}{b}$$"
    assert (
        texts(f"We use the coefficient of Nash,\n\n{formula}\n\nfor it.")[0]
        == f"We use the coefficient of Nash,\n\n{formula}"
    )
    assert texts(f"That is all.\n\n{formula}")[0] == "That is all."
    assert texts(f"Where it is\n\n## Next\n\n{formula}")[0] == "Where it is"


def test_rows_as_extraction_writes_them_are_pieces():
    content = "As follows.\nMark | Station | Height\nFM-01 | mill. Old. | 3.05\n\nOne | two is prose. So."
    assert texts(content) == [
        "As follows.",
        "Mark | Station | Height",
        "FM-01 | mill. Old. | 3.05",
        "One | two is prose.",
        "So.",
    ]


def test_the_fields_of_a_message_are_pieces_and_its_subject_is_a_heading():
    content = "From: a@b.example\nDate: Tue, 10 Mar 2026\nSubject: Annual fee\n\nIt is 40 EUR.\nTo: be paid."
    assert texts(content, media_type="message/rfc822") == [
        "From: a@b.example",
        "Date: Tue, 10 Mar 2026",
        "It is 40 EUR.",
        "To: be paid.",
    ]
    assert texts("Subject: Annual fee\nTo: all") == ["Subject: Annual fee\nTo: all"]


def test_an_unclosed_fence_is_code_to_the_end():
    assert texts("```\na. b. c\nd") == ["a. b. c", "d"]


@pytest.mark.parametrize(
    "passage",
    [
        {"media_type": "text/csv"},
        {"media_type": "text/x-python"},
        {"media_type": "application/json"},
        {"locator": CsvCells(1, 2)},
        {"locator": SheetRange("S", "A1:B2")},
    ],
)
def test_of_tables_and_code_every_line_is_a_piece(passage):
    assert texts("a, one. Two\n\n  b, three", **passage) == ["a, one. Two", "b, three"]


def test_a_lead_in_takes_its_items_with_it():
    content = "Services include:\n\n* KV - pairs.\n* Watch - changes.\n\nOthers do not."
    assert texts(content)[0] == "Services include:\n\n* KV - pairs.\n* Watch - changes."
    assert texts(content)[1:] == ["* KV - pairs.", "* Watch - changes.", "Others do not."]


def test_a_lead_in_takes_its_code_with_the_fence_closed():
    assert texts("Run this:\n\n```bash\nmake demo\nmake test\n```\n\nThen rest.")[0] == (
        "Run this:\n\n```bash\nmake demo\nmake test\n```"
    )


BLOCK = "```sh\nflash --slot b\n\nflash --check\n```"


def test_a_sentence_takes_the_block_of_code_right_below_it():
    described = f"Nothing here. Flash the other slot as follows.\n\n{BLOCK}"
    assert texts(f"{described}\n\nIt takes a minute.") == [
        "Nothing here.",
        f"Flash the other slot as follows.\n\n{BLOCK}",
        "flash --slot b",
        "flash --check",
        "It takes a minute.",
    ]


@pytest.mark.parametrize(
    "content",
    [
        f"Flash it.\n\n## How\n\n{BLOCK}",  # a heading between
        f"Flash it.\n\n* first\n\n{BLOCK}",  # below the item
        "Flash it.\n\n```sh\nflash --slot b\n",  # without an end
        "Flash it.\n\n```sh\n" + "flash --slot b\n" * 60 + "```",  # too long together
        f"~~~\nFlash it.\n~~~\n{BLOCK}",  # itself a line of code
    ],
)
def test_a_sentence_takes_no_block_that_it_is_not_right_above_or_that_is_too_long(content):
    assert "Flash it." in texts(content)


def test_a_head_of_code_takes_its_body_behind_a_blank_line_and_nothing_of_its_own_depth():
    body = "def last(items):\n    first = items[0]\n\n    return items[-1]"
    assert texts(f"```py\n{body}\n\nprint(last([1]))\n```")[0] == body


def test_a_lead_in_takes_one_sentence_of_prose_and_no_more():
    assert texts("The rule is:\nNever sleep. Always test.")[0] == "The rule is:\nNever sleep."


def test_a_lead_in_takes_nothing_over_a_heading_and_not_too_much():
    assert texts("It says:\n\n## Next\n\nWords.") == ["It says:", "Words."]
    long = "All of:\n" + "\n".join(f"* item {n} " + "x" * 90 for n in range(20))
    assert len(texts(long)[0]) <= LONG_CHARS


LINES = [
    "# h",
    "* i. j",
    "- k:",
    "| a | b |",
    "|---|",
    "```",
    "~~~",
    "",
    "word. Word",
    "so:",
    "  * in",
    "1. n",
    "---",
    "\t",
    "[a]: b",
]


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=12), max_size=14).map("\n".join))
def test_pieces_are_slices_in_order_and_never_blank(content):
    pieces = pieces_of(3, make_source(1, content))
    for piece in pieces:
        assert piece.source == 3
        assert piece.text == piece.span.slice(content)
        assert piece.text.strip()
    assert [piece.span.start for piece in pieces] == sorted({piece.span.start for piece in pieces})
