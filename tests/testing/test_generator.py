"""The scripted generator keeps the contract, and the test server is a real one."""

import subprocess
import sys

import httpx
import pytest

from gawah.errors import GeneratorError
from gawah.testing.generator import (
    ChatServer,
    GeneratorContract,
    ScriptedGenerator,
    completion_reply,
    make_prompt,
    make_source,
    stream_reply,
)
from gawah.types import DraftPart


class TestScriptedGenerator(GeneratorContract):
    def make_generator(self):
        return ScriptedGenerator(["The fee is 40 EUR", " [1]."])


def test_drafts_come_in_order_and_the_last_one_stays():
    generator, prompt = ScriptedGenerator(["one"], [DraftPart("two", verbatim=True)]), make_prompt("q", "c")
    drafts = [list(generator.generate(prompt)) for _ in range(3)]
    assert drafts == [[DraftPart("one")], [DraftPart("two", verbatim=True)], [DraftPart("two", verbatim=True)]]
    assert generator.prompts == [prompt] * 3


def test_a_scripted_error_is_raised_half_way():
    draft = ScriptedGenerator(["one", GeneratorError("it broke")]).generate(make_prompt("q", "c"))
    assert next(draft).text == "one"
    with pytest.raises(GeneratorError, match="it broke"):
        next(draft)


def test_a_made_source_is_a_span_of_its_document():
    source = make_source(2, "content", before="two\nlines\n")
    assert source.passage.chunk.span.slice("two\nlines\ncontent") == "content"
    assert source.passage.locator.first_line == 3


def test_the_server_answers_in_order_and_remembers_what_it_was_asked():
    once = httpx.Limits(max_keepalive_connections=0)  # the server closes after each reply, and does not say so
    with (
        ChatServer(completion_reply("one"), stream_reply("two")) as server,
        httpx.Client(trust_env=False, limits=once) as client,
    ):
        first = client.post(f"{server.url}/chat/completions", json={"n": 1})
        second = client.post(f"{server.url}/chat/completions", json={"n": 2})
    assert first.json()["choices"][0]["message"]["content"] == "one"
    assert "two" in second.text
    assert [request.body for request in server.requests] == [{"n": 1}, {"n": 2}]


def test_it_is_imported_without_a_test_runner():
    code = "import sys, gawah.testing.generator; sys.exit('pytest' in sys.modules or 'httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
