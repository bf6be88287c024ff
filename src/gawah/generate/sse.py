"""Bytes of a chat completion, streamed as server-sent events or as one JSON document, to pieces of text.

Server-sent events after the WHATWG HTML standard, section 9.2: lines end in LF, CR or CR LF, `data:` lines of one event
are joined, a blank line ends it, everything else is left aside.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from gawah.errors import GeneratorError

_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")  # a CR at the end may be half of a CR LF
_DONE = "[DONE]"
_FILTERED = "content_filter"
_TOO_LONG = "length"


class CutShortError(GeneratorError):
    """The answer reached a limit on its length before its end; half an answer is none."""


def read_completion(received: Iterable[bytes], server: str) -> Iterator[str]:
    """Pieces of the answer, as they come; which of the two forms it is shows in the first character.

    Raises GeneratorError for bytes that are not UTF-8, for what is no completion, for an error the server reports, for a
    stream that ends before its end, and for an answer that was cut off at a limit.
    """
    pieces = _decoded(received, server)
    first = ""
    for piece in pieces:
        first += piece
        if first.strip("\ufeff \t\r\n"):
            break
    if first.strip("\ufeff \t\r\n").startswith("{"):
        yield from _from_document(first + "".join(pieces), server)
    else:
        yield from _from_events(_events(_chain(first.removeprefix("\ufeff"), pieces)), server)


def parse_object(text: str) -> dict[str, Any] | None:
    """A JSON object, None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def error_text(body: dict[str, Any]) -> str | None:
    """What the server says went wrong, in the spellings that are about."""
    error = body.get("error", body.get("message", body.get("detail")))
    if isinstance(error, dict):
        error = error.get("message", error)
    return None if error is None else str(error)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _decoded(received: Iterable[bytes], server: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        for piece in received:
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise GeneratorError(f"{server} sent bytes that are not UTF-8; check what runs there") from error


def _events(pieces: Iterator[str]) -> Iterator[str]:
    """The data of each event; of a last one without its blank line too, which some servers leave out, if it is whole."""
    unfinished: list[str] = []  # of a line; joined only when it ends, so that a long one costs no more than its length
    data: list[str] = []
    for piece in pieces:
        if not piece:
            continue
        unfinished.append(piece)
        if "\n" not in piece and "\r" not in piece and unfinished[-2:-1] != ["\r"]:
            continue
        *lines, rest = _LINE_END.split("".join(unfinished))
        unfinished = [rest[:-1], "\r"] if rest.endswith("\r") else [rest]
        for line in lines:
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                yield "\n".join(data)
                data = []
    waiting = "".join(unfinished).strip()
    if waiting.startswith("data:"):
        data.append(waiting[5:].strip())
    last = "\n".join(data)
    if last == _DONE or parse_object(last) is not None:
        yield last


def _from_events(events: Iterator[str], server: str) -> Iterator[str]:
    n_events, finished = 0, False
    for event in events:
        n_events += 1
        if event.strip() == _DONE:
            finished = True
            break
        body = parse_object(event)
        if body is None:
            raise GeneratorError(f"{server} sent an event that is no JSON: {_excerpt(event)}; check what runs there")
        text, reason = _choice(body, "delta", server)
        if text:
            yield text
        finished = finished or bool(reason)
    if not n_events:
        raise GeneratorError(f"{server} sent nothing that is a chat completion; check the URL, it should end in /v1")
    if not finished:
        raise GeneratorError(f"the answer of {server} broke off half-way; ask again")


def _from_document(text: str, server: str) -> Iterator[str]:
    body = parse_object(text)
    if body is None:
        raise GeneratorError(f"{server} sent broken JSON: {_excerpt(text)}; check what runs there")
    answer, _ = _choice(body, "message", server)
    if answer:
        yield answer


def _choice(body: dict[str, Any], part: str, server: str) -> tuple[str, str]:
    """The text of the first choice and why it ended, empty while it has not."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        said = error_text(body)
        if said is not None:
            raise GeneratorError(f"{server} reports: {_excerpt(said)}")
        raise GeneratorError(f"{server} sent JSON that is no chat completion: {_excerpt(json.dumps(body))}")
    if not choices:  # usage figures come in an event of their own
        return "", ""
    choice = choices[0] if isinstance(choices[0], dict) else {}
    reason = choice.get("finish_reason") or ""
    if reason == _TOO_LONG:
        raise CutShortError(
            f"the answer of {server} was cut off by the limit on its length that is set there; "
            "ask for less, or raise that limit where the server is started"
        )
    if reason == _FILTERED:
        raise GeneratorError(f"the answer of {server} was cut off by its content filter; ask in other words")
    message = choice.get(part)
    content = message.get("content") if isinstance(message, dict) else None
    return _content_text(content), str(reason)


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # content parts
        return "".join(_content_text(item.get("text")) for item in content if isinstance(item, dict))
    return ""


def _excerpt(text: str, most_chars: int = 120) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: most_chars * 2]).split())
    return line if len(line) <= most_chars else line[:most_chars] + "…"
