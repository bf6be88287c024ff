"""The care of a store: sealing and compacting segments, removing and purging documents, and the doctor's checks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gawah.errors import GawahError, ModelError, StampMismatchError, StoreError
from gawah.fingerprint import sha256_text
from gawah.ports import Catalog, Embedder, IndexFeed, IndexView, Rewritten, SegmentRecord, Snapshot
from gawah.store.answers import broken_links, fault_at_end
from gawah.types import DocumentRecord, DocumentState

UNIT_NORM_TOLERANCE = 1e-5
IDENTITY_TOLERANCE = 1e-5  # |d²/2 − (1 − cos)| in float64 over float32 vectors is below 1e-6
_PAIRS = 200  # vectors whose every pair is checked


class MaintainedIndex(Protocol):
    """An index with files of its own."""

    def view(self, feed: IndexFeed) -> IndexView: ...

    def rewrite(self, feed: IndexFeed, *, whole_tail: bool = False, everything: bool = False) -> Rewritten | None:
        """Does what is most due, and says what is to be registered; None when nothing is due any more.

        `whole_tail`: every chunk gets into a file. `everything`: and no file keeps a deleted one.
        """
        ...

    def check(self, feed: IndexFeed) -> tuple[str, ...]: ...

    def repair(self, feed: IndexFeed) -> list[tuple[SegmentRecord, SegmentRecord | None]]: ...

    def remove_unregistered(self, registered: Sequence[str]) -> tuple[str, ...]: ...

    def drop_generation(self, generation: int) -> None:
        """Lets go of what it has of a generation that the catalog has dropped."""
        ...


@contextlib.contextmanager
def committed(done: str) -> Iterator[None]:
    """What fails in here says what was done before, and that it stays so."""
    try:
        yield
    except StoreError as error:
        raise type(error)(f"{done}, but the index could not be brought up to date: {error}") from error


def tidy(
    catalog: Catalog,
    index: MaintainedIndex,
    *,
    generation: int | None = None,
    whole_tail: bool = False,
    everything: bool = False,
) -> None:
    """Seals the tail and rewrites segments of a generation, the active one unless named, until nothing is due.

    `whole_tail`: seals it however short it is; `everything`: leaves no deleted row in any file. Call it under the writer's
    lock. Each step is a snapshot, files, and a transaction that registers them: queries and commits go on, and a kill
    costs a step.
    """
    while True:
        with catalog.snapshot(generation) as snapshot:
            done = index.rewrite(snapshot, whole_tail=whole_tail, everything=everything)
        if done is None:
            break
        catalog.replace_segments(
            done.old, done.new, applied_mark=done.mark, applied_seqs=(done.first_seq, done.last_seq)
        )
    remove_leftovers(catalog, index)  # also of segments that another machine has replaced


def remove_leftovers(catalog: Catalog, index: MaintainedIndex) -> None:
    """Removes files of segments that no generation has registered. Call it under the writer's lock."""
    with catalog.snapshot() as snapshot:
        index.remove_unregistered(snapshot.segment_names())


def repair(catalog: Catalog, index: MaintainedIndex) -> list[str]:
    """Builds damaged segments again from the catalog; returns their names. Call it under the writer's lock.

    Segments hold nothing that the catalog does not: nothing can be lost by this, and nothing else is changed.
    """
    repaired: list[tuple[SegmentRecord, SegmentRecord | None]] = []
    for generation in catalog.generations():
        with catalog.snapshot(generation.id) as snapshot:
            repaired += index.repair(snapshot)
    for old, new in repaired:
        catalog.replace_segments([old.name], new)
    remove_leftovers(catalog, index)
    return [old.name for old, _ in repaired]


@dataclass(frozen=True, slots=True)
class Removed:
    """What went with removed documents: their chunks, and the recorded answers that were emptied of their words."""

    n_chunks: int
    n_answers: int


def remove(catalog: Catalog, index: MaintainedIndex, records: Sequence[DocumentRecord]) -> Removed:
    """Removes documents with all that was made of them; recorded answers keep their quotes."""
    n_chunks = catalog.delete_documents([record.no for record in records])
    with committed("removed"):
        tidy(catalog, index)
    return Removed(n_chunks, 0)


def purge(catalog: Catalog, index: MaintainedIndex, records: Sequence[DocumentRecord]) -> Removed:
    """Removes documents so that no file of the store holds a word of them, recorded answers included.

    Without any, purges what was removed before.
    """
    numbers, ids = [record.no for record in records], [record.id for record in records]
    n_chunks, n_answers = catalog.purge_documents(numbers, ids or None)
    with committed("removed, and still to be purged with `gawah rm --purge`"):
        finish_purge(catalog, index)
    return Removed(n_chunks, n_answers)


def finish_purge(catalog: Catalog, index: MaintainedIndex) -> None:
    """Does what a purge still owes, this one or one that was interrupted: rewrites every file of the store."""
    if catalog.purge_owed():
        catalog.drop_abandoned_embeddings()
        for generation in catalog.generations():  # the words of a document are in the files of all that held it
            tidy(catalog, index, generation=generation.id, everything=True)
        catalog.vacuum()


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of the doctor: what was looked at, whether it holds, and the figures."""

    name: str
    holds: bool
    detail: str


def examine(catalog: Catalog, index: MaintainedIndex, embedder: Callable[[], Embedder]) -> Iterator[Check]:
    """The doctor's checks of a store; each says what it found, none repairs anything. `embedder` may find its model gone."""
    yield _check_files(catalog)
    yield _check_log(catalog)
    yield _check_generations(catalog, index)
    with catalog.snapshot() as snapshot:
        yield _check_model(snapshot, embedder)
        records = snapshot.documents()
        yield _check_counters(snapshot, records)
        yield _check_slices(snapshot, records)
        yield from _check_vectors(snapshot)
        yield from _check_index(snapshot, index)
        yield _check_documents(records)


def _check_files(catalog: Catalog) -> Check:
    errors = catalog.integrity_errors()
    if catalog.purge_owed():
        errors.append("a purge was interrupted; run: gawah rm --purge")
    return Check("catalog", not errors, "; ".join(errors[:3]) or "sound")


def _check_generations(catalog: Catalog, index: MaintainedIndex) -> Check:
    """Of those that are kept beside the active one: what they hold against what is noted, and their files."""
    others = [one for one in catalog.generations() if one.state != "active" and one.dropped_at is None]
    wrong: list[str] = []
    for one in others:
        with catalog.snapshot(one.id) as snapshot:
            noted, held = snapshot.holding(one.id).n_chunks, sum(snapshot.n_chunks_by_document().values())
            wrong += [f"generation {one.id}: {noted} chunks noted, {held} held"] if noted != held else []
            try:
                wrong += index.check(snapshot)
            except StoreError as error:
                wrong.append(f"generation {one.id}: {error}")
    detail = ", ".join(f"{one.id} {one.state} ({one.model.name})" for one in others) or "the active one"
    return Check("generations", not wrong, "; ".join(wrong) if wrong else detail)


def _check_log(catalog: Catalog) -> Check:
    head = catalog.log_head()
    records = catalog.load_answers()
    faults = [f"altered at {answer_id}" for answer_id in broken_links(records)[:1]]
    faults += [fault] if (fault := fault_at_end(head, records)) else []
    return Check("answer log", not faults, "; ".join(faults) or f"{_counted(len(records), 'outcome')}, chain holds")


def _check_model(snapshot: Snapshot, embedder: Callable[[], Embedder]) -> Check:
    try:
        ours = embedder().stamp
    except (ModelError, StampMismatchError) as error:
        return Check("model", False, str(error))  # noqa: FBT003
    detail = f"{ours.name}, {ours.dimensions} dimensions, window {ours.window_tokens}, sha256 {ours.sha256[:12]}"
    same = snapshot.model is None or snapshot.model == ours
    return Check("model", same, detail if same else f"{detail}; the store was built with {snapshot.model}")


def _check_counters(snapshot: Snapshot, records: Sequence[DocumentRecord]) -> Check:
    held = snapshot.n_chunks_by_document()
    wrong = [record.name for record in records if record.counters.n_chunks != held.get(record.no, 0)]
    total = sum(held.values())
    truncated = sum(record.counters.n_truncated for record in records)
    detail = f"{len(records)} documents, {total} chunks, {truncated} truncated"
    return Check(
        "counters", not wrong and not truncated, detail + (f"; wrong: {', '.join(wrong[:5])}" if wrong else "")
    )


def _check_slices(snapshot: Snapshot, records: Sequence[DocumentRecord]) -> Check:
    n, wrong = 0, []
    for record in records:
        if not record.counters.n_chunks:
            continue
        text = snapshot.load_document(record.no).text
        if sha256_text(text) != record.text_sha256:
            wrong.append(f"{record.name}: the text is not the one that was committed")
        for chunk in snapshot.chunks_of(record.no):
            n += 1
            if chunk.span.end > len(text) or chunk.span.slice(text) != chunk.content:
                wrong.append(f"{record.name} {chunk.span.start},{chunk.span.end}")
    return Check("slices", not wrong, f"{n} chunks equal text[from:to]" if not wrong else f"not so: {wrong[0]}")


def _check_vectors(snapshot: Snapshot) -> Iterator[Check]:
    n, worst = 0, 0.0
    sample: list[np.ndarray] = []
    for row in snapshot.rows(0):
        n += 1
        vector = row.embedding.vector.astype(np.float64)
        worst = max(worst, abs(float(np.linalg.norm(vector)) - 1.0)) if np.isfinite(vector).all() else float("inf")
        if len(sample) < _PAIRS:
            sample.append(vector)
    yield Check("unit norms", worst <= UNIT_NORM_TOLERANCE, f"{n} vectors, largest |norm - 1| {worst:.1e}")
    error = 0.0
    if sample:
        matrix = np.array(sample)
        squared = ((matrix[:, None, :] - matrix[None, :, :]) ** 2).sum(axis=2)
        error = float(np.abs(squared / 2 - (1 - matrix @ matrix.T)).max())
    yield Check(
        "d²/2 = 1 - cos", error <= IDENTITY_TOLERANCE, f"{len(sample) ** 2} pairs, largest difference {error:.1e}"
    )


def _check_index(snapshot: Snapshot, index: MaintainedIndex) -> Iterator[Check]:
    segments = snapshot.segments()
    try:
        problems, view = index.check(snapshot), index.view(snapshot)
    except GawahError as error:  # its server is away, or a row cannot be indexed
        yield Check("index", False, str(error))  # noqa: FBT003
        return
    advice = "; `gawah doctor --repair` builds them again from the catalog"
    yield Check(
        "segments", not problems, _counted(len(segments), "segment") if not problems else "; ".join(problems) + advice
    )
    held = sum(snapshot.n_chunks_by_document().values())
    degraded = getattr(view, "degraded", ())
    detail = f"{view.n_chunks} chunks in the index, {held} in the catalog"
    yield Check("index", view.n_chunks == held and not degraded, "; ".join([detail, *degraded]))


def _check_documents(records: Sequence[DocumentRecord]) -> Check:
    failed = [record for record in records if record.state is DocumentState.FAILED]
    open_ones = [r for r in failed if r.failure and (r.failure.retryable or r.failure.code == "internal_error")]
    under_way = sum(record.state not in (DocumentState.FAILED, DocumentState.READY) for record in records)
    detail = f"{len(failed)} failed, {under_way} under way"
    if failed and failed[0].failure:
        detail += f"; first: {failed[0].name}: {failed[0].failure.code}"
    return Check("documents", not open_ones, detail)  # a file that can never be read is no fault of the store


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
