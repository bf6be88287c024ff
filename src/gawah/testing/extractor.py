"""What every extractor keeps, whatever the format: structure covers the text, the books balance, same bytes same document.

A test class inherits `ExtractorContract` and gives its extractor and samples. No test runner is needed to import this.
"""

from __future__ import annotations

import re
from itertools import pairwise

from gawah.errors import ExtractionError
from gawah.fingerprint import document_id, sha256_bytes
from gawah.ports import Extractor
from gawah.types import BlockKind, Document, SourceFile

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x85\u2028\u2029\ufeff]")


def source_of(name: str, data: bytes, media_type: str, collection: str = "tests") -> SourceFile:
    """The SourceFile of bytes that are in no file."""
    return SourceFile(collection, name, f"file:///{name}", media_type, len(data), sha256_bytes(data))


def assert_is_sound(document: Document) -> None:
    """What holds for every document: see ExtractorContract for each claim."""
    text = document.text
    assert _CONTROLS.search(text) is None, "a control character or foreign line end is in the canonical text"
    text.encode("utf-8")
    for block, following in pairwise(document.blocks):
        assert block.span.end <= following.span.start, f"blocks {block} and {following} overlap or are out of order"
    position = 0
    for block in document.blocks:
        between = text[position : block.span.start]
        assert not between.strip(), f"{between!r} at {position} is in no block"
        assert block.span.end <= len(text), f"{block} reaches past the text"
        is_heading = block.kind is BlockKind.HEADING
        assert (1 <= block.level <= 6 and bool(block.title)) == is_heading, f"{block} is half a heading"
        assert is_heading or text[block.span.start : block.span.end].strip(), f"{block} is blank"
        assert block.title == " ".join(block.title.split()), f"{block} has a title of more than one line"
        position = block.span.end
    assert not text[position:].strip(), f"{text[position:]!r} at the end is in no block"
    for place, next_place in pairwise(document.places):
        assert place.span.start <= next_place.span.start, f"places {place} and {next_place} are out of order"
    assert all(place.span.end <= len(text) for place in document.places), "a place reaches past the text"
    assert document.conservation.kept == len(text), "the books do not speak of this text"
    assert document.conservation.holds, f"characters were lost: {document.conservation}"
    assert all(n > 0 for n in document.conservation.dropped.values()), "an empty entry is in the books"
    assert document.title.strip(), "the document has no title"
    assert re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", document.language), document.language


class ExtractorContract:
    """Inherit it, and say what the extractor is and what it is tried on."""

    media_type = "text/plain"

    def extractor(self) -> Extractor:
        raise NotImplementedError

    def samples(self) -> list[bytes]:
        """Files it must read, odd ones among them."""
        raise NotImplementedError

    def documents(self) -> list[Document]:
        return [self.extractor().extract(self.source(data), data) for data in self.samples()]

    def source(self, data: bytes) -> SourceFile:
        return source_of("folder/sample.x", data, self.media_type)

    def test_every_document_is_sound(self) -> None:
        for document in self.documents():
            assert_is_sound(document)

    def test_a_document_is_known_by_its_collection_and_name(self) -> None:
        for document in self.documents():
            assert document.id == document_id("tests", "folder/sample.x")
            assert document.source.name == "folder/sample.x"

    def test_a_document_says_which_extractor_made_it(self) -> None:
        extractor = self.extractor()
        assert re.fullmatch(r"[\w-]+", extractor.name)
        assert extractor.version >= 1
        assert {document.extractor for document in self.documents()} == {f"{extractor.name}/{extractor.version}"}

    def test_the_same_bytes_give_the_same_document(self) -> None:
        assert self.documents() == self.documents()

    def test_a_file_without_text_is_empty(self) -> None:
        for data in (b"", b" \n\t \r\n", b"\xef\xbb\xbf\n", "\u200b \u200f".encode()):
            try:
                self.extractor().extract(self.source(data), data)
            except ExtractionError as error:
                assert error.reason_code == "empty", error
            else:
                raise AssertionError(f"{data!r} gave a document")
