"""Documents that older code made, made anew: exactly those, and each with no more work than it needs.

What an extractor or the pipeline would make otherwise today comes from the original, through the queue; what only the chunker
would, from the stored text. Until a document is done, and if it cannot be, its older version is found as before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gawah.app import Application
from gawah.errors import NotFoundError, StoreBusyError
from gawah.migrate import Migration, bring
from gawah.sources import found_file
from gawah.types import DocumentRecord, Stamp
from gawah.upkeep import tidy

_FROM_ORIGINAL = {"extractor", "pipeline"}


@dataclass(frozen=True, slots=True)
class StaleDocument:
    """A document and the parts of its stamp that are older than the code: extractor, pipeline, chunker or model."""

    record: DocumentRecord
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refresh:
    """What is to be done: from the original, from the stored text; and what cannot: the original is gone, or the model is
    another one, which is a matter of `gawah migrate`.
    """

    from_original: tuple[StaleDocument, ...]
    from_text: tuple[StaleDocument, ...]
    gone: tuple[StaleDocument, ...]
    other_model: tuple[StaleDocument, ...]


@dataclass(frozen=True, slots=True)
class StampGroup:
    """Documents with the same stamp, and the parts of it that are older than the code; none when it is current."""

    stamp: Stamp
    stale: tuple[str, ...]
    n_documents: int


def stamps_of(app: Application) -> list[StampGroup]:
    """Every distinct stamp in the store, those of most documents first."""
    counts: dict[tuple[Stamp, tuple[str, ...]], int] = {}
    for record in app.documents():
        if record.stamp is not None:
            key = (record.stamp, app.stale(record))
            counts[key] = counts.get(key, 0) + 1
    groups = [StampGroup(stamp, stale, n) for (stamp, stale), n in counts.items()]
    return sorted(
        groups, key=lambda one: (-one.n_documents, one.stamp.extractor, one.stamp.chunker, one.stamp.pipeline)
    )


def plan_refresh(app: Application, names: Sequence[str] = (), collection: str | None = None) -> Refresh:
    """What is stale among the named documents, or all, of one collection or all. Raises NotFoundError for a name."""
    records = [app.find_document(name) for name in names] if names else app.documents()
    if collection is not None:
        records = [record for record in records if record.collection == collection]
        if not records:
            raise NotFoundError(f"no such document in the collection {collection}; `gawah ls` lists them")
    found = [StaleDocument(record, parts) for record in records if (parts := app.stale(record))]
    under_model = [one for one in found if "model" not in one.parts]
    from_original = [one for one in under_model if _FROM_ORIGINAL & set(one.parts)]
    return Refresh(
        from_original=tuple(one for one in from_original if found_file(one.record.uri) is not None),
        from_text=tuple(one for one in under_model if not _FROM_ORIGINAL & set(one.parts)),
        gone=tuple(one for one in from_original if found_file(one.record.uri) is None),
        other_model=tuple(one for one in found if "model" in one.parts),
    )


def refresh(app: Application, planned: Refresh) -> Iterator[DocumentRecord]:
    """Does what was planned; yields each document as it ends, those too that were in the queue anyway."""
    if planned.from_text:
        yield from _from_text(app, [one.record for one in planned.from_text])
    if planned.from_original:
        yield from app.resume([one.record for one in planned.from_original])


def _from_text(app: Application, records: Sequence[DocumentRecord]) -> Iterator[DocumentRecord]:
    generation, embedder = app.open_generation(), app.embedder

    def tidied(whole_tail: bool) -> None:  # noqa: FBT001
        with contextlib.suppress(StoreBusyError), app.catalog.writer_lock():
            tidy(app.catalog, app.index, whole_tail=whole_tail)

    migration = Migration(app.catalog, generation, lambda: embedder, app.chunking, tidied)
    for record in records:
        if bring(migration, embedder, record) is not None:  # else it was made anew, or removed, by another meanwhile
            yield app.find_document(record.id)
    tidied(False)  # noqa: FBT003
