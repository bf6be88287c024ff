"""Source code: the file's own text in groups of lines; Python's definitions stand as headings over theirs."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from tests.extract.odd import odd_text, unless

from gawah.extract.code import CodeExtractor
from gawah.testing.extractor import ExtractorContract, assert_is_sound, source_of

SOURCE = Path(__file__).resolve().parents[2] / "src" / "gawah"


def extract(text, media_type="text/x-python", name="src/app.py"):
    data = text.encode() if isinstance(text, str) else text
    return CodeExtractor().extract(source_of(name, data, media_type), data)


def outline(text, media_type="text/x-python"):
    document = extract(text, media_type)
    return [(block.level, block.title) if block.level else block.span.slice(document.text) for block in document.blocks]


class TestContract(ExtractorContract):
    media_type = "text/x-python"

    def extractor(self):
        return CodeExtractor()

    def samples(self):
        return [
            b"x = 1\n", b"def f(:\n", b"(" * 5000, b"x = " + b"-" * 50_000 + b"1", b'"\\d"\n', b"class A: pass; class_B = 1",
            b"# coding: latin-1\nx = '\xe4'\n", b"\n" * 100_000 + b"x", b"    indented first\n", b"def f(): pass\n" * 5000,
            "def नाम(): pass\n".encode(), b"\x0cdef f():\n\x0c    pass\n",
        ]  # fmt: skip


WORKED = '''\
"""Module."""

import os


# About the class.
@decorated
class Reader:
    """Reads."""

    size = 1

    def read(self):
        def inner():
            pass
        return inner

    async def write(self):
        pass

    after = 2


def main():
    pass


if __name__ == "__main__":
    main()
'''


def test_definitions_stand_over_their_code_and_what_follows_is_not_under_them():
    assert outline(WORKED) == [
        '"""Module."""',
        "import os",
        (2, "class Reader"),
        '# About the class.\n@decorated\nclass Reader:\n    """Reads."""\n\n    size = 1',
        (3, "def read"),
        "    def read(self):\n        def inner():\n            pass\n        return inner",
        (3, "def write"),
        "    async def write(self):\n        pass",
        (2, "class Reader"),
        "    after = 2",
        (2, "def main"),
        "def main():\n    pass",
        (2, "module"),
        'if __name__ == "__main__":\n    main()',
    ]


def test_headings_have_no_length_since_their_words_are_not_in_the_file():
    assert all(len(block.span) == 0 for block in extract(WORKED).blocks if block.level)


def test_groups_begin_at_lines_that_are_not_indented():
    text = "fn main() {\n    a();\n\n    b();\n}\n\nstruct S;\n\n  still_s\n"
    assert outline(text, "text/x-rust") == ["fn main() {\n    a();\n\n    b();\n}", "struct S;\n\n  still_s"]


def test_python_that_does_not_parse_is_still_code():
    assert outline("def broken(:\n    pass\n\nx = 1\n") == ["def broken(:\n    pass", "x = 1"]


def test_other_languages_have_no_headings():
    assert outline("def f():\n    pass\n", "text/x-ruby") == ["def f():\n    pass"]


def test_the_title_is_the_files_name():
    assert extract("x = 1").title == "app.py"


def test_the_declared_encoding_of_a_source_is_obeyed():
    document = extract("# -*- coding: koi8-r -*-\nx = 'Привет'\n".encode("koi8-r"))
    assert "Привет" in document.text
    assert document.warnings == ()


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.name)
def test_our_own_modules_are_covered_with_every_definition_named(path):
    text = path.read_text(encoding="utf-8")
    document = extract(text)
    assert_is_sound(document)
    assert document.text == text
    names = {block.title.split()[-1] for block in document.blocks if block.title.startswith(("class ", "def "))}
    definitions = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    assert {node.name for node in ast.parse(text).body if isinstance(node, definitions)} <= names


@given(odd_text)
def test_every_source_is_sound(text):
    document = unless(lambda: extract(text), "empty")
    if document is not None:
        assert_is_sound(document)
