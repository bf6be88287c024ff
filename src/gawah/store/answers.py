"""The log of outcomes: append only, each row chained to the one before by hashes.

The chain runs over the hash of the body, not the body: a purge can take the words out and the chain still holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gawah.errors import NotFoundError
from gawah.fingerprint import canonical_json, sha256_parts, sha256_text
from gawah.store import records
from gawah.store.sql import Connection
from gawah.types import AnswerRecord, LogHead

GENESIS = "0" * 64
_HEAD = "log_head"  # a row of `meta`


def append(
    connection: Connection,
    answer_id: str,
    status: str,
    body: Mapping[str, object],
    document_ids: Iterable[str],
    now: float,
) -> None:
    """Adds an outcome; `document_ids` are the documents whose words it carries. Call inside a write transaction."""
    last = connection.execute("SELECT chain_sha256 FROM answers ORDER BY seq DESC LIMIT 1").fetchone()
    previous = last["chain_sha256"] if last else GENESIS
    before = head(connection)
    n_before = before.n_answers if before else connection.execute("SELECT count(*) FROM answers").fetchone()[0]
    written = canonical_json(body)
    body_sha256 = sha256_text(written)
    link = _link(previous, answer_id, status, body_sha256, now)
    seq = connection.execute(
        "INSERT INTO answers (id, created_at, status, body, body_sha256, previous_sha256, chain_sha256) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq",
        (answer_id, now, status, written, body_sha256, previous, link),
    ).fetchall()[0][0]
    set_meta(connection, _HEAD, f"{n_before + 1} {link}")
    connection.executemany(
        "INSERT INTO answer_documents VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(seq, document_id) for document_id in document_ids],
    )


def load(connection: Connection, answer_id: str) -> AnswerRecord:
    row = connection.execute("SELECT * FROM answers WHERE id = ?", (answer_id,)).fetchone()
    if row is None:
        raise NotFoundError(f"there is no answer {answer_id}; `gawah ask` prints the id of each")
    return records.answer_record(row)


def load_all(connection: Connection) -> list[AnswerRecord]:
    """Oldest first."""
    return [records.answer_record(row) for row in connection.execute("SELECT * FROM answers ORDER BY seq")]


def head(connection: Connection) -> LogHead | None:
    """Where the log ended when it was last written to; it is written in the transaction that appends."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_HEAD,)).fetchone()
    if row is None:
        return None
    count, _, chain = row[0].partition(" ")
    return LogHead(int(count), chain)


def redact(connection: Connection, document_ids: Iterable[str]) -> int:
    """Takes out the words of every outcome that carries words of these documents; returns how many."""
    return sum(
        connection.execute(
            "UPDATE answers SET body = NULL WHERE body IS NOT NULL AND seq IN "
            "(SELECT answer_seq FROM answer_documents WHERE document_id = ?)",
            (document_id,),
        ).rowcount
        for document_id in document_ids
    )


def removed_documents(connection: Connection) -> list[str]:
    """Ids of the documents whose words the log carries and the catalog no longer has."""
    rows = connection.execute(
        "SELECT DISTINCT document_id FROM answer_documents WHERE document_id NOT IN (SELECT id FROM documents)"
    )
    return [row[0] for row in rows]


def broken_links(answers: Iterable[AnswerRecord]) -> list[str]:
    """Ids of outcomes whose row no longer agrees with its hashes, or whose predecessor is not the one it was chained to."""
    broken = []
    previous = GENESIS
    for answer in answers:
        body_holds = answer.body is None or sha256_text(canonical_json(answer.body)) == answer.body_sha256
        link = _link(answer.previous_sha256, answer.id, answer.status, answer.body_sha256, answer.created_at)
        if not body_holds or answer.previous_sha256 != previous or link != answer.chain_sha256:
            broken.append(answer.id)
        previous = answer.chain_sha256
    return broken


def fault_at_end(head: LogHead | None, answers: Sequence[AnswerRecord]) -> str:
    """What is wrong with the end of the log, oldest first; empty when it is whole.

    A chain alone does not show that its newest rows are gone. Read `head` first and `answers` after it: what is appended
    in between is no fault. Who can write every row can write the head too; this shows loss, not malice.
    """
    if head is None:
        return ""
    if n_missing := max(0, head.n_answers - len(answers)):
        return f"of {head.n_answers} recorded outcomes {n_missing} are missing"
    if head.n_answers and answers[head.n_answers - 1].chain_sha256 != head.chain_sha256:
        return f"outcome {head.n_answers} is not the one that was recorded"
    return ""


def set_meta(connection: Connection, key: str, value: str) -> None:
    """One of the store's few notes on itself."""
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def _link(previous: str, answer_id: str, status: str, body_sha256: str, created_at: float) -> str:
    parts = (previous, answer_id, status, body_sha256, repr(created_at))
    return sha256_parts(part.encode("utf-8") for part in parts)
