"""A store without write permission can be looked into and searched; what would have to be recorded is refused."""

import contextlib
import ctypes
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.cli.runner import FILES, Runner


@pytest.fixture(scope="module")
def answered(tmp_path_factory, cache):
    """A store with two documents and one recorded answer; not to be written to."""
    runner = Runner(tmp_path_factory.mktemp("answered"), cache)
    (runner.directory / "docs").mkdir()
    for name, text in FILES.items():
        (runner.directory / "docs" / name).write_text(text, encoding="utf-8")
    runner("ingest", "docs")
    runner("ask", "What is the membership fee?")
    return runner.directory / "store"


@pytest.fixture
def public():
    """A folder that every user may look into (pytest's own are its owner's alone)."""
    folder = Path(tempfile.mkdtemp(prefix="gawah-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def on_a_read_only_mount(stack, public, cache):
    store = public / "store"
    for options in (["--bind", str(store)], ["-o", "remount,ro,bind"]):
        if subprocess.run(["mount", *options, str(store)], check=False, capture_output=True).returncode:
            pytest.skip("a read-only mount needs root")
        stack.callback(subprocess.run, ["umount", "-l", str(store)], check=False, capture_output=True)
    return Runner(public, cache)


def without_permission(stack, public, cache):
    """Root looks past permissions by a capability; a process that gives it up is held to them like everybody."""
    for path in [*(public / "store").rglob("*"), public / "store"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    stack.callback(subprocess.run, ["chmod", "-R", "u+w", str(public / "store")], check=True)
    options = {} if os.getuid() else {"preexec_fn": give_up_override}
    probe = subprocess.run(["touch", str(public / "store" / "probe")], check=False, capture_output=True, **options)
    if not probe.returncode:
        pytest.skip("this process may write anywhere and cannot give that up")
    runner = Runner(public, cache)
    return lambda *words, **more: runner(*words, **options, **more)


_LIBC = ctypes.CDLL(None)


def give_up_override():
    _LIBC.prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


@pytest.fixture(params=[on_a_read_only_mount, without_permission], ids=lambda how: how.__name__)
def look(request, public, answered, cache):
    """A runner over a copy of the store that it may not write; `look.prepare` works on the copy before."""

    def make(prepare=lambda store: None):
        shutil.copytree(answered, public / "store")
        prepare(public / "store")
        return request.param(stack, public, cache)

    with contextlib.ExitStack() as stack:
        yield make


def one_line(done):
    (line,) = done.stderr.decode("utf-8").splitlines()
    assert "report it" not in line
    return line


def test_all_that_looks_works_and_all_that_writes_is_refused_in_one_line(look, public):
    gawah = look()
    before = sorted(path.name for path in (public / "store").iterdir())
    assert {d["name"] for d in json.loads(gawah("ls", "--json").stdout)["documents"]} == set(FILES)
    assert json.loads(gawah("status", "--json").stdout)["documents"] == {"ready": 2}
    hits = json.loads(gawah("search", "blue boat", "--json").stdout)["hits"]
    assert hits[0]["document"] == "boats.txt"
    assert gawah("show", "fees.md").stdout.decode() == FILES["fees.md"]
    assert b"chain holds" in gawah("verify").stdout
    assert json.loads(gawah("doctor", "--json").stdout)["ok"]
    assert "every answer is recorded" in one_line(gawah("ask", "What is the membership fee?", code=1))
    assert "cannot be" in one_line(gawah("rm", "fees.md", code=1))
    assert sorted(path.name for path in (public / "store").iterdir()) == before


def left_open(store):
    """As after a crash: changes that are in the write-ahead log only."""
    connection = sqlite3.connect(store / "catalog.sqlite", isolation_level=None)
    connection.execute("UPDATE documents SET name = 'renamed.md' WHERE name = 'fees.md'")
    for name in ("catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"):
        shutil.copy(store / name, store / f"kept-{name}")
    connection.close()
    for name in ("catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"):
        (store / f"kept-{name}").rename(store / name)


def without_shared_memory(store):
    left_open(store)
    (store / "catalog.sqlite-shm").unlink()


def test_changes_that_are_in_the_log_only_are_read_where_that_can_be(look):
    listed = look(left_open)("ls", "--json")
    assert {d["name"] for d in json.loads(listed.stdout)["documents"]} == {"renamed.md", "boats.txt"}


def test_changes_in_a_log_that_cannot_be_read_are_an_error_not_an_older_state(look):
    line = one_line(look(without_shared_memory)("ls", code=1))
    assert "was not closed" in line
    assert "gawah status" in line


def test_a_writer_shows_in_the_state_of_the_files(public, answered):
    from gawah.store.readonly import open_read_only, state_of

    shutil.copytree(answered, public / "store")
    path = public / "store" / "catalog.sqlite"
    before = state_of(path)
    connection, relies_on = open_read_only(path, sqlite3.Connection)
    connection.close()
    assert relies_on is None  # this process may write beside it, so SQLite's own locks hold
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("UPDATE documents SET name = 'x.md' WHERE name = 'fees.md'")
    assert state_of(path) != before
    writer.close()
    assert state_of(path) != before


WRITTEN_MEANWHILE = """
import sqlite3, sys
from pathlib import Path
from gawah.errors import StoreBusyError
from gawah.store.catalog import SqliteCatalog

catalog = SqliteCatalog(Path("store"))
assert catalog.read_only
try:
    with catalog.snapshot() as snapshot:
        snapshot.documents()
        print("reading", flush=True)
        sys.stdin.readline()
except StoreBusyError as error:
    print(error, flush=True)
with catalog.snapshot() as snapshot:
    print([record.name for record in snapshot.documents()])
"""


def test_a_store_that_is_written_while_it_is_read_is_not_believed_and_then_read_anew(public, answered):
    """Another process that may write comes while one that relies on an unchanging file reads."""
    with contextlib.ExitStack() as stack:
        shutil.copytree(answered, public / "store")
        without_permission(stack, public, public)
        options = {} if os.getuid() else {"preexec_fn": give_up_override}
        reader = subprocess.Popen(
            [sys.executable, "-c", WRITTEN_MEANWHILE],
            cwd=public,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )
        with reader:
            assert reader.stdout.readline() == "reading\n"
            subprocess.run(["chmod", "-R", "u+w", str(public / "store")], check=True)
            writer = sqlite3.connect(public / "store" / "catalog.sqlite", isolation_level=None)
            writer.execute("UPDATE documents SET name = 'renamed.md' WHERE name = 'fees.md'")
            writer.close()
            said, _ = reader.communicate("\n")
    assert "was written to while it was read" in said
    assert "renamed.md" in said
