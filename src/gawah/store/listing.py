"""Documents as rows: found, listed page by page, counted, and their texts, all as of one commit."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gawah.errors import NotFoundError
from gawah.fragment import locate_each
from gawah.store import records
from gawah.store.sql import Connection, Row
from gawah.types import CharRange, Document, DocumentRecord, Locator, Span

MOST_CHARS = (1 << 30) - 1  # no text is longer: a row holds at most a gigabyte


class Listing:
    """The part of a snapshot that is about documents. It is valid while its transaction is open."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find_document(self, id_or_name: str) -> DocumentRecord:
        """Raises NotFoundError when nothing, or more than one document of that name, is there."""
        rows = self._connection.execute(
            f"SELECT {records.DOCUMENT_COLUMNS} FROM documents d WHERE d.id = ?1 OR d.name = ?1",  # noqa: S608
            (id_or_name,),
        ).fetchall()
        if not rows:
            raise NotFoundError(f"no document {id_or_name}; {self._meant(id_or_name)}`gawah ls` lists them")
        if len(rows) > 1:
            ids = ", ".join(f"{row['id']} ({row['collection']})" for row in rows)
            raise NotFoundError(f"{len(rows)} documents are named {id_or_name}; name one by its id: {ids}")
        return records.document_record(rows[0])

    def _meant(self, name: str) -> str:
        """Up to three documents with that in their names, as half a line of an error; empty when there is none."""
        rows = self._connection.execute(
            "SELECT DISTINCT name FROM documents WHERE ?1 <> '' AND instr(lower(name), ?1) > 0 ORDER BY name LIMIT 3",
            (_lower(name),),
        ).fetchall()
        return f"did you mean {' or '.join(row['name'] for row in rows)}? " if rows else ""

    def document(self, document_id: str) -> DocumentRecord:
        """By its id alone, whatever another may be named; raises NotFoundError."""
        row = self._connection.execute(
            f"SELECT {records.DOCUMENT_COLUMNS} FROM documents d WHERE d.id = ?",  # noqa: S608
            (document_id,),
        ).fetchone()
        if row is None:
            raise NotFoundError(f"no document {document_id}")
        return records.document_record(row)

    def load_document(self, document_no: int) -> Document:
        """The canonical text with its structure; raises NotFoundError when no version was ever ready."""
        row = self._connection.execute(
            f"SELECT {records.DOCUMENT_COLUMNS}, t.text, t.extraction FROM documents d "  # noqa: S608
            "JOIN contents t ON t.document_no = d.no WHERE d.no = ?",
            (document_no,),
        ).fetchone()
        if row is None:
            raise NotFoundError(f"document number {document_no} has no text: no version of it was ever ready")
        return records.document(row)

    def locate(self, document_id: str, text_sha256: str, spans: Sequence[Span]) -> list[Locator] | None:
        """Where each span of a canonical text is in the original; None when the document has another text, or is gone."""
        row = self._connection.execute(
            "SELECT t.text, t.extraction FROM documents d JOIN contents t ON t.document_no = d.no "
            "WHERE d.id = ? AND d.text_sha256 = ?",
            (document_id, text_sha256),
        ).fetchone()
        if row is None:
            return None
        has_places, near = records.places_near(row["extraction"], spans)
        if has_places and not near:
            return [CharRange(span.start, span.end) for span in spans]
        return locate_each(near, row["text"], spans)

    def page(
        self, collections: Sequence[str], state: str, after: tuple[str, str], limit: int, words: str = ""
    ) -> list[DocumentRecord]:
        """Documents behind (collection, name), by collection and name; no collections, state or words mean all.

        `words` must stand in the name or the title, in any case of ASCII letters.
        """
        rows = self._connection.execute(
            f"SELECT {records.DOCUMENT_COLUMNS} FROM documents d "  # noqa: S608
            "WHERE (?1 = '[]' OR d.collection IN (SELECT value FROM json_each(?1))) AND (?2 = '' OR d.state = ?2) "
            "AND (d.collection, d.name) > (?3, ?4) "
            "AND (?5 = '' OR instr(lower(d.name), ?5) > 0 OR instr(lower(d.title), ?5) > 0) "
            "ORDER BY d.collection, d.name LIMIT ?6",
            (json.dumps(list(collections)), state, *after, _lower(words), limit),
        )
        return [records.document_record(row) for row in rows]

    def changed_since(self, time: float) -> list[DocumentRecord]:
        """Documents that something happened to at or after a time, oldest change first."""
        rows = self._connection.execute(
            f"SELECT {records.DOCUMENT_COLUMNS} FROM documents d WHERE d.updated_at >= ? ORDER BY d.updated_at, d.no",  # noqa: S608
            (time,),
        )
        return [records.document_record(row) for row in rows]

    def count(self) -> int:
        """How many documents there are, in whatever state."""
        return int(self._connection.execute("SELECT count(*) FROM documents").fetchone()[0])

    def names(self) -> dict[str, tuple[str, str]]:
        """Collection and name of every document, by its id."""
        rows = self._connection.execute("SELECT id, collection, name FROM documents")
        return {row["id"]: (row["collection"], row["name"]) for row in rows}

    def counts(self) -> list[tuple[str, str, int, int, int]]:
        """(collection, state, documents, chunks, bytes), by collection and state."""
        rows = self._connection.execute(
            "SELECT collection, state, count(*), CAST(sum(n_chunks) AS BIGINT), CAST(sum(size_bytes) AS BIGINT) "
            "FROM documents GROUP BY 1, 2 ORDER BY 1, 2"
        )
        return [tuple(row) for row in rows]

    def text_window(self, document_no: int, start: int, n_chars: int) -> str:
        """Code points of a canonical text from `start` on; raises NotFoundError when no version was ever ready."""
        row = self._connection.execute(
            "SELECT substr(text, CAST(? AS INTEGER), CAST(? AS INTEGER)) FROM contents WHERE document_no = ?",
            (min(start, MOST_CHARS) + 1, min(n_chars, MOST_CHARS), document_no),
        ).fetchone()
        if row is None:
            raise NotFoundError(f"document number {document_no} has no text: no version of it was ever ready")
        return str(row[0])

    def n_jobs(self) -> int:
        return int(self._one("SELECT count(*) FROM jobs")[0])

    def n_documents(self) -> dict[str, int]:
        """Documents by state."""
        rows = self._connection.execute("SELECT state, count(*) FROM documents GROUP BY state")
        return dict(rows.fetchall())

    def _one(self, sql: str, values: Sequence[object] = ()) -> Row:
        row: Row | None = self._connection.execute(sql, values).fetchone()
        if row is None:
            raise NotFoundError("the row is gone from the catalog; run `gawah doctor`")
        return row


def _lower(words: str) -> str:
    """ASCII letters small, as both databases' `lower` makes them under the collation of the store."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in words)
