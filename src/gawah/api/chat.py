"""OpenAI's chat completions over the same answers: what speaks that protocol can ask, and gets its citations as annotations.

The model `gawah` asks everything, `gawah/COLLECTION` one collection. A refusal is content, and `refusal` says that it is one.
The whole outcome, as every other interface gives it, is beside it under `gawah`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from gawah.api import sse
from gawah.api.access import Principal
from gawah.api.answers import Question, answered, noted, sentences
from gawah.api.conversation import condense, user_questions
from gawah.api.problems import ProblemError, problem_json, problems, request_id_of
from gawah.api.schemas import MAX_QUESTION_CHARS, ChatRequest
from gawah.api.served import Asker, Served, ServedStore
from gawah.api.usage import Usage, usage_of
from gawah.envelope import outcome_json
from gawah.types import Filter, Outcome

router = APIRouter(prefix="/v1", tags=["openai"])
MODEL = "gawah"
_DONE = b"data: [DONE]\n\n"
_OBJECT = {"type": "object", "additionalProperties": True}
_ANY_JSON = {"content": {"application/json": {"schema": _OBJECT}}, "description": "As OpenAI's API describes it"}


@router.get("/models", response_model=None, responses={200: _ANY_JSON, **problems()})
async def list_models(*, store: ServedStore, who: Asker) -> Response:
    """`gawah`, and one model for each collection."""

    def collections() -> list[str]:
        with store.app.catalog.snapshot() as snapshot:
            return list(dict.fromkeys(row[0] for row in snapshot.counts()))

    names = [MODEL, *(f"{MODEL}/{name}" for name in await store.read(collections) if who.sees(name))]
    models = [{"id": name, "object": "model", "created": 0, "owned_by": MODEL} for name in names]
    return JSONResponse({"object": "list", "data": models})


_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {**_ANY_JSON, "content": {**_ANY_JSON["content"], sse.EVENT_STREAM: {"schema": {"type": "string"}}}},  # type: ignore[dict-item]
    **problems(404, 409, 502, 504, 507),
}


@router.post("/chat/completions", response_model=None, responses=_RESPONSES)
async def complete(*, request: Request, asked: ChatRequest, store: ServedStore, who: Asker) -> Response:
    """Answers the last of the user's turns; the turns before it lend it their words when it cannot stand alone."""
    text = condense(user_questions(asked.messages))
    if len(text) > MAX_QUESTION_CHARS:
        raise ProblemError(422, "invalid", f"a question may have {MAX_QUESTION_CHARS:,} characters")
    question = Question(text, _filter(asked.model, who))
    if asked.stream:
        counts = bool((asked.stream_options or {}).get("include_usage"))
        return sse.stream(_chunks(request, store, who, question, asked.model, counts=counts))

    def counted() -> tuple[Outcome, Usage]:
        outcome = answered(store, who, question, None)
        return outcome, usage_of(store.app.assistant, outcome)

    outcome, usage = await store.ask(counted)
    noted(request, who, outcome)
    return JSONResponse(completion(outcome_json(outcome), asked.model, usage))


def _filter(model: str, who: Principal) -> Filter | None:
    name, _, collection = model.partition("/")
    if name != MODEL:
        raise ProblemError(
            404, "not_found", f"there is no model of that name; GET /v1/models lists them, {MODEL} asks everything"
        )
    return who.narrowed(Filter((collection,) if collection else ()))


def completion(body: dict[str, Any], model: str, usage: Usage) -> dict[str, Any]:
    """An outcome as a chat completion."""
    message = {"role": "assistant", "content": said(body), "refusal": refused(body), "annotations": url_citations(body)}
    return {
        **_frame(body["answer_id"], model, "chat.completion"),
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": usage,
        "gawah": body,
    }


def said(body: dict[str, Any]) -> str:
    return str(body["refusal"]["message"] if body["refusal"] else body["answer"])


def refused(body: dict[str, Any]) -> str | None:
    return str(body["refusal"]["message"]) if body["refusal"] else None


def url_citations(body: dict[str, Any]) -> list[dict[str, Any]]:
    """One for each marker in the text, with the place of the marker and what it stands for.

    `url` is the citation's own; `source` is where this server gives the very version that was cited.
    """
    by_marker = {citation["marker"]: citation for citation in body["citations"]}
    found = []
    for mark in body["marks"]:
        citation = by_marker[mark["marker"]]
        version = f"?sha256={citation['file_sha256']}{citation['fragment']}"
        found.append(
            {
                "type": "url_citation",
                "url_citation": {
                    "start_index": mark["from"],
                    "end_index": mark["to"],
                    "url": citation["url"],
                    "title": " · ".join(dict.fromkeys((citation["document"], citation["label"]))),
                    "quote": citation["quote"],
                    "source": f"/v1/documents/{citation['document_id']}/original{version}",
                },
            }
        )
    return found


async def _chunks(
    request: Request, store: Served, who: Principal, question: Question, model: str, *, counts: bool
) -> AsyncIterator[bytes]:
    """The role, the sentences, then a chunk with what can only be known at the end, one of usage if it was asked for, and
    `[DONE]`.
    """
    frame = _frame(request_id_of(request), model, "chat.completion.chunk")
    yield sse.data(_chunk(frame, {"role": "assistant", "content": ""}))
    is_told = False
    try:
        async for sentence in sentences(store, who, question):
            if isinstance(sentence, str):
                yield sse.data(_chunk(frame, {"content": sentence}))
                is_told = True
                continue
            noted(request, who, sentence)
            body = outcome_json(sentence)
            if not is_told:  # a refusal; or a strict answer, which is told when it has been checked
                yield sse.data(_chunk(frame, {"content": said(body), "refusal": refused(body)}))
            last = _chunk(frame, {"annotations": url_citations(body)}, "stop")
            yield sse.data({**last, "gawah": body})
            if counts:
                usage = await store.read(usage_of, store.app.assistant, sentence)
                yield sse.data({**frame, "choices": [], "usage": usage})
    except ProblemError as error:
        found = problem_json(error, request_id_of(request))
        yield sse.data(
            {
                "error": {"message": error.detail, "type": error.code, "code": error.code, "param": None},
                "problem": found,
            }
        )
    yield _DONE


def _frame(answer_id: str, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{answer_id}", "object": kind, "created": int(time.time()), "model": model}


def _chunk(frame: dict[str, Any], delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {**frame, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}]}
