"""A question to the reply of a running server that answers from its own documents: the question goes out, no sources.

Any OpenAI-compatible `/v1/chat/completions` does. Citations are read from `url_citation` annotations, a refusal from
the message's `refusal`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gawah.errors import GeneratorError
from gawah.eval.answers import Cited, Reply
from gawah.generate.endpoint import Endpoint, Limits
from gawah.generate.sse import parse_object, read_completion

DEFAULT_MODEL = "gawah"  # the field is required, and a server with one model does not look at it
URL_OPTION = "--server"
_COMPLETIONS = "/chat/completions"
_QUOTE_FIELDS = ("quote", "content", "snippet")
_NAME_FIELDS = ("title", "url")
_MOST_CHARS = 200_000  # of an answer with the quotes that come with it


@dataclass(frozen=True, slots=True)
class AnswerServer:
    """Asks one server; threads may share it."""

    endpoint: Endpoint
    model: str
    deadline_s: float

    def __call__(self, question: str) -> Reply:
        """Raises DeadlineError, UnreachableError and GeneratorError, as a generator over the same endpoint does."""
        request = {
            "model": self.model,
            "messages": [{"role": "user", "content": question}],
            "temperature": 0,
            "stream": False,
        }
        with contextlib.closing(self.endpoint.received(request, self.deadline_s)) as received:
            body = b"".join(received)
        message = _message(body)
        if said := _words(message.get("refusal")):
            return Reply("refused", detail=said)
        text = "".join(read_completion([body], self.endpoint.server))
        if not text.strip():
            raise GeneratorError(f"{self.endpoint.server} gave an empty answer; check what runs there")
        citations = citations_of(message)
        return Reply("answered" if citations else "uncited", text, citations)


def answer_server(url: str, *, model: str, api_key: str, deadline_s: float) -> AnswerServer:
    """The server at a URL that ends in /v1, or in /v1/chat/completions. Raises ConfigurationError for what is no URL."""
    base = url.rstrip("/").removesuffix(_COMPLETIONS)
    limits = Limits(connect_s=deadline_s, read_s=deadline_s, deadline_s=deadline_s, max_answer_chars=_MOST_CHARS)
    return AnswerServer(Endpoint(base, api_key, limits, named=URL_OPTION), model or DEFAULT_MODEL, deadline_s)


def citations_of(message: Mapping[str, Any]) -> tuple[Cited, ...]:
    """The `url_citation` annotations of a message, in order, in either shape that is about; others are left aside."""
    annotations = message.get("annotations")
    found = []
    for item in annotations if isinstance(annotations, list) else ():
        if not isinstance(item, dict) or item.get("type") != "url_citation":
            continue
        nested = item.get("url_citation")
        fields = nested if isinstance(nested, dict) else item
        named = next((words for name in _NAME_FIELDS if (words := _words(fields.get(name)))), "")
        quote = next((words for name in _QUOTE_FIELDS if (words := _words(fields.get(name)))), None)
        found.append(Cited(named, quote))
    return tuple(found)


def _message(body: bytes) -> Mapping[str, Any]:
    """The first choice's message; empty for what has none, which `read_completion` complains about."""
    parsed = parse_object(body.decode("utf-8", errors="replace")) or {}
    choices = parsed.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else {}


def _words(value: object) -> str:
    return value if isinstance(value, str) and value.strip() else ""
