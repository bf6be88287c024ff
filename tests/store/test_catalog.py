"""The SQLite catalog: the contract, and what is SQLite's own."""

import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from gawah.errors import (
    ForeignStoreError,
    NotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)
from gawah.store.answers import broken_links, fault_at_end
from gawah.store.catalog import SqliteCatalog
from gawah.store.lock import writer_lock
from gawah.store.migrations import MIGRATIONS
from gawah.testing.catalog import CatalogContract, add


@pytest.fixture
def catalog(tmp_path, clock):
    opened = SqliteCatalog(tmp_path / "store", create=True, clock=clock)
    yield opened
    opened.close()


class TestSqliteCatalog(CatalogContract):
    pass


def test_a_store_that_is_not_there_is_not_made_by_looking(tmp_path):
    with pytest.raises(NotFoundError, match="gawah ingest"):
        SqliteCatalog(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_foreign_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "catalog.sqlite"
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE recipes (name)")
    foreign.commit()
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(ForeignStoreError, match="another program"):
        SqliteCatalog(tmp_path, create=True)
    assert path.read_bytes() == before


def test_a_newer_store_is_refused(tmp_path):
    SqliteCatalog(tmp_path, create=True).close()
    newer = sqlite3.connect(tmp_path / "catalog.sqlite")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(ForeignStoreError, match="newer gawah"):
        SqliteCatalog(tmp_path)


@pytest.mark.parametrize("damage", [b"not a database at all", b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_damaged_file_is_one_line(tmp_path, damage):
    (tmp_path / "catalog.sqlite").write_bytes(damage)
    with pytest.raises(StoreCorruptError) as caught:
        SqliteCatalog(tmp_path, create=True)
    assert "\n" not in str(caught.value)


def test_a_page_overwritten_in_the_middle_is_found_by_the_integrity_check(catalog):
    add(catalog, "a.txt", "".join(f"Line {number}.\n" for number in range(400)))
    catalog.vacuum()
    catalog.close()
    with catalog.path.open("r+b") as stream:
        stream.seek(4096 * 20)
        stream.write(b"\xde\xad" * 4096)
    try:
        broken = SqliteCatalog(catalog.directory)
        found = broken.integrity_errors()
        broken.close()
    except StoreCorruptError:
        found = ["could not even be read"]
    assert found


def test_the_folder_may_not_be_a_file(tmp_path):
    (tmp_path / "store").write_text("x")
    with pytest.raises(StoreError):
        SqliteCatalog(tmp_path / "store" / "inner", create=True)


def test_an_altered_answer_breaks_the_chain_where_it_was_altered(any_catalog):
    for number in range(4):
        any_catalog.append_answer(f"a{number}", "answered", {"n": number}, [])
    records = any_catalog.load_answers()
    assert broken_links(records) == []
    assert broken_links([*records[:1], replace(records[1], body={"n": 7}), *records[2:]]) == ["a1"]
    assert broken_links([records[0], *records[2:]]) == ["a2"]
    assert broken_links(records[1:]) == ["a1"]


def test_a_log_whose_newest_rows_were_lost_shows_it(catalog):
    """The chain alone holds then: nothing points at what came after."""
    for number in range(5):
        catalog.append_answer(f"a{number}", "answered", {"n": number}, ["d1"])
    assert fault_at_end(catalog.log_head(), catalog.load_answers()) == ""
    catalog.redact_answers(["d1"])
    assert fault_at_end(catalog.log_head(), catalog.load_answers()) == ""
    with sqlite3.connect(catalog.path) as connection:
        connection.execute("DELETE FROM answer_documents")
        connection.execute("DELETE FROM answers WHERE id IN ('a3', 'a4')")
    connection.close()
    assert broken_links(catalog.load_answers()) == []
    assert "2 are missing" in fault_at_end(catalog.log_head(), catalog.load_answers())
    catalog.append_answer("a5", "answered", {"n": 5}, [])
    catalog.append_answer("a6", "answered", {"n": 6}, [])
    head = catalog.log_head()
    assert head.n_answers == 7  # later outcomes do not cover up the loss
    assert "2 are missing" in fault_at_end(head, catalog.load_answers())


def test_a_log_that_was_written_anew_is_not_the_one_that_was_recorded(catalog, tmp_path):
    for number in range(3):
        catalog.append_answer(f"a{number}", "answered", {"n": number}, [])
    other = SqliteCatalog(tmp_path / "other", create=True)
    for number in range(4):
        other.append_answer(f"b{number}", "answered", {"n": number}, [])
    assert "outcome 3 is not" in fault_at_end(catalog.log_head(), other.load_answers())
    other.close()


def test_a_store_of_before_the_head_was_kept_has_no_fault_and_counts_all_from_then_on(catalog):
    for number in range(3):
        catalog.append_answer(f"a{number}", "answered", {"n": number}, [])
    with sqlite3.connect(catalog.path) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'log_head'")
    connection.close()
    assert catalog.log_head() is None
    assert fault_at_end(None, catalog.load_answers()) == ""
    catalog.append_answer("a3", "answered", {"n": 3}, [])
    assert catalog.log_head().n_answers == 4


def test_what_is_acknowledged_waits_for_the_disk_and_notes_on_the_way_do_not(catalog):
    """A power cut may take back how far a job was, never a document that was said to be ready, nor an answer."""
    statements = []
    catalog._database.connection().set_trace_callback(statements.append)
    add(catalog, "a.txt", "One.\n")
    catalog.append_answer("a0", "answered", {"n": 0}, [])
    catalog.delete_documents([1])
    catalog._database.connection().set_trace_callback(None)
    level, waiting = "FULL", {}
    for statement in statements:
        if statement.startswith("PRAGMA synchronous = "):
            level = statement.removeprefix("PRAGMA synchronous = ")
        waiting[statement[:34]] = level
    for acknowledged in ("UPDATE documents SET state = 'ready", "INSERT INTO answers ", "DELETE FROM documents "):
        (found,) = {at for start, at in waiting.items() if start.startswith(acknowledged[:34].rstrip())}
        assert found == "FULL", acknowledged
    assert {at for start, at in waiting.items() if start.startswith("UPDATE jobs SET owner = 'tester'")} == {"NORMAL"}
    assert level == "FULL"


def test_a_second_writer_is_told_who_writes(tmp_path):
    code = (
        "import sys, pathlib\nfrom gawah.store.lock import writer_lock\n"
        "with writer_lock(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreBusyError, match=f"process {holder.pid} is writing"), writer_lock(tmp_path):
            pass
        holder.kill()
    with writer_lock(tmp_path):
        pass


def test_the_log_of_a_purged_word_holds_no_trace_in_the_file(catalog):
    add(catalog, "secret.txt", "The word is ZX-CANARY-91.\n")
    with catalog.snapshot() as snapshot:
        record = snapshot.find_document("secret.txt")
    catalog.append_answer("a", "answered", {"quote": "ZX-CANARY-91"}, [record.id])
    catalog.delete_documents([record.no])
    catalog.redact_answers()
    catalog.vacuum()
    files = [path for path in catalog.directory.rglob("*") if path.is_file()]
    assert not any(b"ZX-CANARY-91" in path.read_bytes() for path in files)


LOOK = """
import pathlib, sys
from gawah.store.catalog import SqliteCatalog
catalog = SqliteCatalog(pathlib.Path(sys.argv[1]))
with catalog.snapshot() as snapshot:
    snapshot.documents()
catalog.close()
"""


def test_opening_a_store_again_in_the_same_process_keeps_the_first_ones_locks(catalog):
    """Any descriptor of the file that is opened and closed beside SQLite's would drop them (POSIX): a lost write-ahead log."""
    add(catalog, "a.txt", "One.\n")
    with catalog.snapshot() as snapshot:
        SqliteCatalog(catalog.directory).close()
        looked = subprocess.run(
            [sys.executable, "-c", LOOK, str(catalog.directory)],
            check=False,
        )
        assert looked.returncode == 0
        assert len(snapshot.documents()) == 1
        assert catalog.path.with_name(catalog.path.name + "-wal").exists()
    add(catalog, "b.txt", "Two.\n")
    assert catalog.integrity_errors() == []


def test_an_emptied_file_is_not_taken_for_a_new_store(tmp_path):
    SqliteCatalog(tmp_path, create=True).close()
    (tmp_path / "catalog.sqlite").write_bytes(b"")
    with pytest.raises(NotFoundError, match="is empty"):
        SqliteCatalog(tmp_path)


def test_a_purge_that_was_interrupted_is_owed_until_it_is_done(any_catalog):
    document = add(any_catalog, "secret.txt", "The word is ZX-CANARY-91.\n")
    any_catalog.append_answer("a", "answered", {"quote": "ZX-CANARY-91"}, [document.id])
    with any_catalog.snapshot() as snapshot:
        number = snapshot.find_document("secret.txt").no
    assert any_catalog.purge_documents([number], [document.id]) == (1, 1)
    assert any_catalog.purge_owed()
    any_catalog.vacuum()
    assert not any_catalog.purge_owed()


def test_a_purge_beside_a_reader_does_not_claim_success(catalog, monkeypatch):
    monkeypatch.setattr("gawah.store.connection.BUSY_TIMEOUT_MS", 50)
    add(catalog, "secret.txt", "The word is ZX-CANARY-91.\n")
    reader = SqliteCatalog(catalog.directory)
    other = SqliteCatalog(catalog.directory)
    with reader.snapshot() as snapshot:
        number = snapshot.find_document("secret.txt").no
        other.purge_documents([number], None)
        with pytest.raises(StoreBusyError, match="gawah rm --purge"):
            other.vacuum()
        assert other.purge_owed()
    other.vacuum()
    assert not other.purge_owed()
    reader.close()
    other.close()


def test_a_worker_does_not_take_its_own_late_job(any_catalog, clock):
    any_catalog.enqueue([("default", "a.txt", "file:///a.txt")])
    assert any_catalog.claim("one") is not None
    clock.now += 10_000
    assert any_catalog.claim("one") is None
    assert any_catalog.claim("two") is not None


def test_an_older_store_tells_what_its_documents_quality_and_warnings_were(catalog, tmp_path):
    """As a store was before documents had the columns: counts and warnings stood in the extraction only."""
    document = add(catalog, "a.pdf", "Nobody may cross.\n")
    catalog.close()
    older = sqlite3.connect(tmp_path / "store" / "catalog.sqlite")
    older.executescript(
        "DROP TABLE generation_documents; DROP TABLE epochs; DROP INDEX generations_one_building; "
        "DROP INDEX segments_by_generation; DROP INDEX deletions_by_generation; "
        + "".join(f"ALTER TABLE generations DROP COLUMN {name};" for name in ("source", "switched_at", "dropped_at"))
        + "".join(f"ALTER TABLE documents DROP COLUMN {name};" for name in ("quality", "warnings", "version"))
    )
    older.execute(
        "UPDATE contents SET extraction = json_set(extraction, '$.quality', json('{\"pages\": 7}'), '$.warnings', json('[\"ß\"]'))"
    )
    older.execute(f"PRAGMA user_version = {len(MIGRATIONS) - 3}")
    older.commit()
    older.close()
    migrated = SqliteCatalog(tmp_path / "store")
    (generation,) = migrated.generations()
    with migrated.snapshot() as snapshot:
        (record,) = snapshot.documents()
        assert (generation.state, generation.source, len(snapshot.token)) == ("active", "", 16)
    assert (record.id, record.quality, record.warnings) == (document.id, {"pages": 7}, ("ß",))
