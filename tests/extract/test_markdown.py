"""Markdown: the file's own text, and blocks for headings, fences, tables, items and paragraphs."""

from pathlib import Path

import pytest
from hypothesis import given
from tests.extract.odd import odd_text, unless

from gawah.extract.markdown import MarkdownExtractor
from gawah.testing.extractor import ExtractorContract, assert_is_sound, source_of

SHARED = Path(__file__).resolve().parents[2] / "../shared"


def extract(text, name="doc.md"):
    data = text.encode() if isinstance(text, str) else text
    return MarkdownExtractor().extract(source_of(name, data, "text/markdown"), data)


def outline(text):
    """[(kind, text)], and for headings (level, title)."""
    return [
        (block.level, block.title) if block.level else (block.kind.value, block.span.slice(text))
        for block in extract(text).blocks
    ]


class TestContract(ExtractorContract):
    media_type = "text/markdown"

    def extractor(self):
        return MarkdownExtractor()

    def samples(self):
        return [
            b"# T\n\ntext", b"x", b"```\nnever closed\n# no heading\n", b"---\ntitle: T\n---\n", "शीर्षक\n===\n".encode(),
            b"#" * 1_000_000, b"- " * 200_000, b"|" * 300_000, b"> " * 100_000 + b"x", b"`" * 1_000_001, b"[" * 500_000,
            b" " * 500_000 + b"x", b"\n".join(b"- a" for _ in range(20_000)), b"# " + b"*a " * 100_000, b"<!--" * 50_000,
            b"a\n" * 100_000 + b"===",
        ]  # fmt: skip


WORKED = """\
---
title: "From front matter"
---
Before any heading.

# The `first` *title*

Intro line one
line two.
- item one
  goes on

  with a second paragraph
- item two
  * nested

1. ```sh
   # no heading
   ```

| a | b |
|---|---|
| 1 | 2 |
after the table

## Closed ##
~~~
## no heading
~~~
Setext two
----------
> quote
> # quoted
***
    indented code

<!--
# hidden
-->
"""


def test_a_page_with_everything():
    assert outline(WORKED) == [
        ("code", '---\ntitle: "From front matter"\n---'),
        ("paragraph", "Before any heading."),
        (1, "The first title"),
        ("paragraph", "Intro line one\nline two."),
        ("item", "- item one\n  goes on\n\n  with a second paragraph"),
        ("item", "- item two"),
        ("item", "* nested"),
        ("code", "1. ```sh\n   # no heading\n   ```"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("paragraph", "after the table"),
        (2, "Closed"),
        ("code", "~~~\n## no heading\n~~~"),
        (2, "Setext two"),
        ("paragraph", "> quote\n> # quoted"),
        ("paragraph", "***"),
        ("code", "    indented code"),
        ("paragraph", "<!--\n# hidden\n-->"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#hashtag", [("paragraph", "#hashtag")]),
        ("#\ttab", [(1, "tab")]),
        ("   ### three blanks", [(3, "three blanks")]),
        ("    # four blanks", [("code", "    # four blanks")]),
        ("####### seven", [("paragraph", "####### seven")]),
        ("# a #b ###", [(1, "a #b")]),
        ("##\n\n# #", [("paragraph", "##"), ("paragraph", "# #")]),
        ("text\n# heading\ntext", [("paragraph", "text"), (1, "heading"), ("paragraph", "text")]),
        ("two\nlines\n===", [(1, "two lines")]),
        ("- item\n---\nrest", [("item", "- item"), ("paragraph", "---"), ("paragraph", "rest")]),
        ("---\nnot: closed", [("paragraph", "---"), ("paragraph", "not: closed")]),
        ("---\n\ntext\n\n---", [("paragraph", "---"), ("paragraph", "text"), ("paragraph", "---")]),
        ("---\nProse first.\n---", [("paragraph", "---"), (2, "Prose first.")]),
        ("+++\ntitle = 'x'\n+++\nb", [("code", "+++\ntitle = 'x'\n+++"), ("paragraph", "b")]),
        ("a | b\n--|--\n1 | 2\n\nc", [("table", "a | b\n--|--\n1 | 2"), ("paragraph", "c")]),
        ("either a | b", [("paragraph", "either a | b")]),
        ("text\n| a | b |\n|--|--|", [("paragraph", "text"), ("table", "| a | b |\n|--|--|")]),
        ("In\n1990. It was", [("paragraph", "In\n1990. It was")]),
        ("In\n1. First", [("paragraph", "In"), ("item", "1. First")]),
        ("* * *", [("paragraph", "* * *")]),
        ("- a\n\n\n- b", [("item", "- a"), ("item", "- b")]),
        ("- a\n\n    ```\n    # c\n\n    d\n    ```\n  e", [("item", "- a"), ("code", "    ```\n    # c\n\n    d\n    ```"), ("item", "e")]),
        ("- a\n\n      b\n\nc", [("item", "- a\n\n      b"), ("paragraph", "c")]),
        ("````\n```\n# x\n````\n# y", [("code", "````\n```\n# x\n````"), (1, "y")]),
        ("```\n# never closed", [("code", "```\n# never closed")]),
        ("``` not`a fence\n# h", [("paragraph", "``` not`a fence"), (1, "h")]),
        ("> a\nlazy\n\n> b", [("paragraph", "> a\nlazy"), ("paragraph", "> b")]),
        ("<pre>\n# x\n\n</pre>\n# y", [("code", "<pre>\n# x\n\n</pre>"), (1, "y")]),
        ("<div>\n\n# y\n\n</div>", [("paragraph", "<div>"), (1, "y"), ("paragraph", "</div>")]),
        ("a\n\t\n\tb", [("paragraph", "a"), ("code", "\tb")]),
    ],
)  # fmt: skip
def test_single_rules(text, expected):
    assert outline(text) == expected


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("text\n\n## Two\n\n# One\n", "One"),
        ("---\ntitle: 'Front'\n---\n## Two", "Front"),
        ("---\ntitle: Front\n---\n# One", "One"),
        ("```\n# code\n```", "doc"),
        ("> # quoted", "doc"),
        ("text", "doc"),
    ],
)
def test_the_title_is_the_first_h1_then_the_front_matters_then_the_name(text, title):
    assert extract(text, "folder/doc.md").title == title


@pytest.mark.parametrize("first_words", ["BM25 notes", "ID3 tags"])
def test_the_text_is_the_files_own_to_the_character(first_words):
    text = f"{first_words}  \n\n\tTabs, trailing  blanks  \n"
    document = extract(text)
    assert (document.text, document.places, document.conservation.dropped) == (text, (), {})


@given(odd_text)
def test_every_visible_character_is_in_a_block(text):
    document = unless(lambda: extract(text), "empty")
    if document is not None:
        assert_is_sound(document)


@pytest.mark.parametrize("corpus", ["rustbook", "etcd"])
def test_real_manuals_are_read_as_they_are_and_covered(corpus):
    folder = SHARED / "eval" / corpus / "corpus"
    if not folder.is_dir():
        pytest.skip("../shared is not there")
    for file in sorted(folder.glob("*.md")):
        document = extract(file.read_bytes(), file.name)
        assert_is_sound(document)
        assert document.text == file.read_text(encoding="utf-8")
        assert any(block.level for block in document.blocks)
