"""Who reranked, as an answer tells it: the one that did, never the one that was asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.small_checkpoint import write_cross_encoder

from gawah.app import build_gate
from gawah.errors import ConfigurationError, ModelError, ModelMissingError
from gawah.eval.collection import load_collection
from gawah.evaluate import Workshop, evaluate
from gawah.gate import ReferenceGate, packaged_calibration
from gawah.models.shelf.place import shelf_of
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.reranker import FakeReranker

QUESTION = "When does the blue boat leave?"
FILES = {
    "boats.md": "# Boats\n\nThe blue boat leaves at seven.\n\nThe red boat leaves at nine.\n",
    "fees.md": "# Fees\n\nThe membership fee is 40 EUR a month.\n",
}
MISSING = "reranked by late interaction, not by a cross-encoder: the model x is not on this machine"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    write_cross_encoder(tmp_path / "cross")
    return tmp_path / "cross"


@pytest.fixture
def filled(make_app, folder):
    def made(**options):
        app = make_app(**options)
        list(app.ingest(app.plan(folder(FILES))))
        return app

    return made


def with_reranker(app, **changes):
    """The application with another retriever; its assistant is made after this."""
    app._for_active.__dict__["retriever"] = replace(app.retriever, **changes)
    return app


def test_an_answer_names_the_cross_encoder_with_its_checkpoint(filled, checkpoint) -> None:
    outcome = filled(rerank=f"cross-encoder:{checkpoint}").ask(QUESTION)
    assert outcome.provenance.reranker.startswith("cross-encoder:cross@")
    assert "rerank" in outcome.provenance.times_ms
    assert outcome.provenance.degraded == ()


def test_its_scores_order_the_head_of_the_fused_list_and_the_rest_follows(filled, checkpoint) -> None:
    app = filled(rerank=f"cross-encoder:{checkpoint}", rerank_depth=2)
    found = app.search(QUESTION)
    fused, final = found.rankings["rrf"].hits, found.rankings["rerank"].hits
    assert {hit.chunk_id for hit in final[:2]} == {hit.chunk_id for hit in fused[:2]}
    assert [hit.chunk_id for hit in final[2:]] == [hit.chunk_id for hit in fused[2:]]
    with app.catalog.snapshot() as snapshot:
        texts = [snapshot.chunk(hit.chunk_id).text for hit in final[:2]]
    scores = app.retriever.reranker._cross_encoder.score(QUESTION, texts).scores
    assert [hit.score for hit in final[:2]] == list(scores) == sorted(scores, reverse=True)


def test_what_a_reranker_did_not_read_is_a_note_of_the_answer(filled) -> None:
    app = with_reranker(filled(), reranker=FakeReranker(window_words=3))
    provenance = app.ask(QUESTION).provenance
    assert provenance.reranker == "fake-reranker"
    assert any("passages were read in part" in note for note in provenance.notes)


def test_where_another_took_its_place_the_answer_names_that_one_and_says_why(filled) -> None:
    provenance = with_reranker(filled(), missing=(MISSING,)).ask(QUESTION).provenance
    assert provenance.reranker == "late-interaction/2"
    assert MISSING in provenance.degraded


@pytest.mark.parametrize(("rerank", "system"), [("none", "rrf"), ("late", "dense"), ("late", "bm25"), ("late", "rrf")])
def test_where_nothing_was_reranked_none_is_named(filled, rerank, system) -> None:
    found = filled(rerank=rerank).search(QUESTION, system=system)
    assert found.reranker == "none"


class WordBlind(FakeEmbedder):
    def coverage(self, text: str) -> float:
        del text
        return 0.0


def test_a_question_that_is_searched_by_words_alone_is_reranked_by_nobody(make_app, folder, checkpoint) -> None:
    app = make_app(rerank=f"cross-encoder:{checkpoint}", embedder=WordBlind())
    list(app.ingest(app.plan(folder(FILES))))
    assert app.ask(QUESTION).provenance.reranker == "none"


@pytest.mark.parametrize("named", ["./nowhere", "/nowhere/at/all"])
def test_a_folder_that_was_named_and_is_not_there_is_an_error(make_app, named) -> None:
    with pytest.raises(ModelError, match="no model folder at"):
        _ = make_app(rerank=f"cross-encoder:{named}").retriever


def test_a_name_that_was_given_and_is_not_here_is_an_error_with_the_command(make_app) -> None:
    with pytest.raises(ModelMissingError, match="`gawah models fetch someone/never-made-7f3a`"):
        _ = make_app(rerank="cross-encoder:someone/never-made-7f3a").retriever


def test_a_broken_checkpoint_is_an_error_and_no_reason_to_take_another(make_app, checkpoint) -> None:
    (checkpoint / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="no WordPiece vocabulary"):
        _ = make_app(rerank=f"cross-encoder:{checkpoint}").retriever


def test_a_model_that_was_fetched_is_found_by_its_name(make_app, tmp_path) -> None:
    from gawah.models.shelf.fetch import fetch
    from gawah.models.shelf.known import known_model

    write_cross_encoder(tmp_path / "stick")
    cache = make_app().settings.cache
    model = known_model("cross-encoder/ms-marco-MiniLM-L-6-v2")
    done = fetch(model, shelf_of(cache), source=tmp_path / "stick", check=lambda _: None, progress=lambda *_: None)
    for rerank in ("cross-encoder", "cross-encoder:ms-marco-MiniLM-L-6-v2", f"cross-encoder:{model.repository}"):
        assert make_app(rerank=rerank).retriever.reranker.name.startswith(f"cross-encoder:{model.repository}@")
    weights = done.folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    with pytest.raises(ModelError, match=f"not .* as fetched; `gawah models fetch {model.repository}` mends it"):
        _ = make_app(rerank="cross-encoder").retriever


def test_another_reranker_is_another_stamp_so_the_reference_gate_decides_and_says_so(make_app, checkpoint) -> None:
    shipped = packaged_calibration().stamp
    reranker = make_app(rerank=f"cross-encoder:{checkpoint}").gate_stamp.reranker
    assert reranker.startswith("cross-encoder:cross@")
    stamp = replace(shipped, reranker=reranker)
    gate, notes = build_gate(make_app().settings, stamp)
    assert isinstance(gate, ReferenceGate)
    assert notes == ("gated by cosine distance: no calibration holds for this reranker; `gawah calibrate` makes one",)


def test_nothing_is_measured_with_another_reranker_than_was_asked_for(make_app, handbook, tmp_path, checkpoint) -> None:
    app = with_reranker(make_app(), missing=(MISSING,))
    with pytest.raises(ConfigurationError, match="not by a cross-encoder"):
        app.require_all()
    settings = app.settings.model_copy(update={"rerank": f"cross-encoder:{checkpoint}", "rerank_depth": 1})
    run = evaluate(Workshop(settings, tmp_path / "work", FakeEmbedder()), load_collection(handbook.parent), cite=False)
    assert "rerank" in run.systems


def test_a_chunk_with_the_identifier_asked_for_comes_before_its_neighbours(make_app, folder) -> None:
    words = "sets how many operations one transaction of a client may hold at most"
    files = {
        f"option-{n}.md": f"# Options\n\nThe option `--max-txn-{name}` {words}.\n"
        for n, name in enumerate(("bytes", "ops", "items", "rows"))
    }
    app = make_app()
    list(app.ingest(app.plan(folder(files))))
    for question, document in (
        ("How many operations does max_txn_ops allow a transaction?", "option-1.md"),
        ("--max-txn-rows operations of one transaction", "option-3.md"),
    ):
        found = app.search(question)
        best, *others = found.passages
        assert best.document_name == document
        scores = [passage.hit.score for passage in found.passages]
        assert scores == sorted(scores, reverse=True)
        assert all(other.document_name != document for other in others)
