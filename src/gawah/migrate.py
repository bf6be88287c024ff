"""From one generation to another: every searchable document brought into it from its stored text, then one switch.

Building the next generation and going back to an earlier one are the same: bring up what is pending, and switch when nothing
is. Each document is one transaction and each batch of embeddings another, so that a kill costs at most a batch. Also here:
which model a process works with, whose settings name another one than the store stands under by now.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gawah.chunk import Chunking
from gawah.embed import embed_missing
from gawah.errors import ModelError, NotFoundError, StampMismatchError
from gawah.ingest import count_chunks, index_chunks
from gawah.ports import Catalog, Embedder
from gawah.types import DocumentRecord, Generation, Stamp

LoadModel = Callable[[str], Embedder]
"""The encoder that a setting `model` names; raises ModelError."""

_TIDY_EVERY_CHUNKS = 4096  # what a kill leaves unsealed is analysed again at the next start


@dataclass(frozen=True, slots=True)
class Followed:
    """The encoder to work with, and a line where it is not the one that the settings name."""

    embedder: Embedder
    note: str = ""


def follow(catalog: Catalog, configured: Embedder, load: LoadModel) -> Followed:
    """The active generation's encoder for a process that was set up for any model this store has known.

    An encoder that the store never knew is left as it is: whoever works with it is refused. Raises StampMismatchError when
    the active generation's model cannot be loaded, or is another one by now.
    """
    generations = catalog.generations()
    active = next((one for one in generations if one.state == "active"), None)
    if active is None or configured.stamp == active.model:
        return Followed(configured)
    if not any(one.model == configured.stamp for one in generations):
        return Followed(configured)
    day = f", since {time.strftime('%Y-%m-%d', time.gmtime(active.switched_at))}" if active.switched_at else ""
    note = f"this store's model is {active.model.name} (generation {active.id}{day}), not {configured.stamp.name}"
    return Followed(load_model_of(active, load), f"{note}; set model = {active.source}")


def load_model_of(generation: Generation, load: LoadModel) -> Embedder:
    """The encoder that built a generation; raises StampMismatchError when it is not to be had."""
    wanted = f"generation {generation.id} was built with {generation.model.name}"
    if not generation.source:
        raise StampMismatchError(f"{wanted}, and where that lies is not recorded; set model to its name or folder")
    try:
        embedder = load(generation.source)
    except ModelError as error:
        raise StampMismatchError(
            f"{wanted}, which cannot be loaded ({error}); say where it is: gawah migrate --model FOLDER"
        ) from error
    if embedder.stamp != generation.model:
        raise StampMismatchError(
            f"{wanted} ({generation.model.sha256[:12]}), but {generation.source} is {embedder.stamp.name} "
            f"({embedder.stamp.sha256[:12]}) now; set model to where the one it was built with is"
        )
    return embedder


def previous(generations: list[Generation]) -> Generation:
    """The generation that was active before the active one; NotFoundError when there is none, or it was dropped."""
    before = [one for one in generations if one.state == "retired" and one.switched_at is not None]
    if not before:
        raise NotFoundError("there is no generation to go back to: this store was never migrated")
    last = max(before, key=lambda one: (one.switched_at or 0.0, one.id))
    if last.dropped_at is not None:
        raise NotFoundError(
            f"generation {last.id} was dropped; build it anew: gawah migrate --model {last.source or last.model.name}"
        )
    return last


@dataclass(frozen=True, slots=True)
class Migration:
    """A generation that is to be brought up to all that is searchable, and with what.

    `embedder` makes the encoder, which is needed only where something is pending. `tidy` puts the generation's files in
    order, the whole tail included if it is told so.
    """

    catalog: Catalog
    generation: int
    embedder: Callable[[], Embedder]
    chunking: Chunking
    tidy: Callable[[bool], None]


def bring_up(migration: Migration) -> Iterator[DocumentRecord]:
    """Brings in document by document until none is pending; yields each. What is new meanwhile comes too."""
    n_new = 0
    while pending := _pending(migration):
        embedder = migration.embedder()
        for record in pending:
            if (n_chunks := bring(migration, embedder, record)) is None:
                continue  # it has another version by now, or is gone
            yield record
            n_new += n_chunks
            if n_new >= _TIDY_EVERY_CHUNKS:
                migration.tidy(False)  # noqa: FBT003
                n_new = 0


def complete(migration: Migration) -> Iterator[DocumentRecord]:
    """Brings up what is pending and switches, in a transaction that finds nothing pending; yields documents as they come in.

    The generation's files are in order before, so that the first question after it is as fast as the last before.
    """
    while True:
        yield from bring_up(migration)
        migration.tidy(True)  # noqa: FBT003
        if not migration.catalog.switch_generation(migration.generation):
            return


def bring(migration: Migration, embedder: Embedder, record: DocumentRecord) -> int | None:
    """Chunks and embeds a document's stored text into the generation; how many chunks, None when it changed meanwhile.

    Its extractor and its pipeline stay as they are in the stamp: they made the text, and nothing of that is done again.
    """
    catalog, model = migration.catalog, embedder.stamp
    try:
        with catalog.snapshot() as snapshot:
            record = snapshot.document(record.id)
            document = snapshot.load_document(record.no)
    except NotFoundError:
        return None
    if record.stamp is None:
        return None
    chunks = index_chunks(migration.chunking, embedder, document)
    known = catalog.known_embeddings(model, [item.text_sha256 for item in chunks])
    for batch in embed_missing(embedder, [item.chunk.text for item in chunks], known):
        catalog.put_embeddings(model, batch)
    stamp = Stamp(model, record.stamp.pipeline, migration.chunking.name, record.stamp.extractor)
    counters = count_chunks(embedder, document, chunks)
    done = catalog.rechunk_document(migration.generation, record, chunks, stamp, counters)
    return len(chunks) if done else None


def _pending(migration: Migration) -> list[DocumentRecord]:
    with migration.catalog.snapshot() as snapshot:
        return snapshot.pending(migration.generation)
