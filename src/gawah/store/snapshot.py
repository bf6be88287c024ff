"""A read transaction of the catalog: documents, passages and the index's rows, all as of one commit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gawah.errors import NotFoundError
from gawah.ports import Embedding, IndexRow, SegmentRecord
from gawah.store import epochs, generations, records
from gawah.store.listing import MOST_CHARS, Listing
from gawah.store.sql import Connection, Row
from gawah.types import (
    Chunk,
    DocumentRecord,
    Filter,
    Hit,
    Holding,
    ModelStamp,
    Passage,
)

_ROWS_A_PAGE = 1024  # 15 MiB of MiniLM's vectors and token codes


class SqlSnapshot(Listing):
    """Implements ports.Snapshot. It is valid while its transaction is open."""

    def __init__(self, connection: Connection, generation: int | None = None) -> None:
        """Of the active generation unless one is named; NotFoundError for one that never was."""
        super().__init__(connection)
        self.epoch, self.token = epochs.current(connection)
        read = generations.active(connection) if generation is None else generations.of(connection, generation)
        self.generation: int = read.id if read else 0
        self.model: ModelStamp | None = read.model if read else None

    # --- generations

    def holding(self, generation: int) -> Holding:
        return generations.holding(self._connection, generation)

    def pending(self, generation: int) -> list[DocumentRecord]:
        """Searchable documents that a generation lacks, by number; none of the active one."""
        return generations.pending(self._connection, generation)

    def segment_names(self) -> list[str]:
        """Of the registered segments of every generation."""
        return [row[0] for row in self._connection.execute("SELECT name FROM segments ORDER BY name")]

    # --- the index's feed

    def knows(self, epoch: int, token: str) -> bool:
        """Whether this catalog was at that epoch, not long ago."""
        return epochs.knows(self._connection, epoch, token)

    def segments(self) -> list[SegmentRecord]:
        rows = self._connection.execute(
            "SELECT name, generation, first_seq, last_seq, n_chunks, manifest_sha256 FROM segments "
            "WHERE generation = ? ORDER BY first_seq",
            (self.generation,),
        )
        return [SegmentRecord(*row) for row in rows]

    def rows(self, after_seq: int) -> Iterator[IndexRow]:
        while True:
            page = self._connection.execute(
                "SELECT c.seq, c.id, c.document_no, c.text, e.vector, e.signs, e.scales FROM chunks c "
                "JOIN embeddings e ON e.id = c.embedding WHERE +c.generation = ? AND c.seq > ? "  # + : read along seq
                "ORDER BY c.seq LIMIT ?",
                (self.generation, after_seq, _ROWS_A_PAGE),
            ).fetchall()
            for seq, chunk_id, document_no, text, vector, signs, scales in page:
                yield IndexRow(seq, chunk_id, document_no, text, records.embedding(vector, signs, scales))
            if len(page) < _ROWS_A_PAGE:
                return
            after_seq = page[-1][0]

    def deleted(self, after: int) -> tuple[NDArray[np.int64], int]:
        rows = self._connection.execute(
            "SELECT mark, seq FROM deletions WHERE generation = ? AND mark > ? ORDER BY mark", (self.generation, after)
        ).fetchall()
        return np.array([row[1] for row in rows], np.int64), rows[-1][0] if rows else after

    def document_numbers(self, only: Filter) -> NDArray[np.int64]:
        wanted: list[str] = []
        values: list[str] = []
        for clause, chosen in (
            ("collection IN (SELECT value FROM json_each(?))", only.collections),
            ("(id IN (SELECT value FROM json_each(?1)) OR name IN (SELECT value FROM json_each(?1)))", only.documents),
            ("media_type IN (SELECT value FROM json_each(?))", only.media_types),
        ):
            if chosen:
                values.append(json.dumps(list(chosen)))
                wanted.append(clause.replace("?1", f"?{len(values)}").replace("(?)", f"(?{len(values)})"))
        where = " AND ".join(wanted) or "1 = 1"
        rows = self._connection.execute(f"SELECT no FROM documents WHERE {where} ORDER BY no", values)  # noqa: S608
        return np.array([row[0] for row in rows], np.int64)

    def n_chunks(self) -> int:
        return int(self._one("SELECT count(*) FROM chunks WHERE generation = ?", (self.generation,))[0])

    def seqs(self) -> NDArray[np.int64]:
        rows = self._connection.execute("SELECT seq FROM chunks WHERE generation = ? ORDER BY seq", (self.generation,))
        return np.fromiter((row[0] for row in rows), np.int64)

    def chunk_ids_of(self, seqs: Sequence[int]) -> dict[int, str]:
        rows = self._connection.execute(
            "SELECT seq, id FROM chunks WHERE generation = ? AND seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?))",
            (self.generation, json.dumps(list(seqs))),
        )
        return {row[0]: row[1] for row in rows}

    def embeddings_of(self, chunk_ids: Sequence[str]) -> dict[str, Embedding]:
        rows = self._connection.execute(
            "SELECT c.id, e.vector, e.signs, e.scales FROM chunks c JOIN embeddings e ON e.id = c.embedding "
            "WHERE c.generation = ? AND c.id IN (SELECT value FROM json_each(?))",
            (self.generation, json.dumps(list(chunk_ids))),
        )
        return {row[0]: records.embedding(*row[1:]) for row in rows}

    def first_chunk_ids(self, size: int) -> list[str]:
        rows = self._connection.execute(
            "SELECT id FROM chunks WHERE generation = ? ORDER BY id LIMIT ?", (self.generation, size)
        )
        return [row[0] for row in rows]

    # --- passages

    def chunk(self, chunk_id: str) -> Chunk:
        return records.chunk(self._chunk_row(records.CHUNK_COLUMNS, chunk_id))

    def passages(self, ranked: Sequence[tuple[str, float, float]]) -> list[Passage]:
        """(chunk id, score, cosine distance) in rank order to passages; raises NotFoundError for an unknown chunk."""
        rows = self._connection.execute(
            f"SELECT {records.PASSAGE_COLUMNS} FROM chunks c JOIN documents d ON d.no = c.document_no "  # noqa: S608
            "WHERE c.generation = ? AND c.id IN (SELECT value FROM json_each(?))",
            (self.generation, json.dumps([chunk_id for chunk_id, _, _ in ranked])),
        )
        by_id = {row["chunk_id"]: row for row in rows.fetchall()}
        for chunk_id, _, _ in ranked:
            if chunk_id not in by_id:
                raise NotFoundError(f"no chunk {chunk_id} in generation {self.generation}")
        return [
            records.passage(by_id[chunk_id], Hit(chunk_id, score, rank), distance)
            for rank, (chunk_id, score, distance) in enumerate(ranked, start=1)
        ]

    def _chunk_row(self, columns: str, chunk_id: str) -> Row:
        row: Row | None = self._connection.execute(
            f"SELECT {columns} FROM chunks c JOIN documents d ON d.no = c.document_no "  # noqa: S608
            "WHERE c.generation = ? AND c.id = ?",
            (self.generation, chunk_id),
        ).fetchone()
        if row is None:
            raise NotFoundError(f"no chunk {chunk_id} in generation {self.generation}")
        return row

    def context(self, chunk_id: str, n_chars: int) -> tuple[str, str]:
        """Up to `n_chars` characters of the canonical text before and after a chunk."""
        row = self._one(
            "SELECT substr(t.text, CAST(CASE WHEN c.first > ?1 THEN c.first - ?1 ELSE 0 END AS INTEGER) + 1, "
            "CAST(CASE WHEN c.first > ?1 THEN ?1 ELSE c.first END AS INTEGER)), "
            "substr(t.text, CAST(c.past AS INTEGER) + 1, CAST(?1 AS INTEGER)) FROM chunks c "
            "JOIN contents t ON t.document_no = c.document_no WHERE c.generation = ?2 AND c.id = ?3",
            (min(n_chars, MOST_CHARS), self.generation, chunk_id),
        )
        return row[0], row[1]

    def chunks_of(self, document_no: int) -> list[Chunk]:
        rows = self._connection.execute(
            f"SELECT {records.CHUNK_COLUMNS} FROM chunks c JOIN documents d ON d.no = c.document_no "  # noqa: S608
            "WHERE c.generation = ? AND c.document_no = ? ORDER BY c.ordinal",
            (self.generation, document_no),
        )
        return [records.chunk(row) for row in rows]

    def n_chunks_by_document(self) -> dict[int, int]:
        """What the chunk rows say, to be held against the documents' counters."""
        rows = self._connection.execute(
            "SELECT document_no, count(*) FROM chunks WHERE generation = ? GROUP BY document_no", (self.generation,)
        )
        return dict(rows.fetchall())

    def documents(self, only: Filter | None = None) -> list[DocumentRecord]:
        """Ordered by collection and name."""
        admitted = set(self.document_numbers(only).tolist()) if only else None
        rows = self._connection.execute(
            f"SELECT {records.DOCUMENT_COLUMNS} FROM documents d ORDER BY d.collection, d.name"  # noqa: S608
        )
        return [records.document_record(row) for row in rows if admitted is None or row["no"] in admitted]
