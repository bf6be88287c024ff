"""Links, DOIs, arXiv numbers, addresses, page and section numbers in a text that none of the sources has.

A language model writes such things from memory; they look exact and lead elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from gawah.text import plain_digits
from gawah.types import Span

_LONGEST = 2000  # characters of a reference
_PATTERNS = {
    "url": rf"(?:\b[a-z][a-z0-9+.-]{{1,15}}://|\bwww\.|\bmailto:)[^\s<>\"'`()\[\]{{}}|\\^]{{1,{_LONGEST}}}",
    "doi": r"\b(?:doi:\s?)?10\.\d{4,9}/[^\s<>\"'`()\[\]{}|]{1,200}",
    "arxiv": r"\barxiv\s?[:/]?\s?(?:\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[a-z]{2})?/\d{7})(?:v\d{1,2})?",
    "email": r"\b[\p{L}\d._%+-]{1,64}@(?:[\p{L}\d-]{1,63}\.){1,8}\p{L}{2,24}",
    "page": r"(?:\b(?:pages?|pp?\.|seiten?)|पृष्ठ|पेज|صفحہ|صفحات)\s{0,3}(?P<page>\d{1,5})(?:\s?[-–—]\s?(?P<last>\d{1,5}))?",
    "section": r"(?:\b(?:sections?|sect?\.|chapters?|chap\.|clauses?|appendix|figures?|fig\.|tables?)|§|अनुभाग|अध्याय|باب)"
    r"\s{0,3}(?P<section>\d{1,4}(?:\.\d{1,4}){0,6})",
}
_REFERENCE = regex.compile(
    "|".join(f"(?P<{kind}_all>{pattern})" for kind, pattern in _PATTERNS.items()), regex.IGNORECASE
)
_TRAILING = ".,;:!?…*_~।۔"
_SCHEME = regex.compile(r"\A(?:[a-z][a-z0-9+.-]{1,15}://|mailto:|doi:\s?)?(?:www\.)?", regex.IGNORECASE)
_ARXIV = regex.compile(r"\Aarxiv\s?[:/]?\s?", regex.IGNORECASE)
_GOES_ON = r"[\p{L}\p{N}_=&?#%@~-]|/[\p{L}\p{N}]|[.:][\p{L}\p{N}]"  # behind it, the link is another
NUMBERED = ("page", "section")  # held against the places of sources, not against their words


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that points elsewhere, as written and in one spelling. `span` counts in the text it was found in."""

    kind: str
    text: str
    key: str
    span: Span


class Known:
    """What the sources of an answer hold, to be asked whether a reference is theirs; read when it is first asked."""

    def __init__(self, read: Callable[[], Sequence[str]]) -> None:
        self._read = read

    @cached_property
    def _folded(self) -> list[str]:
        return [plain_digits(text).casefold() for text in self._read()]

    @cached_property
    def _numbered(self) -> frozenset[tuple[str, str]]:
        found = (one for text in self._folded for one in references(text) if one.kind in NUMBERED)
        return frozenset((one.kind, key) for one in found for key in one.key.split())

    def holds(self, reference: Reference) -> bool:
        if reference.kind in NUMBERED:
            return all((reference.kind, key) in self._numbered for key in reference.key.split())
        return any(_stands_in(reference.key, text) for text in self._folded)


def references(text: str) -> list[Reference]:
    """The references of a text, in order."""
    return list(_found(plain_digits(text), text))


def _found(plain: str, text: str) -> Iterator[Reference]:
    for match in _REFERENCE.finditer(plain):
        kind = next(name for name in _PATTERNS if match.group(f"{name}_all") is not None)
        written = match.group() if kind in NUMBERED else match.group().rstrip(_TRAILING)
        span = Span(match.start(), match.start() + len(written))
        yield Reference(kind, span.slice(text), _key(kind, match, written), span)


def _key(kind: str, match: regex.Match[str], written: str) -> str:
    if kind == "page":
        return " ".join(number.lstrip("0") for number in (match["page"], match["last"]) if number)
    if kind == "section":
        return str(match["section"])
    bare = _ARXIV.sub("", written) if kind == "arxiv" else _SCHEME.sub("", written)
    return str(bare).rstrip("/").casefold()


def _stands_in(key: str, text: str) -> bool:
    """Whether a text has the reference as a whole: a part of another link's path is another link."""
    pattern = regex.compile(rf"(?:(?<![\p{{L}}\p{{N}}._@-])|(?<=www\.)){regex.escape(key)}(?!{_GOES_ON})")
    return key in text and pattern.search(text) is not None
