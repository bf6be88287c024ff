"""The PostgreSQL catalog: the contract, and what is PostgreSQL's own."""

import threading
from dataclasses import replace

import pytest

from gawah.errors import (
    ConfigurationError,
    ExtractionError,
    ForeignStoreError,
    NotFoundError,
    StoreBusyError,
    StoreError,
    UsageError,
)
from gawah.fingerprint import document_id
from gawah.store.sql import Order
from gawah.testing.catalog import CatalogContract, add, make_document
from gawah.types import DocumentState, Failure, Filter

psycopg = pytest.importorskip("psycopg")


class TestPostgresCatalog(CatalogContract):
    pass


# --- whose tables they are


def test_a_store_that_is_not_there_is_not_made_by_looking(open_catalog, address):
    for _ in range(2):
        with pytest.raises(NotFoundError, match="gawah ingest"):
            open_catalog(create=False)
    with psycopg.connect(address) as looking:
        assert looking.execute("SELECT to_regclass('gawah_store')").fetchone() == (None,)


def test_tables_of_another_program_are_refused_and_left_alone(open_catalog, address):
    with psycopg.connect(address) as other:
        other.execute("CREATE TABLE recipes (name text)")
    with pytest.raises(ForeignStoreError, match="another program"):
        open_catalog()
    with psycopg.connect(address) as other:
        assert other.execute("SELECT count(*) FROM recipes").fetchone() == (0,)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE gawah_store SET version = 99", "newer gawah"),
        ("UPDATE gawah_store SET application = 7", "another program"),
    ],
)
def test_a_newer_store_and_a_table_of_the_same_name_are_refused(open_catalog, catalog, address, statement, words):
    with psycopg.connect(address) as other:
        other.execute(statement)
    with pytest.raises(ForeignStoreError, match=words):
        open_catalog()


def test_a_database_that_cannot_hold_every_text_is_refused(postgres, open_catalog):
    postgres.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    with pytest.raises(ConfigurationError, match=r"encoded as LATIN1.*createdb -E UTF8"):
        open_catalog(postgres.address(database="latin"))


def test_many_that_begin_together_make_the_tables_once(address, tmp_path):
    from gawah.store.postgres.catalog import PostgresCatalog

    errors, start = [], threading.Barrier(6)

    def begin():
        start.wait()
        try:
            PostgresCatalog(address, tmp_path / "store", create=True).close()
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_two_stores_of_one_database_have_nothing_to_do_with_each_other(postgres, open_catalog, catalog):
    add(catalog, "a.txt", "One.\n")
    other = open_catalog(postgres.new_address())
    with other.snapshot() as snapshot:
        assert snapshot.documents() == []
    with catalog.writer_lock(), other.snapshot(), catalog.writing(Order.CONTENT):
        add(other, "b.txt", "Two.\n")


# --- passwords


def test_no_error_shows_the_password(open_catalog):
    for where in (
        "postgresql://me:ZX-SECRET-7@127.0.0.1:1/db",
        "postgresql://me@127.0.0.1:1/db?password=ZX-SECRET-7",
        "postgresql://me:ZX-SECRET-7@127.0.0.1:1/db?nonsense=1",
        "host=127.0.0.1 port=1 ZX-SECRET-7",
    ):
        with pytest.raises((StoreError, ConfigurationError)) as caught:
            open_catalog(where)
        assert "SECRET" not in str(caught.value)
        assert "\n" not in str(caught.value)
        assert caught.value.__cause__ is None
    with pytest.raises(StoreError, match=r"postgresql://me@127\.0\.0\.1:1/db cannot be reached"):
        open_catalog("postgresql://me:ZX-SECRET-7@127.0.0.1:1/db")


# --- text


def test_words_that_no_database_keeps_are_refused_before_they_come_to_it():
    from gawah.store.records import require_storable

    for text in ("NUL \x00 here\n", "half \ud800 a pair\n"):
        with pytest.raises(ExtractionError, match=r"U\+0000|U\+D800") as caught:
            require_storable(replace(make_document("a.txt", "One.\n"), text=text))
        assert caught.value.reason_code == "unstorable_text"


def test_a_name_with_a_nul_is_an_error_of_the_caller_and_a_reason_is_written_visibly(catalog):
    for name in ("a\x00b", "a\ud800b"):
        with catalog.snapshot() as snapshot, pytest.raises(UsageError):
            snapshot.find_document(name)
    catalog.enqueue([("default", "a.txt", "file:///a.txt")])
    catalog.fail(catalog.claim("one"), Failure("x", "not \x00 nor \ud800", retryable=False))
    with catalog.snapshot() as snapshot:
        (record,) = snapshot.documents()
    with pytest.raises(UsageError), catalog.snapshot() as snapshot:
        snapshot.document_numbers(Filter(collections=("a\x00b",)))
    assert (record.state, record.failure.reason) == (DocumentState.FAILED, r"not \x00 nor \ud800")


def test_names_are_ordered_by_their_code_points_and_compared_in_ascii_cases(catalog):
    names = ["B.txt", "a.txt", "Ä.txt", "ä.txt", "दो.txt", "\U0001f600.txt", "\uffee.txt"]
    for name in names:
        add(catalog, name, "One.\n")
    with catalog.snapshot() as snapshot:
        assert [record.name for record in snapshot.documents()] == sorted(names)
        assert [record.name for record in snapshot.page([], "", ("", ""), 9, "A.TX")] == ["a.txt"]
        assert [record.name for record in snapshot.page([], "", ("", ""), 9, "Ä")] == ["Ä.txt"]


def test_a_path_longer_than_an_index_entry_is_a_name_as_any_other(catalog):
    name = "/".join(document_id("x", str(number)) * 9 for number in range(18))
    assert len(name) > 3900
    add(catalog, name, "One.\n")
    with catalog.snapshot() as snapshot:
        assert snapshot.find_document(name).state is DocumentState.READY


# --- care


def test_a_purge_leaves_no_word_in_the_tables_files_and_none_is_claimed_beside_a_reader(
    postgres_of_its_own, open_catalog, monkeypatch
):
    monkeypatch.setattr("gawah.store.postgres.database._REWRITE_TIMEOUT_S", 1)
    address = postgres_of_its_own.new_address()
    catalog, reader = open_catalog(address), open_catalog(address)
    document = add(catalog, "secret.txt", "The word is ZX-CANARY-91.\n")
    catalog.append_answer("a", "answered", {"quote": "ZX-CANARY-91"}, [document.id])
    with psycopg.connect(address, autocommit=True) as sampling:
        sampling.execute("ANALYZE")
    with reader.snapshot() as snapshot:
        number = snapshot.find_document("secret.txt").no
        assert catalog.purge_documents([number], [document.id]) == (1, 1)
        with pytest.raises(StoreBusyError, match="gawah rm --purge"):
            catalog.vacuum()
        assert catalog.purge_owed()
    catalog.vacuum()
    assert not catalog.purge_owed()
    files = [path for path in (postgres_of_its_own.directory / "data" / "base").rglob("*") if path.is_file()]
    postgres_of_its_own.execute("CHECKPOINT")
    assert len(files) > 100
    assert not any(b"ZX-CANARY-91" in path.read_bytes() for path in files if path.exists())


def test_a_purge_waits_for_readers_that_it_cannot_look_into(postgres, open_catalog, monkeypatch):
    monkeypatch.setattr("gawah.store.postgres.database._REWRITE_TIMEOUT_S", 1)
    for statement in ("CREATE ROLE plain LOGIN", "CREATE ROLE analyst LOGIN", "CREATE DATABASE plain OWNER plain"):
        postgres.execute(statement)
    address = postgres.address(database="plain")
    catalog = open_catalog(address.replace("gawah@", "plain@"))
    add(catalog, "secret.txt", "The word is ZX-CANARY-92.\n")
    with psycopg.connect(address.replace("gawah@", "analyst@"), autocommit=True) as other:
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM pg_class")
        with catalog.snapshot() as snapshot:
            number = snapshot.find_document("secret.txt").no
        catalog.purge_documents([number], [])
        with pytest.raises(StoreBusyError, match="gawah rm --purge"):
            catalog.vacuum()
        other.execute("COMMIT")
        catalog.vacuum()


def test_rows_that_refer_to_nothing_are_found(catalog, address):
    add(catalog, "a.txt", "One.\n")
    assert catalog.integrity_errors() == []
    with psycopg.connect(address) as other:
        other.execute("SET session_replication_role = replica")
        other.execute("DELETE FROM embeddings")
    assert catalog.integrity_errors() == ["1 rows of chunks refer to nothing"]


def test_a_database_that_takes_no_writes_is_read(catalog, open_catalog, address, postgres):
    add(catalog, "a.txt", "One.\n")
    reading = open_catalog(address + "%20-cdefault_transaction_read_only%3Don", create=False)
    assert reading.read_only
    with reading.snapshot() as snapshot:
        assert len(snapshot.documents()) == 1
    with pytest.raises(StoreError, match="takes no writes"):
        reading.enqueue([("default", "b.txt", "file:///b.txt")])


def test_connections_are_used_again_by_whatever_thread(catalog, address):
    for number in range(30):
        thread = threading.Thread(target=add, args=(catalog, f"{number}.txt", "One.\n"))
        thread.start()
        thread.join()
    with psycopg.connect(address) as other:
        (n,) = other.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'gawah %'").fetchone()
    assert n <= 3
