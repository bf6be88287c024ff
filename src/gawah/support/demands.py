"""What a claim says exactly, numbers with units, identifiers and names, and those of them that its quotes do not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import regex

from gawah.support.quotes import Quote, Statement
from gawah.text import Demands, Quantity, analyze, demands_of, quantities, unmet
from gawah.types import Missing

_QUANTITY_ONLY = regex.compile(r"v?[\d.,:/×x^-]+\p{L}{0,3}")  # 13.21V, 2024-08-13: numbers, not names
_ONE = "1"
_CAPITALS_TELL_BELOW = 0.3  # German writes every noun with a capital: there a capital names nothing
_WORD = regex.compile(r"(?<=[\p{Ll},;] )[\p{L}][\p{L}\p{M}]+")  # a word inside a sentence


@dataclass(frozen=True, slots=True)
class Said:
    """What a claim says exactly. "one" is no number: it is as often a pronoun."""

    numbers: tuple[Quantity, ...]
    named: Demands
    text: str

    @property
    def is_plain(self) -> bool:
        return not (self.numbers or self.named.words)


def said_in(claim: str) -> Said:
    demands = demands_of(claim)
    numbers = tuple(one for one in quantities(claim).numbers if not (one.worded and one.value == _ONE))
    identifiers = tuple(one for one in demands.identifiers if not _QUANTITY_ONLY.fullmatch(one))
    return Said(numbers, Demands(identifiers=identifiers, names=demands.names), claim)


def missing_of(said: Said, quotes: Sequence[Quote]) -> tuple[Missing, ...]:
    """What none of the quotes says, headings included, in the order numbers, identifiers, names; each once."""
    return _missing(said, [quote.whole for quote in quotes], lambda one: any(q.quantities.hold(one) for q in quotes))


def missing_of_statements(said: Said, carriers: Sequence[Statement]) -> tuple[Missing, ...]:
    """What the carrying statements do not say, nor the headings of their sources."""
    texts = [f"{one.quote.heading}\n{one.text}" for one in carriers]
    found = [quantities(text) for text in texts]
    units = frozenset[str]().union(*(one.quote.quantities.units for one in carriers))  # those of a table's head

    def held(wanted: Quantity) -> bool:
        return any(
            number.value == wanted.value
            and (number.unit == wanted.unit or not wanted.unit or (not number.unit and wanted.unit in units))
            for each in found
            for number in each.numbers
        )

    return _missing(said, texts, held)


def _missing(said: Said, texts: Sequence[str], held: Callable[[Quantity], bool]) -> tuple[Missing, ...]:
    numbers = [Missing("number", one.span.slice(said.text)) for one in said.numbers if not held(one)]
    identifiers = (
        unmet(Demands(identifiers=said.named.identifiers), texts).identifiers if said.named.identifiers else ()
    )
    terms: set[str] = set()
    if said.named.names:
        terms.update(*(analyze(text) for text in texts))
    names = [name for name in said.named.names if not _holds_name(terms, name)]
    if names and _capitals_say_nothing("\n".join(texts)):
        names = []
    return tuple(
        dict.fromkeys(
            [*numbers, *(Missing("identifier", one) for one in identifiers), *(Missing("name", one) for one in names)]
        )
    )


def _holds_name(terms: set[str], name: str) -> bool:
    """In any letter case, with or without the s of a plural or a possessive."""
    return all(term in terms or term.removesuffix("s") in terms or f"{term}s" in terms for term in analyze(name))


def _capitals_say_nothing(text: str) -> bool:
    words = _WORD.findall(text)
    n_capital = sum(word[0].isupper() for word in words)
    return bool(words) and n_capital > _CAPITALS_TELL_BELOW * len(words)
