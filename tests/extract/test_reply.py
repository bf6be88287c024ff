"""A document comes back as it was sent; bytes that are no document are refused, never believed."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.odd import odd_text

from gawah.errors import ExtractionError
from gawah.extract.registry import extract
from gawah.extract.reply import MalformedReplyError, document_parts, error_part, read_reply
from gawah.media_types import media_type_of
from gawah.testing.extractor import source_of
from gawah.types import (
    Advance,
    Box,
    CharRange,
    Conservation,
    CsvCells,
    EpubPlace,
    ImageBox,
    MailPart,
    PageBoxes,
    Place,
    Removal,
    SheetRange,
    Slide,
    Span,
    TimeRange,
)

LOCATORS = [
    CharRange(0, 3, 1, 2, "other words"), CharRange(0, 3, words="abc"), CsvCells(1, 2, 3, 4), TimeRange(0.5, 2.0),
    PageBoxes(1, 2, "iv", (Box(1, 0.0, 1.5, 2.0, 3.0), Box(2, 0.0, 0.0, 1.0, 1.0))), SheetRange("Sheet 1", "A1:B2"),
    Slide(1, 2), ImageBox(0.0, 1.0, 50.0, 99.9), MailPart("1.2", 0, 3), EpubPlace("ch1.xhtml", 0, 3),
]  # fmt: skip


def document_of(text="# T\n\nabc déf 💩\n", name="a.md"):
    data = text.encode()
    return extract(source_of(name, data, media_type_of(name)), data)


def send(document):
    return b"".join(document_parts(document))


def receive(document, payload):
    return read_reply(document.source, memoryview(payload))


@pytest.mark.parametrize("locator", LOCATORS, ids=lambda locator: type(locator).__name__)
def test_every_kind_of_locator_comes_back(locator):
    document = replace(document_of("abc"), places=(Place(Span(0, 3), locator),))
    assert receive(document, send(document)) == document


def test_the_widths_of_characters_come_back():
    place = Place(Span(0, 3), PageBoxes(1, 1, "", (Box(1, 0.0, 0.0, 9.0, 5.0),)), Advance("left", (40, -1, 50)))
    document = replace(document_of("abc"), places=(place,))
    assert receive(document, send(document)) == document


def test_books_warnings_and_removals_come_back():
    books = Conservation(9, 8, {"nav": 2}, {"line break": 1})
    document = replace(
        document_of(),
        conservation=books,
        warnings=("a", "b"),
        removed=(
            Removal("nav", "x\ny"),
            Removal("running head", "h", PageBoxes(2, 2, "", (Box(2, 0.0, 1.0, 2.0, 3.0),))),
        ),
    )
    document = replace(document, quality={"pages": 3, "pages_unread": 1})
    assert receive(document, send(document)) == document


@given(odd_text, st.sampled_from(["a.md", "a.html", "a.csv", "a.json", "a.py", "a.txt"]))
def test_every_document_comes_back_equal(text, name):
    try:
        document = document_of(text, name)
    except ExtractionError:
        return
    assert receive(document, send(document)) == document


def test_an_error_comes_back_as_one_line():
    document = document_of()
    with pytest.raises(ExtractionError, match="two lines") as caught:
        receive(document, error_part("empty", "two\nlines", retryable=True))
    assert (caught.value.reason_code, caught.value.retryable) == ("empty", True)


def test_words_equal_to_the_text_are_sent_once():
    text = "words " * 1000
    document = document_of(f"<p>{text}</p>", "a.html")
    assert len(send(document)) < 1.2 * len(text)


def tampered(**changes):
    """A reply whose JSON was changed on the way."""
    meta, text = list(document_parts(document_of()))[1:]
    body = json.dumps({**json.loads(meta), **changes}).encode()
    return b"D" + len(body).to_bytes(8, "big") + body + text


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"X", b"D", b"E", b"E{}", b"E[]", b"E" + b"[" * 100_000, b"D" + bytes(8) + b"text", b"D" + b"\xff" * 8 + b"{}",
        b'E{"code":"Bad Code","reason":"x","retryable":false}', b'E{"code":"x","reason":"\\ud800","retryable":false}',
        b'E{"code":"x","reason":"' + b"y" * 10_000 + b'","retryable":false}', send(document_of())[:-1] + b"\xff",
        send(document_of())[:40], tampered(blocks=[["paragraph", 0, 9999, 0, ""]]), tampered(blocks=[["paragraph", -1, 2, 0, ""]]),
        tampered(blocks=[["paragraph", 4, 6, 0, ""], ["paragraph", 5, 7, 0, ""]]), tampered(blocks=[["script", 0, 1, 0, ""]]),
        tampered(blocks=[["paragraph", 0, 1.5, 0, ""]]), tampered(blocks=[["paragraph", True, 1, 0, ""]]), tampered(blocks={}),
        tampered(blocks=[1]), tampered(places=[[0, 1, [], 99]]), tampered(places=[[0, 1, [], 1, 1]]),
        tampered(places=[[0, 9999, [], 1, 1, 1, 0, 0]]), tampered(places=[[0, 1, ["right", [1, 2]], 1, 1, 1, 0, 0]]),
        tampered(places=[[0, 1, ["askew", [1]], 1, 1, 1, 0, 0]]), tampered(places=[[0, 1, ["up", [1.5]], 1, 1, 1, 0, 0]]),
        tampered(quality={"pages": -1}), tampered(quality=[1]), tampered(removed=[["x", "y", [99]]]),
        tampered(places=[[0, 1, [], 4, "sheet", 7]]), tampered(title=7), tampered(title="\ud800"), tampered(extractor="x"),
        tampered(media_type="../x"), tampered(read=-1), tampered(dropped=[1]), tampered(warnings="text"), tampered(removed=[[1, 2]]),
    ],
)  # fmt: skip
def test_what_is_no_document_is_refused(payload):
    with pytest.raises(MalformedReplyError):
        receive(document_of(), payload)


def test_what_the_reader_knows_itself_is_not_taken_from_the_reply():
    document = document_of()
    received = receive(document, tampered(id="other", source={"name": "other"}))
    assert (received.id, received.source) == (document.id, document.source)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(payload):
    for letter in (b"", b"D", b"E"):
        with pytest.raises(MalformedReplyError):
            receive(document_of(), letter + payload)
