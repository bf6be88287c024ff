"""Chunks and their embeddings as rows: how a version of a document comes in and goes, and how indexes are told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from gawah.store.sql import Connection
from gawah.types import IndexedChunk, ModelStamp
from gawah.wire import to_json


def embedding_key(model: ModelStamp) -> str:
    """Weights, recipe and token format: all decide what is stored."""
    return f"{model.sha256}:{model.recipe_sha256}:{model.token_format}"


def remove(opened: Connection, document_no: int, generation: int) -> list[int]:
    """Deletes a document's chunks and tells the indexes; returns the ids of the embeddings they used."""
    which = (document_no, generation)
    opened.execute(
        "INSERT INTO deletions (generation, seq) SELECT generation, seq FROM chunks "
        "WHERE document_no = ? AND generation = ?",
        which,
    )
    rows = opened.execute("DELETE FROM chunks WHERE document_no = ? AND generation = ? RETURNING embedding", which)
    return [row[0] for row in rows.fetchall()]


def insert(opened: Connection, document_no: int, generation: int, chunks: Sequence[IndexedChunk], key: str) -> None:
    """`key` is that of the generation's model; every embedding must be there."""
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


def drop_unused(opened: Connection, embeddings: Iterable[int]) -> None:
    """Deletes those of the given embeddings that no chunk refers to any more."""
    opened.executemany(
        "DELETE FROM embeddings WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM chunks WHERE embedding = ?1)",
        [(embedding,) for embedding in embeddings],
    )


def known_texts(opened: Connection, key: str, texts: Iterable[str]) -> set[str]:
    """Which of the texts (by their hashes) the model of that key has embedded."""
    rows = opened.execute(
        "SELECT text_sha256 FROM embeddings WHERE model_sha256 = ? AND text_sha256 IN (SELECT value FROM json_each(?))",
        (key, json.dumps(list(texts))),
    )
    return {row[0] for row in rows}


def are_embedded(opened: Connection, key: str, chunks: Sequence[IndexedChunk]) -> bool:
    """Whether the model of that key has embedded all of them: what was known may have gone with another document."""
    texts = {item.text_sha256 for item in chunks}
    return texts <= known_texts(opened, key, texts)
