"""Queries, chunks and passages made from a few words."""

from __future__ import annotations

from pathlib import Path

from gawah.eval import JudgedQuery
from gawah.types import CharRange, Chunk, Hit, Passage, Ranking, Span

SHARED = Path(__file__).resolve().parents[2] / "../shared/eval"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def judged(needle, **fields):
    return JudgedQuery(**{"id": "q1", "query": "what is it", "needle": needle, "document": "a.md", **fields})


def cut(text, *spans, document_id="d", lead="", section=""):
    """Chunks of a text at the given spans, with `lead` in front of each embedded text."""
    return [
        Chunk(
            id=f"{document_id}-{start}-{end}",
            document_id=document_id,
            ordinal=ordinal,
            section=section,
            content=text[start:end],
            text=lead + text[start:end],
            span=Span(start, end),
            n_tokens=1,
        )
        for ordinal, (start, end) in enumerate(spans)
    ]


def passage(distance, content="words", chunk_id="c"):
    return Passage(
        hit=Hit(chunk_id, 1 - distance, 1),
        chunk=Chunk(chunk_id, "d", 0, "", content, content, Span(0, len(content)), 1),
        document_name="a.md",
        collection="c",
        uri="file:///a.md",
        media_type="text/markdown",
        file_sha256="0",
        text_sha256="0",
        cosine_distance=distance,
        locator=CharRange(0, len(content)),
    )


def ranking(*scored, system="bm25"):
    return Ranking(
        system, tuple(Hit(chunk_id, score, rank) for rank, (chunk_id, score) in enumerate(scored, 1)), len(scored)
    )
