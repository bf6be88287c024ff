"""Several at once on one PostgreSQL catalog: what is written in order, what passes, locks between machines, lost sessions."""

import os
import threading

import pytest

from gawah.errors import StoreBusyError, StoreError
from gawah.store.sql import Order
from gawah.testing.catalog import MODEL, add, commit, make_document

psycopg = pytest.importorskip("psycopg")


# --- order


def test_what_is_searchable_is_written_one_after_the_other_and_claims_do_not_wait(catalog):
    """What an index relies on: what it sees behind the last number is all that will ever be there."""
    add(catalog, "a.txt", "One.\n")
    catalog.enqueue([("default", name, f"file:///{name}") for name in ("c.txt", "d.txt")])
    done = threading.Event()

    def delete():
        catalog.delete_documents([1])
        done.set()

    with catalog.writing(Order.CONTENT) as opened:
        writer = threading.Thread(target=delete)
        writer.start()
        assert catalog.claim("one") is not None
        catalog.append_answer("x", "answered", {}, [])
        assert not done.wait(0.2)
        opened.execute("UPDATE meta SET value = value WHERE key = 'epoch'")
    writer.join()
    assert done.is_set()


def test_numbers_become_visible_in_their_order_whoever_writes(catalog, open_catalog):
    """Four threads commit documents while one looks: it never sees a number below the greatest it saw before."""
    names = [f"{number}.txt" for number in range(40)]
    catalog.enqueue([("default", name, f"file:///{name}") for name in names])
    catalog.generation_for(MODEL)
    working = threading.Barrier(5)

    def work(number):
        working.wait()
        while (job := catalog.claim(f"worker {number}")) is not None:
            commit(catalog, job, make_document(job.document.name, f"Line of {job.document.name}.\nAnd another.\n"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    working.wait()
    seen, last, looks = [], 0, 0
    while len(seen) < 2 * len(names):
        with catalog.snapshot() as snapshot:
            new = [row.seq for row in snapshot.rows(last)]
        seen += new
        last = max([last, *new])
        looks += 1
    for thread in threads:
        thread.join()
    with catalog.snapshot() as snapshot:
        assert [row.seq for row in snapshot.rows(0)] == seen
    assert looks > 1


def test_claims_pass_each_other(catalog):
    catalog.enqueue([("default", f"{number}.txt", f"file:///{number}") for number in range(3)])
    with catalog.writing() as opened:
        first = opened.execute(f"SELECT j.id FROM jobs j ORDER BY j.id LIMIT 1 {opened.take_free}").fetchall()
        claimed = []
        thread = threading.Thread(target=lambda: claimed.append(catalog.claim("two")))
        thread.start()
        thread.join()
        assert claimed[0].id > first[0][0]


def test_two_that_wait_for_each_other_both_come_to_an_end(catalog):
    """The server takes one of the two transactions back; it is made again."""
    add(catalog, "a.txt", "One.\n")
    add(catalog, "b.txt", "Two.\n")
    met, n_made = threading.Barrier(2), []

    def cross(first, second):
        def write():
            n_made.append(1)
            with catalog.writing() as opened:
                opened.execute("UPDATE documents SET attempts = attempts + 1 WHERE no = ?", (first,))
                if len(n_made) <= 2:
                    met.wait()
                opened.execute("UPDATE documents SET attempts = attempts + 1 WHERE no = ?", (second,))

        catalog.again(write)

    threads = [threading.Thread(target=cross, args=pair) for pair in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(n_made) == 3
    with catalog.snapshot() as snapshot:
        assert [record.attempts for record in snapshot.documents()] == [3, 3]


# --- locks between machines


def test_one_writer_of_all_machines_and_others_are_told_which(catalog, open_catalog, tmp_path):
    with catalog.writer_lock():
        other = open_catalog()
        other.directory = tmp_path / "another machine"
        other.directory.mkdir()
        with pytest.raises(StoreBusyError, match=f":{os.getpid()} is writing to postgresql://"), other.writer_lock():
            pass
    with other.writer_lock():
        pass


def test_who_is_alone_takes_up_what_the_dead_left_on_whatever_machine(catalog, open_catalog):
    catalog.enqueue([("default", "a.txt", "file:///a.txt")])
    assert catalog.claim("it died")
    other = open_catalog()
    with other.at_work():
        assert catalog.claim("next") is not None
        with catalog.at_work():
            assert catalog.claim("third") is None
    with catalog.at_work():
        assert catalog.claim("third") is not None


def test_a_sign_that_fell_with_its_session_is_put_up_again(catalog, open_catalog, address):
    """The server was restarted: who comes after must not think that nobody works."""
    other = open_catalog()
    catalog.enqueue([("default", "a.txt", "file:///a.txt"), ("default", "b.txt", "file:///b.txt")])
    with catalog.at_work():
        with psycopg.connect(address, autocommit=True) as administrator:
            administrator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND application_name LIKE 'gawah %'"
            )
        assert catalog.claim("one") is not None
        with other.at_work():
            assert other.claim("two").document.name == "b.txt"


def test_when_the_server_went_away_one_call_says_so_and_the_next_works(postgres_of_its_own, open_catalog):
    catalog = open_catalog(postgres_of_its_own.new_address())
    add(catalog, "a.txt", "One.\n")
    with pytest.raises(StoreError) as caught, catalog.snapshot() as snapshot:  # noqa: PT012
        postgres_of_its_own.kill()
        postgres_of_its_own.start()
        snapshot.documents()
    assert "was lost" in str(caught.value)
    assert "\n" not in str(caught.value)
    add(catalog, "b.txt", "Two.\n")
    postgres_of_its_own.kill()
    postgres_of_its_own.start()
    with catalog.snapshot() as snapshot:  # a session that was lost between two transactions is no error at all
        assert len(snapshot.documents()) == 2
