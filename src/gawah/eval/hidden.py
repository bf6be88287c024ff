"""Needles to hidden-answer queries: the same question, with every chunk taken away that could answer it.

What is left is about the right thing and does not hold the answer: a near miss that costs no labelling. These are no
replacement for unanswerable questions that people wrote, and are counted apart from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gawah.errors import UsageError
from gawah.eval.collection import JudgedQuery
from gawah.eval.match import Needle, folded_text, locate, needle_of
from gawah.text import collapse_space
from gawah.types import Chunk, Ranking, Span

HIDDEN = "hidden"  # the group these are counted in


@dataclass(frozen=True, slots=True)
class HiddenQuery:
    """A question and the ids of the chunks that must not be found for it, sorted."""

    id: str
    query: str
    phrasing: str
    needle: str
    document: str
    excluded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HiddenQueries:
    """Hidden-answer queries, and the ids of those left out: `repeated` ask the same for the same needle, and the needle
    of `unplaced` was not found in its document, so that nothing proves that its answer would be hidden.
    """

    queries: tuple[HiddenQuery, ...]
    repeated: tuple[str, ...]
    unplaced: tuple[str, ...]


def hidden_queries(
    queries: Sequence[JudgedQuery], texts: Mapping[str, str], chunks: Mapping[str, Sequence[Chunk]]
) -> HiddenQueries:
    """Hides the answers of judged queries. Canonical texts and chunks are given by document name.

    Raises UsageError when a query's document has no text or no list of chunks.
    """
    made: list[HiddenQuery] = []
    repeated: list[str] = []
    unplaced: list[str] = []
    asked: set[tuple[str, str]] = set()
    whole = _holders(queries, chunks)
    for query in queries:
        question = (collapse_space(query.query), collapse_space(query.needle))
        if question in asked:
            repeated.append(query.id)
            continue
        asked.add(question)
        if query.document not in texts or query.document not in chunks:
            raise UsageError(f"{query.document!r}, the document of {query.id!r}, is not among those indexed; ingest it")
        places = locate(texts[query.document], query)
        if not places:
            unplaced.append(query.id)
            continue
        excluded = tuple(
            sorted(whole[needle_of(query)] | _touching(places, texts[query.document], chunks[query.document]))
        )
        made.append(
            HiddenQuery(f"{HIDDEN}-{query.id}", query.query, query.phrasing, query.needle, query.document, excluded)
        )
    return HiddenQueries(tuple(made), tuple(repeated), tuple(unplaced))


def _holders(queries: Sequence[JudgedQuery], chunks: Mapping[str, Sequence[Chunk]]) -> dict[Needle, set[str]]:
    """Ids of the chunks of any document that hold a needle whole, by words; each chunk is folded once for all needles."""
    found: dict[Needle, set[str]] = {needle_of(query): set() for query in queries}
    for fold in sorted({needle.fold for needle in found}):
        needles = [needle for needle in found if needle.fold == fold]
        for chunk in (chunk for one_document in chunks.values() for chunk in one_document):
            text = folded_text(chunk.text, fold)
            for needle in needles:
                if needle.is_in(text):
                    found[needle].add(chunk.id)
    return found


def _touching(places: Sequence[Span], text: str, chunks: Sequence[Chunk]) -> set[str]:
    """Ids of a document's chunks that hold a part of a needle, by place: those whose words, or the words of a neighbour
    that overlap copied in front of them, share a character with it.
    """
    return {chunk.id for chunk in chunks if any(_embedded_span(chunk, text).overlaps(place) for place in places)}


def widen_to_sections(hidden: HiddenQuery, chunks: Iterable[Chunk]) -> HiddenQuery:
    """The same with every chunk of the sections that the excluded ones are in taken away: stricter near misses."""
    every = list(chunks)
    gone = set(hidden.excluded)
    sections = {(chunk.document_id, chunk.section) for chunk in every if chunk.id in gone}
    widened = gone | {chunk.id for chunk in every if (chunk.document_id, chunk.section) in sections}
    return replace(hidden, excluded=tuple(sorted(widened)))


def without(ranking: Ranking, excluded: Iterable[str]) -> Ranking:
    """The ranking as if chunks were not there: ranks close up. Ask for as many more hits as are taken away."""
    gone = frozenset(excluded)
    kept = (hit for hit in ranking.hits if hit.chunk_id not in gone)
    return replace(ranking, hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1)))


def _embedded_span(chunk: Chunk, text: str) -> Span:
    """The chunk's span, with the words before it that its embedded text repeats, blanks aside."""
    lead = chunk.text[: len(chunk.text) - len(chunk.content)]
    at, start = len(lead), chunk.span.start
    while at and start:
        if lead[at - 1].isspace():
            at -= 1
        elif text[start - 1].isspace():
            start -= 1
        elif lead[at - 1] == text[start - 1]:
            at, start = at - 1, start - 1
        else:
            break
    return Span(start, chunk.span.end)
