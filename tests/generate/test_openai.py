"""The OpenAI-compatible generator, against a real server that does everything an endpoint can do wrong."""

import json
import logging
import socket
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import ConfigurationError, DeadlineError, GeneratorError, UnreachableError
from gawah.generate.endpoint import Clock, Limits
from gawah.generate.openai import OpenAIGenerator
from gawah.generate.sse import CutShortError, read_completion
from gawah.testing.generator import (
    ChatServer,
    GeneratorContract,
    Reply,
    completion_reply,
    json_reply,
    make_prompt,
    stream_reply,
)

PROMPT = make_prompt("What is the fee?", "The fee is 40 EUR.")
KEY = "sk-secret-key-123"
QUICK = Limits(connect_s=5, read_s=0.1, deadline_s=20)


class Watch:
    """A clock that waits by moving its hands."""

    def __init__(self):
        self.time_s = 1000.0
        self.pauses = []

    def sleep(self, seconds):
        self.pauses.append(seconds)
        self.time_s += seconds

    @property
    def clock(self):
        return Clock(lambda: self.time_s, lambda: self.time_s, self.sleep)


def draft(server, **options):
    generator = OpenAIGenerator(server.url, "tiny", **options)
    return "".join(part.text for part in generator.generate(PROMPT))


def error(kind, *replies, **options):
    with ChatServer(*replies) as server, pytest.raises(kind) as raised:
        draft(server, **options)
    message = str(raised.value)
    assert type(raised.value) is kind
    assert "\n" not in message
    assert len(message) < 700
    assert KEY not in message
    return message


class TestOpenAIGenerator(GeneratorContract):
    @pytest.fixture(autouse=True)
    def server(self):
        with ChatServer(stream_reply("The fee", " is 40 EUR [1].")) as self.chat:
            yield

    def make_generator(self):
        return OpenAIGenerator(self.chat.url, "tiny")


def test_a_stream_becomes_parts_as_they_come_none_of_them_verbatim():
    with ChatServer(stream_reply("The fee", " is ४० €", " [1].")) as server:
        parts = list(OpenAIGenerator(server.url, "tiny").generate(PROMPT))
    assert [(part.text, part.verbatim) for part in parts] == [("The fee", False), (" is ४० €", False), (" [1].", False)]


def test_the_request_is_greedy_streamed_and_carries_prompt_and_key():
    with ChatServer(stream_reply("Yes")) as server:
        draft(server, api_key=KEY)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "tiny",
        "messages": [{"role": "system", "content": PROMPT.system}, {"role": "user", "content": PROMPT.user}],
        "temperature": 0,
        "stream": True,
    }


def test_without_a_key_none_is_sent_and_a_slash_at_the_end_of_the_url_does_no_harm():
    with ChatServer(stream_reply("Yes")) as server:
        assert "".join(p.text for p in OpenAIGenerator(server.url + "/", "tiny").generate(PROMPT)) == "Yes"
    assert "Authorization" not in server.requests[0].headers
    assert server.requests[0].path == "/v1/chat/completions"


def test_a_server_that_does_not_stream_is_understood():
    with ChatServer(completion_reply("The fee is 40 EUR [1].")) as server:
        assert draft(server) == "The fee is 40 EUR [1]."


EVENTS = stream_reply("The fee is ४० €", " [1].").pieces
ODD_STREAMS = {
    "CR LF": [piece.replace(b"\n", b"\r\n") for piece in EVENTS],
    "CR": [piece.replace(b"\n", b"\r") for piece in EVENTS],
    "comments and other fields": [b": hello\n\nevent: x\nid: 1\nretry: 5\n\n", *EVENTS],
    "no blank after the colon": [piece.replace(b"data: ", b"data:") for piece in EVENTS],
    "no last blank line": [*EVENTS[:-1], b"data: [DONE]"],
    "no DONE": EVENTS[:-1],
    "a byte at a time": [bytes([byte]) for byte in b"".join(EVENTS)],
    "a byte order mark": [b"\xef\xbb\xbf", *EVENTS],
    "all at once": [b"".join(EVENTS)],
    "usage without choices": [*EVENTS[:-1], b'data: {"choices": [], "usage": {"total_tokens": 9}}\n\n', EVENTS[-1]],
    "words after the end": [*EVENTS, b'data: {"choices": [{"delta": {"content": "more"}}]}\n\n'],
    "null content": [b'data: {"choices": [{"delta": {"content": null}}]}\n\n', *EVENTS],
}


@pytest.mark.parametrize("pieces", ODD_STREAMS.values(), ids=ODD_STREAMS.keys())
def test_every_shape_of_stream_that_is_about_is_understood(pieces):
    with ChatServer(Reply(pieces, headers={"Content-Type": "text/plain"})) as server:
        assert draft(server) == "The fee is ४० € [1]."


def test_a_json_body_with_content_parts_and_blanks_before_it_is_understood():
    message = {"content": [{"type": "text", "text": "The fee"}, {"type": "text", "text": " is 40."}]}
    body = b"\n  " + json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
    with ChatServer(Reply([body])) as server:
        assert draft(server) == "The fee is 40."


# --- busy


def test_a_busy_server_is_asked_again_after_the_time_it_says():
    watch = Watch()
    busy = json_reply({"error": {"message": "slow down"}}, 429, Retry_After="7")
    with ChatServer(busy, busy, stream_reply("Yes")) as server:
        assert draft(server, clock=watch.clock) == "Yes"
    assert watch.pauses == [7.0, 7.0]
    assert len(server.requests) == 3


def test_retry_after_may_be_a_date_or_missing():
    watch = Watch()
    date = json_reply({}, 503, Retry_After=formatdate(1012, usegmt=True))
    with ChatServer(date, json_reply({}, 503), json_reply({}, 429, Retry_After="soon"), stream_reply("Yes")) as server:
        assert draft(server, clock=watch.clock) == "Yes"
    assert watch.pauses == [12.0, 2.0, 4.0]


def test_a_server_that_stays_busy_is_given_up_after_the_last_try():
    watch = Watch()
    message = error(
        UnreachableError,
        json_reply({"error": {"message": "rate limit reached"}}, 429, Retry_After="1"),
        clock=watch.clock,
    )
    assert "429" in message
    assert "rate limit reached" in message
    assert "4 tries" in message
    assert watch.pauses == [1.0, 1.0, 1.0]


def test_a_wait_beyond_the_deadline_is_not_waited():
    watch = Watch()
    message = error(UnreachableError, json_reply({}, 429, Retry_After="3600"), clock=watch.clock, deadline_s=60)
    assert "3600 s" in message
    assert watch.pauses == []


# --- not there, not in time


def test_a_refused_connection_is_unreachable():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    with pytest.raises(UnreachableError, match="is it running"):
        list(OpenAIGenerator(url, "tiny").generate(PROMPT))


def test_a_proxy_that_cannot_be_used_is_a_configuration_error(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks9://127.0.0.1:9")
    generator = OpenAIGenerator("http://endpoint.example/v1", "m")
    with pytest.raises(ConfigurationError, match="the environment's proxy or certificates cannot be used"):
        list(generator.generate(make_prompt("fee", "The fee is 40 EUR.")))


def test_a_name_that_does_not_resolve_is_unreachable():
    with pytest.raises(UnreachableError):
        list(OpenAIGenerator("http://no-such-host.invalid/v1", "tiny", limits=Limits(connect_s=5)).generate(PROMPT))


def test_silence_before_and_within_the_answer_is_not_in_time():
    assert "in time" in error(DeadlineError, Reply(hang=True), limits=QUICK)
    cut_short = Reply(stream_reply("The fee", done=False, reason=None).pieces, hang=True)
    assert "in time" in error(DeadlineError, cut_short, limits=QUICK)


def test_a_silence_longer_than_the_deadline_is_not_waited_out():
    """The longest silence that is allowed is an hour: what ends the wait is the deadline."""
    patient = Limits(connect_s=3600, read_s=3600)
    assert "in time" in error(DeadlineError, Reply(hang=True), limits=patient, deadline_s=0.1)


def test_silence_of_a_server_that_accepts_and_says_nothing_is_not_in_time():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}/v1"
        with pytest.raises(DeadlineError, match="in time"):
            list(OpenAIGenerator(url, "tiny", limits=QUICK).generate(PROMPT))


def test_an_answer_that_trickles_beyond_the_deadline_is_given_up():
    watch = Watch()
    with ChatServer(stream_reply(*["word "] * 50)) as server:
        parts = OpenAIGenerator(server.url, "tiny", clock=watch.clock, deadline_s=30).generate(PROMPT)
        assert next(parts).text == "word "
        watch.time_s += 31
        with pytest.raises(DeadlineError, match="too long") as raised:
            list(parts)
    assert raised.value.exit_code == 7


# --- answers that are none


def test_an_error_status_brings_the_servers_own_line():
    said = error(GeneratorError, json_reply({"error": {"message": "model 'tiny'\nnot found"}}, 404))
    assert "404: model 'tiny' not found; check openai_url and generator_model" in said
    assert "check openai_key" in error(GeneratorError, json_reply({"error": "no"}, 401), api_key=KEY)
    assert "422: bad field" in error(GeneratorError, json_reply({"detail": "bad field"}, 422))
    assert "500: <html> boom" in error(GeneratorError, Reply([b"<html>\n\x1b[31mboom"], 500)).replace("[31m", "")
    assert "302" in error(GeneratorError, Reply(status=302, headers={"Location": "http://127.0.0.1:9/"}))


def test_a_key_that_the_server_repeats_is_not_shown():
    said = error(GeneratorError, json_reply({"error": {"message": f"Incorrect key {KEY} given"}}, 401), api_key=KEY)
    assert "Incorrect key *** given" in said


GARBAGE = {
    "an HTML page": (Reply([b"<!doctype html><p>Welcome"]), "nothing that is a chat completion"),
    "no bytes": (Reply(), "nothing that is a chat completion"),
    "broken JSON": (Reply([b'{"choices": [']), "broken JSON"),
    "deep JSON": (Reply([b'{"a":' * 100_000]), "broken JSON"),
    "JSON of something else": (json_reply({"hello": 1}), "no chat completion"),
    "an error with status 200": (json_reply({"error": {"message": "out of memory"}}), "reports: out of memory"),
    "an event that is no JSON": (Reply([b"data: hello\n\n"]), "no JSON"),
    "an event that is no object": (Reply([b"data: [1]\n\n"]), "no JSON"),
    "an error within the stream": (Reply([*EVENTS[:2], b'data: {"error": "gone"}\n\n']), "reports: gone"),
    "bytes that are not UTF-8": (Reply([*EVENTS[:2], b"data: \xff\xfe\n\n"]), "not UTF-8"),
    "half a character at the end": (Reply([b'{"choices": "\xe0\xa4']), "not UTF-8"),
    "an empty answer": (stream_reply(), "empty answer"),
    "an answer of blanks": (stream_reply(" ", "\n"), "empty answer"),
    "an empty document": (completion_reply(""), "empty answer"),
    "choices that are none": (json_reply({"choices": [None]}), "empty answer"),
    "no end": (stream_reply("The fee", done=False, reason=None), "half-way"),
    "an end within an event": (Reply([*EVENTS[:2], b'data: {"choices": [{"del']), "half-way"),
    "a cut connection": (stream_reply("The fee", done=False, reason=None, cut=True), "broke"),
    "a filter": (stream_reply("The fee", reason="content_filter"), "content filter"),
}


def test_an_answer_that_is_cut_short_says_by_whose_limit():
    said = error(CutShortError, stream_reply("The fee", reason="length"))
    assert "was cut off by the limit on its length that is set there; ask for less, or raise that limit where" in said


@pytest.mark.parametrize(("reply", "said"), GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_is_an_error_that_says_what_came(reply, said):
    assert said in error(GeneratorError, reply)


def test_an_answer_that_does_not_stop_is_cut_off_with_an_error():
    megabyte = "word " * 200_000
    assert "longer than 20000 characters" in error(GeneratorError, stream_reply(*[megabyte] * 10))
    assert "longer than 20000 characters" in error(GeneratorError, completion_reply(megabyte * 10))
    assert "more than" in error(GeneratorError, Reply([b"data: " + b"x" * 12_000_000]))
    assert "500" in error(GeneratorError, Reply([b"x" * 5_000_000], 500))


def test_an_error_half_way_comes_after_the_parts_that_came():
    with ChatServer(stream_reply("The fee", done=False, reason=None)) as server:
        parts = OpenAIGenerator(server.url, "tiny").generate(PROMPT)
        assert next(parts).text == "The fee"
        with pytest.raises(GeneratorError, match="half-way"):
            next(parts)


# --- settings


def test_the_key_is_in_no_representation_and_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    with ChatServer(json_reply({}, 401)) as server:
        generator = OpenAIGenerator(server.url, "tiny", KEY)
        with pytest.raises(GeneratorError):
            list(generator.generate(PROMPT))
    assert KEY not in repr(generator)
    assert KEY not in caplog.text
    assert KEY not in generator.name


@pytest.mark.parametrize("key", ["schlüssel", "a\nb", " sk", "sk\r\nX-Evil: 1", "sk\x00"])
def test_a_key_that_cannot_be_sent_is_a_configuration_error_that_does_not_show_it(key):
    with pytest.raises(ConfigurationError) as raised:
        OpenAIGenerator("http://127.0.0.1:1/v1", "tiny", key)
    assert key not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:11434/v1",
        "file:///etc/passwd",
        "http://",
        "http://user:pw@host/v1",
        "http://h/v1?key=1",
        "http://h:x/",
        "\0",
    ],
)
def test_a_url_that_cannot_be_used_is_a_configuration_error(url):
    with pytest.raises(ConfigurationError, match="openai_url") as raised:
        OpenAIGenerator(url, "tiny")
    assert "pw" not in str(raised.value)


# --- reading, without a server


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5), st.data())
def test_any_cut_of_the_bytes_reads_the_same(texts, data):
    body = b"".join(stream_reply(*texts).pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert "".join(read_completion(pieces, "it")) == "".join(texts)


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_any_bytes_are_read_or_refused(pieces):
    try:
        found = list(read_completion(pieces, "it"))
    except GeneratorError as raised:
        found = [str(raised)]
        one_line = "\n" not in found[0]
    else:
        one_line = True
    assert one_line
    assert all(isinstance(text, str) for text in found)
