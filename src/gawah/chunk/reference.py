r"""The reference chunker, chunk for chunk: Markdown sections at `## `, paragraphs packed to a target.

Its faults are kept, so that published results can be repeated: text before the first section is dropped, fences are
torn, a full stop in a number ends a sentence. White space is JavaScript's (`\s` and `trim`: with U+FEFF, without U+0085
and U+001C to U+001F), `.` and `$` know its four line ends, lengths are code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gawah.chunk.strategy import OVERLAP_CHARS, TARGET_CHARS, Piece, Strategy, chunker_name, chunks_of, strategy_of
from gawah.ports import CountTokens
from gawah.types import Chunk, Document, Span

_BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_LINE_ENDS = "\n\r\u2028\u2029"
_SECTION = re.compile(rf"(?:\A|(?<=[{_LINE_ENDS}]))## ([^{_LINE_ENDS}]+)")
_SECTION_LINE = re.compile(rf"## [^{_LINE_ENDS}]+\n")
_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?!\n)[^\n]*)*")
_SENTENCE = re.compile(rf"[^.!?]*[.!?]*[{_BLANKS}]*")


def chunk_reference(text: str, title: str, *, strategy: str = "E", target: int = TARGET_CHARS) -> list[Piece]:
    """What the reference returns for a Markdown text, by strategy letter; raises UsageError for an unknown letter.

    A and B cut the whole text every `target` characters, without sections. C to F make the same cuts; D and F put the
    last 64 characters of the document's previous chunk before the content, E and F a header `[title > section]`.
    """
    plan = strategy_of(strategy)
    cuts = _boundary_cuts(text, target) if plan.boundaries else _blind_cuts(text, target)
    return list(_with_context(text, title, cuts, plan))


def reference_chunks(
    document: Document,
    title: str,
    *,
    strategy: str = "E",
    target: int = TARGET_CHARS,
    count_tokens: CountTokens | None = None,
) -> list[Chunk]:
    """The reference's pieces as chunks of a document; token counts are 0 without a counter. Nothing guards a window."""
    pieces = chunk_reference(document.text, title, strategy=strategy, target=target)
    n_tokens = [0] * len(pieces) if count_tokens is None else count_tokens([piece.text for piece in pieces])
    return chunks_of(document, pieces, n_tokens, chunker_name(strategy, target=target, rules="reference"))


def _with_context(text: str, title: str, cuts: Iterator[tuple[str, Span]], plan: Strategy) -> Iterator[Piece]:
    before: Span | None = None
    for section, span in cuts:
        header = f"[{title} > {section}]\n" if section else f"[{title}]\n"
        tail = ""
        if plan.overlap and before is not None:
            tail = before.slice(text)[-OVERLAP_CHARS:] + ("" if before.end == span.start else "\n")
        yield Piece(span, section, (header if plan.header else "") + tail + span.slice(text))
        before = span


def _blind_cuts(text: str, target: int) -> Iterator[tuple[str, Span]]:
    for start in range(0, len(text), target):
        span = Span(start, min(start + target, len(text)))
        if span.slice(text).strip(_BLANKS):
            yield "", span


def _boundary_cuts(text: str, target: int) -> Iterator[tuple[str, Span]]:
    for section, start, end in _sections(text):
        for cut in _packed_paragraphs(text, start, end, target):
            raw = cut.slice(text)
            content = raw.strip(_BLANKS)
            if content:
                first = cut.start + len(raw) - len(raw.lstrip(_BLANKS))
                yield section, Span(first, first + len(content))


def _sections(text: str) -> Iterator[tuple[str, int, int]]:
    """(title, start and end of the body); the heading's line is left out when LF ends it."""
    heads = [(match.start(), match.group(1).strip(_BLANKS)) for match in _SECTION.finditer(text)]
    ends = [*(start for start, _ in heads[1:]), len(text)]
    for (start, section), end in zip(heads or [(0, "")], ends, strict=True):
        line = _SECTION_LINE.match(text, start, end)
        yield section, start if line is None else line.end(), end


def _packed_paragraphs(text: str, start: int, end: int, target: int) -> Iterator[Span]:
    open_span: Span | None = None
    for match in _PARAGRAPH.finditer(text, start, end):
        first, last = match.span()
        if last - first > target:
            if open_span is not None:
                yield open_span
                open_span = None
            yield from _packed_sentences(text, first, last, target)
            continue
        if open_span is not None and last - open_span.start > target:
            yield open_span
            open_span = None
        open_span = Span(first if open_span is None else open_span.start, last)
    if open_span is not None:
        yield open_span


def _packed_sentences(text: str, start: int, end: int, target: int) -> Iterator[Span]:
    open_span: Span | None = None
    for match in _SENTENCE.finditer(text, start, end):
        if not match.group():
            continue
        if open_span is not None and match.end() - open_span.start > target:
            yield open_span
            open_span = None
        open_span = Span(match.start() if open_span is None else open_span.start, match.end())
    if open_span is not None:
        yield open_span
