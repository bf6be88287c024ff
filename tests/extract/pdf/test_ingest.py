"""PDFs among other files of a folder: each has its own state, and what is found cites its page."""

import pytest
from tests.extract.pdf.test_extractor import scanned

from gawah.fragment import build, label
from gawah.testing.pdf import Page, pdf, wrapped
from gawah.types import DocumentState

BODY = "The harbour fee for a visiting boat is forty euro a night, payable to the harbour master before noon. "
GOOD = pdf([Page().lines(60, 700, wrapped(BODY * 2, 400)), Page().lines(60, 700, ["Boats over twelve metres pay double."])])
FILES = {
    "A.PDF": GOOD,
    "blanks.pdf": scanned([Page().text(60, 700, "   ").draw("q 612 0 0 792 0 0 cm /I1 Do Q")]),
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
    assert {name: record.failure.code for name, record in records.items() if record.failure} == {
        "blanks.pdf": "no_text", "broken.pdf": "damaged", "zero.pdf": "empty",
        "x.pdf:Zone.Identifier": "unsupported_type",
    }  # fmt: skip
    assert records["A.PDF"].state is records["latin1.txt"].state is DocumentState.READY


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
