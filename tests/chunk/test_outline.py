"""Headers that fit: which headings go first when the path is too long."""

from __future__ import annotations

from tests.chunk.markdown_blocks import document_of, markdown_document

from gawah.chunk import chunk_document
from gawah.types import Block, BlockKind, Span


def count_words(texts):
    return [2 + len(text.split()) for text in texts]


def chunk(document, window):
    return chunk_document(document, count_tokens=count_words, window_tokens=window)


def deep(n_words):
    headings = [f"{'#' * level} {name} " + "w " * n_words for level, name in enumerate("ABCD", start=2)]
    return markdown_document("# Title\n\n" + "\n\n".join(headings) + "\n\nText.")


def test_a_header_takes_at_most_half_the_window():
    """Path words: title 1, separators 4, headings 4 × 3."""
    assert chunk(deep(2), 100)[-1].text == "[Title > A w w > B w w > C w w > D w w]\nText."
    assert chunk(deep(2), 40)[-1].text == "[Title > A w w > B w w > C w w > D w w]\nText."


def test_headings_go_from_the_middle_of_the_path_and_stay_in_the_text():
    chunks = chunk(deep(2), 32)
    assert chunks[-1].text == "[Title > A w w > … > D w w]\nText."
    assert chunks[-1].section == "A w w > B w w > C w w > D w w"
    assert [one.text for one in chunks[:-1]] == ["[Title > A w w > B w w]\n#### C w w"]  # B stands in this header


def test_the_title_goes_last():
    assert chunk(deep(2), 20)[-1].text == "[Title > … > D w w]\nText."
    assert chunk(deep(2), 10)[-1].text == "[Title > …]\nText."
    assert chunk(deep(2), 4)[-1].text == "Text."


def test_a_long_title_is_cut_before_it_is_dropped():
    document = document_of("Text.", title="one two three four five six seven eight nine ten")
    header, _, content = chunk(document, 12)[0].text.partition("\n")
    assert header.startswith("[one two")
    assert header.endswith("…]")
    assert content == "Text."


def test_a_paragraph_set_as_a_heading_is_kept_whole_in_the_text():
    title = "word " * 100
    document = markdown_document(f"# T\n\n## {title}\n\nText.")
    chunks = chunk(document, 200)
    assert chunks[0].content == f"## {title}".strip()
    assert len(chunks[1].section) < 300
    assert chunks[1].content == "Text."


def test_headings_of_no_extent_are_in_headers_only():
    blocks = [Block(BlockKind.HEADING, Span(0, 0), 2, "Sheet 1"), Block(BlockKind.PARAGRAPH, Span(0, 4))]
    (one,) = chunk(document_of("text", title="Book", blocks=blocks), 50)
    assert (one.section, one.text) == ("Sheet 1", "[Book > Sheet 1]\ntext")


def test_the_document_title_is_not_repeated():
    document = markdown_document("# The  Title\n\nText.\n\n# Other\n\nMore.")
    assert [one.text for one in chunk(document, 50)] == ["[The Title]\nText.", "[The Title > Other]\nMore."]
