"""The catalog: every write of gawah, each as one transaction, and snapshots to read from.

A document's chunks, vectors, counters, stamp and the state `ready` become visible in one commit, or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gawah.errors import StoreBusyError
from gawah.fingerprint import sha256_text
from gawah.ports import Embedding, SegmentRecord
from gawah.store import answers, connection, epochs, generations, jobs, records
from gawah.store import chunks as chunk_rows
from gawah.store.outcomes import Outcomes
from gawah.store.queue import Queue
from gawah.store.snapshot import SqlSnapshot
from gawah.store.sql import Order
from gawah.store.sqlite import SqliteDatabase
from gawah.store.transactions import again
from gawah.types import (
    Document,
    DocumentCounters,
    DocumentRecord,
    DroppedGeneration,
    Generation,
    IndexedChunk,
    Job,
    ModelStamp,
    Stamp,
)

_OVERLAPPING = "SELECT 1 FROM segments WHERE generation = ? AND first_seq <= ? AND last_seq >= ?"
_LAST_SEQ = 2**63 - 1  # the largest there can be


class SqlCatalog(Queue, Outcomes):
    """Implements ports.Catalog over a database of either kind. Threads may share it. `directory` is the store's folder."""

    @contextlib.contextmanager
    def snapshot(self, generation: int | None = None) -> Iterator[SqlSnapshot]:
        """One consistent view, of the active generation or the one named (NotFoundError for one that never was).

        Do not write through this catalog from the same thread while it is open.
        """
        with self._database.snapshot() as opened:
            yield SqlSnapshot(opened, generation)

    @again
    def identity(self) -> str:
        """A name of this store that no other has, for what is kept of it elsewhere; a copied folder has it too."""
        question = "SELECT value FROM meta WHERE key = 'identity'"
        with self._database.reading() as opened:
            row = opened.execute(question).fetchone()
        if row is None:
            with self._database.writing() as opened:
                opened.execute(
                    "INSERT INTO meta VALUES ('identity', ?) ON CONFLICT (key) DO NOTHING", (os.urandom(8).hex(),)
                )
                row = opened.execute(question).fetchone()
        return str(row[0])

    # --- generations

    @again
    def generation_for(self, model: ModelStamp, source: str = "") -> int:
        """The active generation, made when there is none; raises StampMismatchError when another model built it."""
        with self._database.writing(Order.CONTENT) as opened:
            return generations.active_for(opened, model, source, self.clock())

    def generations(self) -> list[Generation]:
        """All there ever were, by number; it may be asked inside of a snapshot."""
        with self._database.reading() as opened:
            return generations.every(opened)

    @again
    def begin_generation(self, model: ModelStamp, source: str) -> int:
        """The generation of that model, begun when there is none; raises UsageError while another one is half built."""
        with self._database.writing(Order.CONTENT) as opened:
            return generations.begin(opened, model, source, self.clock())

    @again
    def rechunk_document(
        self,
        generation: int,
        record: DocumentRecord,
        chunks: Sequence[IndexedChunk],
        stamp: Stamp,
        counters: DocumentCounters,
    ) -> bool:
        """Puts chunks of the stored text into a generation in place of what it has of it.

        False, and nothing is done, when the document has another version by now or is gone, or when an embedding of it
        was dropped meanwhile. Raises StampMismatchError when the generation is another model's.
        """
        key = chunk_rows.embedding_key(stamp.model)
        with self._database.writing(Order.CONTENT) as opened:
            chosen = generations.require_model(opened, generation, stamp.model)
            now = opened.execute("SELECT version FROM documents WHERE no = ?", (record.no,)).fetchone()
            if now is None or now[0] != record.version:
                return False
            if not chunk_rows.are_embedded(opened, key, chunks):
                return False
            replaced = chunk_rows.remove(opened, record.no, generation)
            chunk_rows.insert(opened, record.no, generation, chunks, key)
            generations.note(opened, chosen, record.no, stamp, counters)
            chunk_rows.drop_unused(opened, replaced)
            epochs.bump(opened)
            return True

    @again
    def switch_generation(self, generation: int) -> int:
        """Makes a generation the active one if it lacks no searchable document; returns how many it lacks."""
        with self._database.writing(Order.CONTENT) as opened:
            n_lacking = generations.switch(opened, generation, self.clock())
            if not n_lacking:
                epochs.bump(opened)
            return n_lacking

    @again
    def drop_generation(self, generation: int) -> DroppedGeneration:
        """Throws away all that a generation holds which is not the active one (UsageError)."""
        with self._database.writing(Order.CONTENT) as opened:
            dropped = generations.drop(opened, generation, self.clock())
            epochs.bump(opened)
            return dropped

    # --- embeddings

    def known_embeddings(self, model: ModelStamp, text_sha256: Iterable[str]) -> set[str]:
        """Which texts have been embedded by this model already."""
        with self._database.reading() as opened:
            return chunk_rows.known_texts(opened, chunk_rows.embedding_key(model), text_sha256)

    @again
    def put_embeddings(self, model: ModelStamp, embeddings: Mapping[str, Embedding]) -> None:
        """Keeps embeddings by the hash of their text, before any chunk refers to them: a killed ingest loses no batch."""
        key = chunk_rows.embedding_key(model)
        with self._database.noting() as opened:
            opened.executemany(
                "INSERT INTO embeddings (model_sha256, text_sha256, vector, signs, scales) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (model_sha256, text_sha256) DO NOTHING",
                # in one order: who puts some of the same beside us waits, and never for what we wait for
                [(key, text, *records.embedding_bytes(value)) for text, value in sorted(embeddings.items())],
            )

    # --- documents

    @again
    def commit_document(
        self, job: Job, document: Document, chunks: Sequence[IndexedChunk], stamp: Stamp, counters: DocumentCounters
    ) -> None:
        """Makes a version of a document searchable and its job done.

        Raises LeaseLostError when another worker holds the job, StampMismatchError when the active generation is another
        model's. Every embedding must have been put before. Other generations hold the document no more.
        """
        now = self.clock()
        with self._database.writing(Order.CONTENT) as opened:
            jobs.check(opened, job)
            generation = generations.active_for(opened, stamp.model, "", now)
            replaced = generations.forget(opened, job.document.no)
            opened.execute(
                "INSERT INTO contents (document_no, text, extraction) VALUES (?1, ?2, ?3) "
                "ON CONFLICT (document_no) DO UPDATE SET text = ?2, extraction = ?3",
                (job.document.no, document.text, records.extraction_json(document)),
            )
            key = chunk_rows.embedding_key(stamp.model)
            if not chunk_rows.are_embedded(opened, key, chunks):
                raise StoreBusyError(
                    f"{job.document.name}: a document that shared words with it was removed; run it again"
                )
            chunk_rows.insert(opened, job.document.no, generation, chunks, key)
            source = document.source
            opened.execute(
                "UPDATE documents SET state = 'ready', failure_code = NULL, failure_reason = NULL, retryable = 0, "
                "next_try_at = NULL, media_type = ?, size_bytes = ?, file_sha256 = ?, indexed_sha256 = ?, title = ?, "
                "language = ?, text_sha256 = ?, stamp = ?, n_chars = ?, n_chunks = ?, n_tokens = ?, n_truncated = ?, "
                "quality = ?, warnings = ?, updated_at = ?, version = version + 1 WHERE no = ?",
                (
                    source.media_type, source.size_bytes, source.sha256, source.sha256, document.title,
                    document.language, sha256_text(document.text), records.stamp_json(stamp),
                    counters.n_chars, counters.n_chunks, counters.n_tokens, counters.n_truncated,
                    json.dumps(dict(document.quality)), json.dumps(document.warnings), now, job.document.no,
                ),
            )  # fmt: skip
            jobs.finish(opened, job)
            chunk_rows.drop_unused(opened, replaced)
            epochs.bump(opened)

    @again
    def note_file(self, job: Job, media_type: str, size_bytes: int, sha256: str) -> None:
        """Records which bytes a job reads, so that a failure can be told from a file that has changed since."""
        with self._database.noting() as opened:
            jobs.check(opened, job)
            opened.execute(
                "UPDATE documents SET size_bytes = ?, file_sha256 = ?, "
                "media_type = CASE WHEN ? = '' THEN media_type ELSE ? END WHERE no = ?",
                (size_bytes, sha256, media_type, media_type, job.document.no),
            )

    @again
    def delete_documents(self, document_nos: Sequence[int]) -> int:
        """Removes documents with all that was made of them; returns how many chunks went."""
        with self._database.writing(Order.CONTENT) as opened:
            n_chunks = generations.delete_documents(opened, document_nos)
            epochs.bump(opened)
            return n_chunks

    # --- segments

    @again
    def replace_segments(
        self,
        old: Iterable[str],
        new: SegmentRecord | None,
        *,
        applied_mark: int | None = None,
        applied_seqs: tuple[int, int] | None = None,
    ) -> None:
        """Registers a segment in place of others. Deletions up to `applied_mark` are forgotten: all of them, or those of chunks
        from the first to the last of `applied_seqs`. Raises StoreBusyError where some chunk would be in two.
        """
        names = list(old)
        with self._database.writing(Order.CONTENT) as opened:
            touched = {
                row["generation"]
                for name in names
                for row in opened.execute("SELECT generation FROM segments WHERE name = ?", (name,)).fetchall()
            }
            opened.executemany("DELETE FROM segments WHERE name = ?", [(name,) for name in names])
            if new is not None:
                if opened.execute(_OVERLAPPING, (new.generation, new.last_seq, new.first_seq)).fetchall():
                    raise StoreBusyError(f"segment {new.name} was made beside another process; it is left out")
                touched = {new.generation}
                opened.execute(
                    "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)",
                    (new.name, new.generation, new.first_seq, new.last_seq, new.n_chunks, new.manifest_sha256),
                )
            if applied_mark is not None:
                first, last = applied_seqs or (0, _LAST_SEQ)
                opened.executemany(
                    "DELETE FROM deletions WHERE generation = ? AND mark <= ? AND seq BETWEEN ? AND ?",
                    [(generation, applied_mark, first, last) for generation in touched],
                )
            epochs.bump(opened)

    # --- care

    @again
    def drop_abandoned_embeddings(self) -> int:
        """Embeddings that an ingest left behind when it was killed and its file changed; returns how many."""
        with self._database.writing(Order.CONTENT) as opened:
            return opened.execute(
                "DELETE FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM jobs) "
                "AND id NOT IN (SELECT embedding FROM chunks)"
            ).rowcount

    @again
    def purge_documents(self, document_nos: Sequence[int], document_ids: Iterable[str] | None) -> tuple[int, int]:
        """Deletes documents and empties the outcomes that carry their words, or those of any that was removed, at once.

        A purge is owed from then on, until `vacuum` has rewritten the file. Returns (chunks deleted, outcomes emptied).
        """
        with self._database.writing(Order.CONTENT, Order.LOG) as opened:
            n_chunks = generations.delete_documents(opened, document_nos)
            chosen = answers.removed_documents(opened) if document_ids is None else document_ids
            n_answers = answers.redact(opened, chosen)
            answers.set_meta(opened, "purge_owed", "1")
            epochs.bump(opened)
            return n_chunks, n_answers

    def purge_owed(self) -> bool:
        """Whether a purge was begun and words of it may still be in the store's files."""
        with self._database.reading() as opened:
            row = opened.execute("SELECT 1 FROM meta WHERE key = 'purge_owed'").fetchone()
            return row is not None

    def vacuum(self) -> None:
        """Leaves nothing of what was deleted in the database's files: then no purge is owed.

        Raises StoreBusyError while a reader holds on to what was there before.
        """
        self._database.vacuum()
        with self._database.writing() as opened:
            opened.execute("DELETE FROM meta WHERE key = 'purge_owed'")

    def integrity_errors(self) -> list[str]:
        """What the database's own check finds; empty when it is sound."""
        return self._database.integrity_errors()


class SqliteCatalog(SqlCatalog):
    """The catalog in one SQLite file in the store's folder."""

    def __init__(self, directory: Path, *, create: bool = False, clock: Callable[[], float] = time.time) -> None:
        self.path = directory / connection.FILE_NAME
        super().__init__(SqliteDatabase(self.path, create=create), directory, clock)
