r"""A question, or a claim, to the exact things it names, and those of them that passages do not hold.

Identifiers (flags, file names, qualified and CamelCase names, codes with digits), versions and numbers, and names (words
written with a capital inside a sentence). Near misses often have every other word: `GSM-E19` where only `GSM-E18` is
described. What is plain is not demanded: "trade-off", "and/or", "3rd", small bare numbers, the word that begins a
sentence; a question in lower case names nothing by capitals. Rules, no model; linear in the length of the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import regex

from gawah.text.quantities import plain_digits
from gawah.text.queries import STOP_WORDS
from gawah.text.terms import fold

_UNIT = r"[\p{L}\p{N}\p{M}]"
_COMPOUND = regex.compile(rf"(?<!{_UNIT})(?:--)?{_UNIT}++(?:(?:_+|::|://|[-.:/\\@=]){_UNIT}++)*+")
_JOINERS = regex.compile(r"[^\p{L}\p{N}\p{M}]+")
_NUMBER = regex.compile(r"(?<![\p{L}\p{N}.,-])v?(\d++(?:[.,:]\d++)*+)")
_VERSION = regex.compile(r"v?\d+(?:\.\d+)+")
_LETTERED_NUMBER = regex.compile(r"\d+\p{L}{1,4}")  # 10m, 20kg, 3rd: the number and what it counts, or an ordinal
_CAMEL = regex.compile(r"\p{Ll}\p{Lu}")
_PLAIN = regex.compile(r"\p{L}[\p{Ll}\p{Lo}\p{M}]*")
_UNIT_BEHIND = regex.compile(
    r"\s?(?:%|°|(?:[kKMGT]i?)?[bB](?!\p{L})|(?:[mµn]?s|min|[kMGm]?Hz|[kcmµ]?m|[kmµ]?g|[km]?[VWA]|m?l|rpm|dB|bps)(?!\p{L}))"
)
_WORD = regex.compile(r"\p{L}[\p{L}\p{N}\p{M}]*+")
_LOOK_BACK_CHARS = 16
_LONG_NUMBER_DIGITS = 3  # a year, a port, an amount; shorter ones count steps and nodes in any text
_FILE_ENDING_CHARS = 4
_IDENTIFIER_CHARS = 64  # a longer one is a URL or a pasted line: nobody documents it by that name
_MOSTLY = 0.6  # with more of its words capitalised, a question is a title: capitals say nothing


@dataclass(frozen=True, slots=True)
class Demands:
    """The exact things a question names, as written, in order, each once."""

    identifiers: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.identifiers, *self.numbers, *self.names)


def demands_of(question: str) -> Demands:
    """What a passage that answers must hold, to the letter but for case and joiners."""
    identifiers = [m for m in _COMPOUND.finditer(question) if _is_identifier(m.group())]
    covered = [m.span() for m in identifiers]
    return Demands(
        identifiers=_distinct(m.group() for m in identifiers),
        numbers=_distinct(_numbers(question, covered)),
        names=_distinct(_names(question, covered)),
    )


def unmet(demands: Demands, texts: Sequence[str]) -> Demands:
    """Those that none of the texts holds."""
    together = "\n".join(texts)
    folded = fold(together)
    numbers = {found.replace(",", "") for found in _NUMBER_ANYWHERE.findall(folded)}
    return Demands(
        identifiers=_without(demands.identifiers, lambda one: _identifier_pattern(one).search(folded) is not None),
        numbers=_without(demands.numbers, lambda one: one.replace(",", "") in numbers),
        names=_without(demands.names, lambda one: _is_named(one, together, folded)),
    )


def _identifier_pattern(identifier: str) -> regex.Pattern[str]:
    """Its parts in order, joined in any way or none: max-txn-ops, max_txn_ops and maxTxnOps are one. A flag goes without
    its value; what ends in a digit must end there (E1 is not E18).
    """
    flag = identifier.partition("=")[0] if identifier.startswith("--") else identifier
    parts = [fold(part) for word in _JOINERS.split(flag) if word for part in _CAMEL_PARTS.split(word) if part]
    end = r"(?!\d)" if flag[-1].isdecimal() else ""
    return regex.compile(rf"(?<!{_UNIT})" + r"[^\p{L}\p{N}\p{M}\n]{0,3}".join(map(regex.escape, parts)) + end)


_CAMEL_PARTS = regex.compile(r"(?V1)(?<=\p{Ll})(?=\p{Lu})")
_NUMBER_ANYWHERE = regex.compile(r"(?<![\d.,])\d++(?:[.,:]\d++)*+")


def _is_identifier(compound: str) -> bool:
    bare = compound.removeprefix("--")
    if len(bare) > _IDENTIFIER_CHARS or _VERSION.fullmatch(bare) or _LETTERED_NUMBER.fullmatch(bare):
        return False
    if compound.startswith("--"):
        return True
    parts = _JOINERS.split(bare)
    if len(parts) == 1:
        has_digit = any(character.isdecimal() for character in bare)
        return bool(_CAMEL.search(bare)) or (has_digit and not bare.isdecimal())
    if all(part.isdecimal() for part in parts) or all(len(part) == 1 for part in parts):
        return False  # dates, ranges, "e.g"
    if not all(_PLAIN.fullmatch(part) for part in parts):
        return True
    joiners = set(_JOINERS.findall(bare))
    if joiners == {"."}:  # a full stop without the blank after it, unless what follows is as short as a file's ending
        return len(parts[-1]) <= _FILE_ENDING_CHARS and parts[-1].casefold() not in STOP_WORDS
    return not joiners <= {"-", "/"}


def _numbers(question: str, covered: Sequence[tuple[int, int]]) -> Iterable[str]:
    folded = question if question.isascii() else plain_digits(question)
    for match in _NUMBER.finditer(folded):
        if _inside(match.span(), covered):
            continue
        number = match.group(1)
        telling = (
            not number.isdecimal() or len(number) >= _LONG_NUMBER_DIGITS or _UNIT_BEHIND.match(folded, match.end())
        )
        if telling:
            yield number


def _names(question: str, covered: Sequence[tuple[int, int]]) -> Iterable[str]:
    words = list(_WORD.finditer(question))
    capitalised = [match for match in words if match.group()[0].isupper()]
    if len(capitalised) > 1 and len(capitalised) > _MOSTLY * len(words):
        return
    for match in capitalised:
        word = match.group()
        if _begins_sentence(question, match.start()) and not word.isupper():
            continue
        if len(word) > 1 and word.casefold() not in STOP_WORDS and not _inside(match.span(), covered):
            yield word


def _begins_sentence(question: str, at: int) -> bool:
    before = question[max(0, at - _LOOK_BACK_CHARS) : at].rstrip(" \t\n\"'“‘«([*_`")
    return not before or before[-1] in ".?!:;…。؟।"


def _is_named(name: str, text: str, folded: str) -> bool:
    """A name in capitals may be written in any case, another must begin with its capital: `Go` is not `go`."""
    if name.isupper():
        return regex.search(rf"(?<!{_UNIT}){regex.escape(fold(name))}", folded) is not None
    stem = name[1:-1] if len(name) > _FILE_ENDING_CHARS and name.endswith("s") else name[1:]
    return regex.search(rf"(?<!{_UNIT}){regex.escape(name[0])}(?i:{regex.escape(stem)})", text) is not None


def _inside(span: tuple[int, int], covered: Sequence[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in covered)


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))


def _without(wanted: Sequence[str], is_met: Callable[[str], bool]) -> tuple[str, ...]:
    return tuple(one for one in wanted if not is_met(one))
