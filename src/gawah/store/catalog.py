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

from gawah.errors import StampMismatchError, StoreBusyError, StoreError
from gawah.fingerprint import sha256_text
from gawah.ports import Embedding, SegmentRecord
from gawah.store import answers, connection, jobs, records
from gawah.store.readonly import FileState, is_writable, state_of
from gawah.store.snapshot import SqliteSnapshot
from gawah.types import (
    AnswerRecord,
    Document,
    DocumentCounters,
    DocumentState,
    Failure,
    IndexedChunk,
    Job,
    LogHead,
    ModelStamp,
    Stamp,
)
from gawah.wire import to_json

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
        if found is None:
            found, relies_on = connection.connect(self.path)
            found.row_factory = sqlite3.Row
            self._local.connection, self._local.relies_on = found, relies_on
            with self._guard:
                self._opened.append(found)
        return found

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        """One consistent view; do not write through this catalog from the same thread while it is open."""
        with self._read() as reading, connection.transaction(reading, "DEFERRED") as opened:
            yield SqliteSnapshot(opened)

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

    def identity(self) -> str:
        """A name of this store that no other has, for what is kept of it elsewhere; a copied folder has it too."""
        with self._read() as opened:
            row = opened.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        if row is None:
            with self._write() as opened:
                opened.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (os.urandom(8).hex(),))
                row = opened.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        return str(row[0])

    # --- generations

    def generation_for(self, model: ModelStamp) -> int:
        """The active generation, made when there is none; raises StampMismatchError when another model built it."""
        with self._write() as opened:
            row = opened.execute("SELECT id, model FROM generations WHERE state = 'active'").fetchone()
            written = json.dumps(to_json(model), sort_keys=True)
            if row is None:
                return _inserted(
                    opened.execute(
                        "INSERT INTO generations (model, state, created_at) VALUES (?, 'active', ?)",
                        (written, self.clock()),
                    )
                )
            if row["model"] != written:
                raise StampMismatchError(mismatch(json.loads(row["model"]), model))
            return int(row["id"])

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
            rows = opened.execute(
                "SELECT text_sha256 FROM embeddings WHERE model_sha256 = ? AND text_sha256 IN "
                "(SELECT value FROM json_each(?))",
                (embedding_key(model), json.dumps(list(text_sha256))),
            )
            return {row[0] for row in rows}

    def put_embeddings(self, model: ModelStamp, embeddings: Mapping[str, Embedding]) -> None:
        """Keeps embeddings by the hash of their text, before any chunk refers to them: a killed ingest loses no batch."""
        key = embedding_key(model)
        with self._note() as opened:
            opened.executemany(
                "INSERT OR IGNORE INTO embeddings (model_sha256, text_sha256, vector, signs, scales) "
                "VALUES (?, ?, ?, ?, ?)",
                [(key, text, *records.embedding_bytes(value)) for text, value in embeddings.items()],
            )

    # --- documents

    def commit_document(
        self, job: Job, document: Document, chunks: Sequence[IndexedChunk], stamp: Stamp, counters: DocumentCounters
    ) -> None:
        """Makes a version of a document searchable and its job done.

        Raises LeaseLostError when another worker holds the job, StampMismatchError when the generation is another
        model's. Every embedding must have been put before.
        """
        generation = self.generation_for(stamp.model)
        now = self.clock()
        with self._write() as opened:
            jobs.check(opened, job)
            replaced = _remove_chunks(opened, job.document.no, generation)
            opened.execute(
                "INSERT INTO contents (document_no, text, extraction) VALUES (?1, ?2, ?3) "
                "ON CONFLICT (document_no) DO UPDATE SET text = ?2, extraction = ?3",
                (job.document.no, document.text, records.extraction_json(document)),
            )
            _insert_chunks(opened, job.document.no, generation, chunks, embedding_key(stamp.model))
            source = document.source
            opened.execute(
                "UPDATE documents SET state = 'ready', failure_code = NULL, failure_reason = NULL, retryable = 0, "
                "next_try_at = NULL, media_type = ?, size_bytes = ?, file_sha256 = ?, indexed_sha256 = ?, title = ?, "
                "language = ?, text_sha256 = ?, stamp = ?, n_chars = ?, n_chunks = ?, n_tokens = ?, n_truncated = ?, "
                "quality = ?, warnings = ?, updated_at = ? WHERE no = ?",
                (
                    source.media_type, source.size_bytes, source.sha256, source.sha256, document.title,
                    document.language, sha256_text(document.text), json.dumps(to_json(stamp), sort_keys=True),
                    counters.n_chars, counters.n_chunks, counters.n_tokens, counters.n_truncated,
                    json.dumps(dict(document.quality)), json.dumps(document.warnings), now, job.document.no,
                ),
            )  # fmt: skip
            jobs.finish(opened, job)
            _drop_unused(opened, replaced)
            _bump_epoch(opened)

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
            _bump_epoch(opened)
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
            _bump_epoch(opened)

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
            _bump_epoch(opened)
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


def embedding_key(model: ModelStamp) -> str:
    """Weights, recipe and token format: all decide what is stored."""
    return f"{model.sha256}:{model.recipe_sha256}:{model.token_format}"


def mismatch(stored: Mapping[str, object], model: ModelStamp) -> str:
    """One line on two models that must not be mixed."""
    ours = to_json(model)
    parts = [
        f"{key} {_short(stored.get(key))} there, {_short(ours[key])} here"
        for key in ours
        if ours[key] != stored.get(key)
    ]
    return (
        f"this store was built with {stored.get('name')}, not with {model.name} as it is now ({'; '.join(parts)}); "
        "set the old model again, or ingest into a new --store"
    )


def _short(value: object) -> str:
    return str(value)[:12]


def _inserted(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _delete(opened: sqlite3.Connection, document_nos: Sequence[int]) -> int:
    """Deletes documents with all that was made of them; returns how many chunks."""
    n_chunks = 0
    for no in document_nos:
        for (generation,) in opened.execute("SELECT id FROM generations").fetchall():
            removed = _remove_chunks(opened, no, generation)
            _drop_unused(opened, removed)
            n_chunks += len(removed)
        opened.execute("DELETE FROM documents WHERE no = ?", (no,))
    return n_chunks


def _remove_chunks(opened: sqlite3.Connection, document_no: int, generation: int) -> list[int]:
    """Deletes a document's chunks and tells the indexes; returns the ids of the embeddings they used."""
    which = (document_no, generation)
    opened.execute(
        "INSERT INTO deletions (generation, seq) SELECT generation, seq FROM chunks "
        "WHERE document_no = ? AND generation = ?",
        which,
    )
    rows = opened.execute("DELETE FROM chunks WHERE document_no = ? AND generation = ? RETURNING embedding", which)
    return [row[0] for row in rows.fetchall()]


def _insert_chunks(
    opened: sqlite3.Connection, document_no: int, generation: int, chunks: Sequence[IndexedChunk], key: str
) -> None:
    opened.executemany(
        "INSERT INTO chunks (id, generation, document_no, ordinal, section, first, past, n_tokens, n_head_chars, text, "
        "locator, embedding) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "(SELECT id FROM embeddings WHERE model_sha256 = ? AND text_sha256 = ?))",
        [
            (
                item.chunk.id, generation, document_no, item.chunk.ordinal, item.chunk.section, item.chunk.span.start,
                item.chunk.span.end, item.chunk.n_tokens, len(item.chunk.text) - len(item.chunk.content),
                item.chunk.text, json.dumps(to_json(item.locator), ensure_ascii=False), key, item.text_sha256,
            )
            for item in chunks
        ],
    )  # fmt: skip


def _drop_unused(opened: sqlite3.Connection, embeddings: Sequence[int]) -> None:
    """Deletes those of the given embeddings that no chunk refers to any more."""
    opened.executemany(
        "DELETE FROM embeddings WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM chunks WHERE embedding = ?1)",
        [(embedding,) for embedding in embeddings],
    )


def _bump_epoch(opened: sqlite3.Connection) -> None:
    opened.execute("UPDATE meta SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE key = 'epoch'")
