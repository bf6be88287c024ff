r"""Extra terms that make identifiers findable whole and in parts, beside the terms of plain text.

`analyze` tears `ERR_CONN-17` into err, conn and 17, and leaves `BorrowMutError` in one piece. The terms here add what
is missing. Each begins with U+001F, which no analyzed term holds, so that they never meet a plain term: they have
postings of their own, are not counted in a document's length, and leave every score of plain text as it was. (Join such
terms with a blank if you must, but split with `split(" ")`: Python takes U+001F for white space.)

Three kinds, told apart by the character after U+001F:

- `=` the exact form: case-folded, leading dashes and dots gone, joiners as written (`=err_conn-17`, `=std::io::error`);
- `~` the loose form: joiners taken out between letters, a dot between digits, a version's v dropped (`~errconn17`,
  `~3.6`), so that max-txn-ops, max_txn_ops and maxTxnOps find each other. One that was written exactly as asked
  matches both forms and ranks first;
- `+` a part of a CamelCase word (`+borrow`, `+mut`, `+error`). Parts of joined compounds are plain terms already.

Both directions: a question that holds an identifier asks for its whole forms (`whole_terms`); a lookup of a few plain
words asks for the parts they may be, and for the loose forms that neighbouring words make when they are written as one
(`part_terms`): "borrow mut error" asks for `~borrowmuterror`. Any other question asks for none of these terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import regex

from gawah.text.terms import fold, is_simple

NAMESPACE = "\x1f"
_EXACT, _LOOSE, _PART = NAMESPACE + "=", NAMESPACE + "~", NAMESPACE + "+"

_UNIT = r"[[\p{L}\p{N}\p{M}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"
_JOINER = r"(?:_+|::|://|[-.:/\\@])"
_COMPOUND = regex.compile(rf"(?V1)(?<!{_UNIT}){_UNIT}++(?:{_JOINER}{_UNIT}++)*+")
_SIMPLE_COMPOUND = re.compile(rf"(?<![^\W_])[^\W_]++(?:{_JOINER}[^\W_]++)*+")  # the same, several times as fast
_JOINERS = regex.compile(_JOINER)
_STRONG_JOINERS = regex.compile(r"[:/\\@]+")  # between the pieces of a path, an address, a qualified name
_VERSION = regex.compile(r"v(?=\d+\.\d)")
_CAMEL = regex.compile(r"\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}")
_CAMEL_PARTS = regex.compile(
    r"\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}+(?!\p{Ll})\p{Nd}*|\p{Lu}[\p{Ll}\p{M}]+\p{Nd}*|[\p{Ll}\p{M}]+\p{Nd}*|\p{Nd}+"
)

_EDGE = rf"(?:{_UNIT}|[_.:/\\@-])"
_PLAIN_PAIR = regex.compile(
    rf"(?V1)(?<!{_EDGE})\p{{L}}\p{{Ll}}+[-/]\p{{Ll}}{{2,}}+(?!{_EDGE}+{_UNIT}|[_\p{{Lu}}\p{{N}}])"
)

_WHOLE_CHARS = 64  # a longer compound (a URL, a path) has no whole form: nobody types it
_PIECES = 8  # at most so many pieces, and so many CamelCase parts, a compound: a path must not flood the index
_WORDS_AS_ONE = 4  # at most so many neighbouring words of a question are tried as one identifier


def identifier_terms(text: str) -> list[str]:
    """Terms of the identifiers in a text, in order, repeated as often as they occur. Plain words have none."""
    terms: list[str] = []
    pattern = _SIMPLE_COMPOUND if is_simple(text) else _COMPOUND
    for compound in pattern.findall(text):
        if compound[1:].islower() and compound.isalnum():  # nearly every word, seen without a regular expression
            continue
        if not _JOINERS.search(compound):  # a word with marks (हिंदी, عَلی) is no compound, though it is not isalnum
            terms.extend(_camel_terms(compound))
        elif not _is_dotted_letters(compound):
            terms.extend(_compound_terms(compound))
    return terms


def whole_terms(question: str) -> list[str]:
    """The whole forms, exact and loose, of the identifiers in a question.

    Not of two plain words with a hyphen or a slash between them ("trade-off", "and/or"). Parts are not asked for: an
    identifier that is the whole one holds them all, and others would only come closer.
    """
    bare = _PLAIN_PAIR.sub(" ", question)
    return [term for term in identifier_terms(bare) if not term.startswith(_PART)]


def part_terms(words: Sequence[str]) -> list[str]:
    """Terms that identifiers made of these plain words have: each word as a part, and neighbouring words as one."""
    parts = [_PART + word for word in words]
    for length in range(2, _WORDS_AS_ONE + 1):
        parts.extend(_LOOSE + "".join(words[at : at + length]) for at in range(len(words) - length + 1))
    return parts


def _camel_terms(word: str) -> Iterable[str]:
    """Its exact form is a plain term."""
    if len(word) > _WHOLE_CHARS or not _CAMEL.search(word):
        return
    parts = _CAMEL_PARTS.findall(word)
    if len(parts) > 1:
        yield _LOOSE + fold(word)
        yield from (_PART + fold(part) for part in parts[:_PIECES])


def _compound_terms(compound: str) -> Iterable[str]:
    if len(compound) <= _WHOLE_CHARS:
        yield _EXACT + fold(compound)
        yield _LOOSE + _loose(compound)
    pieces = [piece for piece in _STRONG_JOINERS.split(compound) if piece]
    for piece in pieces[-_PIECES:]:  # the last are the most specific: a path's file, an address's port
        if len(pieces) > 1 and _JOINERS.search(piece) and len(piece) <= _WHOLE_CHARS:
            yield _EXACT + fold(piece)
            yield _LOOSE + _loose(piece)
    for word in _JOINERS.split(compound)[-_PIECES:]:
        yield from _camel_terms(word)


def _loose(compound: str) -> str:
    unified = _VERSION.sub("", fold(compound))
    return str(_JOINERS.sub(lambda match: "." if _joins_digits(unified, match.start(), match.end()) else "", unified))


def _joins_digits(text: str, start: int, end: int) -> bool:
    """Whether a joiner stands between two digits: without it 1.11 and 11.1 would be one."""
    return start > 0 and text[start - 1].isdecimal() and text[end : end + 1].isdecimal()


def _is_dotted_letters(compound: str) -> bool:
    """e.g, U.S, a.m: abbreviations, not identifiers."""
    return "." in compound and all(len(letter) == 1 and letter.isalpha() for letter in compound.split("."))
