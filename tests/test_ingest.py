"""From a folder to searchable documents: what is done, what is left alone, and how one document fails alone."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from gawah.errors import StampMismatchError, StoreBusyError
from gawah.store.lock import writer_lock
from gawah.testing.embedder import FakeEmbedder
from gawah.types import DocumentState

FILES = {
    "fees.md": "# Fees\n\nThe fee is 40 EUR a month.\n\n## Late\n\nWho pays late pays 2 EUR more.\n",
    "notes/plan.txt": "We meet on Thursday.\n\nBring the red folder.\n",
    "table.csv": "name,price\nrope,12\nlamp,30\n",
}


def ingest(app, root, **options):
    return list(app.ingest(app.plan(root, **options)))


def by_name(app):
    return {record.name: record for record in app.documents()}


def contents(app):
    with app.catalog.snapshot() as snapshot:
        return sorted(row.text for row in snapshot.rows(0))


def fingerprint(app):
    with app.catalog.snapshot() as snapshot:
        return app.index.view(snapshot).fingerprint()


class CountingEmbedder(FakeEmbedder):
    """Counts the texts it embeds."""

    n_texts = 0

    def embed(self, texts):
        self.n_texts += len(texts)
        return super().embed(texts)


def test_every_file_becomes_a_document_whose_counters_equal_the_index(make_app, folder):
    app = make_app()
    ended = ingest(app, folder(FILES))
    assert [record.state for record in ended] == [DocumentState.READY] * 3
    with app.catalog.snapshot() as snapshot:
        held = snapshot.n_chunks_by_document()
        view = app.index.view(snapshot)
    assert {record.no: record.counters.n_chunks for record in ended} == held
    assert view.n_chunks == sum(held.values())
    assert all(record.counters.n_truncated == 0 and record.stamp for record in ended)


def test_an_unchanged_folder_is_not_embedded_again(make_app, folder):
    embedder = CountingEmbedder()
    app = make_app(embedder=embedder)
    root = folder(FILES)
    ingest(app, root)
    n = embedder.n_texts
    plan = app.plan(root)
    assert plan.work == ()
    assert len(plan.unchanged) == 3
    assert list(app.ingest(plan)) == []
    assert embedder.n_texts == n


def test_an_edited_file_embeds_only_what_changed(make_app, folder):
    embedder = CountingEmbedder()
    app = make_app(embedder=embedder, target_chars=64)
    paragraphs = [f"Paragraph number {n} says that the value of item {n} is {n * 7} units today." for n in range(20)]
    root = folder({"a.md": "# T\n\n" + "\n\n".join(paragraphs)})
    ingest(app, root)
    n = embedder.n_texts
    paragraphs[7] = "This one was written anew and is about something else entirely, as one can see."
    folder({"a.md": "# T\n\n" + "\n\n".join(paragraphs)})
    assert [item.why for item in app.plan(root).work] == ["changed"]
    ingest(app, root)
    assert embedder.n_texts == n + 1
    assert any("written anew" in text for text in contents(app))
    assert not any("number 7 says" in text for text in contents(app))


def test_a_broken_document_fails_alone_with_its_reason(make_app, folder):
    app = make_app()
    root = folder({**FILES, "b.png": b"\x1f\x8b\x08" + bytes(40), "empty.pdf": b"", "blank.txt": "  \n\n"})
    ended = {record.name: record for record in ingest(app, root)}
    assert {name: record.failure.code for name, record in ended.items() if record.failure} == {
        "b.png": "unsupported_type",
        "empty.pdf": "empty",
        "blank.txt": "empty",
    }
    assert sum(record.state is DocumentState.READY for record in ended.values()) == 3


def test_a_failed_file_is_not_tried_again_until_something_changes(make_app, folder):
    app = make_app()
    root = folder({"a.txt": "", **FILES})
    ingest(app, root)
    plan = app.plan(root)
    assert plan.work == ()
    assert [record.name for record in plan.failing] == ["a.txt"]
    folder({"a.txt": "Now it says something."})
    assert [record.state for record in ingest(app, root)] == [DocumentState.READY]


def test_a_new_version_that_fails_leaves_the_old_one_searchable_and_says_so(make_app, folder):
    app = make_app()
    root = folder({"a.txt": "The gate opens at nine."})
    ingest(app, root)
    folder({"a.txt": ""})
    (record,) = ingest(app, root)
    assert record.state is DocumentState.FAILED
    assert record.counters.n_chunks == 1
    assert record.file_sha256 != record.indexed_sha256
    assert any("opens at nine" in text for text in contents(app))


def test_same_bytes_under_two_names_are_two_documents_and_one_embedding(make_app, folder):
    """Case 19."""
    embedder = CountingEmbedder()
    app = make_app(embedder=embedder)
    text = "# Rope\n\nThe rope is 14 mm thick.\n"
    root = folder({"one.md": text, "deep/two.md": text})
    ingest(app, root)
    assert embedder.n_texts == 1
    assert len(contents(app)) == 2
    app.remove([by_name(app)["one.md"]])
    assert len(contents(app)) == 1
    assert [p.document_name for p in app.search("how thick is the rope", system="bm25").passages] == ["deep/two.md"]
    ingest(app, root)
    assert embedder.n_texts == 1
    assert len(contents(app)) == 2


def test_a_file_that_vanished_is_reported_and_removed_on_request_only(make_app, folder):
    app = make_app()
    root = folder(FILES)
    ingest(app, root)
    (root / "fees.md").unlink()
    plan = app.plan(root)
    assert [record.name for record in plan.vanished] == ["fees.md"]
    list(app.ingest(plan))
    assert "fees.md" in by_name(app)


def test_two_folders_with_a_file_of_the_same_name_keep_both(make_app, folder):
    app = make_app()
    ingest(app, folder({"README.md": "First project."}, "one"))
    ingest(app, folder({"README.md": "Second project."}, "two"))
    ingest(app, folder({"README.md": "Second project, edited."}, "two"))
    assert set(by_name(app)) == {"README.md", "two/README.md"}
    assert any("edited" in text for text in contents(app))


def test_a_folder_that_moved_is_the_same_documents(make_app, folder, tmp_path):
    app = make_app()
    root = folder(FILES, "before")
    ingest(app, root)
    root.rename(tmp_path / "after")
    ingest(app, tmp_path / "after")
    assert set(by_name(app)) == set(FILES)
    assert all("/after/" in record.uri for record in by_name(app).values())


def test_names_and_kinds_of_all_sorts_have_their_own_state(make_app, folder):
    """Case 16."""
    app = make_app()
    root = folder(
        {
            "x.pdf:Zone.Identifier": "[ZoneTransfer]\nZoneId=3\n",
            "UPPER.MD": "# Upper\n\nRead all the same.\n",
            "latin.txt": "Die Gebühr beträgt 40 Euro für Mitglieder.".encode("latin-1"),
            "zero.pdf": b"",
            "bm25.md": "BM25 notes: k1 is 1.2 and b is 0.75.\n",
            "id3.md": "ID3 tags are written at the start of a file.\n",
        }
    )
    ended = {record.name: record for record in ingest(app, root)}
    assert len(ended) == 6
    assert ended["UPPER.MD"].state is DocumentState.READY
    assert ended["bm25.md"].media_type == ended["id3.md"].media_type == "text/markdown"
    assert ended["zero.pdf"].failure.code == "empty"
    assert any("Gebühr beträgt" in text for text in contents(app))


def test_lengths_that_change_with_case_do_not_shift_a_span(make_app, folder):
    app = make_app()
    text = "İ" * 200 + " is a letter. And the fee is 40 EUR in all cases."
    ingest(app, folder({"a.txt": text}))
    (passage, *_) = app.search("what is the fee", system="bm25").passages
    assert passage.chunk.span.slice(text) == passage.chunk.content
    assert "the fee is 40 EUR" in passage.chunk.content


def test_han_text_without_blanks_is_cut_by_the_models_own_count(make_app, folder):
    """Case 13."""
    app = make_app()
    (record,) = ingest(app, folder({"han.txt": "知识就是力量" * 1400}))
    assert record.counters.n_chunks > 10
    assert record.counters.n_truncated == 0


def test_an_interrupted_run_is_taken_up_where_it_stopped(make_app, folder):
    app = make_app()
    root = folder({f"{n}.txt": f"Document {n} speaks of topic {n}." for n in range(5)})
    running = app.ingest(app.plan(root))
    first = next(running)
    running.close()
    assert first.state is DocumentState.READY
    again = make_app()
    ended = ingest(again, root)
    assert len(ended) == 4
    assert len(contents(again)) == 5


def test_killed_in_the_second_of_five_files_it_finishes_them_all_without_a_duplicate(make_app, folder, tmp_path):
    """Case 21."""
    root = folder({f"{n}.txt": f"Document {n} speaks of topic {n}." for n in range(5)})
    code = (
        "import sys, os, signal, pathlib\n"
        "from gawah.app import Application\nfrom gawah.config import load_settings\n"
        "from gawah.testing.embedder import FakeEmbedder\n"
        "settings = load_settings(environment={}, options={'store': sys.argv[1], 'cache': sys.argv[1]}).settings\n"
        "app = Application(settings, create=True, embedder=FakeEmbedder())\n"
        "for n, record in enumerate(app.ingest(app.plan(pathlib.Path(sys.argv[2])))):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "store"), str(root)], check=False)
    assert done.returncode == -9
    app = make_app()
    states = [record.state for record in by_name(app).values()]
    assert states.count(DocumentState.READY) == 1
    ended = ingest(app, root)
    assert len(ended) == 4
    assert len(contents(app)) == len(set(contents(app))) == 5
    undisturbed = make_app("other")
    ingest(undisturbed, root)
    assert fingerprint(app) == fingerprint(undisturbed)


def test_another_model_is_refused_whatever_its_dimension(make_app, folder):
    """Case 18."""
    root = folder(FILES)
    ingest(make_app(), root)
    other = make_app(embedder=FakeEmbedder("fake/other"))
    folder({"new.txt": "More."})
    with pytest.raises(StampMismatchError, match="fake/bag-of-words"):
        ingest(other, root)
    with pytest.raises(StampMismatchError):
        other.search("fee")
    assert len(by_name(make_app())) == 3


def test_a_second_writer_is_refused_and_the_first_goes_on(make_app, folder):
    app = make_app()
    root = folder(FILES)
    with writer_lock(app.settings.store), pytest.raises(StoreBusyError, match=f"process {os.getpid()}"):
        ingest(make_app(), root)
    assert len(ingest(app, root)) == 3


def test_a_document_of_an_older_pipeline_is_stale_searchable_and_done_again(make_app, folder, monkeypatch):
    app = make_app()
    root = folder(FILES)
    ingest(app, root)
    monkeypatch.setattr("gawah.ingest.PIPELINE", "canonical/99 analyzer/2")
    assert all(app.stale(record) == ("pipeline",) for record in app.documents())
    assert app.search("fee").passages
    assert {item.why for item in app.plan(root).work} == {"stale"}
    ingest(app, root)
    assert not any(app.stale(record) for record in app.documents())


def test_too_large_and_vanishing_files_have_their_codes(make_app, folder):
    app = make_app(max_file_mb=1)
    root = folder({"big.txt": "x " * 600_000, "gone.txt": "Soon gone.", "ok.txt": "Stays."})
    plan = app.plan(root)
    (root / "gone.txt").unlink()
    ended = {record.name: record for record in app.ingest(plan)}
    assert ended["big.txt"].failure.code == "too_large"
    assert "max_file_mb" in ended["big.txt"].failure.reason
    assert ended["gone.txt"].failure.code == "vanished"
    assert ended["gone.txt"].failure.retryable
    assert ended["ok.txt"].state is DocumentState.READY


def test_a_canary_is_in_no_file_of_the_store_after_a_purge(make_app, folder):
    """Case 20."""
    app = make_app()
    root = folder({"secret.md": "# S\n\nThe word is ZX-CANARY-91 and no other.\n", **FILES})
    ingest(app, root)
    app.ask("what is the word ZX-CANARY-91")
    app.purge([by_name(app)["secret.md"]])
    app.close()
    files = [path for path in app.settings.store.rglob("*") if path.is_file()]
    assert files
    for canary in (b"zx-canary", "zx-canary".encode("utf-16-le")):
        assert not [path for path in files if canary in path.read_bytes().lower()]
    again = make_app()
    assert not any("CANARY" in p.chunk.content for p in again.search("ZX-CANARY-91").passages)
    assert again.search("fee").passages


def test_segments_do_not_change_what_is_found(make_app, folder):
    from gawah.upkeep import tidy

    app = make_app()
    root = folder({f"{n}.txt": f"Document {n} speaks of topic {n} and of rivers." for n in range(40)})
    ingest(app, root)
    before = [replace(p, hit=p.hit) for p in app.search("rivers topic 7").passages]
    print_before = fingerprint(app)
    tidy(app.catalog, app.index, everything=True)
    app.remove([by_name(app)["3.txt"]])
    tidy(app.catalog, app.index, everything=True)
    ingest(app, root)
    assert fingerprint(app) == print_before
    assert [p.chunk.id for p in app.search("rivers topic 7").passages] == [p.chunk.id for p in before]
    assert all(check.holds for check in app.examine())


def test_the_doctor_finds_a_flipped_bit_in_a_segment_and_repairs_it_from_the_catalog(make_app, folder):
    from gawah.upkeep import tidy

    app = make_app()
    ingest(app, folder({f"{n}.txt": f"Document {n} speaks of topic {n} and of rivers." for n in range(20)}))
    tidy(app.catalog, app.index, everything=True)
    sound = fingerprint(app)
    (vectors,) = app.settings.store.glob("segments/*/vectors.npy")
    data = bytearray(vectors.read_bytes())
    data[-2] ^= 1
    vectors.write_bytes(data)
    again = make_app()
    (found,) = [check for check in again.examine() if not check.holds]
    assert found.name == "segments"
    assert "gawah doctor --repair" in found.detail
    assert len(again.repair()) == 1
    for each in (again, make_app()):
        assert all(check.holds for check in each.examine())
        assert fingerprint(each) == sound
    assert again.repair() == []


def test_a_file_is_one_document_however_its_folder_is_spelled(make_app, folder, tmp_path):
    app = make_app()
    root = folder(FILES)
    ingest(app, root)
    (tmp_path / "link").symlink_to(root)
    for spelling in (root / ".." / "docs", tmp_path / "link", root / "fees.md"):
        assert app.plan(spelling).work == ()
    assert len(by_name(app)) == 3


def test_excluded_files_are_left_out_and_counted(make_app, folder):
    app = make_app()
    plan = app.plan(folder(FILES), exclude=("*.csv", "notes/*"))
    assert [item.name for item in plan.work] == ["fees.md"]
    assert plan.n_excluded == 2
    assert plan.vanished == ()


def test_the_runtime_is_told_to_report_to_nobody():
    import gawah.models  # noqa: F401

    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_a_document_with_words_that_no_database_keeps_fails_alone_and_says_why(make_app, folder):
    app = make_app()
    extract = app.sandbox.extract

    def odd(source, data):
        document = extract(source, data)
        return replace(document, title="half \ud800 a pair") if source.name == "fees.md" else document

    app.sandbox.extract = odd
    ingest(app, folder(FILES))
    states = by_name(app)
    assert states["fees.md"].failure.code == "unstorable_text"
    assert "U+D800" in states["fees.md"].failure.reason
    assert [states[name].state for name in FILES if name != "fees.md"] == [DocumentState.READY] * 2
