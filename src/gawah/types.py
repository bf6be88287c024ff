"""The words of gawah: frozen values that every layer hands to the next. Standard library only.

All offsets are code points of one canonical text, 0-based, end-exclusive (RFC 5147 counts alike).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points in a canonical text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start},{self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def slice(self, text: str) -> str:
        """The words the span covers; raises IndexError when it reaches past the text."""
        if self.end > len(text):
            raise IndexError(f"span {self.start},{self.end} in a text of {len(text)} characters")
        return text[self.start : self.end]

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page (1-based), in PDF user space points, origin at the bottom left."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


# --- locators: where to look in the original -------------------------------------------------


@dataclass(frozen=True, slots=True)
class CharRange:
    """A range of the canonical text; lines are 1-based and inclusive, `words` the visible text of an HTML range."""

    start: int
    end: int
    first_line: int = 0
    last_line: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class CsvCells:
    """RFC 7111 cells: rows and columns 1-based and inclusive; column 0 means whole rows."""

    first_row: int
    last_row: int
    first_column: int = 0
    last_column: int = 0


@dataclass(frozen=True, slots=True)
class PageBoxes:
    """Pages of a PDF (1-based), the printed label of the first, and the boxes of the lines.

    confidence: from 0 to under 1 where words were recognised by a machine that was not sure of them; 1 elsewhere.
    """

    first_page: int
    last_page: int
    page_label: str = ""
    boxes: tuple[Box, ...] = ()
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Seconds of a recording; confidence as in PageBoxes."""

    start_s: float
    end_s: float
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class SheetRange:
    """An A1 range of a named sheet."""

    sheet: str
    a1: str


@dataclass(frozen=True, slots=True)
class Slide:
    """Slides of a deck, 1-based and inclusive."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ImageBox:
    """A region of an image in percent of its width and height (Media Fragments `xywh=percent:`).

    page: of an image with several, from 1; confidence as in PageBoxes.
    """

    x: float
    y: float
    width: float
    height: float
    page: int = 1
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class MailPart:
    """A part of a message by its MIME path ("1.2"), and a range of the canonical text."""

    part: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EpubPlace:
    """A spine item of an EPUB (href), and a range of the canonical text."""

    href: str
    start: int
    end: int


Locator = CharRange | CsvCells | PageBoxes | TimeRange | SheetRange | Slide | ImageBox | MailPart | EpubPlace


# --- documents -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as it was found: its collection and name identify the document, its hash the bytes."""

    collection: str
    name: str
    uri: str
    media_type: str
    size_bytes: int
    sha256: str


class BlockKind(StrEnum):
    """What a block is; it decides where a block that is too large may be cut."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A structural unit of a canonical text. `level` and `title` belong to headings (level 1 is the title's)."""

    kind: BlockKind
    span: Span
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Advance:
    """How the characters of a place follow each other along its box: their widths in tenths of a point, end to end.

    A width of -1 is of a character that shares the glyph of the one before it, as the letters of a ligature do.
    """

    toward: Literal["right", "left", "up", "down"]
    tenths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Which part of the original a range of the canonical text came from.

    `advance`, on a place with one box, has a width for every character of the span: it narrows the box to any of them.
    """

    span: Span
    locator: Locator
    advance: Advance | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """Text left out of the canonical text on purpose: why, the words themselves, and where they stand if that is known."""

    reason: str
    text: str
    locator: Locator | None = None


@dataclass(frozen=True, slots=True)
class Conservation:
    """The books of an extraction, in characters: read + added = kept + dropped, or something was lost."""

    read: int
    kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    added: Mapping[str, int] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return self.read + sum(self.added.values()) == self.kept + sum(self.dropped.values())


@dataclass(frozen=True, slots=True)
class Document:
    """One canonical text, its structure, and its map back to the original.

    `places` are sorted by start; an empty `places` means that the canonical text is the file's own text.
    `extractor` is "name/version". `language` is a BCP 47 tag, "und-Deva" and the like when only the script is known.
    `quality` counts what a reader of the document should know: `pages`, of these `pages_read`, `pages_ocr` (looked at by
    a machine's eye), `pages_unread` and `pages_low_confidence`; `tables`, `columns`.
    """

    id: str
    source: SourceFile
    title: str
    language: str
    text: str
    blocks: tuple[Block, ...]
    places: tuple[Place, ...]
    extractor: str
    conservation: Conservation
    warnings: tuple[str, ...] = ()
    removed: tuple[Removal, ...] = ()
    quality: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit we index. `content` is `document.text[span]` and is quoted; `text` is what is embedded and ends in it."""

    id: str
    document_id: str
    ordinal: int
    section: str
    content: str
    text: str
    span: Span
    n_tokens: int

    def __post_init__(self) -> None:
        if len(self.content) != len(self.span):
            raise ValueError(f"chunk {self.id}: {len(self.content)} characters in a span of {len(self.span)}")
        if not self.text.endswith(self.content):
            raise ValueError(f"chunk {self.id}: the embedded text does not end in the content")


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk, where it is in the original, and the hash of its embedded text (the key of its embedding)."""

    chunk: Chunk
    locator: Locator
    text_sha256: str


# --- stamps ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelStamp:
    """Which encoder made a vector: vectors of two model stamps are never compared.

    `sha256` is of the weights; `recipe_sha256` of all else that shapes a vector: tokenizer, pooling, architecture. The name
    is for people and counts for nothing: a folder that is renamed holds the model it held.
    """

    name: str = field(compare=False)
    sha256: str
    dimensions: int
    window_tokens: int
    token_format: str
    recipe_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What built a document's index entries."""

    model: ModelStamp
    pipeline: str
    chunker: str
    extractor: str


@dataclass(frozen=True, slots=True)
class Generation:
    """One set of vectors under one model stamp. Questions read the active one; one may be built; others were active before.

    `source` is the setting `model` that names the model, "" where that is not known; `switched_at` is when it last became
    active or ceased to be; `dropped_at` when what it held was thrown away (then nothing of it is left but this record).
    """

    id: int
    model: ModelStamp
    source: str
    state: Literal["building", "active", "retired"]
    created_at: float
    switched_at: float | None = None
    dropped_at: float | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """What a generation holds; `n_pending` searchable documents are not in it yet."""

    n_documents: int
    n_chunks: int
    n_pending: int


@dataclass(frozen=True, slots=True)
class DroppedGeneration:
    """What went with a generation."""

    id: int
    n_chunks: int
    n_embeddings: int
    n_segments: int


# --- retrieval -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents a search may see; an empty tuple does not restrict."""

    collections: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.collections or self.documents or self.media_types)


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk in a ranking; rank is 1-based, a higher score is better."""

    chunk_id: str
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """One system's answer to one query, at most `cutoff` hits, ordered by (-score, chunk_id)."""

    system: str
    hits: tuple[Hit, ...]
    cutoff: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as retrieved, with all that a citation of it needs."""

    hit: Hit
    chunk: Chunk
    document_name: str
    collection: str
    uri: str
    media_type: str
    file_sha256: str
    text_sha256: str
    cosine_distance: float
    locator: Locator


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether anything may be answered from. `score` is on the scale of `threshold`; `refuse_reason` is None to go on."""

    gate: str
    score: float
    threshold: float
    signals: Mapping[str, float]
    refuse_reason: str | None
    admitted: tuple[Passage, ...] = ()


# --- answers ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NumberedSource:
    """A passage under the number the generator knows it by."""

    number: int
    passage: Passage
    label: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a generator gets: the question, the sources, and both as one text for language models."""

    question: str
    sources: tuple[NumberedSource, ...]
    system: str
    user: str


@dataclass(frozen=True, slots=True)
class DraftPart:
    """A piece of a draft. `verbatim` words were copied from a source: brackets in them are never markers."""

    text: str
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker in an answer's text: the place of its `[n]`, and n. Every other bracket there is a word of a source."""

    span: Span
    number: int


ClaimStatus = Literal["supported", "weak", "unsupported", "uncited", "cited"]


@dataclass(frozen=True, slots=True)
class Missing:
    """Something a claim says and none of the quotes it cites: a number, an identifier, a name, or that it is (not) so."""

    kind: Literal["number", "identifier", "name", "negation"]
    text: str


@dataclass(frozen=True, slots=True)
class Highlight:
    """A statement of a quote that carries a claim; `span` counts in the canonical text of the marker's document.

    `locator_label` and `fragment` say where in the original just these words are: the row of a table, the line of a page.
    """

    marker: int
    span: Span
    locator_label: str = ""
    fragment: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer with its markers, and how its quotes carry it; `span` counts in the answer's text.

    `status` is "cited" for a claim with markers that was not checked. `score` is from 0 to 1, None without a check.
    `foreign` are links, page numbers and the like that are in none of the sources. `highlights` are the narrowest
    statements that carry the claim, the first the most. `n_agreeing`: in how many further samples of the generator a
    claim stands that supports this one; None when none were drawn.
    """

    span: Span
    markers: tuple[int, ...]
    status: ClaimStatus
    score: float | None = None
    missing: tuple[Missing, ...] = ()
    foreign: tuple[str, ...] = ()
    highlights: tuple[Highlight, ...] = ()
    n_agreeing: int | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker of an answer, resolved by the server. `quote` is `text[span]` of the document's canonical text."""

    marker: int
    document_id: str
    document_name: str
    collection: str
    label: str
    locator_label: str
    fragment: str
    url: str
    quote: str
    prefix: str
    suffix: str
    span: Span
    cosine_distance: float
    file_sha256: str
    text_sha256: str
    chunk_id: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """What produced an outcome; `degraded` names every part that failed, `notes` what was left out on purpose."""

    generation: int
    epoch: int
    model: str
    model_sha256: str
    systems: tuple[str, ...]
    reranker: str
    gate: str
    generator: str
    prompt_sha256: str
    n_prompt_chars: int
    times_ms: Mapping[str, float]
    degraded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """How many further samples of the generator were asked for, and how many of them failed (they agree with nothing)."""

    n_samples: int
    n_failed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its citations. `unknown_markers` were written by the generator, stand for nothing and were removed.

    `marks` are all places of `text` that are markers: a "[2]" that was copied from a source is not among them.
    """

    id: str
    question: str
    text: str
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]
    unknown_markers: tuple[int, ...]
    decision: GateDecision
    provenance: Provenance
    flags: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    self_check: SelfCheck | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: a result, not an error. `nearest` are the passages that were closest, best first.

    `unsupported` are the sentences of a draft that its quotes do not carry, where that is the reason.
    """

    id: str
    question: str
    reason: str
    message: str
    nearest: tuple[Passage, ...]
    decision: GateDecision
    provenance: Provenance
    unsupported: tuple[str, ...] = ()


Outcome = Answer | Refusal

VerifyStatus = Literal["ok", "moved", "changed", "missing"]


# --- ingest ----------------------------------------------------------------------------------


class DocumentState(StrEnum):
    """Where a document is on its way into the index."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a document failed: a stable code, a reason a person can act on, and whether trying again can help."""

    code: str
    reason: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class DocumentCounters:
    """What the server counted at commit; they equal what the index holds."""

    n_chars: int = 0
    n_chunks: int = 0
    n_tokens: int = 0
    n_truncated: int = 0


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document as the catalog knows it. `stamp` and `counters` describe the version that is searchable, if any is.

    `file_sha256` is the file as last seen, `indexed_sha256` the file that the searchable version was made from; `quality` and
    `warnings` are that version's (see Document). `version` grows with every text that becomes searchable.
    """

    no: int
    id: str
    collection: str
    name: str
    uri: str
    media_type: str
    size_bytes: int
    file_sha256: str
    indexed_sha256: str
    state: DocumentState
    failure: Failure | None
    attempts: int
    next_try_at: float | None
    title: str
    language: str
    text_sha256: str
    stamp: Stamp | None
    counters: DocumentCounters
    updated_at: float
    quality: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    version: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed piece of work. `fence` grows with every claim: who holds an older one can no longer commit."""

    id: int
    document: DocumentRecord
    owner: str
    fence: int


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was handed over: which document it is a version of, and where its bytes are kept.

    Its `no` grows with every hand-over, a retry included; `sha256` and `path` are empty for a retry, which brings no bytes.
    """

    no: int
    document_id: str
    collection: str
    name: str
    sha256: str
    size_bytes: int
    path: str
    created_at: float


@dataclass(frozen=True, slots=True)
class ApiKey:
    """Who may do what: scopes of read, ask, ingest, admin; no collections mean all. The secret itself is kept nowhere."""

    id: str
    name: str
    scopes: tuple[str, ...]
    collections: tuple[str, ...]
    created_at: float
    expires_at: float | None
    revoked_at: float | None


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """An outcome in the log. `body` is None after a purge: the chain of hashes holds all the same."""

    seq: int
    id: str
    created_at: float
    status: str
    body: Mapping[str, object] | None
    body_sha256: str
    previous_sha256: str
    chain_sha256: str


@dataclass(frozen=True, slots=True)
class LogHead:
    """Where the log of outcomes ends: how many there are, and the chain's hash at the last. What is cut off shows."""

    n_answers: int
    chain_sha256: str


# --- judgement -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """A proportion k/n with its Wilson 95 % interval."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired comparison: treatment against baseline, and the two-sided exact sign test's p."""

    wins: int
    losses: int
    ties: int
    p: float


EMPTY_MAP: Mapping[str, float] = MappingProxyType({})
