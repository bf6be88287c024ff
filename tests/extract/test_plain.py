"""Plain text: paragraphs are what blank lines separate."""

from hypothesis import given
from tests.extract.odd import odd_text, unless

from gawah.extract.plain import PlainExtractor
from gawah.testing.extractor import ExtractorContract, assert_is_sound, source_of
from gawah.types import BlockKind


def extract(text, name="notes/fees.txt"):
    data = text.encode() if isinstance(text, str) else text
    return PlainExtractor().extract(source_of(name, data, "text/plain"), data)


def words(document):
    return [document.text[block.span.start : block.span.end] for block in document.blocks]


class TestContract(ExtractorContract):
    def extractor(self):
        return PlainExtractor()

    def samples(self):
        return [
            b"one", b"\xef\xbb\xbfone\r\n\r\ntwo\r\n", b"x" * 1_000_000, "नमस्ते\n\n यह \u00a0\n\u3000\nहै".encode(),
            "Größe\n\nzwei".encode("latin-1"), "wide\n\ntext".encode("utf-16-le"), b"a\x00b\x0c\x0cc", b" " * 100_000 + b"end",
        ]  # fmt: skip


def test_paragraphs_are_separated_by_blank_lines():
    document = extract("  One line,\nand its next.\n \t \n\n\nTwo.\n")
    assert words(document) == ["One line,\nand its next.", "Two."]
    assert {block.kind for block in document.blocks} == {BlockKind.PARAGRAPH}


def test_the_text_is_the_files_own():
    document = extract("a  b \t\n\n  c ﬁ ² e\u0301\n")
    assert (document.text, document.places) == ("a  b \t\n\n  c ﬁ ² e\u0301\n", ())
    assert document.conservation.dropped == {}


def test_line_ends_of_all_systems_become_lf_and_are_counted():
    document = extract("a\r\n\r\nb\rc\n\ufeff\x00d")
    assert document.text == "a\n\nb\nc\nd"
    assert document.conservation.dropped == {"line break": 2, "byte order mark": 1, "nul": 1}
    assert document.conservation.read == 12


def test_a_form_feed_keeps_the_words_around_it_apart():
    assert extract("alpha\x0cbeta").text == "alpha\nbeta"


def test_the_title_is_the_files_stem():
    assert extract("x", "a/b/Fees 2026.txt").title == "Fees 2026"


def test_a_log_is_cut_at_lines_not_at_sentences():
    assert extract("12:00 up. 12:01 down.\n", "server.LOG").blocks[0].kind is BlockKind.CODE


def test_a_guessed_encoding_is_a_warning():
    assert extract("Die Gebühr".encode("latin-1")).warnings == ("encoding guessed: cp1252",)


@given(odd_text)
def test_every_text_is_covered_or_empty(text):
    document = unless(lambda: extract(text), "empty")
    if document is not None:
        assert_is_sound(document)
        assert document.conservation.read == len(text)
