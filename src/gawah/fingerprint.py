"""Stable hashes: ids from content, so that the same input has the same id on every machine, for ever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

ID_HEX_CHARS = 24  # 96 bits: a collision among 10^9 chunks has a probability under 10^-10
_READ_BYTES = 1 << 20


def sha256_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """Hash of the text's UTF-8 bytes."""
    return sha256_bytes(text.encode("utf-8"))


def sha256_file(path: Path) -> str:
    """Hash of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(_READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def sha256_parts(parts: Iterable[bytes]) -> str:
    """Hash of a sequence of byte strings; each is preceded by its length, so that no two sequences collide."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def sha256_json(value: object) -> str:
    """Hash of a JSON value in its canonical form (sorted keys, no blanks, UTF-8)."""
    return sha256_text(canonical_json(value))


def canonical_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def document_id(collection: str, name: str) -> str:
    """The id of the document of that name: it stays when the file's bytes change."""
    return "d" + _short(collection, name)


def chunk_id(document: str, text_sha256: str, chunker: str, start: int, end: int) -> str:
    """The id of a span of one version of a document under one chunker."""
    return "c" + _short(document, text_sha256, chunker, f"{start},{end}")


def _short(*parts: str) -> str:
    return sha256_parts(part.encode("utf-8") for part in parts)[:ID_HEX_CHARS]
