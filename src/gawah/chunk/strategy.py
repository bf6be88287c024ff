"""The six strategies by letter, and what every chunker returns before it is a chunk of a document."""

from __future__ import annotations

from dataclasses import dataclass

from gawah.errors import UsageError
from gawah.fingerprint import chunk_id, sha256_text
from gawah.types import Chunk, Document, Span

OVERLAP_CHARS = 64
TARGET_CHARS = 512
_VERSION = 1  # of both chunkers; part of every chunk's id and of the stamp


@dataclass(frozen=True, slots=True)
class Strategy:
    """Three ingredients: cuts at boundaries (else blind ones), the last words of the previous chunk, a header."""

    letter: str
    boundaries: bool
    overlap: bool
    header: bool


STRATEGIES = {
    strategy.letter: strategy
    for strategy in (
        Strategy("A", boundaries=False, overlap=False, header=False),
        Strategy("B", boundaries=False, overlap=True, header=False),
        Strategy("C", boundaries=True, overlap=False, header=False),
        Strategy("D", boundaries=True, overlap=True, header=False),
        Strategy("E", boundaries=True, overlap=False, header=True),
        Strategy("F", boundaries=True, overlap=True, header=True),
    )
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of a text, its section, and the text to embed for it, which ends in the span's own words."""

    span: Span
    section: str
    text: str


def strategy_of(letter: str) -> Strategy:
    """The strategy of that letter; raises UsageError."""
    try:
        return STRATEGIES[letter]
    except KeyError:
        raise UsageError(f"no chunking strategy {letter!r}: choose one of {', '.join(STRATEGIES)}") from None


def chunker_name(strategy: str = "E", *, target: int = TARGET_CHARS, rules: str = "blocks") -> str:
    """The chunker as it stands in stamps and ids: "blocks-E/1"; a target that is not the default is named."""
    size = "" if target == TARGET_CHARS else f"-{target}"
    return f"{rules}-{strategy_of(strategy).letter}{size}/{_VERSION}"


def chunks_of(document: Document, pieces: list[Piece], n_tokens: list[int], chunker: str) -> list[Chunk]:
    """Pieces in order of the text, as chunks of the document."""
    version = sha256_text(document.text)
    return [
        Chunk(
            id=chunk_id(document.id, version, chunker, piece.span.start, piece.span.end),
            document_id=document.id,
            ordinal=ordinal,
            section=piece.section,
            content=piece.span.slice(document.text),
            text=piece.text,
            span=piece.span,
            n_tokens=tokens,
        )
        for ordinal, (piece, tokens) in enumerate(zip(pieces, n_tokens, strict=True))
    ]
