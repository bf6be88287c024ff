"""The product's chunker: a document's blocks to chunks that hold whole units, with real headings in their headers.

Nothing that is not blank is lost: every character lies in one chunk, but headings, which stand in headers. Differs from
the reference in what it reads (blocks of any format, not Markdown text) and in that no chunk exceeds the window.
"""

from __future__ import annotations

from itertools import pairwise

from gawah.chunk.outline import NO_HEADING, Outline, outline
from gawah.chunk.strategy import OVERLAP_CHARS, TARGET_CHARS, Piece, chunker_name, chunks_of, strategy_of
from gawah.chunk.units import Group, cut_blindly, joined, packed
from gawah.chunk.window import guarded
from gawah.ports import CountTokens
from gawah.text import grapheme_floor
from gawah.types import Chunk, Document


def chunk_document(
    document: Document,
    *,
    count_tokens: CountTokens,
    window_tokens: int | None,
    strategy: str = "E",
    target: int = TARGET_CHARS,
) -> list[Chunk]:
    """Chunks of a document in order of its text.

    Units (paragraphs, items, tables, code) are packed to `target` characters within a section; what exceeds the target
    is cut at line ends (code, tables) or sentence ends. The header is `[title > heading > …]`, `section` the headings
    without the title. What exceeds `window_tokens` is cut again; None leaves that out and is for measuring only.
    C and D cut as E and F do; their `text` lacks the header, so headings are not in it. A and B cut blindly, but not
    inside grapheme clusters. In B, D and F the last 64 characters of the previous chunk stand before the content,
    unless the window is too small for them. Raises UsageError for an unknown strategy.
    """
    plan = strategy_of(strategy)
    text = document.text
    if plan.boundaries:
        plot = outline(document, count_tokens=count_tokens, window_tokens=window_tokens, target=target)
        groups = joined(packed(plot.units, target), target)
    else:
        plot = Outline(units=(), headers={NO_HEADING: ""}, paths={NO_HEADING: ""})
        groups = [Group((unit,), NO_HEADING) for unit in cut_blindly(text, target)]

    def embedded(group: Group) -> str:
        return (plot.headers[group.section] if plan.header else "") + group.span.slice(text)

    if window_tokens is None:
        n_tokens = count_tokens([embedded(group) for group in groups])
    else:
        groups, n_tokens = guarded(
            text, groups, count_tokens=count_tokens, window_tokens=window_tokens, embedded=embedded
        )
    pieces = [Piece(group.span, plot.paths[group.section], embedded(group)) for group in groups]
    if plan.overlap:
        pieces, n_tokens = _overlapped(text, pieces, n_tokens, count_tokens, window_tokens)
    return chunks_of(document, pieces, n_tokens, chunker_name(strategy, target=target))


def _overlapped(
    text: str, pieces: list[Piece], n_tokens: list[int], count_tokens: CountTokens, window_tokens: int | None
) -> tuple[list[Piece], list[int]]:
    """Each piece with the previous one's last words between header and content, where the window has room."""
    longer = [_with_tail(text, before, piece) for before, piece in pairwise(pieces)]
    counts = count_tokens([piece.text for piece in longer])
    kept, kept_tokens = pieces[:1], n_tokens[:1]
    for piece, n, tailed, n_tailed in zip(pieces[1:], n_tokens[1:], longer, counts, strict=True):
        fits = window_tokens is None or n_tailed <= window_tokens
        kept.append(tailed if fits else piece)
        kept_tokens.append(n_tailed if fits else n)
    return kept, kept_tokens


def _with_tail(text: str, before: Piece, piece: Piece) -> Piece:
    start = max(before.span.start, grapheme_floor(text, before.span.end - OVERLAP_CHARS))
    joint = "" if before.span.end == piece.span.start else "\n"
    header = piece.text[: len(piece.text) - len(piece.span)]
    return Piece(piece.span, piece.section, header + text[start : before.span.end] + joint + piece.span.slice(text))
