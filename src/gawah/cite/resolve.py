"""A draft and its numbered sources to an answer's text, citations and claims.

Only what the generator wrote becomes a citation, and only words of a source become a quote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gawah.cite.claims import find_claims
from gawah.cite.hold import SentenceHold
from gawah.cite.marks import Mark
from gawah.cite.stream import MarkerStream
from gawah.fragment import build, label
from gawah.types import Citation, Claim, DraftPart, NumberedSource, Passage

Context = Callable[[Passage], tuple[str, str]]
Hear = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Resolved:
    """An answer's text, its markers as `[n]`, and what they stand for.

    citations: one for each distinct marker, in order of first use; unknown_markers: numbers that were taken out, in
    order, repeats included; marks: every marker's place (a literal "[1]" that was copied from a source is none);
    n_links: link targets that the generator hung on a marker and that were taken out.
    """

    text: str
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]
    unknown_markers: tuple[int, ...]
    marks: tuple[Mark, ...]
    n_links: int


def no_context(_: Passage) -> tuple[str, str]:
    return "", ""


def resolve(
    parts: Iterable[DraftPart],
    sources: Sequence[NumberedSource],
    *,
    context: Context = no_context,
    heard: Hear | None = None,
) -> Resolved:
    """Resolves a whole draft. `context` gives the canonical text before and after a passage, for the quote's surroundings.

    `heard` is told the text sentence by sentence, each with the markers behind it, as soon as the next has begun; all it
    was told is the result's text. Raises what `parts` and `heard` raise, and ValueError for sources that contradict
    themselves.
    """
    stream = MarkerStream(sources)
    held = SentenceHold()
    pieces: list[str] = []
    for piece in _certain(stream, parts):
        pieces.append(piece)
        if heard is not None and (whole := held.push(piece)):
            heard(whole)
    if heard is not None and (rest := held.flush()):
        heard(rest)
    return conclude("".join(pieces), stream, sources, context=context)


def _certain(stream: MarkerStream, parts: Iterable[DraftPart]) -> Iterator[str]:
    for part in parts:
        yield stream.push(part)
    yield stream.flush()


def conclude(
    text: str, stream: MarkerStream, sources: Sequence[NumberedSource], *, context: Context = no_context
) -> Resolved:
    """What `resolve` gives, of a stream that was flushed and of all the text it gave out."""
    by_number = {source.number: source for source in sources}
    used = dict.fromkeys(mark.number for mark in stream.marks)
    return Resolved(
        text=text,
        citations=tuple(_cite(by_number[number], context) for number in used),
        claims=find_claims(text, stream.marks, stream.copied),
        unknown_markers=tuple(stream.unknown),
        marks=tuple(stream.marks),
        n_links=stream.n_links,
    )


def slices(citation: Citation, text: str) -> bool:
    """Whether the quote is what the canonical text holds at the citation's span."""
    return citation.span.end <= len(text) and citation.span.slice(text) == citation.quote


def _cite(source: NumberedSource, context: Context) -> Citation:
    passage, chunk = source.passage, source.passage.chunk
    if passage.hit.chunk_id != chunk.id:
        raise ValueError(f"source {source.number}: the hit is of {passage.hit.chunk_id}, the words are of {chunk.id}")
    if len(chunk.content) != len(chunk.span):
        raise ValueError(f"source {source.number}: {len(chunk.content)} characters cannot be {chunk.span}")
    fragment = build(passage.locator)
    prefix, suffix = context(passage)
    return Citation(
        marker=source.number,
        document_id=chunk.document_id,
        document_name=passage.document_name,
        collection=passage.collection,
        label=source.label,
        locator_label=label(passage.locator),
        fragment=fragment,
        url=passage.uri + fragment,
        quote=chunk.content,
        prefix=prefix,
        suffix=suffix,
        span=chunk.span,
        cosine_distance=passage.cosine_distance,
        file_sha256=passage.file_sha256,
        text_sha256=passage.text_sha256,
        chunk_id=chunk.id,
    )
