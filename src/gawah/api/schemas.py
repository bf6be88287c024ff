"""The JSON of the API: what is taken (strictly: an unknown field is an error) and what is given, as OpenAPI shows it.

The bodies of answers, hits and documents are made by `gawah.envelope`, for every interface alike; the models of them here
are their description, and a test holds one to the other.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_QUESTION_CHARS = 8000
Name = Annotated[str, Field(min_length=1, max_length=1024)]
Names = Annotated[list[Name], Field(max_length=256)]


class Taken(BaseModel):
    """A request body."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Given(BaseModel):
    """A body of ours; only described, never parsed."""

    model_config = ConfigDict(extra="forbid")


class AnswerRequest(Taken):
    """A question, and which documents may answer it."""

    question: str = Field(min_length=1, max_length=MAX_QUESTION_CHARS)
    collections: Names = Field(default_factory=list)
    documents: Names = Field(default_factory=list, description="names or ids")
    media_types: Names = Field(default_factory=list)


class AskRequest(AnswerRequest):
    """The same, with how many further samples of the generator each claim is held against (`gawah ask --self-check`)."""

    self_check: int = Field(0, ge=0, le=8)


class SearchRequest(AnswerRequest):
    """The same, with who ranks and how many hits."""

    system: Literal["", "dense", "bm25", "rrf", "rerank"] = Field("", description="empty: the best there is")
    cutoff: int = Field(10, ge=1, le=200)


class ChatRequest(BaseModel):
    """OpenAI's request; what has no meaning here (temperature, tools, …) is taken and does nothing."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(max_length=1024, description="gawah, or gawah/COLLECTION")
    messages: list[dict[str, Any]] = Field(min_length=1, max_length=1000)
    stream: bool | None = None
    stream_options: dict[str, Any] | None = Field(
        None, description="`include_usage`: the stream ends with a chunk of it"
    )


class Problem(Given):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[dict[str, str]] | None = None


class Failure(Given):
    code: str
    reason: str
    retryable: bool


class Counters(Given):
    n_chars: int
    n_chunks: int
    n_tokens: int
    n_truncated: int


class DocumentBody(Given):
    id: str
    collection: str
    name: str
    uri: str
    media_type: str
    size_bytes: int
    state: Literal["queued", "extracting", "chunking", "embedding", "ready", "failed"]
    failure: Failure | None
    attempts: int
    title: str
    language: str
    stamp: dict[str, Any] | None
    stale: list[str]
    counters: Counters
    quality: dict[str, int]
    warnings: list[str]
    file_sha256: str
    indexed_sha256: str
    updated_at: float
    next_try_at: float | None


class DocumentDetail(DocumentBody):
    """With what its extraction noted; null while no version was ever ready."""

    conservation: dict[str, Any] | None
    n_removed: int | None
    versions: list[dict[str, Any]]


class DocumentPage(Given):
    documents: list[DocumentBody]
    next_cursor: str | None


class CollectionBody(Given):
    name: str
    n_documents: int
    n_chunks: int
    size_bytes: int
    states: dict[str, int]


class CollectionList(Given):
    collections: list[CollectionBody]


class JobBody(Given):
    id: int
    document_id: str
    collection: str
    document: str
    state: Literal["queued", "extracting", "chunking", "embedding", "ready", "failed", "superseded", "removed"]
    done: bool
    failure: Failure | None
    attempts: int
    next_try_at: float | None
    counters: Counters | None
    sha256: str
    size_bytes: int
    created_at: float
    updated_at: float


class JobPage(Given):
    jobs: list[JobBody]
    next_cursor: str | None


class RemovedBody(Given):
    removed: str
    chunks: int
    purged: bool
    emptied_answers: int


class HitBody(Given):
    rank: int
    score: float
    document: str
    document_id: str
    collection: str
    section: str
    from_: int = Field(alias="from")
    to: int
    content: str
    cosine_distance: float | None
    chunk_id: str


class SearchBody(Given):
    schema_: str = Field(alias="schema")
    system: str
    question: str
    generation: int
    hits: list[HitBody]
    degraded: list[str]
    notes: list[str]


class CitationBody(Given):
    marker: int
    document: str
    document_id: str
    collection: str
    label: str
    locator: str
    fragment: str
    url: str
    quote: str
    prefix: str
    suffix: str
    from_: int = Field(alias="from")
    to: int
    cosine_distance: float | None
    file_sha256: str
    text_sha256: str
    chunk_id: str


class MissingBody(Given):
    kind: str
    text: str


class HighlightBody(Given):
    """Answers of earlier versions do not say where in the original it is."""

    marker: int
    from_: int = Field(alias="from")
    to: int
    locator: str = ""
    fragment: str = ""


class ClaimBody(Given):
    """What has a default was not recorded by earlier versions."""

    from_: int = Field(alias="from")
    to: int
    markers: list[int]
    status: str = Field(description="supported, weak, unsupported or uncited; cited where support was not looked at")
    score: float | None = None
    missing: list[MissingBody] = Field(default_factory=list)
    foreign: list[str] = Field(default_factory=list)
    highlights: list[HighlightBody] = Field(default_factory=list)
    agreeing: int | None = None


class MarkBody(Given):
    from_: int = Field(alias="from")
    to: int
    marker: int


class RefusalBody(Given):
    reason: str
    message: str
    threshold: float
    nearest: list[HitBody]
    unsupported: list[str] = Field(default_factory=list)


class AnswerBody(Given):
    """What `gawah ask --json` prints: an answer, or a refusal."""

    schema_: str = Field(alias="schema")
    answer_id: str
    status: Literal["answered", "refused"]
    question: str
    answer: str | None
    citations: list[CitationBody]
    claims: list[ClaimBody]
    marks: list[MarkBody] = Field(default_factory=list)
    unknown_markers: list[int]
    flags: list[str]
    refusal: RefusalBody | None
    self_check: dict[str, int] | None = None
    gate: dict[str, Any]
    provenance: dict[str, Any]


class AnswerPage(Given):
    answers: list[dict[str, Any]]
    next_cursor: str | None


class CheckBody(Given):
    marker: int
    document: str
    status: Literal["ok", "moved", "changed", "missing"]
    detail: str
    now: list[int] | None


class VerificationBody(Given):
    answer_id: str
    holds: bool
    emptied: bool
    checks: list[CheckBody]


class TextWindow(Given):
    document_id: str
    text_sha256: str
    n_chars: int
    from_: int = Field(alias="from")
    to: int
    text: str


class PlaceBody(Given):
    document_id: str
    text_sha256: str
    from_: int = Field(alias="from")
    to: int
    locator: dict[str, Any]
    label: str
    fragment: str


class WhoBody(Given):
    id: str
    scopes: list[str]
    collections: list[str]
    version: str
    max_upload_bytes: int


class RunList(Given):
    runs: list[dict[str, Any]]


class StateBody(Given):
    status: str
    generation: int | None = None
