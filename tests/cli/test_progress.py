"""What an ingest says while it runs and of documents that something is to be said of."""

import json
from dataclasses import replace

from gawah.cli.ingested import print_warned
from gawah.cli.progress import in_lines
from gawah.testing.catalog import make_document
from gawah.types import DocumentCounters, DocumentRecord, DocumentState


def record(name, *warnings):
    document = make_document(name, "text\n")
    return DocumentRecord(
        no=1, id=document.id, collection="default", name=name, uri="", media_type="", size_bytes=0, file_sha256="",
        indexed_sha256="", state=DocumentState.READY, failure=None, attempts=1, next_try_at=None, title="", language="",
        text_sha256="", stamp=None, counters=None, updated_at=0.0, warnings=warnings,
    )  # fmt: skip


def test_a_long_ingest_says_where_it_is_at_growing_intervals(capsys):
    """400 documents of a second each: after 5 s, 10 more, 20 more, …, and nothing of the last."""
    now = iter(range(401))
    records = [record(f"{n}.txt") for n in range(1, 401)]
    assert list(in_lines(iter(records), 400, clock=lambda: float(next(now)))) == records
    said = capsys.readouterr()
    assert [line.split(" ")[0] for line in said.err.splitlines()] == ["5", "15", "35", "75", "155", "275", "395"]
    assert said.err.startswith("5 of 400 documents done; the last was 5.txt\n")
    assert said.out == ""


def test_where_the_lengths_are_known_it_says_how_long_the_rest_will_take(capsys):
    """40 texts of 100 characters and one of 6000, of which the short ones took 10 s: the long one will take 15."""
    records = [replace(record(f"{n}.txt"), counters=DocumentCounters(n_chars=n)) for n in [*[100] * 40, 6000]]
    now = iter([0.0, *[1.0] * 39, 10.0])
    list(in_lines(iter(records), 41, clock=lambda: next(now), n_chars=10_000))
    assert capsys.readouterr().err == "40 of 41 documents done, about 15 s left; the last was 100.txt\n"
    now = iter([0.0, 60.0])
    list(in_lines(iter(records[:2]), 2, clock=lambda: next(now), n_chars=500))
    assert capsys.readouterr().err == "1 of 2 documents done, about 4 min left; the last was 100.txt\n"


def test_a_short_ingest_says_nothing_and_a_name_cannot_make_a_line(capsys):
    records = [record("a.txt"), record("b\nc\x1b.txt"), record("d.txt")]
    list(in_lines(iter(records[:2]), 2, clock=lambda: 0.0))
    assert capsys.readouterr().err == ""
    now = iter([0.0, 1.0, 9.0])
    list(in_lines(iter(records), 3, clock=lambda: next(now)))
    assert capsys.readouterr().err == "2 of 3 documents done; the last was b␊c␛.txt\n"


def test_a_document_with_warnings_has_one_line_with_the_first_and_how_many_more(capsys):
    print_warned(
        [record("a.txt"), record("b.pdf", "page 2 was not read", "low_confidence"), record("c.txt", "x" * 900)]
    )
    first, second = capsys.readouterr().err.splitlines()
    assert first == "warning  b.pdf: page 2 was not read (and 1 more: `gawah show NAME --json`)"
    assert len(second) < 230
    assert second.endswith("x…")


def test_of_many_documents_with_warnings_twenty_have_a_line_and_the_rest_is_counted(capsys):
    print_warned([record(f"{n}.txt", "w") for n in range(25)])
    lines = capsys.readouterr().err.splitlines()
    assert (len(lines), lines[-1]) == (21, "warnings of 5 more documents: `gawah ls` marks them")


def test_warnings_are_said_by_ingest_ls_and_status(gawah):
    folder = gawah.directory / "docs"
    folder.mkdir()
    (folder / "fees.json").write_text('{"fee": 40,', encoding="utf-8")
    (folder / "boats.txt").write_text("The boat leaves.\n", encoding="utf-8")
    done = gawah("ingest", "docs")
    assert done.stderr.startswith(b"warning  fees.json: ")
    assert done.stderr.count(b"\n") == 1
    assert b"fees.json  (1 warning)\n" in gawah("ls").stdout
    listed = json.loads(gawah("ls", "--json").stdout)["documents"]
    assert [(one["name"], len(one["warnings"])) for one in listed] == [("boats.txt", 0), ("fees.json", 1)]
    assert json.loads(gawah("status", "--json").stdout)["with_warnings"] == 1
    assert json.loads(gawah("ingest", "docs", "--json").stdout)["ready"] == []
