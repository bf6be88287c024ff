"""Tokens of an answer: those of the generator where it can count, else the encoder's."""

import pytest

from gawah.api.usage import usage_of
from gawah.errors import GeneratorError
from gawah.testing.generator import ScriptedGenerator


class Counting(ScriptedGenerator):
    def count_tokens(self, texts):
        return [1000 + len(text) for text in texts]


@pytest.fixture
def ask(make_app, folder):
    def asked(question, generator):
        app = make_app(generator=generator)
        list(app.ingest(app.plan(folder({"lamp.md": "# Lamp\n\nThe lamp is lit at dusk by the keeper.\n"}))))
        outcome = app.ask(question)
        return outcome, usage_of(app.assistant, outcome)

    return asked


def test_a_generator_that_counts_is_believed(ask):
    outcome, usage = ask("When is the lamp lit?", Counting(["It is lit at dusk. [1]"]))
    assert usage["completion_tokens"] == 1000 + len(outcome.text)
    assert usage["prompt_tokens"] == 1000 + outcome.provenance.n_prompt_chars + 1
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_generator_that_cannot_count_now_costs_no_answer(ask):
    class Failing(ScriptedGenerator):
        def count_tokens(self, texts):
            raise GeneratorError("the model is gone")

    _, usage = ask("When is the lamp lit?", Failing(["It is lit at dusk. [1]"]))
    assert 5 <= usage["completion_tokens"] <= 20


def test_a_refusal_asks_no_generator(make_app):
    app = make_app(generator=Counting(["never"]))
    app.catalog.generation_for(app.embedder.stamp)
    assert usage_of(app.assistant, app.ask("When is the lamp lit?"))["prompt_tokens"] < 1000


def test_else_the_encoder_counts(ask):
    outcome, usage = ask("When is the lamp lit?", ScriptedGenerator(["It is lit at dusk. [1]"]))
    assert 5 <= usage["completion_tokens"] <= 20
    assert usage["prompt_tokens"] < outcome.provenance.n_prompt_chars
