"""Hostile packages: every one ends in a code or in its words, none in memory, time or a path on disk."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.made import DATA, W, blocks, code_of, docx, read, words, workbook, zipped

from gawah.errors import ExtractionError
from gawah.extract import package as package_module
from gawah.extract.detect import detect
from gawah.extract.package import Package, attribute, elements, parse_xml, refuse_doctype, resolve
from gawah.extract.sandbox import Limits, Sandbox
from gawah.media_types import media_type_of
from gawah.testing.extractor import source_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "formats"
GOOD = docx(words("good words"))


def code(call):
    with pytest.raises(ExtractionError) as caught:
        call()
    return caught.value.reason_code


@pytest.mark.parametrize("name", ["20-torture.docx", "21-torture.xlsx", "22-torture.pptx"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.999])
def test_a_package_cut_short_is_damaged(name, share):
    data = (DATA / name).read_bytes()
    assert code_of(name, data[: int(len(data) * share)]) in ("damaged", "unsupported_type")


def test_pictures_in_a_package_are_said_to_be_unread_and_previews_are_not():
    parts = {"word/media/image1.PNG": b"x", "word/media/scan.emf": b"x", "docProps/thumbnail.jpeg": b"x"}
    (warning,) = read("a.docx", _with_parts(GOOD, parts)).warnings
    assert warning == "2 pictures were not read: words in them cannot be found"
    assert read("a.docx", _with_parts(GOOD, {"docProps/thumbnail.jpeg": b"x"})).warnings == ()


def _with_parts(data, parts):
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_a_package_is_known_by_its_content_under_any_name():
    for name in ("a.xlsx", "a.zip", "a.pdf", "a", "a.txt"):
        document = read(name, GOOD)
        assert (document.text, document.extractor) == ("good words", "docx/3")
    assert read("a.pdf", GOOD).warnings[0].startswith("the name says application/pdf")
    assert read("a.docx", b"plain words").source.media_type == "text/plain"


def test_an_archive_of_office_files_is_no_office_file():
    archive = zipped({"x/a.docx": GOOD, "b.docx": GOOD}, stored={"x/a.docx", "b.docx"})
    assert detect("application/octet-stream", archive).media_type == "application/zip"


def test_ten_megabytes_of_nested_elements_are_refused_at_once():
    deep = "<w:p>" * 2_000_000
    assert code_of("a.docx", docx(deep)) in ("too_deep", "damaged")
    assert code_of("a.xlsx", workbook([("S", "visible", "<sheetData>" + "<row>" * 1_000_000)])) in (
        "too_deep",
        "damaged",
    )
    assert code_of("a.docx", docx("<w:x>" * 1000 + "</w:x>" * 1000)) == "too_deep"


def test_a_part_that_inflates_without_end_is_a_bomb_whatever_its_header_says():
    bomb = zipped({"[Content_Types].xml": "", "word/document.xml": b" " * (300 << 20)})
    assert len(bomb) < 1_000_000
    with Sandbox(Limits(memory_bytes=700 << 20, cpu_s=20)) as sandbox, pytest.raises(ExtractionError) as caught:
        sandbox.extract(source_of("a.docx", bomb, media_type_of("a.docx")), bomb)
    assert caught.value.reason_code == "zip_bomb"


def test_many_entries_or_many_reads_are_a_bomb(monkeypatch):
    monkeypatch.setattr(package_module, "MOST_ENTRIES", 3)
    assert code(lambda: Package(zipped({str(n): "x" for n in range(4)}))) == "zip_bomb"
    monkeypatch.setattr(package_module, "MOST_TOTAL_BYTES", 10)
    package = Package(zipped({"a": "123456", "b": "123456"}))
    assert package.read("a") == b"123456"
    assert code(lambda: package.read("b")) == "zip_bomb"


def test_an_encrypted_entry_is_encrypted():
    locked = bytearray(GOOD)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = locked.find(mark)
        while start >= 0:
            locked[start + at] |= 1
            start = locked.find(mark, start + 4)
    assert code_of("a.docx", bytes(locked)) == "encrypted"


def test_names_that_climb_are_names_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evil = zipped({"../../evil.xml": "x", "/abs.xml": "x", "word/../../up.xml": "x", "C:\\x.xml": "x"})
    package = Package(evil)
    assert package.read("../../evil.xml") == b"x"
    assert resolve("word/document.xml", "../../../../etc/passwd") == "etc/passwd"
    assert resolve("word/document.xml", "/word/media/a%20b.png#x") == "word/media/a b.png"
    assert not list(tmp_path.iterdir())


DOCTYPE = (
    '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]><d>&b;&x;</d>'
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("before", ["", "<!-- " + "c" * 10_000 + " -->", "\n\n<?pi x?>"])
def test_a_doctype_is_refused_in_every_encoding_and_place(encoding, before):
    text = f'<?xml version="1.0" encoding="{encoding}"?>{before}{DOCTYPE}'
    assert code(lambda: parse_xml(text.encode(encoding), "x.xml")) == "doctype"
    assert code(lambda: list(elements(text.encode(encoding), "x.xml", "d"))) == "doctype"


def test_words_that_look_like_a_doctype_are_words():
    refuse_doctype(b"<d><![CDATA[<!DOCTYPE x>]]></d>", "x.xml")
    assert read("a.docx", docx(words("&lt;!DOCTYPE x&gt;"))).text == "<!DOCTYPE x>"


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx"])
def test_a_doctype_in_any_part_is_refused(name):
    extra = {"docProps/core.xml": DOCTYPE}
    data = (
        docx(words("x"), extra=extra) if name == "a.docx" else workbook([("S", "visible", "<sheetData/>")], extra=extra)
    )
    assert code_of(name, data) == "doctype"


@pytest.mark.parametrize(
    "data", [b"", b"<", b"<a>", b"\xff\xfe\x00", b"no xml", b"<a/><b/>", b"<?xml version='1.0' encoding='nope'?><a/>"]
)
def test_what_is_no_xml_is_damaged(data):
    assert code(lambda: parse_xml(data, "x.xml")) == "damaged"
    assert code(lambda: list(elements(data, "x.xml", "a"))) == "damaged"


def test_elements_are_given_once_each_with_their_content_however_many():
    rows = "".join(f"<r n='{n}'><c>{n}</c></r>" for n in range(5000))
    found = [(attribute(e, "n"), e[0].text) for e in elements(f"<s><h/>{rows}</s>".encode(), "x.xml", "r")]
    assert found == [(str(n), str(n)) for n in range(5000)]


def test_letter_case_and_missing_parts():
    package = Package(zipped({"Word/Document.XML": "<a/>"}))
    assert package.find("word/document.xml") == "Word/Document.XML"
    assert code(lambda: package.read("none.xml")) == "damaged"
    assert code_of("a.docx", zipped({"[Content_Types].xml": "", "word/document.xml": "<a/>"})) == "empty"


@given(
    st.integers(0, 40_000),
    st.binary(min_size=1, max_size=4),
    st.sampled_from(["20-torture.docx", "21-torture.xlsx", "22-torture.pptx"]),
)
@settings(max_examples=60, deadline=None)
def test_a_changed_package_gives_a_document_or_a_code(at, noise, name):
    data = bytearray((DATA / name).read_bytes())
    at %= len(data)
    data[at : at + len(noise)] = noise
    code_of(name, bytes(data))


_MARKUP = st.lists(st.sampled_from([
    "<w:p>", "</w:p>", "<w:r>", "</w:r>", "<w:t>x</w:t>", "<w:tbl>", "</w:tbl>", "<w:tr>", "</w:tr>", "<w:tc>", "</w:tc>", "<w:sdt/>",
    "<w:pPr/>", "<w:txbxContent>", "</w:txbxContent>", "<w:br/>",
]), max_size=14).map("".join)  # fmt: skip


@given(_MARKUP)
@settings(max_examples=100)
def test_odd_structures_are_read_or_refused(markup):
    code_of("a.docx", docx(markup))


def test_the_encoding_of_a_part_is_its_own():
    xml = f'<?xml version="1.0" encoding="utf-16"?><w:document xmlns:w="{W}"><w:body>{words("Gebühr")}</w:body></w:document>'
    data = zipped({"[Content_Types].xml": "", "word/document.xml": xml.encode("utf-16")})
    assert blocks(read("a.docx", data)) == [("paragraph", 0, "Gebühr")]
    assert zipfile.is_zipfile(io.BytesIO(data))


@pytest.mark.parametrize(
    "name",
    [
        "board-minutes.docx",
        "boat-log.xlsx",
        "training-day-one.pptx",
        "what-the-river-says.epub",
        "winter-rain.ods",
        "salt-discharge.odt",
    ],
)
@pytest.mark.parametrize("share", [0.03, 0.3, 0.9])
def test_a_package_cut_short_is_damaged_and_not_of_an_unknown_type(name, share):
    data = (EXAMPLES / name).read_bytes()
    assert code_of(name, data[: int(share * len(data))]) == "damaged"


def test_a_package_of_an_unknown_zip_version_is_damaged():
    made = bytearray(GOOD)
    made[made.rindex(b"PK\x01\x02") + 6] = 148
    assert code_of("a.docx", bytes(made)) == "damaged"
    assert code_of("a.unknown", bytes(made)) == "damaged"
