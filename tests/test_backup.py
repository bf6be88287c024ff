"""A store that is restored from its catalog alone answers as the one it was copied from."""

import shutil
import sqlite3

import pytest

from gawah.app import Application
from gawah.config import Settings
from gawah.testing.embedder import FakeEmbedder

QUESTIONS = ("what does the fee cost", "topic 7 and rivers", "ERR_CONN-17")


def answers(app):
    found = [app.search(question) for question in QUESTIONS]
    with app.catalog.snapshot() as snapshot:
        print_of = app.index.view(snapshot).fingerprint()
    return print_of, [[(p.chunk.id, p.hit.score, p.cosine_distance, p.locator) for p in one.passages] for one in found]


@pytest.fixture
def filled(make_app, folder):
    app = make_app()
    files = {f"{n}.txt": f"Document {n} speaks of topic {n} and of rivers.\n\nThe fee is {n} EUR." for n in range(30)}
    root = folder(files | {"errors.md": "# Errors\n\nERR_CONN-17 means that nobody listens.\n"})
    list(app.ingest(app.plan(root)))
    app.remove([record for record in app.documents() if record.name == "3.txt"])
    return app


def opened(store):
    return Application(Settings(store=store, cache=store / "cache"), embedder=FakeEmbedder())


def test_a_backup_made_while_the_store_is_open_and_restored_without_segments_answers_alike(filled, tmp_path):
    restored = tmp_path / "restored"
    restored.mkdir()
    with sqlite3.connect(filled.settings.store / "catalog.sqlite") as source:
        target = sqlite3.connect(restored / "catalog.sqlite")
        source.backup(target)
        target.close()
    source.close()
    before = answers(filled)
    with opened(restored) as app:
        assert not (restored / "segments").exists()
        assert answers(app) == before
        app.repair()
        assert answers(app) == before


def test_a_copy_of_the_folder_with_the_log_and_without_segments_answers_alike(filled, tmp_path):
    before = answers(filled)
    restored = tmp_path / "restored"
    names = ["catalog.sqlite", "catalog.sqlite-wal"]
    restored.mkdir()
    for name in names:
        if (filled.settings.store / name).exists():
            shutil.copy(filled.settings.store / name, restored / name)
    with opened(restored) as app:
        assert answers(app) == before


def test_registered_segments_that_a_restore_left_out_are_named_and_built_again(filled, tmp_path):
    from gawah.upkeep import tidy

    tidy(filled.catalog, filled.index, whole_tail=True)
    before = answers(filled)
    restored = tmp_path / "restored"
    shutil.copytree(filled.settings.store, restored, ignore=shutil.ignore_patterns("segments", "*.lock"))
    with opened(restored) as app:
        assert answers(app) == before
        assert app.search(QUESTIONS[0]).degraded
        assert len(app.repair()) == 1
        assert not app.search(QUESTIONS[0]).degraded
        assert answers(app) == before
        assert all(check.holds for check in app.examine())
