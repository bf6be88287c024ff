"""Outlook messages and what else is in compound files: told apart by their names, read by their streams."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.made import DATA, blocks, code_of, docx, place_of, read, words
from tests.extract.made_ole import compound

from gawah.extract.detect import detect
from gawah.extract.rtf_packed import _PRELOADED, unpacked_rtf
from gawah.types import MailPart, SheetRange

SPEC_EXAMPLE = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232 0af32068656c0900206277 05b06c647d0a800fa0".replace(
        " ", ""
    )
)


def wide(tag, text):
    return {f"__substg1.0_{tag:04X}001F": text.encode("utf-16-le")}


def binary(tag, data):
    return {f"__substg1.0_{tag:04X}0102": data}


def table(header, *properties):
    rows = b"".join(struct.pack("<HHIQ", kind, tag, 0, value) for tag, kind, value in properties)
    return {"__properties_version1.0": bytes(header) + rows}


def message(*streams, header=32, properties=()):
    made = {}
    for part in (wide(0x37, "The lease"), wide(0xC1A, "Ann Lee"), wide(0x5D01, "ann@example.org"), wide(0xE04, "Bo"),
                 table(header, (0x39, 0x40, 133541136000000000), *properties), *streams):  # fmt: skip
        made.update(part)
    return made


def attachment(number, *streams):
    made = dict(table(8))
    for part in streams:
        made.update(part)
    return {f"__attach_version1.0_#{number:08X}": made}


def one(*streams, **options):
    return read("a.msg", compound(message(*streams, **options)))


def test_a_message_is_its_headers_and_body():
    document = one(wide(0x1000, "Dear Bo,\r\n\r\nthe fee is 40 EUR."))
    assert document.text == (
        "From: Ann Lee <ann@example.org>\nTo: Bo\nDate: 2024-03-05 12:00 UTC\nSubject: The lease\n\nDear Bo,\n\nthe fee is 40 EUR."
    )
    assert document.title == "The lease"
    assert document.source.media_type == "application/vnd.ms-outlook"
    start = document.text.index("the fee")
    assert place_of(document, "the fee is 40 EUR.") == MailPart("1", start, start + 18)


def test_html_and_packed_rtf_stand_in_for_a_plain_body():
    page = "<h2>Terms</h2><p>Gebühr</p>".encode("cp1252")
    document = one(binary(0x1013, page), properties=[(0x3FDE, 3, 1252)])
    assert ("heading", 2, "Terms") in blocks(document)
    assert "Gebühr" in document.text
    assert one(binary(0x1009, SPEC_EXAMPLE)).text.endswith("hello world")


def test_the_packing_of_rtf_is_that_of_the_specification():
    assert len(_PRELOADED) == 207
    assert unpacked_rtf(SPEC_EXAMPLE) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


@given(st.binary(max_size=80))
@settings(max_examples=100)
def test_any_packed_bytes_unpack_to_something_bounded(noise):
    assert len(unpacked_rtf(SPEC_EXAMPLE[:16] + noise)) <= 18 * 8 * (len(noise) + 1)


def test_attachments_and_messages_inside_are_read_with_their_numbers():
    inner = message(wide(0x1000, "inner words"), wide(0x37, "Inner"), header=24)
    document = one(
        wide(0x1000, "See the files."),
        attachment(0, wide(0x3707, "lease.docx"), binary(0x3701, docx(words("No pets.")))),
        attachment(1, {"__substg1.0_3701000D": inner}),
        attachment(
            2, wide(0x3707, "logo.png"), wide(0x370E, "image/png"), wide(0x3712, "<x>"), binary(0x3701, b"\x89PNG")
        ),
        attachment(3, wide(0x3707, "key.bin"), binary(0x3701, bytes(5000))),
    )
    assert place_of(document, "No pets.").part == "2"
    assert place_of(document, "inner words").part == "3.1"
    assert [b.title for b in document.blocks if b.kind == "heading"] == ["lease.docx", "Inner"]
    assert "attachment 'key.bin' was not read (unsupported_type)" in document.warnings[0]
    assert document.warnings[1] == "images inside the text, not read: 1"


def test_messages_nested_too_deep_are_said():
    inner = message(wide(0x1000, "core"), header=24)
    for _ in range(12):
        inner = message(attachment(0, {"__substg1.0_3701000D": inner}), header=24)
    document = one(attachment(0, {"__substg1.0_3701000D": inner}))
    assert any("nested more than 10 deep" in line for line in document.warnings)


@pytest.mark.parametrize(
    ("streams", "name", "code"),
    [
        ({"EncryptionInfo": b"x", "EncryptedPackage": bytes(5000)}, "secret.docx", "encrypted"),
        ({"WordDocument": b"x" * 5000}, "old.doc", "unsupported_type"),
        ({"PowerPoint Document": b"x"}, "old.ppt", "unsupported_type"),
        ({"Workbook": b"no workbook at all"}, "old.xls", "damaged"),
        ({"Workbook": b""}, "old.xls", "damaged"),
        ({"something": {"Workbook": b"x"}}, "thing.bin", "unsupported_type"),
        ({"__properties_version1.0": b""}, "a.msg", "empty"),
    ],
)
def test_compound_files_are_told_apart_by_their_names(streams, name, code):
    assert code_of(name, compound(streams)) == code


def test_a_compound_file_that_is_cut_short_is_refused():
    whole = compound(message(wide(0x1000, "words " * 2000)))
    for n in (8, 100, 512, 600, len(whole) // 2):
        assert code_of("a.msg", whole[:n]) in ("damaged", "unsupported_type", "empty", "")
    assert detect("application/octet-stream", whole[:100]).media_type == "application/x-ole-storage"


@given(st.integers(0, 4000), st.binary(min_size=1, max_size=8))
@settings(max_examples=60)
def test_a_changed_compound_file_gives_a_document_or_a_code(at, noise):
    whole = bytearray(
        compound(message(wide(0x1000, "words"), attachment(0, wide(0x3707, "a.txt"), binary(0x3701, b"text"))))
    )
    at %= len(whole)
    whole[at : at + len(noise)] = noise
    code_of("a.msg", bytes(whole))


def test_an_old_workbook_reads_like_a_new_one():
    document = read("made.xls", (DATA / "made.xls").read_bytes())
    assert document.text.split("\n\n")[:2] == [
        "City | Fee | Due | Paid | Id",
        "Bern | 40.5 | 2024-02-29 | TRUE | 00123\nGenf | 50 | 2024-03-01 13:30 | FALSE | 00124\nmerged | | 81",
    ]
    assert place_of(document, "merged") == SheetRange("Costs", "A5:B6")
    assert place_of(document, "NOTE") == SheetRange("Costs", "A2")
    assert place_of(document, "far") == SheetRange("Far", "IV65536")
    assert document.warnings == ("hidden sheets, read all the same: Hidden, VH",)


@given(st.integers(0, 7000), st.binary(min_size=1, max_size=6))
@settings(max_examples=15, deadline=None)
def test_a_changed_old_workbook_gives_a_document_or_a_code(at, noise):
    whole = bytearray((DATA / "made.xls").read_bytes())
    whole[at : at + len(noise)] = noise
    code_of("made.xls", bytes(whole))
