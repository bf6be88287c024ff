"""Ingest work as rows: who does it, until when, and who may still commit it.

A job is claimed for a lease; a worker that dies lets its lease run out and another claims the job. Every claim raises the
job's fence, and a commit under an older fence is refused (fencing tokens, Kleppmann 2016), so nothing is done twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from gawah.errors import LeaseLostError
from gawah.fingerprint import document_id
from gawah.store import records
from gawah.types import DocumentState, Failure, Job


def enqueue(connection: sqlite3.Connection, files: Iterable[tuple[str, str, str]], now: float) -> list[str]:
    """Queues (collection, name, uri), new documents and known ones alike; returns the document ids."""
    ids = []
    for collection, name, uri in files:
        key = document_id(collection, name)
        connection.execute(
            "INSERT INTO documents (id, collection, name, uri, state, created_at, updated_at) "
            "VALUES (?, ?, ?, ?, 'queued', ?, ?) ON CONFLICT (id) DO UPDATE SET uri = excluded.uri, state = 'queued', "
            "failure_code = NULL, failure_reason = NULL, retryable = 0, attempts = 0, next_try_at = NULL, "
            "updated_at = excluded.updated_at",
            (key, collection, name, uri, now, now),
        )
        connection.execute(
            "INSERT INTO jobs (document_no, created_at) SELECT no, ? FROM documents WHERE id = ? "
            "ON CONFLICT (document_no) DO UPDATE SET owner = NULL, lease_until = NULL, fence = fence + 1",
            (now, key),  # who works on the version before must not end the job of this one
        )
        ids.append(key)
    return ids


def claim(connection: sqlite3.Connection, owner: str, lease_s: float, now: float) -> Job | None:
    """The oldest job that nobody holds and whose time has come."""
    row = connection.execute(
        "SELECT j.id, j.fence, j.document_no FROM jobs j JOIN documents d ON d.no = j.document_no "
        "WHERE (j.lease_until IS NULL OR j.lease_until < ?1) AND (d.next_try_at IS NULL OR d.next_try_at <= ?1) "
        "AND j.owner IS NOT ?2 ORDER BY j.id LIMIT 1",  # its own late jobs are at work in this very process
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


def advance(connection: sqlite3.Connection, job: Job, state: DocumentState, lease_s: float, now: float) -> None:
    """Shows how far the job is and renews its lease."""
    check(connection, job)
    connection.execute("UPDATE jobs SET lease_until = ? WHERE id = ?", (now + lease_s, job.id))
    connection.execute(
        "UPDATE documents SET state = ?, updated_at = ? WHERE no = ?", (state.value, now, job.document.no)
    )


def check(connection: sqlite3.Connection, job: Job) -> None:
    """Raises LeaseLostError unless the job is still held under this fence."""
    row = connection.execute("SELECT fence FROM jobs WHERE id = ?", (job.id,)).fetchone()
    if row is None or row["fence"] != job.fence:
        raise LeaseLostError(f"{job.document.name} was claimed by another worker; this one's work on it is dropped")


def fail(connection: sqlite3.Connection, job: Job, failure: Failure, next_try_at: float | None, now: float) -> None:
    """Ends a job with a reason. The version that was searchable before stays so."""
    check(connection, job)
    connection.execute(
        "UPDATE documents SET state = 'failed', failure_code = ?, failure_reason = ?, retryable = ?, next_try_at = ?, "
        "updated_at = ? WHERE no = ?",
        (failure.code, failure.reason, int(failure.retryable), next_try_at, now, job.document.no),
    )
    finish(connection, job)


def finish(connection: sqlite3.Connection, job: Job) -> None:
    check(connection, job)
    connection.execute("DELETE FROM jobs WHERE id = ?", (job.id,))


def release(connection: sqlite3.Connection, owner: str, now: float) -> int:
    """Gives back what an owner holds (it stops in good order); returns how many jobs."""
    connection.execute(
        "UPDATE documents SET state = 'queued', attempts = max(attempts - 1, 0), updated_at = ? WHERE no IN "
        "(SELECT document_no FROM jobs WHERE owner = ?)",  # stopping in good order is no attempt that failed
        (now, owner),
    )
    return connection.execute("UPDATE jobs SET owner = NULL, lease_until = NULL WHERE owner = ?", (owner,)).rowcount


def reclaim(connection: sqlite3.Connection, now: float, owner: str | None = None) -> int:
    """Queues again what a dead worker left, or all of them when nobody is at work. Returns how many.

    The attempt counts: a document that kills whoever reads it must come to an end.
    """
    held = "owner IS NOT NULL AND (?1 IS NULL OR owner = ?1)"
    connection.execute(
        f"UPDATE documents SET state = 'queued', updated_at = ?2 WHERE no IN (SELECT document_no FROM jobs WHERE {held})",  # noqa: S608
        (owner, now),
    )
    return connection.execute(f"UPDATE jobs SET owner = NULL, lease_until = NULL WHERE {held}", (owner,)).rowcount  # noqa: S608


def requeue_due(connection: sqlite3.Connection, now: float) -> int:
    """Queues documents whose time for another try has come; returns how many. Attempts go on counting."""
    due = "state = 'failed' AND retryable = 1 AND next_try_at <= ?"
    connection.execute(
        f"INSERT INTO jobs (document_no, created_at) SELECT no, ? FROM documents WHERE {due} "  # noqa: S608
        "ON CONFLICT (document_no) DO NOTHING",
        (now, now),
    )
    return connection.execute(f"UPDATE documents SET state = 'queued', updated_at = ? WHERE {due}", (now, now)).rowcount  # noqa: S608
