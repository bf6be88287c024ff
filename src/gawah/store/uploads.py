"""What came in over the network, as rows: files handed over, who asked which question, which requests were done already.

A file that was handed over becomes a queued document in the same transaction that notes it: either both are there after a
crash, or the one who sent it was never told that it had arrived.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gawah.errors import NotFoundError
from gawah.store import jobs
from gawah.store.catalog import SqlCatalog
from gawah.store.sql import Connection, Order, Row
from gawah.types import Upload

REMEMBERED_S = 86_400.0  # how long a request that was done is known again


@dataclass(frozen=True, slots=True)
class OnceKey:
    """Names a request that must be done once: who sent it, what it asks for, their key, and the hash of what they sent."""

    key_id: str
    route: str
    idempotency: str
    request_sha256: str


class Uploads:
    """The rows of what came in. Threads may share it."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self._catalog = catalog

    def accept(
        self,
        collection: str,
        name: str,
        uri: str,
        *,
        sha256: str,
        size_bytes: int,
        path: str,
        once: OnceKey | None = None,
    ) -> Upload:
        """Queues a document and notes the file it is read from; when this returns, a power cut undoes neither."""
        now = self._catalog.clock()

        def write() -> Upload:
            with self._catalog.writing(Order.CONTENT) as opened:
                (document_id,) = jobs.enqueue(opened, [(collection, name, uri)], now)
                no = opened.execute(
                    "INSERT INTO uploads (document_id, collection, name, sha256, size_bytes, path, created_at) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING no",
                    (document_id, collection, name, sha256, size_bytes, path, now),
                ).fetchall()[0][0]
                if once is not None:
                    _remember(opened, once, {"upload": no}, now)
            return Upload(no, document_id, collection, name, sha256, size_bytes, path, now)

        return self._catalog.again(write)

    def upload(self, no: int) -> Upload:
        """Raises NotFoundError."""
        with self._catalog.reading() as opened:
            row = opened.execute("SELECT * FROM uploads WHERE no = ?", (no,)).fetchone()
        if row is None:
            raise NotFoundError(f"there is no job {no}")
        return _upload(row)

    def of_document(self, document_id: str) -> list[Upload]:
        """Every hand-over of a document, oldest first."""
        with self._catalog.reading() as opened:
            rows = opened.execute("SELECT * FROM uploads WHERE document_id = ? ORDER BY no", (document_id,)).fetchall()
        return [_upload(row) for row in rows]

    def newest(self, before: int | None, limit: int, collections: Sequence[str] = ()) -> list[Upload]:
        """Newest first, those with a smaller number than `before`; no collections mean all."""
        with self._catalog.reading() as opened:
            rows = opened.execute(
                "SELECT * FROM uploads WHERE (CAST(?1 AS BIGINT) IS NULL OR no < ?1) "
                "AND (?2 = '[]' OR collection IN (SELECT value FROM json_each(?2))) ORDER BY no DESC LIMIT ?3",
                (before, json.dumps(list(collections)), limit),
            ).fetchall()
        return [_upload(row) for row in rows]

    def kept_paths(self) -> set[str]:
        """Paths of the originals that a hand-over refers to."""
        with self._catalog.reading() as opened:
            return {row[0] for row in opened.execute("SELECT DISTINCT path FROM uploads WHERE path != ''")}

    def forget(self, document_ids: Sequence[str] = ()) -> int:
        """Drops the rows of these documents, and of every document that is not there any more; returns how many."""
        with self._catalog.writing() as opened:
            return opened.execute(
                "DELETE FROM uploads WHERE document_id IN (SELECT value FROM json_each(?)) "
                "OR document_id NOT IN (SELECT id FROM documents)",
                (json.dumps(list(document_ids)),),
            ).rowcount

    # --- questions

    def note_asker(self, answer_id: str, key_id: str, once: OnceKey | None = None) -> None:
        with self._catalog.writing() as opened:
            opened.execute("INSERT INTO askers VALUES (?, ?) ON CONFLICT DO NOTHING", (answer_id, key_id))
            if once is not None:
                _remember(opened, once, {"answer": answer_id}, self._catalog.clock())

    def asker(self, answer_id: str) -> str | None:
        """The id of the key that asked; None for an outcome that did not come over the network."""
        with self._catalog.reading() as opened:
            row = opened.execute("SELECT key_id FROM askers WHERE answer_id = ?", (answer_id,)).fetchone()
        return None if row is None else str(row[0])

    def newest_answers(self, before: int | None, limit: int, key_id: str | None) -> list[dict[str, Any]]:
        """Newest first: number, id, time, status and question of recorded outcomes; of one asker, or of all."""
        with self._catalog.reading() as opened:
            rows = opened.execute(
                "SELECT a.seq, a.id, a.created_at, a.status, a.body FROM answers a "
                "LEFT JOIN askers k ON k.answer_id = a.id WHERE (CAST(?1 AS BIGINT) IS NULL OR a.seq < ?1) "
                "AND (CAST(?2 AS TEXT) IS NULL OR k.key_id = ?2) ORDER BY a.seq DESC LIMIT ?3",
                (before, key_id, limit),
            ).fetchall()
        return [
            {name: row[name] for name in ("seq", "id", "created_at", "status")}
            | {"question": json.loads(row["body"]).get("question") if row["body"] is not None else None}
            for row in rows
        ]

    # --- requests that must be done once

    def done_before(self, once: OnceKey) -> tuple[str, dict[str, Any]] | None:
        """(hash of the request, what was made of it) when that key of that sender was used within a day."""
        with self._catalog.reading() as opened:
            row = opened.execute(
                "SELECT request_sha256, made FROM requests_done "
                "WHERE key_id = ? AND route = ? AND idempotency = ? AND created_at > ?",
                (once.key_id, once.route, once.idempotency, self._catalog.clock() - REMEMBERED_S),
            ).fetchone()
        return None if row is None else (row["request_sha256"], json.loads(row["made"]))


def _remember(opened: Connection, once: OnceKey, made: dict[str, Any], now: float) -> None:
    opened.execute("DELETE FROM requests_done WHERE created_at <= ?", (now - REMEMBERED_S,))
    opened.execute(
        "INSERT INTO requests_done VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key_id, route, idempotency) DO UPDATE SET "
        "request_sha256 = excluded.request_sha256, made = excluded.made, created_at = excluded.created_at",
        (once.key_id, once.route, once.idempotency, once.request_sha256, json.dumps(made), now),
    )


def _upload(row: Row) -> Upload:
    return Upload(
        row["no"],
        row["document_id"],
        row["collection"],
        row["name"],
        row["sha256"],
        row["size_bytes"],
        row["path"],
        row["created_at"],
    )
