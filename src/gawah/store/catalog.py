"""The catalog: every write of gawah, each as one transaction, and snapshots to read from.

A document's chunks, vectors, counters, stamp and the state `ready` become visible in one commit, or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gawah.errors import StoreBusyError, StoreError
from gawah.fingerprint import sha256_text
from gawah.ports import Embedding, SegmentRecord
from gawah.store import answers, connection, epochs, generations, jobs, records
from gawah.store import chunks as chunk_rows
from gawah.store.chunks import embedding_key
from gawah.store.readonly import FileState, inode_of, is_writable, state_of
from gawah.store.snapshot import SqliteSnapshot
from gawah.types import (
    AnswerRecord,
    Document,
    DocumentCounters,
    DocumentRecord,
    DocumentState,
    DroppedGeneration,
    Failure,
    Generation,
    IndexedChunk,
    Job,
    LogHead,
    ModelStamp,
    Stamp,
)

LEASE_S = 600.0  # longer than the wall limit of an extraction; embedding renews it batch by batch


class SqliteCatalog:
    """Implements ports.Catalog over one SQLite file. Threads may share it: each has connections of its own."""

    def __init__(self, directory: Path, *, create: bool = False, clock: Callable[[], float] = time.time) -> None:
        self.directory = directory
        self.path = directory / connection.FILE_NAME
        self.clock = clock
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._pid = os.getpid()
        connection.connect(self.path, create=create).connection.close()
        self.read_only = not is_writable(self.path)

    def close(self) -> None:
        with self._guard:
            for opened in self._opened:
                opened.close()
            self._opened.clear()

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is not None and not found.in_transaction and self._local.inode != inode_of(self.path):
            with self._guard:  # the file was replaced, by a backup most likely: what is open is no store any more
                self._opened.remove(found)
            found.close()
            found = None
        if found is None:
            inode = inode_of(self.path)
            found, relies_on = connection.connect(self.path)
            found.row_factory = sqlite3.Row
            self._local.connection, self._local.relies_on, self._local.inode = found, relies_on, inode
            with self._guard:
                self._opened.append(found)
        return found

    @contextlib.contextmanager
    def snapshot(self, generation: int | None = None) -> Iterator[SqliteSnapshot]:
        """One consistent view, of the active generation or the one named (NotFoundError for one that never was).

        Do not write through this catalog from the same thread while it is open.
        """
        with self._read() as reading, connection.transaction(reading, "DEFERRED") as opened:
            yield SqliteSnapshot(opened, generation)

    @contextlib.contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        """A connection to read from; StoreBusyError when files that were relied on changed meanwhile (readonly.py)."""
        with connection.sqlite_errors(self.path):
            opened = self._connection()
            if self._has_changed():  # since an earlier read of a process that lives long
                self._local.connection = None
                opened = self._connection()
            yield opened
            if self._has_changed():
                raise StoreBusyError(f"{self.path} was written to while it was read; run the command again")

    def _has_changed(self) -> bool:
        relies_on: FileState | None = self._local.relies_on
        return relies_on is not None and state_of(self.path) != relies_on

    @contextlib.contextmanager
    def _note(self) -> Iterator[sqlite3.Connection]:
        """A write that nobody is told of as done: how far a job is, an embedding that can be made again.

        It does not wait for the disk. The log is written in order, so the next `_write` that returns has put it there
        too; a power cut before that takes notes back to an earlier state and never leaves half of one.
        """
        opened = self._connection()
        opened.execute("PRAGMA synchronous = NORMAL")
        try:
            with self._write():
                yield opened
        finally:
            opened.execute("PRAGMA synchronous = FULL")

    @contextlib.contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """A transaction; when it has ended, a power cut does not undo it."""
        if self.read_only:
            raise StoreError(
                f"{self.path} cannot be written; check its permissions, its folder's and the file system's"
            )
        with connection.sqlite_errors(self.path), connection.transaction(self._connection()) as opened:
            yield opened

    def reading(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """A connection of this thread to read from, for the other keepers of this file (keyring.py, uploads.py)."""
        return self._read()

    def writing(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """A transaction for them; when it has ended, a power cut does not undo it."""
        return self._write()

    # --- generations

    def generation_for(self, model: ModelStamp, source: str = "") -> int:
        """The active generation, made when there is none; raises StampMismatchError when another model built it."""
        with self._write() as opened:
            return generations.active_for(opened, model, source, self.clock())

    def generations(self) -> list[Generation]:
        """All there ever were, by number; it may be asked inside of a snapshot."""
        with self._read() as opened:
            return generations.every(opened)

    def begin_generation(self, model: ModelStamp, source: str) -> int:
        """The generation of that model, begun when there is none; raises UsageError while another one is half built."""
        with self._write() as opened:
            return generations.begin(opened, model, source, self.clock())

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
        key = embedding_key(stamp.model)
        with self._write() as opened:
            chosen = generations.require_model(opened, generation, stamp.model)
            now = opened.execute("SELECT version FROM documents WHERE no = ?", (record.no,)).fetchone()
            if now is None or now[0] != record.version:
                return False
            texts = {item.text_sha256 for item in chunks}
            if texts - chunk_rows.known_texts(opened, key, texts):
                return False
            replaced = chunk_rows.remove(opened, record.no, generation)
            chunk_rows.insert(opened, record.no, generation, chunks, key)
            generations.note(opened, chosen, record.no, stamp, counters)
            chunk_rows.drop_unused(opened, replaced)
            epochs.bump(opened)
            return True

    def switch_generation(self, generation: int) -> int:
        """Makes a generation the active one if it lacks no searchable document; returns how many it lacks."""
        with self._write() as opened:
            n_lacking = generations.switch(opened, generation, self.clock())
            if not n_lacking:
                epochs.bump(opened)
            return n_lacking

    def drop_generation(self, generation: int) -> DroppedGeneration:
        """Throws away all that a generation holds which is not the active one (UsageError)."""
        with self._write() as opened:
            dropped = generations.drop(opened, generation, self.clock())
            epochs.bump(opened)
            return dropped

    # --- jobs

    def enqueue(self, files: Iterable[tuple[str, str, str]]) -> list[str]:
        """Queues (collection, name, uri); returns document ids."""
        with self._write() as opened:
            return jobs.enqueue(opened, files, self.clock())

    def claim(self, owner: str) -> Job | None:
        with self._note() as opened:
            return jobs.claim(opened, owner, LEASE_S, self.clock())

    def advance(self, job: Job, state: DocumentState) -> None:
        with self._note() as opened:
            jobs.advance(opened, job, state, LEASE_S, self.clock())

    def fail(self, job: Job, failure: Failure, *, retry_after_s: float | None = None) -> None:
        now = self.clock()
        with self._write() as opened:
            jobs.fail(opened, job, failure, now + retry_after_s if retry_after_s is not None else None, now)

    def release(self, owner: str) -> int:
        with self._write() as opened:
            return jobs.release(opened, owner, self.clock())

    def reclaim(self, owner: str | None = None) -> int:
        """Queues again what that dead worker left; without one what all have left, if none is alive (lock.at_work)."""
        with self._write() as opened:
            return jobs.reclaim(opened, self.clock(), owner)

    def requeue_due(self) -> int:
        """Queues failed documents whose time for another try has come; returns how many."""
        with self._note() as opened:
            return jobs.requeue_due(opened, self.clock())

    # --- embeddings

    def known_embeddings(self, model: ModelStamp, text_sha256: Iterable[str]) -> set[str]:
        """Which texts have been embedded by this model already."""
        with self._read() as opened:
            return chunk_rows.known_texts(opened, embedding_key(model), text_sha256)

    def put_embeddings(self, model: ModelStamp, embeddings: Mapping[str, Embedding]) -> None:
        """Keeps embeddings by the hash of their text, before any chunk refers to them: a killed ingest loses no batch."""
        key = embedding_key(model)
        with self._note() as opened:
            opened.executemany(
                "INSERT INTO embeddings (model_sha256, text_sha256, vector, signs, scales) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT (model_sha256, text_sha256) DO NOTHING",
                [(key, text, *records.embedding_bytes(value)) for text, value in embeddings.items()],
            )

    # --- documents

    def commit_document(
        self, job: Job, document: Document, chunks: Sequence[IndexedChunk], stamp: Stamp, counters: DocumentCounters
    ) -> None:
        """Makes a version of a document searchable and its job done.

        Raises LeaseLostError when another worker holds the job, StampMismatchError when the active generation is another
        model's. Every embedding must have been put before. Other generations hold the document no more.
        """
        now = self.clock()
        with self._write() as opened:
            jobs.check(opened, job)
            generation = generations.active_for(opened, stamp.model, "", now)
            replaced = generations.forget(opened, job.document.no)
            opened.execute(
                "INSERT INTO contents (document_no, text, extraction) VALUES (?, ?, ?) "
                "ON CONFLICT (document_no) DO UPDATE SET text = excluded.text, extraction = excluded.extraction",
                (job.document.no, document.text, records.extraction_json(document)),
            )
            chunk_rows.insert(opened, job.document.no, generation, chunks, embedding_key(stamp.model))
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

    def note_file(self, job: Job, media_type: str, size_bytes: int, sha256: str) -> None:
        """Records which bytes a job reads, so that a failure can be told from a file that has changed since."""
        with self._note() as opened:
            jobs.check(opened, job)
            opened.execute(
                "UPDATE documents SET size_bytes = ?, file_sha256 = ?, "
                "media_type = CASE WHEN ? = '' THEN media_type ELSE ? END WHERE no = ?",
                (size_bytes, sha256, media_type, media_type, job.document.no),
            )

    def delete_documents(self, document_nos: Sequence[int]) -> int:
        """Removes documents with all that was made of them; returns how many chunks went."""
        with self._write() as opened:
            n_chunks = _delete(opened, document_nos)
            epochs.bump(opened)
            return n_chunks

    # --- segments

    def replace_segments(
        self, old: Iterable[str], new: SegmentRecord | None, *, applied_mark: int | None = None
    ) -> None:
        """Registers a segment in place of others; deletions up to `applied_mark` are in it already and are forgotten."""
        with self._write() as opened:
            opened.executemany("DELETE FROM segments WHERE name = ?", [(name,) for name in old])
            if new is not None:
                opened.execute(
                    "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)",
                    (new.name, new.generation, new.first_seq, new.last_seq, new.n_chunks, new.manifest_sha256),
                )
                if applied_mark is not None:
                    opened.execute(
                        "DELETE FROM deletions WHERE generation = ? AND mark <= ?", (new.generation, applied_mark)
                    )
            epochs.bump(opened)

    # --- answers

    def append_answer(
        self, answer_id: str, status: str, body: Mapping[str, object], document_ids: Iterable[str]
    ) -> None:
        with self._write() as opened:
            answers.append(opened, answer_id, status, body, document_ids, self.clock())

    def load_answer(self, answer_id: str) -> AnswerRecord:
        with self._read() as opened:
            return answers.load(opened, answer_id)

    def load_answers(self) -> list[AnswerRecord]:
        with self._read() as opened:
            return answers.load_all(opened)

    def log_head(self) -> LogHead | None:
        """Where the log ended when it was last written to; None in a store where nothing was recorded since it is kept."""
        with self._read() as opened:
            return answers.head(opened)

    def redact_answers(self, document_ids: Iterable[str] | None = None) -> int:
        """Empties every outcome that carries words of these documents, or of any that was removed; returns how many."""
        with self._write() as opened:
            chosen = answers.removed_documents(opened) if document_ids is None else document_ids
            return answers.redact(opened, chosen)

    # --- care

    def drop_abandoned_embeddings(self) -> int:
        """Embeddings that an ingest left behind when it was killed and its file changed; returns how many."""
        with self._write() as opened:
            return opened.execute(
                "DELETE FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM jobs) "
                "AND id NOT IN (SELECT embedding FROM chunks)"
            ).rowcount

    def purge_documents(self, document_nos: Sequence[int], document_ids: Iterable[str] | None) -> tuple[int, int]:
        """Deletes documents and empties the outcomes that carry their words, or those of any that was removed, at once.

        A purge is owed from then on, until `vacuum` has rewritten the file. Returns (chunks deleted, outcomes emptied).
        """
        with self._write() as opened:
            n_chunks = _delete(opened, document_nos)
            chosen = answers.removed_documents(opened) if document_ids is None else document_ids
            n_answers = answers.redact(opened, chosen)
            opened.execute("INSERT OR REPLACE INTO meta VALUES ('purge_owed', '1')")
            epochs.bump(opened)
            return n_chunks, n_answers

    def purge_owed(self) -> bool:
        """Whether a purge was begun and words of it may still be in the store's files."""
        with self._read() as opened:
            row = opened.execute("SELECT 1 FROM meta WHERE key = 'purge_owed'").fetchone()
            return row is not None

    def vacuum(self) -> None:
        """Rewrites the file without what was deleted and empties the write-ahead log: then no purge is owed.

        Raises StoreBusyError while a reader holds on to what was there before.
        """
        with connection.sqlite_errors(self.path):
            opened = self._connection()
            self._truncate_log(opened)
            opened.execute("VACUUM")
            self._truncate_log(opened)
            opened.execute("DELETE FROM meta WHERE key = 'purge_owed'")

    def _truncate_log(self, opened: sqlite3.Connection) -> None:
        busy = opened.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreBusyError(f"{self.path}: a reader holds on to what was purged; end it and run: gawah rm --purge")

    def integrity_errors(self) -> list[str]:
        """What SQLite's own check finds; empty when the file is sound."""
        with self._read() as opened:
            found = [row[0] for row in opened.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
            found += [f"{row[0]} row {row[1]} refers to nothing" for row in opened.execute("PRAGMA foreign_key_check")]
            return found


def _delete(opened: sqlite3.Connection, document_nos: Sequence[int]) -> int:
    """Deletes documents with all that was made of them; returns how many chunks, those of other generations included."""
    n_chunks = 0
    for no in document_nos:
        used = generations.forget(opened, no)
        chunk_rows.drop_unused(opened, used)
        n_chunks += len(used)
        opened.execute("DELETE FROM documents WHERE no = ?", (no,))
    return n_chunks
