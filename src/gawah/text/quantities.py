r"""Text to the numbers in it, as values with units: 1,340 is 1340, 40 percent is 40 %, ४० and ٤٠ are 40, "twelve" is 12.

For comparing what two texts say. Times lose leading zeros (06:21 is 6:21, 07:00 is 7), versions keep their parts (3.2.1).
Units are told apart, not converted: 50 cm is not 0.5 m here. Numbers inside names and codes (TML-13, G5, 0x01)
and those of list items are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import regex

from gawah.text.number_words import MULTIPLIERS, NUMBER_WORDS, composed
from gawah.text.terms import fold
from gawah.text.units import unit_at, unit_before, units_named
from gawah.types import Span

_LETTER = r"[\p{L}\p{M}_]"
_NUMBER = regex.compile(
    rf"(?<![\p{{N}}])(?<!{_LETTER})(?<!{_LETTER}[-/.])(?<![\p{{N}}][.,:])"
    r"(?P<sign>(?<![\p{N})\]])[-−](?=\d))?v?(?P<digits>\d++(?:[.,:]\d++|[\u00a0\u202f\u2009]\d{3}(?!\d))*+)"
)
_GROUPED = regex.compile(r"\d{1,3}(?:[,\u00a0\u202f\u2009]\d{2,3})*[,\u00a0\u202f\u2009]\d{3}(?:\.\d+)?")
_ITEM = regex.compile(r"(?m)^[ \t]*(\d{1,3})[.)][ \t]")
_ORDINAL = regex.compile(r"(?:st|nd|rd|th)(?![\p{L}\p{N}])", regex.IGNORECASE)
_GLUED = regex.compile(r"[\p{L}\p{M}\p{N}_]")
_WORD = regex.compile(r"[\p{L}\p{M}]++")
_BETWEEN_WORDS = regex.compile(r"[ \u00a0\n]{1,3}|-")
_MULTIPLIER = regex.compile(r"[ \u00a0]?([\p{L}\p{M}]++)")
_SEPARATORS = {"\u066b": ".", "\u066c": ","}  # Arabic decimal and thousands separators
_LONGEST_DIGITS = 40  # more digits are a key or a hash: compared as written


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text: its value in one spelling, the canonical name of its unit ("" for none), and its place.

    `worded` numbers are written in words: "one" is as often a pronoun as a number.
    """

    value: str
    unit: str
    span: Span
    worded: bool = False


@dataclass(frozen=True, slots=True)
class Quantities:
    """The numbers of a text in order, and the units it names anywhere, in the head of a table for example."""

    numbers: tuple[Quantity, ...]
    units: frozenset[str]

    def hold(self, wanted: Quantity) -> bool:
        """Whether the text has the value with the unit, or bare while the unit is named elsewhere in it."""
        units = {found.unit for found in self.numbers if found.value == wanted.value}
        if not wanted.unit:
            return bool(units)
        return wanted.unit in units or ("" in units and wanted.unit in self.units)


def quantities(text: str) -> Quantities:
    """The numbers of a text. Linear in its length."""
    plain = plain_digits(text)
    found = [*_in_digits(plain), *_in_words(plain)]
    return Quantities(tuple(sorted(found, key=lambda one: one.span)), units_named(plain))


def plain_digits(text: str) -> str:
    """The same text, character for character, with decimal digits of every script as ASCII digits."""
    if text.isascii():
        return text
    return "".join(
        character
        if character.isascii()
        else str(int(character))
        if character.isdecimal()
        else _SEPARATORS.get(character, character)
        for character in text
    )


def _in_digits(text: str) -> Iterator[Quantity]:
    items = {match.start(1) for match in _ITEM.finditer(text)}
    for match in _NUMBER.finditer(text):
        if match.start() in items:
            continue
        end = match.end()
        before = unit_before(text, match.start())
        multiplier, after = _multiplied(text, end)
        unit, unit_end = unit_at(text, after)
        if unit_end == end and not before and _GLUED.match(text, end):
            ordinal = _ORDINAL.match(text, end)
            if ordinal is None:
                continue  # 2a, 9b3f: no number
            end = ordinal.end()
        values = _values(match["digits"], multiplier)
        sign = "-" if match["sign"] else ""
        for at, value in enumerate(values):
            is_last = at + 1 == len(values)
            yield Quantity(
                sign + value if at == 0 else value,
                (before or unit) if is_last else before,
                Span(match.start(), max(end, unit_end) if is_last else end),
            )


def _values(digits: str, multiplier: int) -> list[str]:
    """What is written, as one value, or as the several that commas part."""
    if ":" in digits:
        return [_time(digits)]
    if _GROUPED.fullmatch(digits):
        return [_number(regex.sub(r"[^\d.]", "", digits), multiplier)]
    return [_number(part, multiplier) for part in regex.split(r"[,\u00a0\u202f\u2009]", digits)]


def _number(written: str, multiplier: int) -> str:
    if written.count(".") > 1:
        return ".".join(part.lstrip("0") or "0" for part in written.split("."))
    if len(written) > _LONGEST_DIGITS:
        return written
    return plain_value(Decimal(written) * multiplier)


def plain_value(value: Decimal | int) -> str:
    """One spelling for a value: no exponent, no zeros that say nothing."""
    written = format(Decimal(value), "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


def _time(digits: str) -> str:
    parts = [part.lstrip("0") or "0" for part in regex.split(r"[:,.]", digits)]
    hour, *rest = parts
    return hour if rest == ["0"] else ":".join([hour, *(part.zfill(2) for part in rest)])


def _multiplied(text: str, end: int) -> tuple[int, int]:
    """What a word behind a number multiplies it by (7.9 lakh), and where it ends."""
    match = _MULTIPLIER.match(text, end)
    factor = MULTIPLIERS.get(fold(match.group(1))) if match else None
    return (1, end) if match is None or factor is None else (factor, match.end())


def _in_words(text: str) -> Iterator[Quantity]:
    """Runs of number words: twelve, forty-one, two hundred and twelve, चालीस हज़ार."""
    run: list[tuple[str, Span]] = []
    for match in _WORD.finditer(text):
        word = _folded(match.group())
        joins = bool(run) and _BETWEEN_WORDS.fullmatch(text, run[-1][1].end, match.start()) is not None
        goes_on = joins and word == "and" and run[-1][0] in MULTIPLIERS
        if run and not ((joins and word in NUMBER_WORDS) or goes_on):
            yield from _of_run(text, run)
            run = []
        if goes_on or (word in NUMBER_WORDS and not (word in MULTIPLIERS and _behind_digits(text, match.start()))):
            run.append((word, Span(*match.span())))
    if run:
        yield from _of_run(text, run)


def _behind_digits(text: str, at: int) -> bool:
    """Whether the word multiplies a number in digits, which has taken it."""
    return text[max(0, at - 2) : at].rstrip(" \u00a0")[-1:].isdecimal()


def _of_run(text: str, run: Sequence[tuple[str, Span]]) -> Iterator[Quantity]:
    for value, first, last in composed([word for word, _ in run]):
        end = run[last][1].end
        unit, unit_end = unit_at(text, end)
        yield Quantity(plain_value(value), unit, Span(run[first][1].start, max(end, unit_end)), worded=True)


def _folded(word: str) -> str:
    return word.casefold() if word.isascii() else fold(word)
