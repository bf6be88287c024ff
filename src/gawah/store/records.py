"""Rows to values: how documents, chunks, passages and embeddings come out of the database."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gawah.errors import ExtractionError
from gawah.ports import Embedding, TokenCodes
from gawah.store.sql import Row
from gawah.types import (
    Advance,
    AnswerRecord,
    Block,
    BlockKind,
    Chunk,
    Conservation,
    Document,
    DocumentCounters,
    DocumentRecord,
    DocumentState,
    Failure,
    Hit,
    Locator,
    Passage,
    Place,
    Removal,
    SourceFile,
    Span,
    Stamp,
)
from gawah.wire import from_json, to_json

# How `extraction_json` writes what begins a place, and that there is none. Quotes inside of strings are escaped.
_PLACE_BEGINS = re.compile(r'\{"span":\[([0-9]+),([0-9]+)\]')
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NO_PLACES = '"places":[]'

DOCUMENT_COLUMNS = (
    "d.no, d.id, d.collection, d.name, d.uri, d.media_type, d.size_bytes, d.file_sha256, d.indexed_sha256, d.state, "
    "d.failure_code, d.failure_reason, d.retryable, d.attempts, d.next_try_at, d.title, d.language, d.text_sha256, "
    "d.stamp, d.n_chars, d.n_chunks, d.n_tokens, d.n_truncated, d.quality, d.warnings, d.updated_at, "
    "d.version"
)
CHUNK_COLUMNS = (
    "c.id AS chunk_id, d.id AS document_id, c.ordinal, c.section, c.first, c.past, c.n_tokens, c.n_head_chars, c.text"
)
PASSAGE_COLUMNS = (
    CHUNK_COLUMNS + ", c.locator, d.name, d.collection, d.uri, d.media_type, d.indexed_sha256, d.text_sha256"
)


def document_record(row: Row) -> DocumentRecord:
    failure = None
    if row["failure_code"] is not None:
        failure = Failure(row["failure_code"], row["failure_reason"], bool(row["retryable"]))
    return DocumentRecord(
        no=row["no"],
        id=row["id"],
        collection=row["collection"],
        name=row["name"],
        uri=row["uri"],
        media_type=row["media_type"],
        size_bytes=row["size_bytes"],
        file_sha256=row["file_sha256"],
        indexed_sha256=row["indexed_sha256"],
        state=DocumentState(row["state"]),
        failure=failure,
        attempts=row["attempts"],
        next_try_at=row["next_try_at"],
        title=row["title"],
        language=row["language"],
        text_sha256=row["text_sha256"],
        stamp=from_json(Stamp, json.loads(row["stamp"])) if row["stamp"] else None,
        counters=DocumentCounters(row["n_chars"], row["n_chunks"], row["n_tokens"], row["n_truncated"]),
        updated_at=row["updated_at"],
        quality=json.loads(row["quality"]),
        warnings=tuple(json.loads(row["warnings"])),
        version=row["version"],
    )


def stamp_json(stamp: Stamp) -> str:
    return json.dumps(to_json(stamp), sort_keys=True)


def chunk(row: Row) -> Chunk:
    return Chunk(
        id=row["chunk_id"],
        document_id=row["document_id"],
        ordinal=row["ordinal"],
        section=row["section"],
        content=row["text"][row["n_head_chars"] :],
        text=row["text"],
        span=Span(row["first"], row["past"]),
        n_tokens=row["n_tokens"],
    )


def passage(row: Row, hit: Hit, cosine_distance: float) -> Passage:
    locator: Locator = from_json(Locator, json.loads(row["locator"]))  # type: ignore[arg-type]
    return Passage(
        hit=hit,
        chunk=chunk(row),
        document_name=row["name"],
        collection=row["collection"],
        uri=row["uri"],
        media_type=row["media_type"],
        file_sha256=row["indexed_sha256"],
        text_sha256=row["text_sha256"],
        cosine_distance=cosine_distance,
        locator=locator,
    )


def require_storable(document: Document) -> None:
    """Raises ExtractionError `unstorable_text` for words that no database keeps: U+0000, and halves of surrogate pairs."""
    texts = [document.text, document.title, *document.warnings]
    texts += [block.title for block in document.blocks] + [removal.text for removal in document.removed]
    for text in texts:
        if (found := _UNSTORABLE.search(text)) is not None:
            raise ExtractionError(
                "unstorable_text",
                f"its text holds U+{ord(found.group()):04X}, which is no character; repair the file and ingest it again",
            )


def storable(reason: str) -> str:
    r"""A line for people with what no database keeps as text (U+0000, unpaired surrogates) written as `\x00`, `\ud800`."""
    return reason.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def embedding(vector: bytes, signs: bytes, scales: bytes) -> Embedding:
    values, unpacked = np.frombuffer(vector, np.float32), np.frombuffer(scales, np.float16)
    by_token = np.frombuffer(signs, np.uint8).reshape(len(unpacked), -(-len(values) // 8))  # there may be no token
    return Embedding(vector=values, tokens=TokenCodes(signs=by_token, scales=unpacked))


def embedding_bytes(value: Embedding) -> tuple[bytes, bytes, bytes]:
    return (
        value.vector.astype("<f4", copy=False).tobytes(),
        value.tokens.signs.astype(np.uint8, copy=False).tobytes(),
        value.tokens.scales.astype("<f2", copy=False).tobytes(),
    )


def extraction_json(document: Document) -> str:
    """What the catalog keeps of an extraction beside the text, so that it can be chunked again without the original."""
    return json.dumps(
        {
            "blocks": [[b.kind.value, b.span.start, b.span.end, b.level, b.title] for b in document.blocks],
            "places": [_place_json(place) for place in document.places],
            "removed": [to_json(removal) for removal in document.removed],
            "warnings": list(document.warnings),
            "conservation": to_json(document.conservation),
            "quality": dict(document.quality),
            "extractor": document.extractor,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def document(row: Row) -> Document:
    """A stored document whole; the row holds the document's columns and `text`, `extraction`."""
    kept = json.loads(row["extraction"])
    return Document(
        id=row["id"],
        source=SourceFile(
            row["collection"], row["name"], row["uri"], row["media_type"], row["size_bytes"], row["indexed_sha256"]
        ),
        title=row["title"],
        language=row["language"],
        text=row["text"],
        blocks=tuple(Block(BlockKind(b[0]), Span(b[1], b[2]), b[3], b[4]) for b in kept["blocks"]),
        places=tuple(_place(place) for place in kept["places"]),
        extractor=kept["extractor"],
        conservation=from_json(Conservation, kept["conservation"]),
        warnings=tuple(kept["warnings"]),
        removed=tuple(from_json(Removal, removal) for removal in kept["removed"]),
        quality=kept.get("quality", {}),  # documents of the first release have none
    )


def places_near(extraction: str, spans: Sequence[Span]) -> tuple[bool, list[Place]]:
    """Whether a stored extraction has places at all, and those of them that a span touches, in order.

    A book has a hundred thousand, and reading all that takes a second: they are found by how each begins, which no string
    of the JSON can look like, and only what is asked for is read.
    """
    decoder, near, n_places = json.JSONDecoder(), [], 0
    for match in _PLACE_BEGINS.finditer(extraction):
        n_places += 1
        start, end = int(match.group(1)), int(match.group(2))
        if any(start < span.end and span.start < end for span in spans):
            near.append(_place(decoder.raw_decode(extraction, match.start())[0]))
    if n_places or _NO_PLACES in extraction:
        return n_places > 0, near
    places = [_place(body) for body in json.loads(extraction)["places"]]  # as the first release wrote them
    return bool(places), [place for place in places if any(place.span.overlaps(span) for span in spans)]


def _place_json(place: Place) -> dict[str, object]:
    body: dict[str, object] = {"span": [place.span.start, place.span.end], "locator": to_json(place.locator)}
    if place.advance is not None:
        body["advance"] = [place.advance.toward, *place.advance.tenths]
    return body


def _place(body: dict[str, Any]) -> Place:
    """A place as `_place_json` wrote it, or as the first release did, with its span as an object."""
    span = body["span"]
    locator: Locator = from_json(Locator, body["locator"])  # type: ignore[arg-type]
    advance = body.get("advance")
    return Place(
        Span(*span) if isinstance(span, list) else from_json(Span, span),
        locator,
        Advance(advance[0], tuple(advance[1:])) if advance else None,
    )


def answer_record(row: Row) -> AnswerRecord:
    return AnswerRecord(
        seq=row["seq"],
        id=row["id"],
        created_at=row["created_at"],
        status=row["status"],
        body=json.loads(row["body"]) if row["body"] is not None else None,
        body_sha256=row["body_sha256"],
        previous_sha256=row["previous_sha256"],
        chain_sha256=row["chain_sha256"],
    )
