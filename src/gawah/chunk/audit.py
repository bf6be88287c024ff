"""A chunking judged without labels: whole sentences, what headers cost, what the window would have cut off."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from gawah.chunk.blocks import chunk_document
from gawah.chunk.strategy import TARGET_CHARS
from gawah.chunk.units import Unit, parts_of, ranges
from gawah.ports import CountTokens
from gawah.text import sentences
from gawah.types import BlockKind, Chunk, Document, Span


@dataclass(frozen=True, slots=True)
class Audit:
    """Counts of one document; those of a corpus are their sums.

    `n_whole` of `n_sentences` lie in one chunk; `n_context_tokens` of the `n_tokens` embedded are not the chunks' own
    words (headers, overlap); `n_over_before_guard` chunks would exceed the window were it not guarded; `n_truncated`
    chunks do exceed it.
    """

    n_chunks: int
    n_sentences: int
    n_whole: int
    n_tokens: int
    n_context_tokens: int
    n_over_before_guard: int
    n_truncated: int

    @property
    def survival(self) -> float:
        """Share of sentences that a chunk holds whole; 1 when there are none."""
        return self.n_whole / self.n_sentences if self.n_sentences else 1.0

    @property
    def header_share(self) -> float:
        return self.n_context_tokens / self.n_tokens if self.n_tokens else 0.0


def audit(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    count_tokens: CountTokens,
    window_tokens: int,
    strategy: str = "E",
    target: int = TARGET_CHARS,
) -> Audit:
    """Judges chunks of a document; strategy and target are those it was chunked by, for the count before the guard."""
    n_whole, n_sentences = sentence_survival(document, [chunk.span for chunk in chunks])
    totals = count_tokens([chunk.text for chunk in chunks])
    unguarded = chunk_document(
        document, count_tokens=count_tokens, window_tokens=None, strategy=strategy, target=target
    )
    return Audit(
        n_chunks=len(chunks),
        n_sentences=n_sentences,
        n_whole=n_whole,
        n_tokens=sum(totals),
        n_context_tokens=sum(totals) - sum(count_tokens([chunk.content for chunk in chunks])),
        n_over_before_guard=sum(chunk.n_tokens > window_tokens for chunk in unguarded),
        n_truncated=sum(n > window_tokens for n in totals),
    )


def sentence_survival(source: Document | str, spans: Sequence[Span]) -> tuple[int, int]:
    """(sentences that one of the spans holds whole, sentences).

    Of a document: sentences of its prose and rows of its tables; headings and code have none. Of a text: all of it.
    """
    wanted = sentences(source) if isinstance(source, str) else _sentences_of(source)
    in_order = sorted(spans)
    starts = [span.start for span in in_order]
    reach = list(accumulate((span.end for span in in_order), max))
    whole = sum(1 for one in wanted if (at := bisect_right(starts, one.start)) and reach[at - 1] >= one.end)
    return whole, len(wanted)


def header_share(chunks: Sequence[Chunk], count_tokens: CountTokens) -> float:
    """Share of the embedded tokens that are not the chunks' own words: headers and overlap. 0 without chunks."""
    total = sum(count_tokens([chunk.text for chunk in chunks]))
    own = sum(count_tokens([chunk.content for chunk in chunks]))
    return (total - own) / total if total else 0.0


def _sentences_of(document: Document) -> list[Span]:
    return [
        part.span
        for block in ranges(document)
        if block.kind not in (BlockKind.HEADING, BlockKind.CODE)
        for part in parts_of(document.text, Unit(block.span, block.kind))
    ]
