"""Upgrade day: generations built, switched to and gone back to, while others ask and ingest; and what is refused."""

import contextlib
import shutil
import threading
from dataclasses import replace

import pytest

from gawah.config import load_settings
from gawah.errors import ConfigurationError, ModelError, NotFoundError, StampMismatchError, StoreBusyError, UsageError
from gawah.index.local import LocalIndex
from gawah.migrate import complete
from gawah.refresh import plan_refresh, refresh, stamps_of
from gawah.testing.embedder import FakeEmbedder
from gawah.types import DocumentState
from gawah.upgrade import drop, generations_of, going_back, run, upgrading
from gawah.work import work_off

OLD, NEW = "fake/old", "fake/new"
FILES = {
    "fees.md": "# Fees\n\nThe membership fee is 40 EUR a month.\n\nChildren pay nothing.\n",
    "boats.txt": "The blue boat leaves at seven.\n",
    "rules.txt": "Nobody swims alone.\n",
}


class Counting(FakeEmbedder):
    """Counts the texts it embeds, whoever has made it."""

    n_texts = 0

    def embed(self, texts):
        Counting.n_texts += len(texts)
        return super().embed(texts)


@pytest.fixture
def app(make_app, folder):
    """An application over a store of FILES under the old model."""
    made = make_app(load_model=FakeEmbedder, model=OLD)
    list(made.ingest(made.plan(folder(FILES))))
    return made


def migrate(app, model=NEW, *, switch=True):
    with upgrading(app, model, switch=switch) as upgrade:
        return list(run(upgrade, switch=switch))


def again(make_app, model=OLD, **options):
    """Another process over the same store."""
    return make_app(load_model=FakeEmbedder, model=model, **options)


def fingerprint(app):
    with app.catalog.snapshot() as snapshot:
        return app.index.view(snapshot).fingerprint()


def states(app):
    return {one.model.name: (one.state, held.n_documents, held.n_pending) for one, held in generations_of(app)}


# --- the work


def test_a_migration_needs_no_original_and_ends_as_a_store_built_with_the_new_model(app, make_app, folder, tmp_path):
    shutil.copytree(tmp_path / "docs", tmp_path / "kept")
    shutil.rmtree(tmp_path / "docs")
    before = fingerprint(app)
    assert {record.name for record in migrate(app)} == set(FILES)
    fresh = again(make_app, NEW, store="fresh")
    list(fresh.ingest(fresh.plan(tmp_path / "kept")))
    assert fingerprint(app) == fingerprint(fresh) != before
    assert states(app) == {OLD: ("retired", 3, 0), NEW: ("active", 3, 0)}
    with app.catalog.snapshot() as snapshot:
        assert all(record.stamp.model.name == NEW for record in snapshot.documents())
    assert [check.name for check in app.examine() if not check.holds] == []


def test_until_the_switch_the_old_generation_answers_and_then_everybody_the_new_one(app, make_app):
    server = again(make_app)
    assert server.search("fee").generation == 1
    migrate(app, switch=False)
    assert (server.search("fee").generation, app.search("fee").notes) == (1, ())
    migrate(app, "")
    found = server.search("fee")
    assert found.generation == 2
    (note,) = found.notes
    assert f"set model = {NEW}" in note
    outcome = server.ask("What is the membership fee?")
    assert (outcome.provenance.generation, outcome.provenance.model) == (2, NEW)
    assert note in outcome.provenance.notes
    assert again(make_app, NEW).search("fee").notes == ()


def test_going_back_is_instant_and_needs_no_model(app, make_app):
    before = fingerprint(app)
    migrate(app)

    def no_model(source):
        raise AssertionError(f"{source} was loaded")

    other = make_app(embedder=FakeEmbedder(NEW), model=NEW)
    other.load_model = no_model
    with going_back(other) as upgrade:
        assert upgrade.pending == ()
        assert list(run(upgrade, switch=True)) == []
    assert fingerprint(app) == before
    assert app.search("fee").generation == 1
    with going_back(app) as upgrade:  # and forth
        assert upgrade.generation.model.name == NEW


def test_what_came_in_after_the_switch_is_brought_into_the_old_generation_before_going_back(app, make_app, folder):
    migrate(app)
    root = folder({"boats.txt": "The red boat leaves at nine.\n", "new.txt": "A new rule.\n"})
    list(app.ingest(app.plan(root)))
    with going_back(app) as upgrade:
        assert {record.name for record in upgrade.pending} == {"boats.txt", "new.txt"}
        list(run(upgrade, switch=True))
    fresh = again(make_app, OLD, store="fresh")
    list(fresh.ingest(fresh.plan(root)))
    assert fingerprint(app) == fingerprint(fresh)


def test_a_migration_that_was_broken_off_goes_on_and_embeds_nothing_twice(make_app, folder):
    app = make_app(load_model=Counting, model=OLD)
    list(app.ingest(app.plan(folder({f"{n}.txt": f"Rule {n} is short.\n" for n in range(9)}))))
    Counting.n_texts = 0
    with upgrading(app, NEW, switch=True) as upgrade, contextlib.closing(run(upgrade, switch=True)) as ended:
        for _ in range(4):
            next(ended)
    assert states(app)[NEW] == ("building", 4, 5)
    assert app.search("rule").generation == 1
    with upgrading(app, "", switch=True) as upgrade:
        assert (len(upgrade.pending), upgrade.generation.model.name) == (5, NEW)
        list(run(upgrade, switch=True))
    assert Counting.n_texts == 9
    assert states(app)[NEW] == ("active", 9, 0)


def test_documents_that_change_come_and_go_during_a_migration_are_in_it_as_they_are_at_the_switch(
    app, make_app, folder
):
    with upgrading(app, NEW, switch=True) as upgrade:
        ended = run(upgrade, switch=True)
        next(ended)
        root = folder({"boats.txt": "The red boat leaves at nine.\n", "late.txt": "Late, but in time.\n"})
        other = again(make_app)
        list(other.ingest(other.plan(root)))
        other.remove([other.find_document("fees.md")])
        list(ended)
    assert states(app) == {OLD: ("retired", 3, 0), NEW: ("active", 3, 0)}
    with app.catalog.snapshot() as snapshot:
        assert {row.text.split("\n")[-1] for row in snapshot.rows(0)} == {
            "The red boat leaves at nine.",
            "Late, but in time.",
            "Nobody swims alone.",
        }


def test_a_commit_between_the_last_document_and_the_switch_is_brought_in_first(app, make_app, folder):
    """The switch itself looks: whoever commits a moment before it is not left behind."""
    root = folder({"late.txt": "Late, but in time.\n"}, "more")
    other = again(make_app)
    n_times = []

    def commits_then_tidies(tidy):
        def tidied(whole_tail):
            if whole_tail and not n_times:
                n_times.append(1)
                list(other.ingest(other.plan(root)))
            tidy(whole_tail)

        return tidied

    with upgrading(app, NEW, switch=True) as upgrade:
        migration = upgrade.migration
        assert [record.name for record in complete(type(migration)(
            migration.catalog, migration.generation, migration.embedder, migration.chunking,
            commits_then_tidies(migration.tidy),
        ))][-1] == "late.txt"  # fmt: skip
    assert states(app)[NEW] == ("active", 4, 0)


def test_files_are_in_order_before_the_switch_and_other_generations_files_are_left(app, tmp_path):
    segments = tmp_path / "store" / "segments"
    migrate(app)
    with app.catalog.snapshot() as snapshot:
        view = app.index.view(snapshot)
        assert (view.n_tail, view.n_chunks) == (0, 3)
        (new,) = snapshot.segments()
    with going_back(app) as upgrade:
        list(run(upgrade, switch=True))
    with app.catalog.snapshot() as snapshot:
        (old,) = snapshot.segments()
    assert {entry.name for entry in segments.iterdir()} == {new.name, old.name}
    shutil.rmtree(segments / new.name)
    assert app.repair() == [new.name]


def test_a_migration_does_not_wait_for_whoever_writes_files(app):
    with app.catalog.writer_lock():
        migrate(app)
    assert states(app)[NEW] == ("active", 3, 0)


def test_what_is_dropped_is_gone_from_the_files_and_can_be_built_again(app, tmp_path):
    migrate(app)
    with going_back(app) as upgrade:
        list(run(upgrade, switch=True))
    (gone,) = drop(app)
    assert (gone.id, gone.n_chunks, gone.n_embeddings, gone.n_segments) == (2, 3, 3, 1)
    assert {entry.name.split("-")[0] for entry in (tmp_path / "store" / "segments").iterdir()} <= {"g1"}
    assert drop(app) == []
    with pytest.raises(NotFoundError, match="gawah migrate --model fake/new"), going_back(app):
        pass
    assert app.search("fee").generation == 1
    migrate(app)
    assert states(app)[NEW] == ("active", 3, 0)


def test_a_purge_takes_the_words_out_of_every_generations_files(app, folder, tmp_path):
    list(app.ingest(app.plan(folder({"secret.txt": "The canary zanzibarium sings.\n"}, "more"))))
    migrate(app)
    app.purge([app.find_document("secret.txt")])
    app.catalog.close()
    for path in (tmp_path / "store").rglob("*"):
        assert not path.is_file() or b"zanzibarium" not in path.read_bytes(), path


# --- those who are at work meanwhile


def test_a_worker_goes_on_under_the_new_model(app, make_app, folder):
    worker = again(make_app)
    worker.open_generation()
    _ = worker.intake
    migrate(app)
    root = folder({"late.txt": "Late, but in time.\n"}, "more")
    app.catalog.enqueue([("default", "late.txt", (root / "late.txt").as_uri())])
    rounds = iter([False, True])
    (record,) = work_off(worker, lambda _: next(rounds), lambda error: pytest.fail(str(error)))
    assert (record.state, record.stamp.model.name) == (DocumentState.READY, NEW)


def test_an_ingest_that_a_switch_overtakes_ends_under_the_new_model(app, make_app, folder):
    ingesting = again(make_app)
    root = folder({f"{n}.txt": f"Rule {n} is short.\n" for n in range(6)}, "more")
    ended = ingesting.ingest(ingesting.plan(root))
    first = next(ended)
    migrate(app)
    records = [first, *ended]
    assert {record.name for record in records} == {f"{n}.txt" for n in range(6)}
    with app.catalog.snapshot() as snapshot:
        assert {record.stamp.model.name for record in snapshot.documents()} == {NEW} or app.stale(first) == ()
        assert snapshot.pending(2) == []


def test_threads_that_ask_during_switches_get_one_generation_each(app, make_app):
    """Every answer is of one generation, with the distances of that one, however often the store is switched."""
    migrate(app)
    with going_back(app) as upgrade:
        list(run(upgrade, switch=True))
    server = again(make_app)
    expected = {}
    for number, name in ((1, OLD), (2, NEW)):
        fixed = make_app(store=f"fixed{number}", embedder=FakeEmbedder(name))
        list(fixed.ingest(fixed.plan(app.settings.store.parent / "docs")))
        expected[number] = {p.chunk.text: p.cosine_distance for p in fixed.search("membership fee").passages}
    faults, latest, done, told = [], {}, threading.Event(), threading.Condition()

    def ask(number):
        while not done.is_set():
            found = server.search("membership fee")
            got = {p.chunk.text: p.cosine_distance for p in found.passages}
            if got != pytest.approx(expected[found.generation], abs=1e-9):
                faults.append((found.generation, got))
            with told:
                latest[number] = found.generation
                told.notify()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for generation in (2, 1) * 4:
            with going_back(app) as upgrade:
                list(run(upgrade, switch=True))
            with told:
                assert told.wait_for(lambda now=generation: list(latest.values()) == [now] * 3, timeout=120)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert faults == []


# --- what is refused, and the way out


def test_a_model_the_store_never_knew_is_refused_with_both_ways_out(app, make_app):
    stranger = again(make_app, "fake/other of the same dimension")
    for attempt in (lambda: stranger.search("fee"), lambda: stranger.ask("fee"), stranger.open_generation):
        with pytest.raises(StampMismatchError) as caught:
            attempt()
        assert "gawah migrate --model" in str(caught.value)
        assert "again" in str(caught.value)
        assert "fake/old" in str(caught.value)


def test_half_a_migration_cannot_be_asked(app, make_app):
    with upgrading(app, NEW, switch=True) as upgrade, contextlib.closing(run(upgrade, switch=True)) as ended:
        next(ended)
        early = again(make_app, NEW)  # set up for the new model before the switch
        found = early.search("fee")
        assert (found.generation, len(found.notes)) == (1, 1)
        with app.catalog.snapshot(2) as half:
            from gawah.retrieve import retrieve

            with pytest.raises(StampMismatchError):
                retrieve(app.retriever, half, "fee", system="dense", cutoff=3)


def test_a_model_that_is_another_one_by_now_is_refused(app, make_app):
    migrate(app)

    def moved(source):
        return FakeEmbedder(source, dimensions=128 if source == NEW else 64)

    with pytest.raises(StampMismatchError, match="set model to where the one it was built with is"):
        make_app(load_model=moved, model=OLD).search("fee")


def test_a_store_of_before_the_source_was_kept_says_what_to_set(app, make_app):
    migrate(app)
    with app.catalog.writing() as opened:
        opened.execute("UPDATE generations SET source = ''")
    with pytest.raises(StampMismatchError, match="set model to its name or folder"):
        again(make_app).search("fee")
    again(make_app, NEW).open_generation()  # who has it notes where it is
    assert again(make_app).search("fee").generation == 2


def test_a_model_that_lies_elsewhere_now_is_told_by_migrating_to_it(app, make_app):
    migrate(app)

    def moved(source):
        if source == NEW:
            raise ModelError(f"there is no {source}")
        return FakeEmbedder(source.removeprefix("elsewhere/"))

    follower = make_app(load_model=moved, model=OLD)
    with pytest.raises(StampMismatchError, match="cannot be loaded"):
        follower.search("fee")
    assert migrate(follower, f"elsewhere/{NEW}") == []
    assert follower.search("fee").generation == 2
    assert [one.source for one in app.catalog.generations()] == [OLD, f"elsewhere/{NEW}"]


def test_a_folder_that_was_renamed_holds_the_model_it_held(app, make_app):
    migrate(app)

    def renamed(source):
        if source == NEW:
            raise ModelError(f"there is no {source}")
        found = FakeEmbedder(NEW if source == "fake/renamed" else source)
        found._stamp = replace(found.stamp, name=source)
        return found

    assert make_app(load_model=renamed, model="fake/renamed").search("fee").generation == 2
    assert migrate(make_app(load_model=renamed, model=OLD), "fake/renamed") == []
    assert make_app(load_model=renamed, model=OLD).search("fee").generation == 2
    assert len(app.catalog.generations()) == 2


@pytest.mark.parametrize("back", [True, False])
def test_where_a_generations_model_lies_now_may_be_said_by_the_settings(app, make_app, folder, back):
    migrate(app, switch=back)
    before = OLD if back else NEW
    with app.catalog.writing() as opened:
        opened.execute("UPDATE generations SET source = '' WHERE state <> 'active'")
    list(app.ingest(app.plan(folder({**FILES, "new.txt": "The ferry is red.\n"}))))

    def bring_back(other):
        with going_back(other) if back else upgrading(other, "", switch=True) as upgrade:
            return [record.name for record in run(upgrade, switch=True)]

    with pytest.raises(StampMismatchError, match="set model to its name or folder"):
        bring_back(again(make_app, NEW if back else OLD))
    assert bring_back(again(make_app, before)) == ["new.txt"]


def test_one_process_migrates_at_a_time(app):
    with app.catalog.migration_lock(), pytest.raises(StoreBusyError, match="is migrating"):
        migrate(app)


def test_there_must_be_something_to_migrate_take_up_or_go_back_to(app, make_app):
    with pytest.raises(UsageError, match="nothing was ever ingested"):
        migrate(again(make_app, store="empty"))
    with pytest.raises(UsageError, match="--model"):
        migrate(app, "")
    with pytest.raises(NotFoundError, match="never migrated"), going_back(app):
        pass
    with pytest.raises(UsageError, match="one that answers"):
        app.catalog.drop_generation(1)
    assert migrate(app, OLD) == []


def test_a_calibration_of_the_old_model_stops_a_switch_before_the_work_and_never_gates_the_new_one(
    app, make_app, folder, tmp_path
):
    import json

    from gawah.gate import calibration_json, packaged_calibration
    from gawah.wire import to_json

    body = calibration_json(packaged_calibration())
    body["stamp"] = to_json(app.gate_stamp)
    file = tmp_path / "old.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    calibrated = again(make_app, gate=f"calibrated:{file}")
    calibrated.ask("What is the fee?")
    with pytest.raises(ConfigurationError, match="--no-switch"):
        migrate(calibrated)
    assert states(app) == {OLD: ("active", 3, 0)}
    migrate(calibrated, switch=False)
    migrate(app)
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="gawah calibrate"):
            calibrated.ask("What is the fee?")
        assert calibrated.search("fee").generation == 2, "what needs no gate goes on"
    assert [one.name for one in calibrated.ingest(calibrated.plan(folder({"late.txt": "Late.\n"}, "more")))] == [
        "late.txt"
    ]
    with going_back(app) as upgrade:
        list(run(upgrade, switch=True))
    assert calibrated.ask("What is the fee?").provenance.generation == 1


# --- a catalog that was restored


def test_a_catalog_restored_under_a_live_process_and_beside_newer_files_is_read_as_it_is(
    app, make_app, folder, tmp_path
):
    import sqlite3

    server = again(make_app)
    backup = sqlite3.connect(tmp_path / "backup.sqlite")
    live = sqlite3.connect(app.catalog.path)
    live.backup(backup)
    migrate(app)
    assert server.search("boat").generation == 2
    list(app.ingest(app.plan(folder({"boats.txt": "The red boat leaves at nine.\n"}))))
    server.search("boat")
    with app.catalog.snapshot() as snapshot:
        epoch = snapshot.epoch
    backup.backup(live)  # by SQLite's own hand, while the server has the file open
    live.close()
    backup.close()
    found = server.search("boat")
    assert (found.generation, found.passages[0].chunk.content) == (1, "The blue boat leaves at seven.")
    writer = again(make_app)
    for number in range(epoch):  # to the same number again, with other contents
        with writer.catalog.snapshot() as snapshot:
            if snapshot.epoch == epoch:
                break
        list(writer.ingest(writer.plan(folder({"boats.txt": f"The green boat leaves at {number}.\n"}))))
    found = server.search("boat")
    assert (found.epoch, found.generation) == (epoch, 1)
    assert "green" in found.passages[0].chunk.content
    with server.catalog.snapshot() as snapshot:
        assert (
            server.index.view(snapshot).fingerprint()
            == LocalIndex(tmp_path / "nowhere", server.index._analyze).view(snapshot).fingerprint()
        )


def test_a_catalog_file_that_was_replaced_is_opened_anew(app, make_app, folder, tmp_path):
    server = again(make_app)
    app.catalog.vacuum()
    shutil.copy(app.catalog.path, tmp_path / "backup.sqlite")
    list(app.ingest(app.plan(folder({"boats.txt": "The red boat leaves at nine.\n"}))))
    assert "red" in server.search("boat").passages[0].chunk.content
    app.catalog.close()
    (tmp_path / "backup.sqlite").rename(server.catalog.path)
    for ending in ("-wal", "-shm"):
        server.catalog.path.with_name(server.catalog.path.name + ending).unlink(missing_ok=True)
    assert "blue" in server.search("boat").passages[0].chunk.content
    list(server.ingest(server.plan(folder({"late.txt": "Late, but in time.\n"}, "more"))))
    assert [record.name for record in again(make_app).documents() if record.name == "late.txt"] == ["late.txt"]


def test_a_process_outlives_a_moment_without_a_catalog_file(app, make_app, tmp_path):
    server = again(make_app)
    found = [passage.chunk for passage in server.search("boat").passages]
    app.catalog.vacuum()
    app.catalog.close()
    server.catalog.path.rename(tmp_path / "aside.sqlite")
    for _ in range(2):
        with pytest.raises(NotFoundError, match="no store"):
            server.search("boat")
    (tmp_path / "aside.sqlite").rename(server.catalog.path)
    assert [passage.chunk for passage in server.search("boat").passages] == found


# --- stale documents


def make_stale(app, name, **parts):
    from dataclasses import replace

    from gawah.store import records

    record = app.find_document(name)
    with app.catalog.writing() as opened:
        opened.execute(
            "UPDATE documents SET stamp = ? WHERE no = ?",
            (records.stamp_json(replace(record.stamp, **parts)), record.no),
        )


def test_stale_documents_and_no_others_are_made_anew_each_from_what_is_enough(app, tmp_path):
    make_stale(app, "fees.md", chunker="older/1")
    make_stale(app, "boats.txt", extractor="plain/0")
    before = {record.name: record.updated_at for record in app.documents()}
    groups = {group.stale: group.n_documents for group in stamps_of(app)}
    assert groups == {("chunker",): 1, ("extractor",): 1, (): 1}
    (tmp_path / "docs" / "fees.md").unlink()  # not needed: the text is there
    planned = plan_refresh(app)
    assert [one.record.name for one in planned.from_text] == ["fees.md"]
    assert [one.record.name for one in planned.from_original] == ["boats.txt"]
    assert {record.name for record in refresh(app, planned)} == {"fees.md", "boats.txt"}
    assert {group.stale for group in stamps_of(app)} == {()}
    after = {record.name: record.updated_at for record in app.documents()}
    assert after["rules.txt"] == before["rules.txt"]
    with app.catalog.snapshot() as snapshot:
        assert app.index.view(snapshot).n_chunks == 3
    assert app.search("fee").passages[0].document_name == "fees.md"


def test_a_document_whose_original_is_gone_is_said_and_stays_searchable(app, tmp_path):
    make_stale(app, "boats.txt", pipeline="canonical/0")
    (tmp_path / "docs" / "boats.txt").unlink()
    planned = plan_refresh(app)
    assert [one.record.name for one in planned.gone] == ["boats.txt"]
    assert list(refresh(app, planned)) == []
    record = app.find_document("boats.txt")
    assert (record.state, record.counters.n_chunks) == (DocumentState.READY, 1)


def test_documents_are_chosen_by_name_and_collection(app):
    for name in FILES:
        make_stale(app, name, chunker="older/1")
    assert [one.record.name for one in plan_refresh(app, ["fees.md"]).from_text] == ["fees.md"]
    assert len(plan_refresh(app, collection="default").from_text) == 3
    with pytest.raises(NotFoundError):
        plan_refresh(app, collection="none")
    with pytest.raises(NotFoundError):
        plan_refresh(app, ["nobody.txt"])


def test_a_chunk_of_the_stored_text_leaves_the_other_generations_as_they_are(app):
    migrate(app)
    make_stale(app, "fees.md", chunker="older/1")
    list(refresh(app, plan_refresh(app)))
    assert states(app) == {OLD: ("retired", 3, 0), NEW: ("active", 3, 0)}


def test_of_an_unknown_model_all_is_stale_and_a_matter_of_migrating(app, make_app):
    stranger = again(make_app, "fake/other")
    planned = plan_refresh(stranger)
    assert len(planned.other_model) == 3
    assert list(refresh(stranger, planned)) == []


def test_settings_name_a_folder_from_wherever_they_are_read(tmp_path, monkeypatch):
    from gawah.app import source_of

    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    pin = "@sha256:" + "0" * 64
    assert source_of("./model") == str(tmp_path / "model")
    assert source_of("./model" + pin) == str(tmp_path / "model") + pin
    assert source_of("all-MiniLM-L6-v2") == "all-MiniLM-L6-v2"
    assert load_settings(environment={}).settings.model == "all-MiniLM-L6-v2"


# --- with the catalog in a database


def test_upgrade_day_in_postgres(make_app, folder, postgres):
    """Two machines: one migrates, switches and goes back; the other, with a folder of its own, follows."""
    catalog = postgres.new_address()
    app = make_app(load_model=FakeEmbedder, model=OLD, catalog=catalog)
    list(app.ingest(app.plan(folder(FILES))))
    before = fingerprint(app)
    other = make_app("elsewhere", load_model=FakeEmbedder, model=OLD, catalog=catalog)
    assert other.search("fee").generation == 1
    with upgrading(app, NEW, switch=True) as upgrade, contextlib.closing(run(upgrade, switch=True)) as ended:
        next(ended)
        with pytest.raises(StoreBusyError, match="is migrating"), other.catalog.migration_lock():
            pass
        other.remove([other.find_document("boats.txt")])
        list(other.ingest(other.plan(folder({"late.txt": "Late, but in time.\n"}, "more"))))
    assert states(app)[NEW][0] == "building"
    migrate(other, "")
    assert states(app) == {OLD: ("retired", 3, 0), NEW: ("active", 3, 0)}
    for each in (app, other):
        found = each.search("fee")
        assert (found.generation, found.passages[0].document_name) == (2, "fees.md")
    assert fingerprint(app) == fingerprint(other) != before
    with going_back(app) as upgrade:
        assert list(run(upgrade, switch=True)) == []
    assert other.search("late").generation == 1
    (gone,) = drop(other)
    assert (gone.id, gone.n_chunks) == (2, 3)
