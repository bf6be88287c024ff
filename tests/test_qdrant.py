"""One store, searched through the local index and through a Qdrant server: the same passages, scores and citations."""

from __future__ import annotations

import pytest

from gawah.config import load_settings
from gawah.errors import ConfigurationError, IndexLegError, StoreError
from gawah.ingest import run_jobs
from gawah.types import Answer, Filter

pytest.importorskip("qdrant_client")
pytest.importorskip("qdrant_edge")

QUESTIONS = (
    "What is the membership fee?",
    "How do I open the sluice gate?",
    "error code E-17 of the tide gauge",
    "Who is on duty on Sunday?",
    "किस दिन बैठक होती है?",
    "Where is the boat log kept?",
    "What does ERR_CONN-17 mean",
)
NAMES = (
    "welcome.md",
    "organisation/roster.md",
    "network/error-codes.md",
    "instruments/inventory.csv",
    "guides/volunteer-hi.md",
)


@pytest.fixture
def engine(tmp_path):
    from gawah.testing.qdrant_engine import Server

    with Server(tmp_path / "engine") as running:
        yield running


def ingested(app, root):
    return list(app.ingest(app.plan(root)))


@pytest.fixture
def both(engine, make_app, folder, handbook):
    """The same store under both indexes."""
    root = folder({name: (handbook / name).read_bytes() for name in NAMES})
    searched = make_app(index=f"qdrant:{engine.url}")
    assert {record.state for record in ingested(searched, root)} == {"ready"}
    return make_app(), searched


@pytest.mark.parametrize("system", ["dense", "bm25", "rrf", "rerank"])
def test_every_ranking_is_that_of_the_local_index(both, system):
    local, qdrant = both
    for question in QUESTIONS:
        for only in (
            None,
            Filter(documents=("welcome.md", "network/error-codes.md")),
            Filter(media_types=("text/csv",)),
        ):
            ours = local.search(question, system=system, cutoff=20, only=only)
            theirs = qdrant.search(question, system=system, cutoff=20, only=only)
            assert theirs.passages == ours.passages
            assert theirs.rankings == ours.rankings
            assert theirs.degraded == ()


def test_answers_refusals_and_citations_are_the_same(both):
    local, qdrant = both
    kinds = set()
    for question in QUESTIONS:
        ours, theirs = local.ask(question), qdrant.ask(question)
        kinds.add(type(theirs))
        assert type(ours) is type(theirs)
        assert theirs.decision == ours.decision
        if isinstance(theirs, Answer):
            assert (theirs.text, theirs.citations) == (ours.text, ours.citations)
    assert Answer in kinds


def test_what_was_changed_or_removed_is_found_or_gone_at_once(both, folder):
    _, qdrant = both
    root = folder({"new.md": "# New\n\nThe heron nests on the third pylon.\n"})
    ingested(qdrant, root)
    assert qdrant.search("heron pylon").passages[0].document_name == "new.md"
    qdrant.remove([qdrant.find_document("new.md")])
    assert "new.md" not in {passage.document_name for passage in qdrant.search("heron pylon").passages}
    assert all(check.holds for check in qdrant.examine())


def test_a_purged_canary_is_in_no_file_of_the_server(engine, make_app, folder, tmp_path):
    app = make_app(index=f"qdrant:{engine.url}")
    root = folder(
        {"secret.md": "# S\n\nThe word is zxcanary91 and no other.\n", "open.md": "# O\n\nThe fee is four.\n"}
    )
    ingested(app, root)
    assert app.search("zxcanary91").passages
    held = [path for path in (tmp_path / "engine").rglob("*") if path.is_file() and b"zxcanary91" in path.read_bytes()]
    assert held  # or looking for it would show nothing
    app.purge([app.find_document("secret.md")])
    files = [path for place in ("engine", "store") for path in (tmp_path / place).rglob("*") if path.is_file()]
    assert not [path for path in files if b"zxcanary91" in path.read_bytes()]
    assert app.search("fee").passages


def test_an_empty_store_is_searched_without_a_collection(engine, make_app):
    app = make_app(index=f"qdrant:{engine.url}")
    assert app.search("anything").passages == ()
    assert engine.engine.answer("GET", "/collections", {}) == {"collections": []}


def test_a_key_in_the_setting_is_refused_and_not_repeated():
    with pytest.raises(ConfigurationError, match="QDRANT_API_KEY") as refused:
        load_settings(environment={}, options={"index": "qdrant:http://:secret@host:6333"})
    assert "secret" not in str(refused.value)


def test_without_its_server_ingest_and_search_fail_in_one_line_and_nothing_is_lost(
    make_app, folder, tmp_path, monkeypatch
):
    from gawah.testing.qdrant_engine import Server

    monkeypatch.setattr("gawah.index.qdrant_requests._PAUSES_S", ())
    with Server(tmp_path / "engine") as running:
        port = running.port
    app = make_app(index=f"qdrant:http://127.0.0.1:{port}")
    root = folder({"a.md": "# A\n\nThe fee is four pounds.\n"})
    with pytest.raises(StoreError, match="no Qdrant server answers") as failed:
        ingested(app, root)
    assert "\n" not in str(failed.value)
    assert "what was ingested is in the catalog" in str(failed.value)
    assert [record.state for record in app.documents()] == ["ready"]
    with pytest.raises(StoreError, match="no Qdrant server answers"):
        app.search("fee")
    with Server(tmp_path / "engine", port):
        assert app.search("fee").passages
        assert list(run_jobs(app.intake)) == []
    with pytest.raises(IndexLegError) as leg:
        app.search("fee", system="dense")
    assert (leg.value.http_status, leg.value.leg) == (503, "dense")
    checks = {check.name: check for check in app.examine()}
    assert "no Qdrant server answers" in checks["index"].detail
    assert [name for name, check in checks.items() if not check.holds] == ["index"]
    with pytest.raises(StoreError, match=r"still to be purged with `gawah rm --purge`.*no Qdrant server answers"):
        app.purge([app.find_document("a.md")])
    assert app.documents() == []
    assert app.catalog.purge_owed()
