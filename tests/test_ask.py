"""From a question to an answer with citations, or to a refusal: on a fake embedder and a scripted generator."""

import json
from dataclasses import replace

import pytest

from gawah.envelope import outcome_json
from gawah.errors import ConfigurationError, GeneratorError, IndexLegError, NotFoundError, UsageError
from gawah.fragment import parse
from gawah.gate import EMPTY_INDEX, calibration_json, packaged_calibration
from gawah.testing.generator import ScriptedGenerator
from gawah.types import CharRange, Filter, Refusal

FILES = {
    "a/first.md": "# First\n\nThe committee meets on Mondays in the old hall.\n",
    "b/second.md": "# Second\n\nThe penalty for a late report is 4 percent a day.\n",
    "c/third.md": "# Third\n\nArrays start at arr[0], see [12] for the proof of it.\n",
}


@pytest.fixture
def asked(make_app, folder):
    """`asked(script, question)`: the outcome of a question whose generator writes the script."""
    root = folder(FILES)

    def ask(script, question="what is the penalty for a late report", **options):
        app = make_app(generator=ScriptedGenerator(script) if script is not None else None, **options)
        list(app.ingest(app.plan(root)))
        return app, app.ask(question)

    return ask


def test_label_quote_and_url_are_all_of_the_file_that_holds_the_fact(asked):
    _, outcome = asked(["It is 4 percent a day [1]."])
    (citation,) = outcome.citations
    assert citation.document_name == "b/second.md"
    assert citation.quote == "The penalty for a late report is 4 percent a day."
    assert citation.url.startswith("file://")
    assert "/b/second.md#char=" in citation.url
    text = FILES["b/second.md"]
    assert text[citation.span.start : citation.span.end] == citation.quote


def test_unknown_numbers_are_taken_out_and_counted(asked):
    _, outcome = asked(["It is 4 percent [1][22][77]."])
    assert outcome.text == "It is 4 percent [1]."
    assert outcome.unknown_markers == (22, 77)
    assert [citation.marker for citation in outcome.citations] == [1]
    assert "unknown_markers" in outcome.flags


def test_an_answer_without_a_marker_gets_no_citation_and_a_flag(asked):
    _, outcome = asked(["It is 4 percent a day. It always was."])
    assert outcome.citations == ()
    assert {claim.status for claim in outcome.claims} == {"uncited"}
    assert {"no_citation", "uncited_claims"} <= set(outcome.flags)


def test_numbers_that_are_no_markers_stay(asked):
    _, outcome = asked(["See Ref 12 of the standard; href 7. It is 4 percent [1]."])
    assert "See Ref 12 of the standard; href 7." in outcome.text
    assert [citation.marker for citation in outcome.citations] == [1]


def test_the_extractive_answer_is_verbatim_and_cited(asked):
    app, outcome = asked(None)
    assert "The penalty for a late report is 4 percent a day." in outcome.text
    assert outcome.citations
    assert {check.status for check in app.verify()} == {"ok"}


def test_brackets_of_a_source_are_not_markers_in_an_extractive_answer(asked):
    _, outcome = asked(None, "where do arrays start and what is the proof")
    assert "see [12] for the proof" in outcome.text
    assert [outcome.text[mark.span.start : mark.span.end] for mark in outcome.marks] == ["[1]"] * len(outcome.marks)
    assert outcome_json(outcome)["marks"] == [
        {"from": mark.span.start, "to": mark.span.end, "marker": mark.number} for mark in outcome.marks
    ]
    assert outcome.unknown_markers == ()
    assert 12 not in [citation.marker for citation in outcome.citations]


def test_a_refusal_names_question_threshold_and_nearest_and_calls_no_generator(asked):
    class Forbidden(ScriptedGenerator):
        def generate(self, prompt):
            raise AssertionError("the generator was called for a refusal")

    _, outcome = asked([], "how are whales counted", gate_threshold=0.0)
    assert isinstance(outcome, Refusal)
    assert "how are whales counted" in outcome.message
    assert outcome.decision.threshold == 0.0
    assert 1 <= len(outcome.nearest) <= 4
    distances = [passage.cosine_distance for passage in outcome.nearest]
    assert distances == sorted(distances)
    assert outcome.provenance.generator == "none"


def test_an_empty_store_refuses_with_a_reason_of_its_own(make_app):
    outcome = make_app().ask("anything")
    assert isinstance(outcome, Refusal)
    assert outcome.reason == EMPTY_INDEX
    assert outcome.message.startswith('nothing found for "anything": no document is indexed')
    assert outcome.nearest == ()
    assert outcome.decision.admitted == ()


def test_a_filter_narrows_and_one_that_admits_nothing_is_an_error(make_app, folder):
    app = make_app()
    list(app.ingest(app.plan(folder(FILES))))
    with pytest.raises(NotFoundError, match="no document is of none"):
        app.ask("penalty", only=Filter(collections=("none",)))
    found = app.search("committee penalty arrays", only=Filter(documents=("a/first.md",)))
    assert {passage.document_name for passage in found.passages} == {"a/first.md"}


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_an_empty_question_is_a_usage_error(make_app, question):
    with pytest.raises(UsageError, match="empty"):
        make_app().ask(question)


def test_every_outcome_is_in_the_log_as_it_was_given(asked):
    app, outcome = asked(["It is 4 percent a day [1]."])
    stored = app.catalog.load_answer(outcome.id).body
    assert stored == json.loads(json.dumps(outcome_json(outcome)))
    assert app.broken_links() == []


def test_each_answer_keeps_its_own_citations(asked):
    app, first = asked(["It is 4 percent a day [1]."])
    app.ask("hello there")
    again = app.catalog.load_answer(first.id).body
    assert [c["document"] for c in again["citations"]] == ["b/second.md"]


def test_a_generator_that_dies_half_way_is_an_error_and_leaves_no_answer(asked, make_app, folder):
    class Dying(ScriptedGenerator):
        def generate(self, prompt):
            yield from super().generate(prompt)
            raise GeneratorError("the stream broke off")

    app = make_app(generator=Dying(["It is 4 "]))
    list(app.ingest(app.plan(folder(FILES))))
    with pytest.raises(GeneratorError, match="broke off"):
        app.ask("what is the penalty")
    assert app.catalog.load_answers() == []


class _BrokenLeg:
    """An index whose views fail in one leg."""

    def __init__(self, index, leg):
        self.index, self.leg = index, leg

    def view(self, feed):
        return _BrokenView(self.index.view(feed), self.leg)


class _BrokenView:
    def __init__(self, view, leg):
        self._view, self._leg = view, leg

    def __getattr__(self, name):
        if name in self._leg:
            raise OSError("the mapping is gone")
        return getattr(self._view, name)


@pytest.mark.parametrize(("leg", "other"), [("bm25", "dense"), ("dense", "bm25")])
def test_a_leg_that_fails_is_named_and_the_other_answers(make_app, folder, leg, other):
    """Case 25."""
    from gawah.retrieve import retrieve

    app = make_app()
    list(app.ingest(app.plan(folder(FILES))))
    broken = replace(app.retriever, index=_BrokenLeg(app.index, (leg,)))
    with app.catalog.snapshot() as snapshot:
        found = retrieve(broken, snapshot, "penalty", system="rrf", cutoff=5)
        assert any("leg failed" in line for line in found.degraded)
        assert set(found.rankings) == {other, "rrf"}
        assert found.passages
        with pytest.raises(IndexLegError):
            retrieve(broken, snapshot, "penalty", system=leg, cutoff=5)
        both = replace(app.retriever, index=_BrokenLeg(app.index, ("bm25", "dense")))
        with pytest.raises(IndexLegError):
            retrieve(both, snapshot, "penalty", system="rrf", cutoff=5)


def test_a_model_without_a_calibration_is_gated_by_distance_and_every_outcome_says_so(asked):
    _, outcome = asked(["It is 4 percent a day [1]."])
    assert outcome.decision.gate == outcome.provenance.gate == "reference"
    (note,) = [line for line in outcome.provenance.notes if "calibration" in line]
    assert "model" in note
    _, outcome = asked(["It is 4 percent a day [1]."], gate="reference")
    assert outcome.provenance.notes == ()


def test_a_named_calibration_of_another_stamp_is_a_configuration_error(make_app, folder, tmp_path):
    file = tmp_path / "gate.json"
    file.write_text(json.dumps(calibration_json(packaged_calibration())), encoding="utf-8")
    app = make_app(gate=f"calibrated:{file}")
    list(app.ingest(app.plan(folder(FILES))))
    with pytest.raises(ConfigurationError, match="model"):
        app.ask("penalty")


def test_a_calibration_made_for_this_store_is_used_and_shows_what_it_weighs(make_app, folder, tmp_path):
    file = tmp_path / "gate.json"
    first = make_app()
    list(first.ingest(first.plan(folder(FILES))))
    made = replace(packaged_calibration(), stamp=first.gate_stamp)
    made = replace(made, vectors=replace(made.vectors, threshold=-50.0))
    file.write_text(json.dumps(calibration_json(made)), encoding="utf-8")
    outcome = make_app(gate=f"calibrated:{file}", generator=ScriptedGenerator(["It is 4 percent [1]."])).ask(
        "late report penalty"
    )
    assert outcome.decision.gate == outcome.provenance.gate == "calibrated"
    assert outcome.provenance.notes == ()
    added = {name: value for name, value in outcome.decision.signals.items() if name.startswith("+")}
    assert sum(added.values()) == pytest.approx(outcome.decision.score)
    assert outcome.provenance.times_ms["gate"] >= 0
    strict = replace(made, vectors=replace(made.vectors, threshold=50.0))
    file.write_text(json.dumps(calibration_json(strict)), encoding="utf-8")
    refused = make_app(gate=f"calibrated:{file}").ask("late report penalty")
    assert isinstance(refused, Refusal)
    assert "score" in refused.message


def test_an_extractive_answer_is_supported_and_names_where_it_stands(asked):
    _, outcome = asked(None)
    assert {claim.status for claim in outcome.claims} == {"supported"}
    assert {claim.score for claim in outcome.claims} == {1.0}
    for claim in outcome.claims:
        for highlight in claim.highlights:
            (citation,) = [one for one in outcome.citations if one.marker == highlight.marker]
            assert citation.span.holds(highlight.span)
            assert parse(highlight.fragment) == CharRange(highlight.span.start, highlight.span.end)
            assert highlight.locator_label.startswith("line")
            assert highlight.span.slice(FILES[citation.document_name]) in citation.quote
    assert not {"unsupported_claims", "weak_claims", "foreign_references"} & set(outcome.flags)


def test_claims_are_recorded_with_their_verdicts(asked):
    app, outcome = asked(["It is 5 percent a day [1]. See https://evil.example [1]."])
    first, second = app.catalog.load_answer(outcome.id).body["claims"]
    assert first["status"] == "unsupported"
    assert first["missing"] == [{"kind": "number", "text": "5 percent"}]
    assert second["foreign"] == ["https://evil.example"]
    assert {"unsupported_claims", "foreign_references"} <= set(outcome.flags)


def test_a_strict_refusal_is_recorded_and_goes_with_a_purge_of_what_the_model_read(asked):
    app, outcome = asked(["It is 5 percent a day [1]."], strict=True)
    assert isinstance(outcome, Refusal)
    record = app.catalog.load_answer(outcome.id)
    assert record.status == "refused"
    assert record.body["refusal"]["unsupported"] == ["It is 5 percent a day [1]."]
    app.purge([app.find_document("b/second.md")])
    assert app.catalog.load_answer(outcome.id).body is None


def test_a_strict_assistant_gives_a_supported_answer(asked):
    _, outcome = asked(["The penalty for a late report is 4 percent a day [1]. That is all."], strict=True)
    assert outcome.text.startswith("The penalty")
