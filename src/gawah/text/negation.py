"""Whether one text denies what another says: negations of English, Hindi and Urdu, each with the words it bears on.

Rules, no grammar: a negation bears on the next few words of its clause, in Hindi and Urdu on those on both sides. It
counts where the other text has at least half of these words too. What denies without a word of denial ("refused",
"instead of") leaves a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import regex

from gawah.text.queries import STOP_WORDS
from gawah.text.terms import analyze, fold

_ENGLISH = frozenset(
    ("not", "no", "never", "without", "none", "nobody", "nothing", "neither", "nor", "cannot", "nowhere")
)
_ROMAN_HINDI = frozenset(("nahin", "nahi"))  # "mat" and "na" are words of other languages too
_INDIC_WORDS = "नहीं मत न ना नहिं बिना बग़ैर मना نہیں نہ مت بغیر بنا منع"
_INDIC = frozenset(fold(word) for word in _INDIC_WORDS.split())
_DOUBTFUL_WORDS = (
    "refuse refuses refused forbid forbids forbidden prohibited fail fails failed failing lack lacks lacking unable "
    "impossible instead except rather avoid avoids stop stops stopped ended deny denies denied reject rejected rejects "
    "hardly rarely seldom barely least false wrong abolished removed dropped missing forbidding invalid"
)
_DOUBTFUL = frozenset(_DOUBTFUL_WORDS.split())
_NO_NEGATION = regex.compile(
    r"\bnot only\b|\b(?:no|not) (?:more|less|fewer|later|earlier|sooner) than\b|\bno\.(?=\s?\d)|\bno matter\b",
    regex.IGNORECASE,
)
_CONTRACTION = regex.compile(r"\b(\p{L}+)n['’]t\b", regex.IGNORECASE)
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)?")
_CLAUSE_END = regex.compile(r"[,;:—–()।॥؛،۔|]|[.!?](?=\s|\Z)|\bbut\b|\bلیکن\b|\bमगर\b|\bलेकिन\b")
_SCOPE_WORDS = 3
_STEM_CHARS = 5  # need and needs, measure and measured: enough of a word to know it again


class Denial(Enum):
    """What two texts are to each other."""

    NONE = "none"
    DOUBT = "doubt"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class _Negated:
    """The stems of a text, what each of its negations bears on, and whether it denies in other words too."""

    stems: frozenset[str]
    scopes: tuple[frozenset[str], ...]
    doubtful: bool

    def denies(self, other: _Negated) -> bool:
        """Whether it negates what the other text has too, but does not negate."""
        return any(
            2 * len(scope & other.stems) >= len(scope) > 0 and all(scope.isdisjoint(theirs) for theirs in other.scopes)
            for scope in self.scopes
        )


def denial(claim: str, source: str) -> Denial:
    """Whether the claim denies what the source says, or says what the source denies.

    CLEAR: of what both speak of, one is negated and the other is not. DOUBT: the other side has a negation that bears on
    other words, or words like "refused". Symmetric.
    """
    ours, theirs = _negated(claim), _negated(source)
    found = Denial.NONE
    for one, other in ((ours, theirs), (theirs, ours)):
        if one.denies(other):
            if not (other.scopes or other.doubtful):
                return Denial.CLEAR
            found = Denial.DOUBT
    return found


def is_negated(text: str) -> bool:
    """Whether a text holds any negation, clear or doubtful."""
    found = _negated(text)
    return bool(found.scopes) or found.doubtful


def stems(text: str) -> frozenset[str]:
    """The beginnings of a text's content words, numbers whole."""
    return frozenset(_stem(term) for term in analyze(text) if term not in STOP_WORDS and term not in _INDIC)


def _stem(term: str) -> str:
    return term if term[0].isdecimal() else term[:_STEM_CHARS]


def _negated(text: str) -> _Negated:
    plain = _CONTRACTION.sub(r"\1 not", _NO_NEGATION.sub(" ", text))
    scopes: list[frozenset[str]] = []
    doubtful = False
    for clause in _clauses(plain):
        words = [fold(match.group()) for match in _WORD.finditer(clause)]
        doubtful = doubtful or not _DOUBTFUL.isdisjoint(words)
        scopes += _scopes(words)
    return _Negated(stems(plain), tuple(scopes), doubtful)


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for match in _CLAUSE_END.finditer(text):
        yield text[start : match.start()]
        start = match.end()
    yield text[start:]


def _scopes(words: list[str]) -> Iterator[frozenset[str]]:
    for at, word in enumerate(words):
        if word in _ENGLISH:
            scope = _content(_until_negation(words[at + 1 :])) or _content(words[:at][::-1])
        elif word in _INDIC or word in _ROMAN_HINDI:
            scope = [*_content(words[:at][::-1]), *_content(words[at + 1 :])]
        else:
            continue
        yield frozenset(_stem(one) for one in scope)


def _until_negation(words: list[str]) -> list[str]:
    """The words up to the next negation, which has those behind it for itself."""
    return words[: next((at for at, word in enumerate(words) if word in _ENGLISH), len(words))]


def _content(words: list[str]) -> list[str]:
    """The first few words that are about something."""
    found = [word for word in words if word not in STOP_WORDS and word not in _INDIC and word not in _ROMAN_HINDI]
    return found[:_SCOPE_WORDS]
