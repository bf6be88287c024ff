"""A claim that was copied: where it stands in a quote, letter for letter but for white space and the marks at its ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from gawah.support.quotes import Quote, Statement
from gawah.text import collapse_space
from gawah.types import Span

_MOST_PLACES = 16
_SPARE_BLANKS = 1000  # a claim may be longer than its quote by so many blanks
_EDGE_BEFORE = regex.compile(r"\A(?:\s|[-*+•>|\"'“‘«(]|\d{1,3}[.)]\s)+")
_EDGE_AFTER = " \t\n\u00a0.,;:!?।۔…|\"'”’»)"
_JOINED_BEFORE = regex.compile(r"[\p{L}\p{N}\p{M}_]|(?<=\d)[.,:]|[-−]", regex.REVERSE)
_JOINED_AFTER = regex.compile(r"[\p{L}\p{N}\p{M}_]|[.,:]\d|\s?[%°]|n['’]t")


@dataclass(frozen=True, slots=True)
class Copied:
    """The statements a copied claim stands in, and whether it has all the words of them."""

    statements: tuple[Statement, ...]
    whole: bool


def copied(claim: str, quotes: Sequence[Quote]) -> Copied | None:
    """Where a claim was copied from, the whole statements first; None when it was not, or cuts a word or a number."""
    core = _EDGE_BEFORE.sub("", claim).rstrip(_EDGE_AFTER)
    if not any(character.isalnum() for character in core):
        return None
    best: Copied | None = None
    for quote in quotes:
        for span in _places(core, quote.text):
            held = tuple(one for one in quote.statements if one.span.overlaps(span))
            if not held:
                continue
            before, after = quote.text[held[0].span.start : span.start], quote.text[span.end : held[-1].span.end]
            if not any(map(str.isalnum, _EDGE_BEFORE.sub("", before) + after)):
                return Copied(held, whole=True)
            best = best or Copied(held, whole=False)
    return best


def _places(core: str, text: str) -> list[Span]:
    """Where the words stand, whole words only; at most the first few places."""
    found: list[Span] = []
    at = text.find(core)
    while at >= 0 and len(found) < _MOST_PLACES:
        found.append(Span(at, at + len(core)))
        at = text.find(core, at + 1)
    if not found and len(core) <= len(text) + _SPARE_BLANKS and collapse_space(core) in collapse_space(text):
        pattern = regex.compile(r"\s+".join(map(regex.escape, core.split())))
        found = [Span(*match.span()) for match in pattern.finditer(text)][:_MOST_PLACES]
    return [span for span in found if not _cuts(text, span)]


def _cuts(text: str, span: Span) -> bool:
    """Whether the place begins or ends inside a word or a number: "It is 4" of "It is 4.07 m"."""
    before = span.start > 0 and _JOINED_BEFORE.match(text, 0, span.start) is not None
    return before or _JOINED_AFTER.match(text, span.end) is not None
