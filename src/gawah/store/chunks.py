"""Chunks and their embeddings as rows: how a version of a document comes in and goes, and how indexes are told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from gawah.store.sql import Connection
from gawah.types import IndexedChunk, ModelStamp
from gawah.wire import to_json


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


def delete(opened: Connection, document_nos: Sequence[int]) -> int:
    """Deletes documents with all that was made of them; returns how many chunks."""
    n_chunks = 0
    for no in document_nos:
        for (generation,) in opened.execute("SELECT id FROM generations").fetchall():
            removed = remove_chunks(opened, no, generation)
            drop_unused(opened, removed)
            n_chunks += len(removed)
        opened.execute("DELETE FROM jobs WHERE document_no = ?", (no,))
        opened.execute("DELETE FROM documents WHERE no = ?", (no,))
    return n_chunks


def remove_chunks(opened: Connection, document_no: int, generation: int) -> list[int]:
    """Deletes a document's chunks and tells the indexes; returns the ids of the embeddings they used."""
    which = (document_no, generation)
    opened.execute(
        "INSERT INTO deletions (generation, seq) SELECT generation, seq FROM chunks "
        "WHERE document_no = ? AND generation = ?",
        which,
    )
    rows = opened.execute("DELETE FROM chunks WHERE document_no = ? AND generation = ? RETURNING embedding", which)
    return [row[0] for row in rows.fetchall()]


def insert_chunks(
    opened: Connection, document_no: int, generation: int, chunks: Sequence[IndexedChunk], key: str
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


def drop_unused(opened: Connection, embeddings: Sequence[int]) -> None:
    """Deletes those of the given embeddings that no chunk refers to any more."""
    opened.executemany(
        "DELETE FROM embeddings WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM chunks WHERE embedding = ?1)",
        [(embedding,) for embedding in embeddings],
    )


def bump_epoch(opened: Connection) -> None:
    opened.execute("UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE key = 'epoch'")
