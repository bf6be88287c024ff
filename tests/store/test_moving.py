"""A store in one file and a store from it: between SQLite and PostgreSQL, whole or not at all."""

import json
import os
import random
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from gawah.app import Application
from gawah.config import load_settings
from gawah.errors import ForeignStoreError, NotFoundError, StoreCorruptError, UsageError
from gawah.store.catalog import SqliteCatalog
from gawah.store.moving import export_store, fingerprint_of, import_store
from gawah.store.originals import Originals
from gawah.store.sql import NUMBERED
from gawah.store.tables import DERIVED, TABLES
from gawah.store.uploads import OnceKey
from gawah.testing.embedder import FakeEmbedder
from gawah.types import Answer, Failure

QUESTIONS = ("Who opens the gate at dawn?", "What is a quarter of line 5?", "gate", "line number nine says what")


def texts():
    lines = [f"Line number {n} says that a quarter of it is {n / 4} and the gate opens at dawn." for n in range(30)]
    return {
        "gate.md": "# The gate\n\nThe warden opens the gate at dawn.\n\n" + "\n\n".join(lines),
        "दो.txt": "दूसरा दस्तावेज़ यहाँ है।\n",
        "odd.txt": "A line with \U0001f600, a \ttab and “quotes”.\n",
        "gone.txt": "This one is removed; the word is ZX-91.\n",
    }


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A store with something in every table, worked on by several hands. Tests only read it."""
    place = tmp_path_factory.mktemp("filled")
    for name, text in texts().items():
        (place / name).write_text(text, encoding="utf-8")
    options = {"store": place / "store", "cache": place / "cache", "gate_threshold": 2.0}
    settings = load_settings(environment={}, options=options).settings
    with Application(settings, create=True, embedder=FakeEmbedder()) as app:
        fill(app, place)
        yield app


def fill(app, root):
    list(app.ingest(app.plan(root, exclude=["store/*", "cache/*"])))
    assert isinstance(app.ask(QUESTIONS[0]), Answer)
    gone = app.find_document("gone.txt")
    app.catalog.append_answer("a1", "answered", {"question": "ZX?", "quote": "ZX-91"}, [gone.id])
    app.remove([gone])
    app.catalog.redact_answers()
    app.keys.create("page", scopes=["read", "ask"], collections=["default"], lifetime_s=60)
    app.uploads.note_asker("a1", "k1", OnceKey("k1", "ask", "one", "hash"))
    for name, content in (("up.txt", b"Handed over.\n"), ("waiting.txt", b"Not read yet.\n")):
        incoming = app.originals.incoming()
        incoming.write(content)
        with app.originals.placing():
            path = app.originals.place(incoming, name)
        app.uploads.accept(
            "default", name, path.as_uri(), sha256=incoming.sha256, size_bytes=len(content), path=str(path)
        )
        incoming.discard()
    job = app.catalog.claim("tester")
    app.catalog.fail(job, Failure("undecodable", "no encoding fits", retryable=False))
    assert app.catalog.claim("a worker that is left behind").document.name == "waiting.txt"
    other = app.catalog.begin_generation(_other_model(app), "other")
    assert other == 2


def _other_model(app):
    return replace(app.embedder.stamp, name="other", sha256="e" * 64)


@pytest.fixture(scope="module")
def exported(filled):
    file = filled.settings.store.with_name("store.zip")
    return file, filled.export(file)


def target(make_app, request, kind, name="target"):
    options = {}
    if kind == "postgres":
        options["catalog"] = request.getfixturevalue("postgres").new_address()
    return make_app(name, **options)


def found(app):
    with app.catalog.snapshot() as snapshot:
        fingerprint = app.index.view(snapshot).fingerprint()
    passages = [passage for question in QUESTIONS for passage in app.search(question).passages]
    assert len(passages) > 8
    return fingerprint, passages


def test_every_table_is_moved_or_said_to_be_derived(tmp_path):
    with SqliteCatalog(tmp_path, create=True).reading() as opened:
        rows = opened.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
    assert {row[0] for row in rows} == {table.name for table in TABLES} | set(DERIVED)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_store_moves_whole_and_answers_as_before(filled, exported, make_app, request, kind, tmp_path):
    file, said = exported
    moved = target(make_app, request, kind)
    assert moved.import_from(file) == said
    assert found(moved) == found(filled)
    assert said.fingerprint == found(filled)[0]
    assert moved.catalog.load_answers() == filled.catalog.load_answers()
    assert moved.catalog.log_head() == filled.catalog.log_head()
    assert moved.broken_links() == []
    assert moved.log_fault() == ""
    assert moved.keys.all() == filled.keys.all()
    assert moved.uploads.done_before(OnceKey("k1", "ask", "one", "hash")) == ("hash", {"answer": "a1"})
    assert moved.catalog.generations() == filled.catalog.generations()
    with moved.catalog.snapshot() as there, filled.catalog.snapshot() as here:
        for record in here.documents():
            if record.counters.n_chunks:
                assert there.load_document(record.no) == here.load_document(record.no)
    # what was handed over lies in the new folder, and who left a job behind does not hold it there
    waiting = moved.catalog.claim("tester").document
    assert waiting.name == "waiting.txt"
    assert waiting.uri.startswith((moved.settings.store / "originals").resolve().as_uri())
    upload = moved.uploads.of_document(waiting.id)[0]
    assert Path(upload.path).read_bytes() == b"Not read yet.\n"
    # numbers go on where they were: none is used twice
    again = moved.uploads.accept("default", "new.txt", "file:///new", sha256="", size_bytes=0, path="")
    assert again.no == upload.no + 1
    assert moved.catalog.integrity_errors() == []


def test_there_and_back_again_every_line_of_every_table_is_the_same(exported, make_app, request, tmp_path):
    file, _ = exported
    there = target(make_app, request, "postgres", "there")
    there.import_from(file)
    there.export(tmp_path / "second.zip")
    back = target(make_app, request, "sqlite", "back")
    back.import_from(tmp_path / "second.zip")
    back.export(tmp_path / "third.zip")
    same = {"contents", "embeddings", "chunks", "answers", "answer_documents", "api_keys", "generations", "askers"}
    lines = [
        {name: zipfile.ZipFile(path).read(f"tables/{name}.jsonl") for name in same}
        for path in (file, tmp_path / "second.zip", tmp_path / "third.zip")
    ]
    assert lines[0] == lines[1] == lines[2]


def test_a_store_that_holds_anything_is_not_filled_and_a_file_is_not_overwritten(exported, filled, make_app, folder):
    file, _ = exported
    taken = make_app("taken")
    list(taken.ingest(taken.plan(folder({"a.txt": "One.\n"}, "more"))))
    before = taken.documents()
    with pytest.raises(UsageError, match="not empty"):
        taken.import_from(file)
    assert taken.documents() == before
    with pytest.raises(UsageError, match="is there already"):
        filled.export(file)


def altered(file, out, name, change):
    """The archive with one member changed; its CRC is right again."""
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(out, "w") as target:
        for info in source.infolist():
            data = source.read(info)
            target.writestr(info.filename, change(data) if info.filename == name else data)
    return out


def _with(**values):
    return lambda data: json.dumps(json.loads(data) | values).encode()


def _row_of(data, value):
    names = data.splitlines()[0]
    return names + b"\n" + json.dumps([value] * len(json.loads(names))).encode() + b"\n"


@pytest.mark.parametrize(
    ("name", "change", "error", "words"),
    [
        ("gawah.json", _with(store_version=99), ForeignStoreError, "same gawah"),
        ("gawah.json", _with(format=2), ForeignStoreError, "same gawah"),
        ("gawah.json", lambda _: b"[]", StoreCorruptError, "no object"),
        ("manifest.json", _with(fingerprint="0" * 64), StoreCorruptError, "index"),
        ("manifest.json", _with(log_faults=["altered"]), StoreCorruptError, "log"),
        ("manifest.json", lambda _: b"{}", StoreCorruptError, "lacks a part"),
        ("tables/contents.jsonl", lambda data: data.replace(b"warden", b"burglar"), StoreCorruptError, "contents"),
        ("tables/chunks.jsonl", lambda data: data[: data[:-1].rindex(b"\n") + 1], StoreCorruptError, "chunks"),
        ("tables/documents.jsonl", lambda data: data.replace(b'"uri"', b'"url"', 1), StoreCorruptError, "columns"),
        ("tables/documents.jsonl", lambda data: data + b"{}\n", StoreCorruptError, "no row"),
        ("tables/documents.jsonl", lambda data: data + b"[1]\n", StoreCorruptError, "1 of 28 columns"),
        ("tables/documents.jsonl", lambda data: data + data.splitlines()[1] + b"\n", StoreCorruptError, "contradict"),
        ("tables/documents.jsonl", lambda data: _row_of(data, None), StoreCorruptError, "contradict"),
        ("tables/documents.jsonl", lambda data: _row_of(data, 1 << 70), StoreCorruptError, "what no row can"),
        ("manifest.json", _with(originals=[1]), StoreCorruptError, "lacks a part"),
        ("manifest.json", _with(numbers=dict.fromkeys(NUMBERED, (1 << 63) - 1)), StoreCorruptError, "number"),
        ("tables/answers.jsonl", lambda data: data[:-9], StoreCorruptError, "no row"),
    ],
)  # fmt: skip
def test_an_altered_file_leaves_the_store_empty(exported, make_app, tmp_path, name, change, error, words):
    file = altered(exported[0], tmp_path / "altered.zip", name, change)
    app = make_app("target")
    with pytest.raises(error, match=words) as caught:
        app.import_from(file)
    assert "\n" not in str(caught.value)
    assert app.documents() == []
    assert app.catalog.load_answers() == []
    assert not any(path.is_file() for path in (app.settings.store / "originals").rglob("*"))
    assert app.import_from(exported[0]) == exported[1], "what was refused does not stand in the way"


def test_a_file_that_is_cut_short_or_has_a_flipped_byte_is_refused(exported, make_app, tmp_path):
    data = exported[0].read_bytes()
    app, moments = make_app("target"), random.Random(1)
    for number in range(12):
        at = moments.randrange(len(data))
        bad = data[:at] if number % 2 else data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
        (tmp_path / "bad.zip").write_bytes(bad)
        refused = None
        try:
            app.import_from(tmp_path / "bad.zip")
        except (StoreCorruptError, ForeignStoreError) as error:
            refused = str(error)
        if refused is None:  # a byte of a date in the archive's directory
            assert found(app)[0] == exported[1].fingerprint
            app = make_app(f"target{number}")
        else:
            assert "\n" not in refused
            assert app.documents() == []
    with pytest.raises(NotFoundError):
        app.import_from(tmp_path / "none.zip")


def test_an_original_that_would_lie_elsewhere_is_refused(exported, make_app, tmp_path):
    for name in ("../../evil", "ab/" + "0" * 64 + "/..", "ab/" + "0" * 64 + "/../../x"):

        def change(data, name=name):
            manifest = json.loads(data)
            manifest["originals"] = {name: "0" * 64}
            return json.dumps(manifest).encode()

        file = altered(exported[0], tmp_path / "altered.zip", "manifest.json", change)
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr(f"originals/{name}", b"evil")
        with pytest.raises(StoreCorruptError, match="original"):
            make_app("target").import_from(file)
    assert not (tmp_path / "evil").exists()


KILLED = """
import os, pathlib, sys
from gawah.store import moving
from gawah.store.catalog import SqliteCatalog
from gawah.store.originals import Originals

digests = moving.digest_of
def digest_of(opened, table):
    if table.name == sys.argv[3]:
        os.kill(os.getpid(), 9)
    return digests(opened, table)

moving.digest_of = digest_of
store = pathlib.Path(sys.argv[2])
address = sys.argv[4]
if address:
    from gawah.store.postgres.catalog import PostgresCatalog
    catalog = PostgresCatalog(address, store, create=True)
else:
    catalog = SqliteCatalog(store, create=True)
moving.import_store(pathlib.Path(sys.argv[1]), catalog, Originals(store))
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_import_that_is_killed_leaves_an_empty_store_that_can_be_filled(exported, make_app, tmp_path, kind, request):
    file, said = exported
    address = request.getfixturevalue("postgres").new_address() if kind == "postgres" else ""
    for table in ("documents", "requests_done"):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(file), str(tmp_path / "target"), table, address],
            check=False, env=os.environ,
        )  # fmt: skip
        assert done.returncode == -9
        app = make_app("target", catalog=address)
        assert app.documents() == []
        assert app.catalog.load_answers() == []
    assert app.import_from(file) == said


def test_a_fault_of_the_log_is_moved_and_neither_hidden_nor_in_the_way(exported, make_app, tmp_path):
    faulty = make_app("faulty")
    faulty.import_from(exported[0])
    with faulty.catalog.writing() as opened:
        opened.execute("UPDATE answers SET status = 'altered' WHERE id = 'a1'")
    assert faulty.broken_links() == ["a1"]
    faulty.export(tmp_path / "store.zip")
    moved = make_app("target")
    moved.import_from(tmp_path / "store.zip")
    assert moved.broken_links() == ["a1"]


def test_an_export_beside_a_writer_is_of_one_moment(tmp_path):
    from gawah.testing.catalog import add

    catalog, originals = SqliteCatalog(tmp_path / "a", create=True), Originals(tmp_path / "a")
    add(catalog, "a.txt", "One.\n")
    with catalog.reading_one_moment() as opened:
        before = fingerprint_of(opened)
    export_store(catalog, originals, tmp_path / "one.zip")
    add(catalog, "b.txt", "Two.\n")
    copy = SqliteCatalog(tmp_path / "b", create=True)
    assert import_store(tmp_path / "one.zip", copy, Originals(tmp_path / "b")).fingerprint == before
    with copy.snapshot() as snapshot:
        assert [record.name for record in snapshot.documents()] == ["a.txt"]
    catalog.close()
    copy.close()
