"""Several processes over one database, killed at any moment, and the server with them: nothing lost, nothing twice.

Two folders stand for two machines; each worker prints the documents that it ended.
"""

import contextlib
import os
import subprocess
import sys

import pytest

from gawah.errors import StoreError
from gawah.ingest import worker_name
from gawah.types import DocumentState

pytest.importorskip("psycopg")

N_DOCUMENTS = 28

OPEN = """
import os, select, sys
import gawah.index.policy
gawah.index.policy.SEALED_AT_CHUNKS = 60
from gawah.app import Application
from gawah.config import load_settings
from gawah.errors import StoreError
from gawah.testing.embedder import FakeEmbedder

def open_app(store, cache):
    settings = load_settings(options={"store": store, "cache": cache}).settings
    while True:  # the server may be away just now
        try:
            return Application(settings, embedder=FakeEmbedder())
        except StoreError:
            select.select([], [], [], 0.02)
"""

WORKER = (
    OPEN
    + """
from gawah.work import work_off

def wait(seconds):
    readable, _, _ = select.select([sys.stdin], [], [], min(seconds, 0.05))
    return bool(readable)

with open_app(sys.argv[1], sys.argv[2]) as app:
    for record in work_off(app, wait, lambda error: os.write(1, f"! {error}\\n".encode())):
        os.write(1, f"{record.state.value} {record.name}\\n".encode())
"""
)

READER = (
    OPEN
    + """
app, n_looks, n_away = open_app(sys.argv[1], sys.argv[2]), 0, 0
while n_looks < 4 or not select.select([sys.stdin], [], [], 0.02)[0]:
    try:
        with app.catalog.snapshot() as snapshot:
            view = app.index.view(snapshot)
            held = snapshot.n_chunks_by_document()
            rows = {row.chunk_id for row in snapshot.rows(0)}
            counters = {record.no: record.counters.n_chunks for record in snapshot.documents()}
        assert view.n_chunks == len(rows) == sum(held.values()), (view.n_chunks, len(rows), sum(held.values()))
        assert held == {no: n for no, n in counters.items() if n}
        assert not view.degraded, view.degraded
        n_looks += 1
    except StoreError as error:
        assert "\\n" not in str(error)
        n_away += 1
print(n_looks, n_away)
"""
)


def environment(address):
    return {**os.environ, "GAWAH_CATALOG": address}


@pytest.fixture
def corpus(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    for number in range(N_DOCUMENTS):
        lines = [
            f"In document {number}, line {line} says that {number * line} is {number} times {line}."
            for line in range(24)
        ]
        (root / f"{number:02}.txt").write_text("\n\n".join(lines))
    return root


class Workers:
    """Four at a time, two a folder; all print into one pipe."""

    def __init__(self, folder, address, catalog):
        self.folder, self.address, self.catalog = folder, address, catalog
        self.reading, self.writing = os.pipe()
        self.lines = os.fdopen(self.reading)
        self.running = {place: self.started(place) for place in range(4)}

    def started(self, place):
        command = [sys.executable, "-c", WORKER, str(self.folder / f"machine{place % 2}"), str(self.folder / "cache")]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.writing, env=environment(self.address))

    def kill(self, place):
        """As the server that watches over them does it: killed, waited for, reclaimed, started again."""
        dead = self.running[place]
        dead.kill()
        dead.wait()
        dead.stdin.close()
        self.catalog.reclaim(worker_name(dead.pid))
        self.running[place] = self.started(place)

    def stop(self):
        for worker in self.running.values():
            with contextlib.suppress(BrokenPipeError):
                worker.stdin.write(b"stop\n")
                worker.stdin.close()
        codes = [worker.wait() for worker in self.running.values()]
        os.close(self.writing)
        self.lines.close()
        return codes


def test_workers_and_the_server_are_killed_and_nothing_is_lost_or_done_twice(
    postgres_of_its_own, make_app, corpus, tmp_path
):
    server = postgres_of_its_own
    address = server.new_address()
    app = make_app("queue", catalog=address)
    app.catalog.generation_for(app.embedder.stamp)
    names = sorted(path.name for path in corpus.iterdir())
    app.catalog.enqueue([("default", name, (corpus / name).as_uri()) for name in names])
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(tmp_path / f"machine{place}"), str(tmp_path / "cache")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(address),
        )
        for place in range(2)
    ]  # fmt: skip
    workers = Workers(tmp_path, address, app.catalog)
    ended, troubles, n_ready = [], [], 0
    while n_ready < N_DOCUMENTS:
        line = workers.lines.readline().strip()
        if line.startswith("!"):
            troubles.append(line)
            continue
        ended.append(line)
        if len(ended) in (2, 8, 17):
            workers.kill(len(ended) % 4)
        if len(ended) == 12:
            server.kill()
            server.start()
        with contextlib.suppress(StoreError):
            n_ready = sum(record.state is DocumentState.READY for record in app.documents())
    assert workers.stop() == [0] * 4
    looks = [reader.communicate("stop\n")[0].split() for reader in readers]
    assert [reader.returncode for reader in readers] == [0, 0]
    assert all(int(n_looks) > 3 for n_looks, _ in looks), looks
    assert all("was lost" in line or "cannot be reached" in line for line in troubles), troubles
    assert {line.split()[1] for line in ended} <= set(names)
    with app.catalog.snapshot() as snapshot:
        assert snapshot.n_jobs() == 0
        assert {record.name: record.version for record in snapshot.documents()} == dict.fromkeys(names, 1)
        fingerprint = app.index.view(snapshot).fingerprint()
    alone = make_app("alone")
    list(alone.ingest(alone.plan(corpus)))
    with alone.catalog.snapshot() as snapshot:
        assert alone.index.view(snapshot).fingerprint() == fingerprint
    assert app.catalog.integrity_errors() == []
