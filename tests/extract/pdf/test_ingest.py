"""PDFs among other files of a folder: each has its own state, and what is found cites its page."""

import os
import shutil

import pytest
from tests.extract.ocr.pages import needs
from tests.extract.pdf.scans import picture_of, scan
from tests.extract.pdf.test_extractor import scanned

from gawah.fragment import build, label
from gawah.testing.pdf import Page, pdf, wrapped
from gawah.types import DocumentState

BODY = "The harbour fee for a visiting boat is forty euro a night, payable to the harbour master before noon. "
GOOD = pdf(
    [Page().lines(60, 700, wrapped(BODY * 2, 400)), Page().lines(60, 700, ["Boats over twelve metres pay double."])]
)
NOTE = pdf([Page(size=(320, 90)).lines(20, 60, wrapped(BODY, 280))])
FILES = {
    "A.PDF": GOOD,
    "blanks.pdf": scanned([Page().text(60, 700, "   ").draw("q 612 0 0 792 0 0 cm /I1 Do Q")]),
    "scan.pdf": pdf([scan(picture_of(NOTE))]),
    "broken.pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
    "latin1.txt": "Die Gebühr".encode("latin-1"),
    "x.pdf:Zone.Identifier": b"[ZoneTransfer]\nZoneId=3\n",
    "zero.pdf": b"",
}


@pytest.fixture
def ended(make_app, folder):
    app = make_app()
    list(app.ingest(app.plan(folder(FILES))))
    return app, {record.name: record for record in app.documents()}


def test_every_file_has_its_own_state(ended):
    _, records = ended
    is_seeing = shutil.which("tesseract") is not None
    assert {name: record.failure.code for name, record in records.items() if record.failure} == {
        "blanks.pdf": "no_text" if is_seeing else "ocr_unavailable", "broken.pdf": "damaged", "zero.pdf": "empty",
        "x.pdf:Zone.Identifier": "unsupported_type", **({} if is_seeing else {"scan.pdf": "ocr_unavailable"}),
    }  # fmt: skip
    assert records["A.PDF"].state is records["latin1.txt"].state is DocumentState.READY


@needs()
def test_a_scan_is_searchable_beside_the_others(ended):
    app, records = ended
    with app.catalog.snapshot() as snapshot:
        document = snapshot.load_document(records["scan.pdf"].no)
    assert " ".join(document.text.split()) == BODY.strip()
    assert document.quality["pages_ocr"] == 1


def test_without_tesseract_a_scan_waits_for_it(make_app, folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    app = make_app()
    root = folder({"scan.pdf": FILES["scan.pdf"]})
    (record,) = app.ingest(app.plan(root))
    assert (record.failure.code, record.failure.retryable) == ("ocr_unavailable", True)
    assert "apt-get install tesseract-ocr" in record.failure.reason
    assert [item.why for item in app.plan(root).work] == ["retry"]


def test_a_passage_names_its_page_and_has_its_boxes(ended):
    app, records = ended
    with app.catalog.snapshot() as snapshot:
        chunks = snapshot.chunks_of(records["A.PDF"].no)
        passages = snapshot.passages([(chunk.id, 1.0, 0.0) for chunk in chunks])
    last = passages[-1]
    assert "pay double" in last.chunk.content
    assert label(last.locator).startswith("page")
    assert build(last.locator).startswith("#page=")
    assert last.locator.boxes
    assert last.locator.last_page == 2


def partly_scanned():
    return pdf([Page().lines(60, 700, wrapped(BODY * 2, 400)), scan(picture_of(NOTE))])


@needs()
def test_unread_pages_are_counted_and_read_once_there_is_a_program(make_app, folder, monkeypatch, tmp_path):
    root = folder({"part.pdf": partly_scanned(), "plain.pdf": GOOD})
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(tmp_path))
    blind = make_app(ocr_languages="eng")
    list(blind.ingest(blind.plan(root)))
    part, plain = blind.documents()
    assert (part.quality["pages"], part.quality["pages_unread"]) == (2, 1)
    assert plain.quality["pages_unread"] == 0
    assert "apt-get install tesseract-ocr" in blind.senses.blindness
    assert blind.plan(root).work == ()
    blind.close()
    monkeypatch.setenv("PATH", path)
    seeing = make_app(ocr_languages="eng")
    assert [(item.name, item.why) for item in seeing.plan(root).work] == [("part.pdf", "stale")]
    list(seeing.ingest(seeing.plan(root)))
    part, _ = seeing.documents()
    assert (part.quality["pages_ocr"], part.quality["pages_unread"]) == (1, 0)
    assert part.stamp.extractor == "pdf/4 tesseract eng"
    assert seeing.plan(root).work == ()
    seeing.close()
    other = make_app(ocr_languages="eng+osd")
    assert [(record.name, other.stale(record)) for record in other.documents()] == [
        ("part.pdf", ("extractor",)), ("plain.pdf", ()),
    ]  # fmt: skip
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not any(make_app(ocr_languages="eng").stale(record) for record in other.documents())
