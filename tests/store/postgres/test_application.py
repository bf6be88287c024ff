"""gawah over a catalog in PostgreSQL: the same answers as over a file, and machines that share a catalog but no folder."""

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from gawah.errors import ConfigurationError
from gawah.types import Answer
from gawah.work import drain

psycopg = pytest.importorskip("psycopg")

QUESTIONS = ("How do I reset the rain gauge?", "Who keeps the roster?", "ERR-204", "What is the price of tea in Peru?")


def comparable(outcome):
    """An outcome without what is another each time: ids, times, epochs."""
    body = dataclasses.asdict(outcome)
    for key in ("id", "provenance"):
        body.pop(key)
    return body


def test_the_same_questions_have_the_same_rankings_scores_and_citations(make_app, postgres, handbook):
    apps = [make_app("sqlite"), make_app("postgres", catalog=postgres.new_address())]
    for app in apps:
        list(app.ingest(app.plan(handbook, exclude=["*.pdf", "*.png", "*.docx"])))
    n_answered = 0
    for question in QUESTIONS:
        for system in ("dense", "bm25", apps[0].retriever.best_system):
            first, second = (app.search(question, system=system, cutoff=25) for app in apps)
            assert first.passages == second.passages, (question, system)
            assert len(first.passages) > 3 or system == "bm25"
        answers = [app.ask(question) for app in apps]
        assert comparable(answers[0]) == comparable(answers[1])
        n_answered += isinstance(answers[0], Answer)
    assert n_answered
    fingerprints = set()
    for app in apps:
        with app.catalog.snapshot() as snapshot:
            fingerprints.add(app.index.view(snapshot).fingerprint())
        assert all(check.holds for check in app.examine() if check.name != "documents")
    assert len(fingerprints) == 1


@pytest.fixture
def machines(make_app, postgres, monkeypatch):
    monkeypatch.setattr("gawah.index.policy.SEALED_AT_CHUNKS", 8)
    address = postgres.new_address()
    return [make_app(name, catalog=address) for name in ("one", "two")]


def write(folder, number):
    lines = [f"Line {line} of document {number} is about {number * line}. " * 8 for line in range(12)]
    return folder({f"{number}.txt": "\n\n".join(lines)}, f"docs{number}")


def segments(app):
    root = app.settings.store / "segments"
    own = {path.name for path in root.iterdir() if path.name != "copies"} if root.is_dir() else set()
    copies = {path.name for path in (root / "copies").iterdir()} if (root / "copies").is_dir() else set()
    return own, copies


def test_what_one_machine_seals_the_other_builds_once_and_keeps(machines, make_app, folder, monkeypatch):
    one, two = machines
    list(one.ingest(one.plan(write(folder, 1))))
    own, copies = segments(one)
    assert len(own) == 1
    assert copies == set()
    with two.catalog.snapshot() as snapshot:
        view = two.index.view(snapshot)
        assert view.degraded == ()
        expected = view.fingerprint()
    assert segments(two) == (set(), own)
    # another process of the second machine reads the copy, not the catalog's rows
    again = make_app("two", catalog=two.settings.catalog.get_secret_value())
    with again.catalog.snapshot() as snapshot:
        monkeypatch.setattr(type(snapshot), "rows", lambda self, after: iter(()) if after else 1 / 0)
        assert again.index.view(snapshot).fingerprint() == expected
    monkeypatch.undo()
    checks = {check.name: check for check in two.examine()}
    assert checks["segments"].holds, checks["segments"].detail


def test_machines_do_not_undo_each_others_segments(machines, folder):
    """Each tidies in its turn: none compacts because a segment is not here, none removes what the other needs."""
    one, two = machines
    for number, app in enumerate([one, two, one, two]):
        list(app.ingest(app.plan(write(folder, number))))
    with one.catalog.snapshot() as snapshot:
        registered = set(snapshot.segment_names())
        first = one.index.view(snapshot).fingerprint()
    assert len(registered) == 4
    for app in machines:
        drain(app)
        with app.catalog.snapshot() as snapshot:
            assert set(snapshot.segment_names()) == registered
            assert app.index.view(snapshot).fingerprint() == first
        own, copies = segments(app)
        assert own | copies == registered
        assert (len(own), len(copies)) == (2, 2)
    one.remove(one.documents()[:2])  # what holds nothing any more, or is mostly dead, is written anew or let go
    with two.catalog.snapshot() as snapshot:
        left = set(snapshot.segment_names())
        assert left < registered or not left & registered
        assert two.index.view(snapshot).n_chunks == sum(snapshot.n_chunks_by_document().values()) > 0
    two.remove([])  # tidies
    own, copies = segments(two)
    assert own | copies == left


def test_a_copy_that_was_damaged_or_is_newer_than_what_is_read_is_not_used(machines, make_app, folder):
    one, two = machines
    list(one.ingest(one.plan(write(folder, 1))))
    with two.catalog.snapshot() as before:
        one.remove([])  # the next epoch
        other = make_app("two", catalog=two.settings.catalog.get_secret_value())
        with other.catalog.snapshot() as snapshot:
            expected = other.index.view(snapshot).fingerprint()
        assert two.index.view(before).fingerprint() == expected
    (copy,) = (two.settings.store / "segments" / "copies").iterdir()
    vectors = next(copy.rglob("vectors.npy"))
    vectors.write_bytes(vectors.read_bytes()[:-4] + b"\x00\x00\x00\x01")
    assert not {check.name: check.holds for check in other.examine()}["segments"]
    other.repair()
    with make_app("two", catalog=two.settings.catalog.get_secret_value()) as third:
        with third.catalog.snapshot() as snapshot:
            assert third.index.view(snapshot).fingerprint() == expected
        assert {check.name: check.holds for check in third.examine()}["segments"]


def gawah(address, store, *words):
    environment = {**os.environ, "GAWAH_STORE": str(store), "GAWAH_CATALOG": address}
    return subprocess.run(
        [sys.executable, "-m", "gawah", *map(str, words)], check=False, capture_output=True, text=True, env=environment
    )


def test_the_command_line_never_shows_the_password(tmp_path):
    address = "postgresql://me:ZX-SECRET-7@127.0.0.1:1/db"
    for words in (("config", "show", "--json"), ("ls",)):
        done = gawah(address, tmp_path / "store", *words)
        assert "SECRET" not in done.stdout + done.stderr, words
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "postgresql://me@127.0.0.1:1/db cannot be reached" in done.stderr


def test_a_dry_run_makes_no_tables_and_a_store_moves_by_the_command_line(postgres, make_app, tmp_path, folder):
    address, root = postgres.new_address(), folder({"a.txt": "The gate opens at dawn.\n"})
    dry = gawah(address, tmp_path / "pg", "ingest", root, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    with psycopg.connect(address) as looking:
        assert looking.execute("SELECT to_regclass('gawah_store')").fetchone() == (None,)
    there = make_app("sqlite")
    list(there.ingest(there.plan(root)))
    exported = gawah("", tmp_path / "sqlite", "export", tmp_path / "store.zip", "--json")
    imported = gawah(address, tmp_path / "pg", "import", tmp_path / "store.zip", "--json")
    assert imported.returncode == 0, imported.stderr
    assert json.loads(imported.stdout) == json.loads(exported.stdout)
    again = gawah(address, tmp_path / "pg", "import", tmp_path / "store.zip")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "not empty" in again.stderr


def test_without_psycopg_one_line_names_the_extra(tmp_path):
    code = "import sys; sys.modules['psycopg'] = None; sys.argv[1:] = ['ls']; from gawah.cli import main; main()"
    environment = {**os.environ, "GAWAH_STORE": str(tmp_path), "GAWAH_CATALOG": "postgresql://me@127.0.0.1:1/db"}
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == ConfigurationError.exit_code
    assert "pip install 'gawah[postgres]'" in done.stderr
    assert done.stderr.count("\n") == 1
