"""Text to sentence spans, for the full stops of all scripts. Rules, no model; linear in the length of the text."""

from __future__ import annotations

import regex

from gawah.text.boundaries import grapheme_floor, trim
from gawah.types import Span

_CLOSERS = r"""["'”’»›)\]}」』）】》〉＂＊*_`]"""
_NOTE_MARK = r"\[\^?[\w.-]{1,32}\]"  # "… hash tables.[^siphash] Next"
_END = regex.compile(
    r"(?P<blank_line>\n[^\S\n]*+\n)"
    rf"|(?P<hard>[।॥。！？｡]++{_CLOSERS}*+)"  # no blank follows in these scripts
    rf"|(?P<soft>(?<![.!?؟۔…])[.!?؟۔…]++(?:{_NOTE_MARK}|{_CLOSERS})*+(?=\s|\Z))"
)
_NEXT = regex.compile(r"\S")
_LAST_WORD = regex.compile(r"(?r)(?<![\p{L}\p{M}\p{N}.])[\p{L}\p{M}\p{N}.]+")
_LAST_WORD_CHARS = 24  # longer words are no abbreviation

# Without their last full stop, case-folded. Words that often end a sentence ("etc", "inc") are left out: before a
# lower-case letter nothing ends anyway.
_ABBREVIATED = (
    "approx bzw ca cf col dr eq eqs esp fig figs gen gov hon lt maj messrs mr mrs ms mt mx prof rep resp rev sen sgt sr "
    "st viz vs डॉ डा प्रो श्री"
)
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())
# Abbreviations only before a number: "No. 5" against "The answer is no. We …".
_COUNTED = "art ch chap line lines no nos nr p para pp pt sec sect vol vols"
_NUMBERED = frozenset(_COUNTED.split())
_ITEM_NUMBER_CHARS = 3  # "1. Install it": the number of a list item is no sentence


def sentences(text: str, span: Span | None = None) -> list[Span]:
    """Spans of the sentences in a range, in order; together they hold every character of it that is not white space.

    A sentence ends at . ! ? … ؟ ۔ (and the quotes, brackets and note marks that close it) before white space, unless
    the full stop belongs to an abbreviation, an initial or a list number, or a lower-case letter follows; at । ॥ 。 ！ ？
    whatever follows; and at a blank line. A full stop inside a number or an identifier has no white space behind it.
    """
    start, end = (0, len(text)) if span is None else (span.start, span.end)
    found: list[Span] = []
    for match in _END.finditer(text, start, end):
        if match.lastgroup == "soft" and not _ends_sentence(text, start, match, end):
            continue
        if match.lastgroup != "blank_line" and grapheme_floor(text, match.end()) != match.end():
            continue
        sentence = trim(text, start, match.end())
        if sentence is not None:
            found.append(sentence)
        start = match.end()
    rest = trim(text, start, end)
    if rest is not None:
        found.append(rest)
    return found


def _ends_sentence(text: str, start: int, match: regex.Match[str], end: int) -> bool:
    following = _NEXT.search(text, match.end(), end)
    if following is None:
        return True
    after = following.group()
    if after.islower():
        return False
    stop = match.start()
    if text[stop] != "." or match.end() - stop > 1:
        return True
    if stop - start <= _ITEM_NUMBER_CHARS and text[start:stop].strip().isdecimal():
        return False
    last = _LAST_WORD.search(text, max(start, stop - _LAST_WORD_CHARS), stop)
    if last is None or last.end() != stop:
        return True
    return not _abbreviates(last.group(), after)


def _abbreviates(word: str, after: str) -> bool:
    """Whether the full stop behind the word is part of it."""
    if len(word) == 1:
        return word.isupper()
    parts = word.split(".")
    if len(parts) > 1 and all(len(part) <= 1 for part in parts):  # e.g, U.S, p.m
        return any(part.isalpha() for part in parts)
    folded = word.casefold()
    return folded in _ABBREVIATIONS or (folded in _NUMBERED and after.isdecimal())
