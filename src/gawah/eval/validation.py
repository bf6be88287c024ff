"""A collection and its canonical texts to a list of what is wrong with it: a set that is wrong measures nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gawah.eval.collection import KINDS, PHRASINGS, UNANSWERABLE_KINDS, Collection, Fold, JudgedQuery
from gawah.eval.match import folded_text, needle_of
from gawah.text import collapse_space

_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SHORT_QUERY_CHARS = 25  # a name or an identifier asked for by itself may well stand in the sentence that explains it


def validate_collection(collection: Collection, texts: Mapping[str, str]) -> list[str]:
    """What is wrong, one line each, in the order of the queries; empty when the set can be measured with.

    `texts` are the canonical texts by document name. Checked: ids unique, kinds and phrasings known, the document there,
    the needle exactly once in the corpus and in its document, no heading, needle and question not inside each other, no
    question both answerable and unanswerable.
    """
    by_fold = {fold: {name: folded_text(text, fold) for name, text in texts.items()} for fold in _folds(collection)}
    headings = {title for name, text in texts.items() for title in _headings(name, text)}
    problems = [] if collection.queries else [f"{collection.name}: no question; a set needs at least one with a needle"]
    seen: set[str] = set()
    for query in collection.queries:
        problems += _once(query.id, seen)
        problems += [f"{query.id}: {problem}" for problem in _faults(query, by_fold[query.fold], headings)]
    asked = {_plain(query.query) for query in collection.queries}
    for unanswerable in collection.unanswerable:
        problems += _once(unanswerable.id, seen)
        if unanswerable.kind not in UNANSWERABLE_KINDS:
            problems.append(f"{unanswerable.id}: {_unknown('kind', unanswerable.kind, UNANSWERABLE_KINDS)}")
        if _plain(unanswerable.query) in asked:
            problems.append(f"{unanswerable.id}: the same question is also asked with a needle")
    return problems


def _folds(collection: Collection) -> list[Fold]:
    return sorted({query.fold for query in collection.queries})


def _once(query_id: str, seen: set[str]) -> list[str]:
    if query_id in seen:
        return [f"{query_id}: the id is used twice"]
    seen.add(query_id)
    return []


def _faults(query: JudgedQuery, folded: Mapping[str, str], headings: set[str]) -> Iterator[str]:
    if query.kind not in KINDS:
        yield _unknown("kind", query.kind, KINDS)
    if query.phrasing not in PHRASINGS:
        yield _unknown("phrasing", query.phrasing, PHRASINGS)
    needle, question = _plain(query.needle), _plain(query.query)
    if needle in headings:
        yield "the needle is a heading; choose the sentence that answers"
    if needle in question:
        yield "the question holds the needle"
    elif query.kind != "identifier" and len(query.query) > _SHORT_QUERY_CHARS and question in needle:
        yield "the needle holds the question"
    if query.document not in folded:
        yield f"there is no document {query.document!r} in the corpus"
        return
    yield from _misplaced(query, folded)


def _misplaced(query: JudgedQuery, folded: Mapping[str, str]) -> Iterator[str]:
    needle = needle_of(query)
    if not needle.whole:
        yield "nothing of the needle is left when it is compared by letters and digits"
        return
    counts = {name: _occurrences(text, needle.whole) for name, text in folded.items()}
    total, here = sum(counts.values()), counts[query.document]
    if total == 1 and here == 1:
        return
    if total == 0 and needle.pieces:
        yield from _misplaced_pieces(query, needle.pieces, folded)
    elif total == 1:
        yield f"the needle stands in {next(name for name in counts if counts[name])}, not in {query.document}"
    else:
        yield f"the needle occurs {total} times in the corpus; it must occur once"


def _misplaced_pieces(query: JudgedQuery, pieces: Sequence[str], folded: Mapping[str, str]) -> Iterator[str]:
    """Of a needle that is nowhere whole every piece must be in the document, and one must tell the place."""
    given = query.needle_cells or query.needle_parts
    for words, piece in zip(given, pieces, strict=True):
        if piece not in folded[query.document]:
            yield f"{query.document} does not hold {words!r} of the needle"
    if not any(sum(_occurrences(text, piece) for text in folded.values()) == 1 for piece in pieces if piece):
        yield "no cell or part of the needle occurs exactly once in the corpus"


def _occurrences(text: str, words: str) -> int:
    """How often words stand in a text, overlapping ones counted."""
    n, at = 0, text.find(words)
    while at >= 0:
        n, at = n + 1, text.find(words, at + 1)
    return n


def _headings(name: str, text: str) -> Iterator[str]:
    """Titles of a Markdown document's headings, both styles, none inside code fences. Other formats have none here."""
    if not name.lower().endswith((".md", ".markdown")):
        return
    fence = ""
    previous = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or (line.strip().strip(fence[0]) == "" and len(mark[1]) >= len(fence))):
            fence = "" if fence else mark[1]
        elif not fence:
            atx = _ATX.fullmatch(line)
            if atx:
                yield _plain(atx[1])
            elif previous and _SETEXT.fullmatch(line):
                yield _plain(previous)
        previous = "" if fence or mark else line.strip()


def _unknown(what: str, value: str, known: Sequence[str]) -> str:
    return f"the {what} {value!r} is unknown; use one of {', '.join(known)}"


def _plain(text: str) -> str:
    return collapse_space(text).casefold()
