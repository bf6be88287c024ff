"""A running server to replies: citations, refusals, and everything an endpoint can do wrong."""

from __future__ import annotations

import pytest

from gawah.errors import ConfigurationError, DeadlineError, GawahError, GeneratorError, UnreachableError
from gawah.eval.answers import Cited
from gawah.eval.server import answer_server, citations_of
from gawah.testing.generator import ChatServer, Reply, completion_reply, json_reply, stream_reply

OPEN_WEBUI = {
    "type": "url_citation",
    "url_citation": {"url": "http://h/a.md#char=1,9", "title": "a.md", "quote": "words"},
}
FLAT = {"type": "url_citation", "url": "http://h/b.md", "start_index": 0, "end_index": 3}


def message_reply(**message):
    return json_reply({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}]})


def reply_of(*replies, deadline_s=60.0, **options):
    with ChatServer(*replies) as server:
        options = {"model": "", "api_key": "", **options}
        return answer_server(server.url, deadline_s=deadline_s, **options)("How much?"), server.requests


def test_the_question_goes_out_and_nothing_else():
    _, (request,) = reply_of(completion_reply("40 EUR"), model="tiny", api_key="sk-1")
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == "Bearer sk-1"
    assert request.body == {
        "model": "tiny", "messages": [{"role": "user", "content": "How much?"}], "temperature": 0, "stream": False,
    }  # fmt: skip


def test_without_a_model_and_a_key_a_name_is_sent_and_no_key():
    _, (request,) = reply_of(completion_reply("40 EUR"))
    assert request.body["model"] == "gawah"
    assert "Authorization" not in request.headers


def test_both_shapes_of_url_citation_are_read_and_others_left_aside():
    reply, _ = reply_of(message_reply(content="40 EUR", annotations=[OPEN_WEBUI, {"type": "file_citation"}, 7, FLAT]))
    assert (reply.status, reply.text) == ("answered", "40 EUR")
    assert reply.citations == (Cited("a.md", "words"), Cited("http://h/b.md", None))


@pytest.mark.parametrize("annotations", [None, {}, "x", [None], [[]], [{"type": "url"}]])
def test_annotations_that_are_none_are_no_citations(annotations):
    reply, _ = reply_of(message_reply(content="40 EUR [9]", annotations=annotations))
    assert (reply.status, reply.text, reply.citations) == ("uncited", "40 EUR [9]", ())


def test_fields_of_the_wrong_kind_are_no_words():
    odd = {"type": "url_citation", "url_citation": {"title": 7, "url": ["x"], "quote": {"a": 1}, "content": " "}}
    assert citations_of({"annotations": [odd]}) == (Cited("", None),)


def test_the_message_field_of_a_refusal_is_a_refusal_whatever_else_it_says():
    reply, _ = reply_of(message_reply(content=None, refusal="nothing under 0.675"))
    assert (reply.status, reply.detail, reply.text) == ("refused", "nothing under 0.675", "")
    reply, _ = reply_of(message_reply(content="40 EUR", refusal=None))
    assert reply.status == "uncited"


def test_a_server_that_streams_all_the_same_is_understood():
    reply, _ = reply_of(stream_reply("40", " EUR"))
    assert (reply.status, reply.text) == ("uncited", "40 EUR")


BROKEN = {
    "a status": (json_reply({"error": "boom"}, 500), GeneratorError, "500: boom"),
    "no such route": (json_reply({}, 404), GeneratorError, "check --server and generator_model"),
    "a page": (Reply([b"<!doctype html>"]), GeneratorError, "no chat completion|nothing that is a chat completion"),
    "broken JSON": (Reply([b'{"choices": [']), GeneratorError, "broken JSON"),
    "other JSON": (json_reply({"hello": 1}), GeneratorError, "no chat completion"),
    "no choice": (json_reply({"choices": [7]}), GeneratorError, "empty answer"),
    "no words": (completion_reply(" \n"), GeneratorError, "empty answer"),
    "no UTF-8": (Reply([b"\xff\xfe"]), GeneratorError, "not UTF-8"),
    "deep JSON": (Reply([b'{"a":' * 100_000]), GeneratorError, "broken JSON"),
    "a cut connection": (Reply([b'{"choices"'], cut=True), GeneratorError, "broke"),
}


@pytest.mark.parametrize(("reply", "kind", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_answer_is_an_error_of_one_line(reply, kind, said):
    with pytest.raises(kind, match=said) as raised:
        reply_of(reply)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("pieces", [[], [b'{"choices": [{"message"']])
def test_a_server_that_hangs_is_left_at_the_deadline(pieces):
    with pytest.raises(DeadlineError):
        reply_of(Reply(pieces, hang=True), deadline_s=0.1)


def test_a_server_that_is_not_there_is_unreachable():
    with ChatServer(completion_reply("x")) as server:
        url = server.url
    with pytest.raises(UnreachableError, match="is it running"):
        answer_server(url, model="", api_key="", deadline_s=60)("x")


def test_the_whole_address_of_the_route_does_too():
    with ChatServer(completion_reply("40")) as server:
        for url in (server.url + "/", server.url + "/chat/completions", server.url + "/chat/completions/"):
            assert answer_server(url, model="", api_key="", deadline_s=60)("x").text == "40"


@pytest.mark.parametrize("url", ["", "h/v1", "ftp://h", "http://u:secret@h/v1", "http://h/v1?key=secret", "\0"])
def test_what_is_no_url_is_an_error_that_names_the_option(url):
    with pytest.raises(ConfigurationError, match="--server") as raised:
        answer_server(url, model="", api_key="", deadline_s=60)
    assert isinstance(raised.value, GawahError)
    assert "secret" not in str(raised.value)
