"""Files to searchable documents: plan what a folder needs, then do it, one document at a time, each alone in its failure.

While one document is embedded the next is extracted in its own process and chunked.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from gawah.chunk import Chunking
from gawah.embed import embed_missing, text_keys
from gawah.errors import ConfigurationError, ExtractionError, GawahError, LeaseLostError, NotFoundError, StoreError
from gawah.fragment import locate_each
from gawah.ports import Catalog, Embedder
from gawah.sources import (
    Discovery,
    FoundFile,
    RefusedFile,
    discover,
    fingerprint_file,
    found_file,
    is_gone,
    read_source,
)
from gawah.store.records import require_storable
from gawah.types import (
    Document,
    DocumentCounters,
    DocumentRecord,
    DocumentState,
    Failure,
    IndexedChunk,
    Job,
    ModelStamp,
    SourceFile,
    Stamp,
)

# The version of what turns canonical text into index entries besides extractor and chunker: canonicaliser and analyzer.
PIPELINE = "canonical/1 analyzer/2"
RETRY_FIRST_S = 30.0
RETRY_LONGEST_S = 3600.0
MAX_ATTEMPTS = 5  # then nobody tries again by itself: a person looks at the reason and queues it, or removes it
EXTRACT_AHEAD_AT_LEAST = (
    2  # documents prepared while another is embedded: one a core, for embedding waits for none of them
)


@dataclass(frozen=True, slots=True)
class Practice:
    """How documents are made today. `senses_for` a media type and a document's quality: see extract.senses."""

    model: ModelStamp
    chunker: str
    extractor_for: Callable[[str], str]
    senses_for: Callable[[str, Mapping[str, int]], str | None]

    def stamp(self, media_type: str, quality: Mapping[str, int], extractor: str) -> Stamp:
        """`extractor` names the one that read the document, "name/version", with what else it was read with behind a blank."""
        name, _, senses = extractor.partition(" ")
        found = self.senses_for(media_type, quality)
        current = f"{self.extractor_for(media_type) or name} {senses if found is None else found}"
        return Stamp(model=self.model, pipeline=PIPELINE, chunker=self.chunker, extractor=current.rstrip())

    def stale_parts(self, record: DocumentRecord) -> tuple[str, ...]:
        """Names of the parts of a document's stamp that differ from what would be written today."""
        if record.stamp is None:
            return ()
        current = self.stamp(record.media_type, record.quality, record.stamp.extractor)
        names = ("model", "pipeline", "chunker", "extractor")
        return tuple(name for name in names if getattr(current, name) != getattr(record.stamp, name))


@dataclass(frozen=True, slots=True)
class Intake:
    """What ingest works with. `senses_for` a media type and a document's quality: see extract.senses."""

    catalog: Catalog
    embedder: Embedder
    extract: Callable[[SourceFile, bytes], Document]
    extractor_for: Callable[[str], str]
    senses_for: Callable[[str, Mapping[str, int]], str | None]
    chunking: Chunking
    max_file_bytes: int

    @property
    def practice(self) -> Practice:
        return Practice(self.embedder.stamp, self.chunking.name, self.extractor_for, self.senses_for)


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that needs work: `why` is new, changed, stale, retry or moved."""

    name: str
    uri: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a folder needs. `failing` failed before and would again: nothing about them has changed."""

    collection: str
    work: tuple[PlannedFile, ...]
    unchanged: tuple[DocumentRecord, ...]
    failing: tuple[DocumentRecord, ...]
    vanished: tuple[DocumentRecord, ...]
    refused: tuple[RefusedFile, ...]
    n_hidden: int
    n_excluded: int = 0


def plan_folder(
    intake: Intake, root: Path, collection: str, *, exclude: Sequence[str] = (), among: Collection[str] | None = None
) -> Plan:
    """Compares a folder, or one file, with the catalog, by content hash; reads every file and writes nothing.

    Files whose name, or its last part, fits a pattern of `exclude` (as in the shell) are left out and counted. With `among`
    only the files of these names are looked at and read.
    """
    root = root.resolve()  # one name for a file, however its folder was spelled
    discovery = discover(root, collection)
    with intake.catalog.snapshot() as snapshot:
        known = [record for record in snapshot.documents() if record.collection == collection]
    by_uri = {record.uri: record for record in known}
    holders = {record.name: record.uri for record in known}
    work: list[PlannedFile] = []
    kept: dict[bool, list[DocumentRecord]] = {True: [], False: []}
    seen: set[str] = set()
    refused = list(discovery.refused)
    n_excluded = 0
    for found in discovery.files:
        uri = found.path.absolute().as_uri()
        seen.add(uri)
        if among is not None and found.name not in among:
            continue
        if _is_excluded(found.name, exclude):
            n_excluded += 1
            continue
        record = by_uri.get(uri)
        why = _why(intake, found, record)
        if record is not None and not why:
            kept[record.state is DocumentState.READY].append(record)
            continue
        name = record.name if record else _free_name(found, root, holders)
        if name is None:
            refused.append(RefusedFile(found.name, "name_taken", _NAME_TAKEN))
            continue
        holders[name] = uri
        work.append(PlannedFile(name, uri, why or "new"))
    vanished = [
        record
        for record in known
        if record.uri not in seen and _is_under(record.uri, root, discovery) and is_gone(record.uri)
    ]
    taken_over = {item.name for item in work}
    return Plan(
        collection,
        tuple(work),
        tuple(kept[True]),
        tuple(kept[False]),
        tuple(record for record in vanished if record.name not in taken_over),
        tuple(refused),
        discovery.n_hidden,
        n_excluded,
    )


_NAME_TAKEN = "two other documents of this collection have its name; ingest it with another --collection"


def _is_excluded(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, p) or fnmatchcase(name.rsplit("/", 1)[-1], p) for p in patterns)


def _why(intake: Intake, found: FoundFile, record: DocumentRecord | None) -> str:
    """Why a known file needs work; empty when it needs none."""
    if record is None:
        return "new"
    try:
        sha256 = fingerprint_file(found.path)
    except OSError:
        return "changed"  # reading it for ingest will say what is wrong, with a code
    if sha256 != record.file_sha256:
        return "changed"
    if record.state is DocumentState.FAILED:
        outdated = bool(record.failure and record.failure.code == "unsupported_type") and _supported(intake, record)
        return "retry" if outdated or (record.failure and record.failure.retryable) else ""
    if record.state is not DocumentState.READY:
        return "retry"
    return "stale" if intake.practice.stale_parts(record) else ""


def _supported(intake: Intake, record: DocumentRecord) -> bool:
    return bool(record.media_type) and bool(intake.extractor_for(record.media_type))


def _free_name(found: FoundFile, root: Path, holders: Mapping[str, str]) -> str | None:
    """The relative name; with the folder's own name before it when another living file has that one already."""
    for name in (found.name, f"{root.resolve().name}/{found.name}"):
        holder = holders.get(name)
        if holder is None or is_gone(holder):
            return name
    return None


def _is_under(uri: str, root: Path, discovery: Discovery) -> bool:
    """Whether a known document's file should have been found by this walk."""
    return discovery.is_folder and uri.startswith(root.absolute().as_uri().rstrip("/") + "/")


# --- doing it


@dataclass(frozen=True, slots=True)
class _Prepared:
    document: Document
    chunks: tuple[IndexedChunk, ...]


def queue_plan(intake: Intake, plan: Plan) -> None:
    """Queues the plan's files; another model than the store's is refused (StampMismatchError) before anything is queued."""
    intake.catalog.generation_for(intake.embedder.stamp)
    intake.catalog.enqueue([(plan.collection, item.name, item.uri) for item in plan.work])


def run_plan(intake: Intake, plan: Plan) -> Iterator[DocumentRecord]:
    """Queues the plan's files and works off the queue; yields each document as it ends, ready or failed."""
    queue_plan(intake, plan)
    yield from run_jobs(intake)


def worker_name(pid: int) -> str:
    """The owner of a process's jobs."""
    return f"{socket.gethostname()}:{pid}"


def run_jobs(intake: Intake) -> Iterator[DocumentRecord]:
    """Works off the queue. Jobs it holds when it is stopped are given back; those that others took over are left to them."""
    owner = worker_name(os.getpid())
    intake.catalog.generation_for(intake.embedder.stamp)
    ahead: deque[tuple[Job, Future[_Prepared | Failure]]] = deque()
    n_ahead = max(EXTRACT_AHEAD_AT_LEAST, len(os.sched_getaffinity(0)))
    with ThreadPoolExecutor(n_ahead, thread_name_prefix="extract") as pool:
        try:
            while True:
                while _takes_more(ahead, n_ahead) and (job := intake.catalog.claim(owner)):
                    ahead.append((job, pool.submit(_prepare, intake, job)))
                if not ahead:
                    return
                job, future = ahead[0]  # it stays there until it is done, or it would not be given back
                record = _ended(intake, job, future)
                ahead.popleft()
                if record is not None:
                    yield record
        finally:
            for _, future in ahead:
                future.cancel()
            pool.shutdown(wait=True, cancel_futures=True)
            if ahead:
                intake.catalog.release(owner)


def _takes_more(ahead: Sequence[tuple[Job, object]], n_ahead: int) -> bool:
    """Whether another document may be prepared beside these: never beside one that may have killed its reader before."""
    return len(ahead) < n_ahead and all(job.document.attempts <= 1 for job, _ in ahead)


def _ended(intake: Intake, job: Job, future: Future[_Prepared | Failure]) -> DocumentRecord | None:
    """The document when its job is done; None when it was replaced, removed or taken over meanwhile."""
    try:
        _finish(intake, job, future.result())
        with intake.catalog.snapshot() as snapshot:
            return snapshot.find_document(job.document.id)
    except (LeaseLostError, NotFoundError):
        return None


def _prepare(intake: Intake, job: Job) -> _Prepared | Failure:
    """Reads, extracts and chunks; the document's own fault becomes a Failure, the store's is raised."""
    if job.document.attempts > MAX_ATTEMPTS:
        return Failure(
            "worker_died", f"whoever read it died {MAX_ATTEMPTS} times; retry it, or remove it", retryable=False
        )
    try:
        source, data = _read(intake, job)
        document = intake.extract(source, data)
        del data
        require_storable(document)
        intake.catalog.advance(job, DocumentState.CHUNKING)
        return _Prepared(document, index_chunks(intake.chunking, intake.embedder, document))
    except ExtractionError as error:
        return Failure(error.reason_code, str(error), error.retryable)
    except (StoreError, ConfigurationError):
        raise
    except Exception as error:  # noqa: BLE001 — an edge: one document must never take the others down
        return Failure("internal_error", f"{type(error).__name__}: {error}; please report it", retryable=True)


def _read(intake: Intake, job: Job) -> tuple[SourceFile, bytes]:
    record = job.document
    found = found_file(record.uri)
    if found is None:
        raise ExtractionError("vanished", f"{record.uri} is not there any more; `gawah rm` removes it", retryable=True)
    source, data = read_source(found, record.collection, record.name, intake.max_file_bytes)
    intake.catalog.note_file(job, source.media_type, source.size_bytes, source.sha256)
    return source, data


def index_chunks(chunking: Chunking, embedder: Embedder, document: Document) -> tuple[IndexedChunk, ...]:
    """A document's chunks for that encoder's window, each with its place in the original and the key of its embedding."""
    chunks = chunking.chunks(document, count_tokens=embedder.count_tokens, window_tokens=embedder.stamp.window_tokens)
    keys = text_keys([chunk.text for chunk in chunks])
    locators = locate_each(document.places, document.text, [chunk.span for chunk in chunks])
    return tuple(IndexedChunk(chunk, locator, key) for chunk, locator, key in zip(chunks, locators, keys, strict=True))


def _finish(intake: Intake, job: Job, prepared: _Prepared | Failure) -> None:
    """Embeds what is not known yet and commits; or writes down the failure."""
    catalog = intake.catalog
    if not isinstance(prepared, Failure):
        try:
            _embed(intake, job, prepared.chunks)
            document = prepared.document
            stamp = intake.practice.stamp(document.source.media_type, document.quality, document.extractor)
            counters = count_chunks(intake.embedder, document, prepared.chunks)
            catalog.commit_document(job, document, prepared.chunks, stamp, counters)
            return
        except GawahError:
            raise
        except Exception as error:  # noqa: BLE001 — an edge: one document must never take the others down
            prepared = Failure("internal_error", f"{type(error).__name__}: {error}; please report it", retryable=True)
    delay = min(RETRY_FIRST_S * 2 ** max(job.document.attempts - 1, 0), RETRY_LONGEST_S)
    again = prepared.retryable and job.document.attempts < MAX_ATTEMPTS
    catalog.fail(job, prepared, retry_after_s=delay if again else None)


def _embed(intake: Intake, job: Job, chunks: Sequence[IndexedChunk]) -> None:
    catalog, model = intake.catalog, intake.embedder.stamp
    catalog.advance(job, DocumentState.EMBEDDING)
    known = catalog.known_embeddings(model, [item.text_sha256 for item in chunks])
    for batch in embed_missing(intake.embedder, [item.chunk.text for item in chunks], known):
        catalog.put_embeddings(model, batch)
        catalog.advance(job, DocumentState.EMBEDDING)


def count_chunks(embedder: Embedder, document: Document, chunks: Sequence[IndexedChunk]) -> DocumentCounters:
    window = embedder.stamp.window_tokens
    return DocumentCounters(
        n_chars=len(document.text),
        n_chunks=len(chunks),
        n_tokens=sum(item.chunk.n_tokens for item in chunks),
        n_truncated=sum(item.chunk.n_tokens > window for item in chunks),
    )
