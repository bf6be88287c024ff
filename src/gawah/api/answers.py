"""Search, and answers: as one JSON body or sentence by sentence, recorded, looked at again, verified."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse, Response

from gawah.api import sse
from gawah.api.access import Principal
from gawah.api.logs import audit, log
from gawah.api.once import REPLAYED, IdempotencyKey, at_once, made_before, once_key
from gawah.api.pages import PAGE, Cursor, Limit, cursor_of, number_in
from gawah.api.problems import ProblemError, problem, problem_json, problems, request_id_of
from gawah.api.schemas import (
    AnswerBody,
    AnswerPage,
    AnswerRequest,
    AskRequest,
    SearchBody,
    SearchRequest,
    VerificationBody,
)
from gawah.api.served import Asker, Reader, Served, ServedStore, Stop
from gawah.api.viewer_schemas import CitedNow
from gawah.envelope import hits_json, outcome_json
from gawah.errors import NotFoundError, StoreError
from gawah.fingerprint import sha256_json
from gawah.store.uploads import OnceKey
from gawah.types import AnswerRecord, Filter, Outcome
from gawah.verify import find_again, verification_json

router = APIRouter(prefix="/v1", tags=["answers"])
ROUTE = "answers"
Marker = Annotated[int, Path(ge=1, le=100_000)]


class AskerLeftError(Exception):
    """Nobody waits for the answer any more: it is not written to its end and not recorded."""


def filter_of(asked: AnswerRequest, who: Principal) -> Filter | None:
    return who.narrowed(Filter(tuple(asked.collections), tuple(asked.documents), tuple(asked.media_types)))


@router.post("/search", response_model=None, responses={200: {"model": SearchBody}, **problems(404, 409)})
async def search(*, asked: SearchRequest, store: ServedStore, who: Reader) -> Response:
    """Ranked passages; nothing is gated, nothing generated, nothing recorded."""
    only = filter_of(asked, who)
    found = await store.ask(
        lambda: store.app.search(asked.question, system=asked.system, cutoff=asked.cutoff, only=only)
    )
    return JSONResponse(
        hits_json(found.passages, found.system, asked.question, found.generation, found.degraded, found.notes)
    )


_STREAM = {sse.EVENT_STREAM: {"schema": {"type": "string"}}}


@router.post(
    "/answers",
    response_model=None,
    responses={200: {"model": AnswerBody, "content": _STREAM}, **problems(404, 409, 502, 504, 507)},
)
async def ask(
    *, request: Request, asked: AskRequest, store: ServedStore, who: Asker, idempotency_key: IdempotencyKey = None
) -> Response:
    """Answers with citations, or refuses (200 with the status `refused`). What comes is what `gawah ask --json` prints.

    With `Accept: text/event-stream`: `sentence` events, each when its markers are resolved, then exactly one of `answer`,
    `refusal` and `error`.
    """
    only = filter_of(asked, who)
    once = once_key(who.id, ROUTE, idempotency_key, sha256_json(asked.model_dump()))
    streamed = sse.EVENT_STREAM in request.headers.get("accept", "")
    if body := await _given_before(store, once):
        return sse.stream(_replayed(body)) if streamed else JSONResponse(body, headers=REPLAYED)
    question = Question(asked.question, only, once, asked.self_check)
    if streamed:
        return sse.stream(_streamed(request, store, who, question))
    with at_once(store, who.id, ROUTE, idempotency_key):
        if body := await _given_before(store, once):  # by one that was under way a moment ago
            return JSONResponse(body, headers=REPLAYED)
        outcome = await store.ask(lambda: answered(store, who, question, None))
    noted(request, who, outcome)
    return JSONResponse(outcome_json(outcome))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of which documents, how it is known again, and against how many samples its claims are held."""

    text: str
    only: Filter | None
    once: OnceKey | None = None
    n_samples: int = 0


def answered(store: Served, who: Principal, question: Question, heard: Callable[[str], None] | None) -> Outcome:
    """Asks, and notes who did. Runs in a thread of the pool; counts what came of it."""
    outcome: Outcome | None = None
    try:
        outcome = store.app.ask(question.text, only=question.only, heard=heard, self_check=question.n_samples)
    finally:
        status = "failed" if outcome is None else str(outcome_json(outcome)["status"])
        store.metrics.count("gawah_answers_total", status=status)
    store.metrics.count("gawah_citations_total", len(getattr(outcome, "citations", ())))
    try:
        store.app.uploads.note_asker(outcome.id, who.id, question.once)
    except StoreError as error:  # as with an answer that cannot be recorded: it is given all the same
        log("warning", answer_id=outcome.id, error=f"who asked is not noted: {error}")
    return outcome


def noted(request: Request, who: Principal, outcome: Outcome) -> None:
    audit("ask", key=who.id, request_id=request_id_of(request), answer_id=outcome.id)
    for line in outcome.provenance.degraded:
        log("warning", request_id=request_id_of(request), degraded=line)


async def _given_before(store: Served, once: OnceKey | None) -> dict[str, Any] | None:
    """The outcome that the same request with the same Idempotency-Key got."""
    made = await made_before(store, once)
    return None if made is None else _body_of(await store.read(store.app.catalog.load_answer, made["answer"]))


async def _replayed(body: dict[str, Any]) -> AsyncIterator[bytes]:
    yield _terminal(body)


async def _streamed(request: Request, store: Served, who: Principal, question: Question) -> AsyncIterator[bytes]:
    """Sentences, then one terminal event."""
    try:
        with at_once(store, who.id, ROUTE, question.once.idempotency if question.once else None):
            if body := await _given_before(store, question.once):
                yield _terminal(body)
                return
            at = 0
            async for sentence in sentences(store, who, question):
                if isinstance(sentence, str):
                    yield sse.event("sentence", {"from": at, "to": at + len(sentence), "text": sentence})
                    at += len(sentence)
                else:
                    noted(request, who, sentence)
                    yield _terminal(outcome_json(sentence))
    except ProblemError as error:
        yield sse.event("error", problem_json(error, request_id_of(request)))


async def sentences(store: Served, who: Principal, question: Question) -> AsyncIterator[str | Outcome]:
    """An answer's sentences as they are written, then the outcome. ProblemError for whatever keeps it from coming.

    When the reader leaves, the thread that writes is told, and ends at its next word.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue()
    stop = Stop()

    def heard(sentence: str) -> None:
        if stop.is_set():
            raise AskerLeftError
        loop.call_soon_threadsafe(queue.put_nowait, sentence)

    future = store.ask(lambda: answered(store, who, question, heard))
    future.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (sentence := await queue.get()) is not None:
            yield sentence
        error = future.exception()
        if error is not None:
            found = problem(error)
            if found.code == "internal":
                log("error", error=f"{type(error).__name__}: {error}")
            raise found
        yield future.result()
    finally:
        stop.set()
        future.cancel()


def _terminal(body: dict[str, Any]) -> bytes:
    return sse.event("answer" if body["status"] == "answered" else "refusal", body)


@router.get("/answers", response_model=None, responses={200: {"model": AnswerPage}, **problems()})
async def list_answers(*, store: ServedStore, who: Asker, limit: Limit = PAGE, cursor: Cursor = "") -> Response:
    """Recorded outcomes, newest first: one's own; with the scope admin over all collections all of them. Emptied ones have no question."""
    whose = None if who.sees_everybodys_answers() else who.id
    found = await store.read(store.app.uploads.newest_answers, number_in(cursor), limit + 1, whose)
    next_cursor = cursor_of(found[limit - 1]["seq"]) if len(found) > limit else None
    answers = [
        {"answer_id": one["id"], "created_at": one["created_at"], "status": one["status"], "question": one["question"]}
        for one in found[:limit]
    ]
    return JSONResponse({"answers": answers, "next_cursor": next_cursor})


@router.get("/answers/{answer_id}", response_model=None, responses={200: {"model": AnswerBody}, **problems(404)})
async def get_answer(*, store: ServedStore, who: Asker, answer_id: str) -> Response:
    """A recorded outcome, as it was given."""
    return JSONResponse(_body_of(await store.read(_own_answer, store, who, answer_id)))


@router.get(
    "/answers/{answer_id}/verification",
    response_model=None,
    responses={200: {"model": VerificationBody}, **problems(404)},
)
async def verify_answer(*, store: ServedStore, who: Asker, answer_id: str) -> Response:
    """Every quote of it against its source as it is now: ok, moved, changed or missing."""

    def verified() -> dict[str, Any]:
        record = _own_answer(store, who, answer_id)
        return verification_json(record, store.app.verify([answer_id]))

    return JSONResponse(await store.ask(verified))


@router.get(
    "/answers/{answer_id}/citations/{marker}/now",
    response_model=None,
    responses={200: {"model": CitedNow}, **problems(404)},
)
async def get_cited_now(*, store: ServedStore, who: Asker, answer_id: str, marker: Marker) -> Response:
    """Where the quote of a citation stands in the version that is searchable now; `now` is null when it is not in it."""

    def found() -> dict[str, Any]:
        body = _body_of(_own_answer(store, who, answer_id))
        citation = next((one for one in body["citations"] if one["marker"] == marker), None)
        if citation is None:
            raise NotFoundError(f"answer {answer_id} has no citation {marker}")
        with store.app.catalog.snapshot() as snapshot:
            record = who.require_document(snapshot.document(citation["document_id"]))
            text = snapshot.text_window(record.no, 0, record.counters.n_chars)
        at = find_again(text, citation)
        return {
            "answer_id": answer_id,
            "marker": marker,
            "document_id": record.id,
            "changed": record.indexed_sha256 != citation["file_sha256"],
            "now": None if at is None else [at, at + len(citation["quote"])],
        }

    return JSONResponse(await store.read(found))


def _own_answer(store: Served, who: Principal, answer_id: str) -> AnswerRecord:
    """NotFoundError for what is not there, or what somebody else asked."""
    record = store.app.catalog.load_answer(answer_id)
    if not who.sees_everybodys_answers() and store.app.uploads.asker(answer_id) != who.id:
        raise NotFoundError(f"no answer {answer_id} in the log")
    return record


def _body_of(record: AnswerRecord) -> dict[str, Any]:
    if record.body is None:
        raise NotFoundError(f"the words of answer {record.id} went with a purge of a document whose words it carried")
    return dict(record.body)
