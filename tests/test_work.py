"""Work on a served store: the queue worked off beside others, another try when its time has come, folders watched."""

import contextlib
import os

import pytest

from gawah.errors import NotFoundError, StampMismatchError
from gawah.ingest import MAX_ATTEMPTS, worker_name
from gawah.store.lock import at_work
from gawah.testing.embedder import FakeEmbedder
from gawah.types import DocumentState
from gawah.work import discard, watched_folder, work_off


class Rounds:
    """Waits nothing, and ends the work after some rounds."""

    def __init__(self, n):
        self.left = n

    def __call__(self, _seconds):
        self.left -= 1
        return self.left < 0


def work(app, rounds=1):
    troubles = []
    with contextlib.closing(work_off(app, Rounds(rounds), troubles.append)) as ended:
        found = list(ended)
    assert not troubles
    return found


def queue(app, root, *names):
    app.catalog.enqueue([("default", name, (root / name).as_uri()) for name in names])


def test_what_is_queued_is_worked_off_and_then_waited_for(make_app, folder):
    app, root = make_app(), folder({"a.txt": "One.\n", "b.txt": "Two.\n"})
    queue(app, root, "a.txt", "b.txt")
    assert [record.state for record in work(app)] == [DocumentState.READY] * 2
    assert work(app, rounds=3) == []


def test_what_the_dead_left_is_taken_up_by_who_is_alone(make_app, folder):
    app, root = make_app(), folder({"a.txt": "One.\n"})
    queue(app, root, "a.txt")
    assert app.catalog.claim("a worker that died")
    with at_work(app.settings.store, lambda: None):
        assert work(app) == []  # somebody may be at it: its lease has not run out
    assert [record.name for record in work(app)] == ["a.txt"]


def test_a_document_that_fails_is_tried_again_until_there_is_no_sense_in_it(make_app, folder):
    app, root = make_app(), folder({"a.txt": "One.\n"})
    now = [1_000_000.0]
    app.catalog.clock = lambda: now[0]
    queue(app, root, "gone.txt")
    seen = []
    for _ in range(MAX_ATTEMPTS + 2):
        seen += [(record.attempts, record.next_try_at is not None) for record in work(app)]
        now[0] += 4000
    assert seen == [(n, n < MAX_ATTEMPTS) for n in range(1, MAX_ATTEMPTS + 1)]
    (record,) = app.documents()
    assert record.failure.code == "vanished"


def test_a_document_that_kills_whoever_reads_it_is_given_up(make_app, folder):
    app, root = make_app(), folder({"deadly.txt": "Boom.\n"})
    queue(app, root, "deadly.txt")
    for _ in range(MAX_ATTEMPTS):
        assert app.catalog.claim("it dies")
        app.catalog.reclaim()
    (record,) = work(app)
    assert (record.failure.code, record.failure.retryable) == ("worker_died", False)


def test_what_is_beside_a_deadly_document_is_not_given_up_with_it(make_app, folder):
    class Dying(FakeEmbedder):
        def embed(self, texts):
            if any("Boom" in text for text in texts):
                raise KeyboardInterrupt
            return super().embed(texts)

    root = folder({"deadly.txt": "Boom.\n", "good.txt": "Fine.\n"})
    app = make_app(embedder=Dying())
    app.catalog.release = lambda _owner: 0  # who is killed hands nothing back
    queue(app, root, "deadly.txt", "good.txt")
    for _ in range(MAX_ATTEMPTS + 2):
        with contextlib.suppress(KeyboardInterrupt):
            work(app, rounds=2)
        app.catalog.reclaim(worker_name(os.getpid()))
    assert {record.name: record.state for record in app.documents()} == {
        "deadly.txt": DocumentState.FAILED,
        "good.txt": DocumentState.READY,
    }


def test_a_worker_that_is_stopped_gives_back_also_what_it_works_on(make_app, folder):
    class Stopping(FakeEmbedder):
        def embed(self, texts):
            raise KeyboardInterrupt

    root = folder({"a.txt": "One.\n"})
    app = make_app(embedder=Stopping())
    queue(app, root, "a.txt")
    with pytest.raises(KeyboardInterrupt):
        work(app)
    (record,) = app.documents()
    assert (record.state, record.attempts) == (DocumentState.QUEUED, 0)
    assert app.catalog.release(worker_name(os.getpid())) == 0


def test_a_version_that_is_replaced_while_it_is_read_is_dropped_and_the_new_one_read(make_app, folder):
    root = folder({"a.txt": "Old.\n", "new.txt": "New.\n"})

    class Replacing(FakeEmbedder):
        replaced = False

        def embed(self, texts):
            if not self.replaced:
                self.replaced = True
                app.catalog.enqueue([("default", "a.txt", (root / "new.txt").as_uri())])
            return super().embed(texts)

    app = make_app(embedder=Replacing())
    queue(app, root, "a.txt")
    assert [record.state for record in work(app, rounds=2)] == [DocumentState.READY]
    (record,) = app.documents()
    with app.catalog.snapshot() as snapshot:
        assert snapshot.load_document(record.no).text == "New.\n"


def test_a_document_removed_while_it_is_read_stays_removed(make_app, folder):
    class Removing(FakeEmbedder):
        def embed(self, texts):
            discard(app, app.documents())
            return super().embed(texts)

    root = folder({"a.txt": "One.\n"})
    app = make_app(embedder=Removing())
    queue(app, root, "a.txt")
    assert work(app, rounds=2) == []
    assert app.documents() == []


def test_another_models_store_ends_the_work(make_app, folder):
    app, root = make_app(), folder({"a.txt": "One.\n"})
    list(app.ingest(app.plan(root)))
    with pytest.raises(StampMismatchError):
        work(make_app(embedder=FakeEmbedder("another")))


def test_a_folder_that_never_rests_is_queued_file_by_file(make_app, folder):
    """Found under load: while files kept coming, none was ever read."""
    app, root = make_app(), folder({"growing.log": "0\n"})
    watched = watched_folder(app, root)
    n_queued = 0
    for number in range(6):
        (root / f"{number}.txt").write_text(f"File {number}.\n")
        with (root / "growing.log").open("a") as log:
            log.write(f"{number}\n")
        n_queued += watched.look()
    assert n_queued == 5, "each is queued at the second look that finds it as it was"
    assert [watched.look() for _ in range(2)] == [2, 0]
    assert len(work(app)) == 7


def test_a_watched_folder_is_queued_when_it_has_come_to_rest(make_app, folder):
    app, root = make_app(), folder({"a.txt": "One.\n"})
    watched = watched_folder(app, root)
    assert [watched.look() for _ in range(3)] == [0, 1, 0]
    work(app)
    (root / "a.txt").write_text("One and more.\n")
    (root / "b.txt").write_text("Two.\n")
    assert watched.look() == 0
    (root / "b.txt").write_text("Two, still being written.\n")
    assert [watched.look() for _ in range(3)] == [1, 1, 0], "a.txt is at rest, b.txt one look later"
    assert [record.state for record in work(app)] == [DocumentState.READY] * 2
    (root / "a.txt").unlink()
    assert [watched.look() for _ in range(3)] == [0, 0, 0]
    with pytest.raises(NotFoundError):
        watched_folder(app, root / "a.txt")
