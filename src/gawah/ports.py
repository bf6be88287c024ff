"""The seams of gawah: what a stage needs from the outside, in our own types. Every port has a fake and a contract test
class in `gawah.testing` that each implementation inherits.

Arrays: vectors are unit-length float32 rows; token codes are described at `TokenCodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gawah.types import (
    AnswerRecord,
    Chunk,
    Document,
    DocumentCounters,
    DocumentRecord,
    DocumentState,
    DraftPart,
    DroppedGeneration,
    Failure,
    Filter,
    Generation,
    Holding,
    IndexedChunk,
    Job,
    Locator,
    LogHead,
    ModelStamp,
    Passage,
    Prompt,
    SourceFile,
    Span,
    Stamp,
)

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenCodes:
    """Token vectors of one text, one sign bit a dimension and one scale a token.

    signs: uint8 [n_tokens, dimensions / 8], `np.packbits(vector > 0)`, most significant bit first;
    scales: float16 [n_tokens], the mean absolute value of the unit token vector.
    Special and punctuation word-pieces are left out. A token is approximated by `scale * (2 * bits - 1)`.
    """

    signs: NDArray[np.uint8]
    scales: NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Embedding:
    """One text as a unit vector [dimensions] and as token codes."""

    vector: Vector
    tokens: TokenCodes


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """A question: its unit vector, and its unit token vectors [n_tokens, dimensions] (no specials, no punctuation).

    `words[i]` is the whole word, as written, that word-piece i belongs to.
    """

    vector: Vector
    token_vectors: NDArray[np.float32]
    words: tuple[str, ...]


class Extractor(Protocol):
    """Turns the bytes of one file into a document with a canonical text and a map back to the original."""

    name: str
    version: int

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """Raises ExtractionError with a stable code; anything else it raises counts as `extractor_crashed`."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors. The result for a text does not depend on the texts beside it, to the bit."""

    @property
    def stamp(self) -> ModelStamp: ...

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One embedding a text, in order. A text over the window is a ValueError: chunks are cut before."""
        ...

    def embed_query(self, question: str) -> QueryEmbedding:
        """A question longer than the window is cut at the window."""
        ...

    def coverage(self, text: str) -> float:
        """The share of a text's letters in words that the vocabulary knows by more than single letters, from 0 to 1.

        Words that fall apart into letters have vectors that mean nothing: a question under one half is not searched by
        them. 1 for a text without letters.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Word-pieces of each text, specials included, by the model's own tokenizer, without truncation."""
        ...


CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What the index needs of a chunk. `seq` grows with every chunk ever written and is never used twice."""

    seq: int
    chunk_id: str
    document_no: int
    text: str
    embedding: Embedding


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """A registered segment: a folder below `segments/`, and the chunks it was built from."""

    name: str
    generation: int
    first_seq: int
    last_seq: int
    n_chunks: int
    manifest_sha256: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Files an index has written, to be registered: segment `new` stands for the `old` ones, or for nothing when it is None.

    Deletions up to `mark` of chunks with a seq from `first_seq` to `last_seq` are in it already: no file holds them.
    """

    old: tuple[str, ...]
    new: SegmentRecord | None
    mark: int
    first_seq: int
    last_seq: int


class IndexFeed(Protocol):
    """A consistent view of the catalog, as an index reads it (one read transaction)."""

    generation: int
    epoch: int
    """Grows with every commit that changes what is searchable."""
    token: str
    """Drawn at random with the epoch: a catalog that was restored reaches the same numbers again, with other contents."""

    def knows(self, epoch: int, token: str) -> bool:
        """Whether this catalog was at that epoch, not long ago: only then is a view of it a base for one of now."""
        ...

    def segments(self) -> Sequence[SegmentRecord]:
        """Ordered by first_seq."""
        ...

    def rows(self, after_seq: int) -> Iterator[IndexRow]:
        """Live chunks of the generation with a larger seq, in order of seq."""
        ...

    def deleted(self, after: int) -> tuple[NDArray[np.int64], int]:
        """Seqs deleted since mark `after`, and the new mark; a compaction clears what it has applied."""
        ...

    def document_numbers(self, only: Filter) -> NDArray[np.int64]:
        """Sorted document numbers that a filter admits."""
        ...

    def n_chunks(self) -> int:
        """How many chunks of the generation live."""
        ...

    def seqs(self) -> NDArray[np.int64]:
        """Sorted seqs of the live chunks of the generation."""
        ...

    def chunk_ids_of(self, seqs: Sequence[int]) -> dict[int, str]:
        """Chunk ids by seq, of those of the given chunks that live in the generation."""
        ...

    def embeddings_of(self, chunk_ids: Sequence[str]) -> dict[str, Embedding]:
        """Embeddings by chunk id, of those of the given chunks that live in the generation."""
        ...

    def first_chunk_ids(self, size: int) -> list[str]:
        """The ids of the `size` live chunks of the generation that come first, in order of code points."""
        ...


class IndexView(Protocol):
    """An immutable view of the index at one epoch: every leg of a query reads the same one.

    `only` are the sorted numbers of the documents that may be found, from `IndexFeed.document_numbers` of the snapshot
    that the view was made from; none admit nothing, None admits all.
    """

    n_chunks: int
    epoch: int
    generation: int

    def dense(self, vector: Vector, cutoff: int, only: NDArray[np.int64] | None = None) -> list[tuple[str, float]]:
        """(chunk id, cosine similarity), by (-score, chunk id)."""
        ...

    def bm25(self, terms: Sequence[str], cutoff: int, only: NDArray[np.int64] | None = None) -> list[tuple[str, float]]:
        """(chunk id, BM25 score > 0), by (-score, chunk id); a term that is given twice counts twice."""
        ...

    def cosine(self, vector: Vector, chunk_ids: Sequence[str]) -> list[float]:
        """Cosine similarity of given chunks."""
        ...

    def tokens(self, chunk_ids: Sequence[str]) -> list[TokenCodes]: ...

    def document_frequency(self, terms: Sequence[str]) -> list[int]:
        """How many live chunks hold each term."""
        ...

    def holds(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[tuple[bool, ...]]:
        """Per given chunk which of the terms it holds; NotFoundError for one that is not here."""
        ...

    def sample(self, size: int) -> list[str]:
        """The `size` live chunk ids that come first in order, or all there are.

        Ids are hashes, so this is a random draw from the whole index that needs neither state nor seed, and that hardly
        changes when documents come and go.
        """
        ...


class Index(Protocol):
    """The derived search structure: it can be thrown away and built again from the catalog."""

    def view(self, feed: IndexFeed) -> IndexView:
        """The index at the feed's epoch."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk in the shortlist, as a reranker sees it.

    `exact`: the share, by rarity, of what the question names letter for letter (text.exact_terms) that it holds, in [0, 1].
    """

    chunk_id: str
    chunk: Chunk
    tokens: TokenCodes
    exact: float = 0.0


@dataclass(frozen=True, slots=True)
class RerankScores:
    """One score a candidate, in their order; a higher one is better. `notes`: what of them was not read, one line each."""

    values: tuple[float, ...]
    notes: tuple[str, ...] = ()


class Reranker(Protocol):
    """Scores a shortlist against a question. Its name is part of the stamp of calibrations: other scores, other name."""

    @property
    def name(self) -> str: ...

    def score(
        self, question: str, query: QueryEmbedding, candidates: Sequence[Candidate], weights: Sequence[float]
    ) -> RerankScores:
        """Finite scores that do not depend on the candidates' company or order, to the bit.

        `weights[i]` is the weight of query token i; they need not sum to 1.
        """
        ...


class Generator(Protocol):
    """Writes a draft from numbered sources; it knows numbers only, never names or links."""

    @property
    def name(self) -> str: ...

    @property
    def quotes_only(self) -> bool:
        """Whether every word it writes is a quote with its marker: then an answer carries words of what it cites only."""
        ...

    def generate(self, prompt: Prompt) -> Iterator[DraftPart]:
        """Raises GeneratorError or UnreachableError, also half-way."""
        ...


@runtime_checkable
class ResamplingGenerator(Protocol):
    """A generator that can also be asked for a draft at random: what it is sure of, it writes again."""

    @property
    def name(self) -> str: ...

    def resample(self, prompt: Prompt, number: int) -> Iterator[DraftPart]:
        """A draft that may differ from `generate`'s; `number` tells the samples of one prompt apart. Raises the same."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """A generator that knows its own tokens."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens its model makes of each text."""
        ...


class Snapshot(IndexFeed, Protocol):
    """A read transaction of the catalog."""

    model: ModelStamp | None
    """The model stamp of the generation that is read; None before the first document."""

    def holding(self, generation: int) -> Holding: ...

    def pending(self, generation: int) -> list[DocumentRecord]:
        """Searchable documents that a generation lacks, by number; none of the active one."""
        ...

    def segment_names(self) -> list[str]:
        """Of the registered segments of every generation."""
        ...

    def documents(self, only: Filter | None = None) -> list[DocumentRecord]:
        """Ordered by collection and name."""
        ...

    def find_document(self, id_or_name: str) -> DocumentRecord:
        """Raises NotFoundError when none, or more than one, is meant."""
        ...

    def document(self, document_id: str) -> DocumentRecord:
        """By its id alone; raises NotFoundError."""
        ...

    def load_document(self, document_no: int) -> Document:
        """The canonical text with its structure; raises NotFoundError when no version was ever ready."""
        ...

    def locate(self, document_id: str, text_sha256: str, spans: Sequence[Span]) -> list[Locator] | None:
        """Where each span of a document's canonical text is in the original; None when that text is not there any more."""
        ...

    def chunk(self, chunk_id: str) -> Chunk: ...

    def chunks_of(self, document_no: int) -> list[Chunk]: ...

    def n_chunks_by_document(self) -> dict[int, int]:
        """What the chunk rows say, to be held against the documents' counters."""
        ...

    def passages(self, ranked: Sequence[tuple[str, float, float]]) -> list[Passage]:
        """(chunk id, score, cosine distance) in rank order to passages."""
        ...

    def context(self, chunk_id: str, n_chars: int) -> tuple[str, str]:
        """Up to `n_chars` characters of the canonical text before and after a chunk."""
        ...


class Catalog(Protocol):
    """The only source of truth: documents, chunks, vectors, jobs, answers. Every write is one transaction."""

    def snapshot(self, generation: int | None = None) -> AbstractContextManager[Snapshot]:
        """Reads the active generation, or the one named; NotFoundError for one that never was."""
        ...

    def identity(self) -> str:
        """A name of this store that no other has, for what is kept of it elsewhere; it never changes."""
        ...

    def generation_for(self, model: ModelStamp, source: str = "") -> int:
        """The active generation, made when there is none; raises StampMismatchError when another model built it.

        `source` is kept where none is: the setting that names the model.
        """
        ...

    def generations(self) -> list[Generation]:
        """All there ever were, by number; it may be asked inside of a snapshot."""
        ...

    def begin_generation(self, model: ModelStamp, source: str) -> int:
        """The generation of that model, begun when there is none; raises UsageError while another one is half built."""
        ...

    def rechunk_document(
        self,
        generation: int,
        record: DocumentRecord,
        chunks: Sequence[IndexedChunk],
        stamp: Stamp,
        counters: DocumentCounters,
    ) -> bool:
        """Puts chunks of the stored text into a generation, the active one included, in place of what it has of it.

        False, and nothing is done, when the document has another version by now or is gone, or when an embedding of it
        was dropped meanwhile. Raises StampMismatchError when the generation is another model's.
        """
        ...

    def switch_generation(self, generation: int) -> int:
        """Makes a generation the active one if it lacks no searchable document; returns how many it lacks.

        Documents' stamps and counters are exchanged in the same transaction. Raises NotFoundError.
        """
        ...

    def drop_generation(self, generation: int) -> DroppedGeneration:
        """Throws away all that a generation holds which is not the active one (UsageError)."""
        ...

    def enqueue(self, files: Iterable[tuple[str, str, str]]) -> list[str]:
        """Queues (collection, name, uri); returns document ids."""
        ...

    def claim(self, owner: str) -> Job | None:
        """The oldest job that nobody holds and whose time has come."""
        ...

    def advance(self, job: Job, state: DocumentState) -> None:
        """Shows how far a job is and renews its lease; raises LeaseLostError."""
        ...

    def note_file(self, job: Job, media_type: str, size_bytes: int, sha256: str) -> None:
        """Records which bytes a job reads."""
        ...

    def fail(self, job: Job, failure: Failure, *, retry_after_s: float | None = None) -> None:
        """Ends a job with a reason; the version that was searchable before stays so."""
        ...

    def release(self, owner: str) -> int:
        """Gives back what an owner holds."""
        ...

    def reclaim(self, owner: str | None = None) -> int:
        """Queues again what a dead worker left; without one what all left, and none may be alive then."""
        ...

    def requeue_due(self) -> int:
        """Queues failed documents whose time for another try has come; their attempts go on counting."""
        ...

    def known_embeddings(self, model: ModelStamp, text_sha256: Iterable[str]) -> set[str]: ...

    def put_embeddings(self, model: ModelStamp, embeddings: Mapping[str, Embedding]) -> None: ...

    def commit_document(
        self, job: Job, document: Document, chunks: Sequence[IndexedChunk], stamp: Stamp, counters: DocumentCounters
    ) -> None:
        """Rows, counters, stamp and `ready` at once; raises LeaseLostError, StampMismatchError."""
        ...

    def delete_documents(self, document_nos: Sequence[int]) -> int: ...

    def replace_segments(
        self,
        old: Iterable[str],
        new: SegmentRecord | None,
        *,
        applied_mark: int | None = None,
        applied_seqs: tuple[int, int] | None = None,
    ) -> None:
        """Registers a segment in place of others. Deletions up to `applied_mark` are forgotten: all of them, or those of chunks
        from the first to the last of `applied_seqs`.
        """
        ...

    def append_answer(
        self, answer_id: str, status: str, body: Mapping[str, object], document_ids: Iterable[str]
    ) -> None: ...

    def load_answer(self, answer_id: str) -> AnswerRecord: ...

    def load_answers(self) -> list[AnswerRecord]: ...

    def log_head(self) -> LogHead | None:
        """Where the log ended when it was last written to."""
        ...

    def redact_answers(self, document_ids: Iterable[str] | None = None) -> int:
        """Empties every outcome that carries words of these documents, or of any that was removed; returns how many."""
        ...

    def purge_documents(self, document_nos: Sequence[int], document_ids: Iterable[str] | None) -> tuple[int, int]:
        """Deletes documents and empties the outcomes that carry their words, at once; a purge is owed until `vacuum`."""
        ...

    def purge_owed(self) -> bool: ...

    def integrity_errors(self) -> list[str]: ...

    def drop_abandoned_embeddings(self) -> int: ...

    def vacuum(self) -> None: ...
