"""Ingest work as rows: who does it, until when, and who may still commit it.

A job is claimed for a lease; a worker that dies lets its lease run out and another claims the job. Every claim raises the
job's fence, and a commit under an older fence is refused (fencing tokens, Kleppmann 2016), so nothing is done twice.

Where several write at once, rows are locked in one order, a job before its document: then nobody waits in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable

from gawah.errors import LeaseLostError
from gawah.fingerprint import document_id
from gawah.store import records
from gawah.store.sql import Connection
from gawah.types import DocumentState, Failure, Job


def enqueue(connection: Connection, files: Iterable[tuple[str, str, str]], now: float) -> list[str]:
    """Queues (collection, name, uri), new documents and known ones alike; returns the document ids."""
    wanted = [(document_id(collection, name), collection, name, uri) for collection, name, uri in files]
    connection.executemany(  # who works on the version before must not end the job of this one
        "UPDATE jobs SET owner = NULL, lease_until = NULL, fence = fence + 1 "
        "WHERE document_no = (SELECT no FROM documents WHERE id = ?)",
        [(key,) for key, *_ in wanted],
    )
    connection.executemany(
        "INSERT INTO documents (id, collection, name, uri, state, created_at, updated_at) "
        "VALUES (?, ?, ?, ?, 'queued', ?, ?) ON CONFLICT (id) DO UPDATE SET uri = excluded.uri, state = 'queued', "
        "failure_code = NULL, failure_reason = NULL, retryable = 0, attempts = 0, next_try_at = NULL, "
        "updated_at = excluded.updated_at",
        [(*which, now, now) for which in wanted],
    )
    connection.executemany(
        "INSERT INTO jobs (document_no, created_at) SELECT no, CAST(? AS REAL) FROM documents WHERE id = ? "
        "ON CONFLICT (document_no) DO NOTHING",
        [(now, key) for key, *_ in wanted],
    )
    return [key for key, *_ in wanted]


def claim(connection: Connection, owner: str, lease_s: float, now: float) -> Job | None:
    """The oldest job that nobody holds and whose time has come."""
    row = connection.execute(
        "SELECT j.id, j.fence, j.document_no FROM jobs j JOIN documents d ON d.no = j.document_no "  # noqa: S608
        "WHERE (j.lease_until IS NULL OR j.lease_until < ?1) AND (d.next_try_at IS NULL OR d.next_try_at <= ?1) "
        "AND (j.owner IS NULL OR j.owner <> ?2) "  # its own late jobs are at work in this very process
        f"ORDER BY j.id LIMIT 1 {connection.take_free}",
        (now, owner),
    ).fetchone()
    if row is None:
        return None
    job_id, fence, document_no = row["id"], row["fence"] + 1, row["document_no"]
    connection.execute(
        "UPDATE jobs SET owner = ?, lease_until = ?, fence = ? WHERE id = ?", (owner, now + lease_s, fence, job_id)
    )
    connection.execute(
        "UPDATE documents SET state = 'extracting', attempts = attempts + 1, updated_at = ? WHERE no = ?",
        (now, document_no),
    )
    document = connection.execute(
        f"SELECT {records.DOCUMENT_COLUMNS} FROM documents d WHERE d.no = ?",  # noqa: S608
        (document_no,),
    ).fetchone()
    return Job(job_id, records.document_record(document), owner, fence)


def advance(connection: Connection, job: Job, state: DocumentState, lease_s: float, now: float) -> None:
    """Shows how far the job is and renews its lease."""
    check(connection, job)
    connection.execute("UPDATE jobs SET lease_until = ? WHERE id = ?", (now + lease_s, job.id))
    connection.execute(
        "UPDATE documents SET state = ?, updated_at = ? WHERE no = ?", (state.value, now, job.document.no)
    )


def check(connection: Connection, job: Job) -> None:
    """Raises LeaseLostError unless the job is still held under this fence."""
    row = connection.execute(f"SELECT fence FROM jobs WHERE id = ? {connection.lock_rows}", (job.id,)).fetchone()  # noqa: S608
    if row is None or row["fence"] != job.fence:
        raise LeaseLostError(f"{job.document.name} was claimed by another worker; this one's work on it is dropped")


def fail(connection: Connection, job: Job, failure: Failure, next_try_at: float | None, now: float) -> None:
    """Ends a job with a reason. The version that was searchable before stays so."""
    check(connection, job)
    connection.execute(
        "UPDATE documents SET state = 'failed', failure_code = ?, failure_reason = ?, retryable = ?, next_try_at = ?, "
        "updated_at = ? WHERE no = ?",
        (failure.code, records.storable(failure.reason), int(failure.retryable), next_try_at, now, job.document.no),
    )
    finish(connection, job)


def finish(connection: Connection, job: Job) -> None:
    check(connection, job)
    connection.execute("DELETE FROM jobs WHERE id = ?", (job.id,))


def release(connection: Connection, owner: str, now: float) -> int:
    """Gives back what an owner holds (it stops in good order); returns how many jobs."""
    given_back = connection.execute(
        "UPDATE jobs SET owner = NULL, lease_until = NULL WHERE owner = ? RETURNING document_no", (owner,)
    ).fetchall()
    connection.executemany(
        "UPDATE documents SET state = 'queued', updated_at = ?, "  # stopping in good order is no attempt that failed
        "attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END WHERE no = ?",
        [(now, row[0]) for row in given_back],
    )
    return len(given_back)


def reclaim(connection: Connection, now: float, owner: str | None = None) -> int:
    """Queues again what a dead worker left, or all of them when nobody is at work. Returns how many.

    The attempt counts: a document that kills whoever reads it must come to an end.
    """
    left = connection.execute(
        "UPDATE jobs SET owner = NULL, lease_until = NULL "
        "WHERE owner IS NOT NULL AND (CAST(?1 AS TEXT) IS NULL OR owner = ?1) RETURNING document_no",
        (owner,),
    ).fetchall()
    connection.executemany(
        "UPDATE documents SET state = 'queued', updated_at = ? WHERE no = ?", [(now, row[0]) for row in left]
    )
    return len(left)


_DUE = "state = 'failed' AND retryable = 1 AND next_try_at <= ?1"


def are_due(connection: Connection, now: float) -> bool:
    return bool(connection.execute(f"SELECT 1 FROM documents WHERE {_DUE} LIMIT 1", (now,)).fetchall())  # noqa: S608


def requeue_due(connection: Connection, now: float) -> int:
    """Queues documents whose time for another try has come; returns how many. Attempts go on counting."""
    due = connection.execute(
        f"UPDATE documents SET state = 'queued', updated_at = ?1 WHERE {_DUE} RETURNING no",  # noqa: S608
        (now,),
    ).fetchall()
    connection.executemany(
        "INSERT INTO jobs (document_no, created_at) VALUES (?, ?) ON CONFLICT (document_no) DO NOTHING",
        [(no, now) for no in sorted(row[0] for row in due)],
    )
    return len(due)
