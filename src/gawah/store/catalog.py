"""The catalog: every write of gawah, each as one transaction, and snapshots to read from.

A document's chunks, vectors, counters, stamp and the state `ready` become visible in one commit, or not at all.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from gawah.fingerprint import sha256_text
from gawah.ports import Embedding, SegmentRecord
from gawah.store import answers, connection, epochs, generations, jobs, records
from gawah.store import chunks as chunk_rows
from gawah.store.snapshot import SqlSnapshot
from gawah.store.sql import Connection, Database, Order
from gawah.store.sqlite import SqliteDatabase
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


Given = ParamSpec("Given")
Result = TypeVar("Result")


def _again(
    method: Callable[Concatenate[SqlCatalog, Given], Result],
) -> Callable[Concatenate[SqlCatalog, Given], Result]:
    """A method that is one transaction, made again when the database took it back for another's sake."""

    @functools.wraps(method)
    def made(self: SqlCatalog, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return self.again(functools.partial(method, self, *map(_lasting, args), **kwargs))  # type: ignore[arg-type]

    return made


def _lasting(value: object) -> object:
    return list(value) if isinstance(value, Iterator) else value


class SqlCatalog:
    """Implements ports.Catalog over a database of either kind. Threads may share it. `directory` is the store's folder."""

    def __init__(self, database: Database, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self.directory = directory
        self.clock = clock
        self._database = database

    @property
    def read_only(self) -> bool:
        return self._database.read_only

    def close(self) -> None:
        self._database.close()

    @contextlib.contextmanager
    def snapshot(self, generation: int | None = None) -> Iterator[SqlSnapshot]:
        """One consistent view, of the active generation or the one named (NotFoundError for one that never was).

        Do not write through this catalog from the same thread while it is open.
        """
        with self._database.snapshot() as opened:
            yield SqlSnapshot(opened, generation)

    def reading(self) -> contextlib.AbstractContextManager[Connection]:
        """A connection of this thread to read from, for the other keepers of this database (keyring.py, uploads.py)."""
        return self._database.reading()

    def writing(self, *orders: Order) -> contextlib.AbstractContextManager[Connection]:
        """A transaction for them; when it has ended, a power cut does not undo it."""
        return self._database.writing(*orders)

    def reading_one_moment(self) -> contextlib.AbstractContextManager[Connection]:
        """A connection for them on which all is as of one commit."""
        return self._database.snapshot()

    def numbers(self, opened: Connection) -> dict[str, int]:
        """The last number given out in each table that numbers its rows."""
        return self._database.numbers(opened)

    def set_numbers(self, opened: Connection, numbers: Mapping[str, int]) -> None:
        """Goes on counting where another store was."""
        self._database.set_numbers(opened, numbers)

    def again(self, write: Callable[[], Result]) -> Result:
        """What `write` returns, which is one transaction; it is called again where that was taken back for another's sake."""
        result: Result = self._database.again(write)
        return result

    def writer_lock(self) -> contextlib.AbstractContextManager[None]:
        """Held by who changes the index's files or a folder's documents; StoreBusyError while another does."""
        return self._database.writer_lock(self.directory)

    def migration_lock(self) -> contextlib.AbstractContextManager[None]:
        """Held by who builds a generation or switches to one; StoreBusyError while another does."""
        return self._database.migration_lock(self.directory)

    def at_work(self) -> contextlib.AbstractContextManager[None]:
        """Shows that this process works off the queue; who finds nobody else there queues anew what the dead left."""
        return self._database.at_work(self.directory, self.reclaim)

    @_again
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

    @_again
    def generation_for(self, model: ModelStamp, source: str = "") -> int:
        """The active generation, made when there is none; raises StampMismatchError when another model built it."""
        with self._database.writing(Order.CONTENT) as opened:
            return generations.active_for(opened, model, source, self.clock())

    def generations(self) -> list[Generation]:
        """All there ever were, by number; it may be asked inside of a snapshot."""
        with self._database.reading() as opened:
            return generations.every(opened)

    @_again
    def begin_generation(self, model: ModelStamp, source: str) -> int:
        """The generation of that model, begun when there is none; raises UsageError while another one is half built."""
        with self._database.writing(Order.CONTENT) as opened:
            return generations.begin(opened, model, source, self.clock())

    @_again
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
            texts = {item.text_sha256 for item in chunks}
            if texts - chunk_rows.known_texts(opened, key, texts):
                return False
            replaced = chunk_rows.remove(opened, record.no, generation)
            chunk_rows.insert(opened, record.no, generation, chunks, key)
            generations.note(opened, chosen, record.no, stamp, counters)
            chunk_rows.drop_unused(opened, replaced)
            epochs.bump(opened)
            return True

    @_again
    def switch_generation(self, generation: int) -> int:
        """Makes a generation the active one if it lacks no searchable document; returns how many it lacks."""
        with self._database.writing(Order.CONTENT) as opened:
            n_lacking = generations.switch(opened, generation, self.clock())
            if not n_lacking:
                epochs.bump(opened)
            return n_lacking

    @_again
    def drop_generation(self, generation: int) -> DroppedGeneration:
        """Throws away all that a generation holds which is not the active one (UsageError)."""
        with self._database.writing(Order.CONTENT) as opened:
            dropped = generations.drop(opened, generation, self.clock())
            epochs.bump(opened)
            return dropped

    # --- jobs

    @_again
    def enqueue(self, files: Iterable[tuple[str, str, str]]) -> list[str]:
        """Queues (collection, name, uri); returns document ids."""
        with self._database.writing(Order.CONTENT) as opened:
            return jobs.enqueue(opened, files, self.clock())

    @_again
    def claim(self, owner: str) -> Job | None:
        with self._database.noting() as opened:
            return jobs.claim(opened, owner, LEASE_S, self.clock())

    @_again
    def advance(self, job: Job, state: DocumentState) -> None:
        with self._database.noting() as opened:
            jobs.advance(opened, job, state, LEASE_S, self.clock())

    @_again
    def fail(self, job: Job, failure: Failure, *, retry_after_s: float | None = None) -> None:
        now = self.clock()
        with self._database.writing() as opened:
            jobs.fail(opened, job, failure, now + retry_after_s if retry_after_s is not None else None, now)

    @_again
    def release(self, owner: str) -> int:
        with self._database.writing(Order.CONTENT) as opened:
            return jobs.release(opened, owner, self.clock())

    @_again
    def reclaim(self, owner: str | None = None) -> int:
        """Queues again what that dead worker left; without one what all have left, if none is alive (lock.at_work)."""
        with self._database.writing(Order.CONTENT) as opened:
            return jobs.reclaim(opened, self.clock(), owner)

    @_again
    def requeue_due(self) -> int:
        """Queues failed documents whose time for another try has come; returns how many."""
        with self._database.noting() as opened:
            return jobs.requeue_due(opened, self.clock())

    # --- embeddings

    def known_embeddings(self, model: ModelStamp, text_sha256: Iterable[str]) -> set[str]:
        """Which texts have been embedded by this model already."""
        with self._database.reading() as opened:
            return chunk_rows.known_texts(opened, chunk_rows.embedding_key(model), text_sha256)

    @_again
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

    @_again
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
            chunk_rows.insert(opened, job.document.no, generation, chunks, chunk_rows.embedding_key(stamp.model))
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

    @_again
    def note_file(self, job: Job, media_type: str, size_bytes: int, sha256: str) -> None:
        """Records which bytes a job reads, so that a failure can be told from a file that has changed since."""
        with self._database.noting() as opened:
            jobs.check(opened, job)
            opened.execute(
                "UPDATE documents SET size_bytes = ?, file_sha256 = ?, "
                "media_type = CASE WHEN ? = '' THEN media_type ELSE ? END WHERE no = ?",
                (size_bytes, sha256, media_type, media_type, job.document.no),
            )

    @_again
    def delete_documents(self, document_nos: Sequence[int]) -> int:
        """Removes documents with all that was made of them; returns how many chunks went."""
        with self._database.writing(Order.CONTENT) as opened:
            n_chunks = generations.delete_documents(opened, document_nos)
            epochs.bump(opened)
            return n_chunks

    # --- segments

    @_again
    def replace_segments(
        self, old: Iterable[str], new: SegmentRecord | None, *, applied_mark: int | None = None
    ) -> None:
        """Registers a segment in place of others; deletions up to `applied_mark` are in it already and are forgotten."""
        with self._database.writing(Order.CONTENT) as opened:
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

    @_again
    def append_answer(
        self, answer_id: str, status: str, body: Mapping[str, object], document_ids: Iterable[str]
    ) -> None:
        with self._database.writing(Order.LOG) as opened:
            answers.append(opened, answer_id, status, body, document_ids, self.clock())

    def load_answer(self, answer_id: str) -> AnswerRecord:
        with self._database.reading() as opened:
            return answers.load(opened, answer_id)

    def load_answers(self) -> list[AnswerRecord]:
        with self._database.reading() as opened:
            return answers.load_all(opened)

    def log_head(self) -> LogHead | None:
        """Where the log ended when it was last written to; None in a store where nothing was recorded since it is kept."""
        with self._database.reading() as opened:
            return answers.head(opened)

    @_again
    def redact_answers(self, document_ids: Iterable[str] | None = None) -> int:
        """Empties every outcome that carries words of these documents, or of any that was removed; returns how many."""
        with self._database.writing(Order.LOG) as opened:
            chosen = answers.removed_documents(opened) if document_ids is None else document_ids
            return answers.redact(opened, chosen)

    # --- care

    @_again
    def drop_abandoned_embeddings(self) -> int:
        """Embeddings that an ingest left behind when it was killed and its file changed; returns how many."""
        with self._database.writing(Order.CONTENT) as opened:
            return opened.execute(
                "DELETE FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM jobs) "
                "AND id NOT IN (SELECT embedding FROM chunks)"
            ).rowcount

    @_again
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
