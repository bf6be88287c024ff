"""Text to terms: the one analyzer, the same for what is indexed and for what is asked.

A term is a run of letters, digits and marks (Unicode L, N, M) that begins with a letter or a digit, after folding.
Over ASCII it is exactly `[a-z0-9]+` of the lower-cased text. The folds below make spellings equal that readers take
for the same word; they exist in terms only, never in a text that is shown or quoted.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

import regex

_ASCII_TERM = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[^\W_]+")

# Below U+0300 and in the punctuation and symbol blocks named here there is no mark, no joiner and nothing to fold but
# letter case: such texts (English with typographic quotes) skip the slow path. The soft hyphen is left out, and the two
# letters whose lower case is written with a mark (İ, ǰ).
_SIMPLE = re.compile("[\x00-\xac\xae-\u012f\u0131-\u01ef\u01f1-\u02ff\u2000-\u200b\u2010-\u205f\u2190-\u2bff]*")

_UNSPACED_SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNSPACED = rf"[[{_UNSPACED_SCRIPTS}]&&[\p{{L}}\p{{N}}]]"
_SPACED = rf"[[\p{{L}}\p{{N}}]--[{_UNSPACED_SCRIPTS}]]"
_RUN = regex.compile(rf"(?V1)({_UNSPACED}(?:{_UNSPACED}|\p{{M}})*+)|{_SPACED}(?:{_SPACED}|\p{{M}})*+")
_CLUSTER = regex.compile(r"\X")

_DROPPED = (
    "\u00ad\u200c\u200d\u2060"  # soft hyphen, ZWNJ, ZWJ, word joiner: spelling aids inside one word
    "\u0640"  # tatweel: stretches a word
)
_DROPPED_RANGES = (
    (0x0591, 0x05BD), (0x05BF, 0x05BF), (0x05C1, 0x05C2), (0x05C4, 0x05C5), (0x05C7, 0x05C7),  # Hebrew points
    (0x0610, 0x061A), (0x064B, 0x0652), (0x0656, 0x065F), (0x0670, 0x0670),  # Arabic harakat, superscript alef
    (0x06D6, 0x06DC), (0x06DF, 0x06E4), (0x06E7, 0x06E8), (0x06EA, 0x06ED),  # Quranic annotation
    (0x180B, 0x180D), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF),  # variation selectors
)  # fmt: skip
_LETTER_FOLDS = {
    "\u06cc": "\u064a", "\u0649": "\u064a",  # Farsi yeh, alef maksura → Arabic yeh
    "\u0643": "\u06a9", "\u06aa": "\u06a9",  # Arabic kaf, swash kaf → keheh
    "\u06c1": "\u0647", "\u06d5": "\u0647", "\u06c0": "\u0647", "\u06c2": "\u0647",  # heh goal, ae, heh + izafat → heh
    "\u06c3": "\u0629",  # teh marbuta goal → teh marbuta
    "\u0623": "\u0627", "\u0625": "\u0627", "\u0671": "\u0627",  # alef with hamza, wasla → alef (madda stays: آم, ام)
    "\u0901": "\u0902",  # Devanagari chandrabindu → anusvara
}  # fmt: skip
_LAST_DIGIT = 0x1FBF9  # the last character that is a decimal digit
_COMPATIBILITY_RANGES = ((0xFB50, 0xFDFF), (0xFE70, 0xFEFE), (0xFF01, 0xFFEE))  # Arabic forms, full and half width

# Dotted capital I folds to i + U+0307; nukta is optional on the letters of loan words (क़ ख़ ग़ ज़ फ़), but makes another
# letter of ड and ढ; a nasal before a stop of its own class may be written as anusvara (हिन्दी, हिंदी).
_REWRITES = re.compile("i\u0307|(?<=[कखगजफ])\u093c|ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])")


def analyze(text: str) -> list[str]:
    """Terms of a text in order, repeated as often as they occur.

    NFC, case folding and the folds of this module; ZWJ, ZWNJ, soft hyphens and tatweel vanish inside a word, so that
    می‌خواهم is one term whether it is written with ZWNJ or without. Digits of every script become ASCII digits. Runs of
    scripts that are written without blanks (Han, kana, Thai, Lao, Khmer, Myanmar) become overlapping pairs of
    grapheme clusters; a cluster that stands alone is a term of its own. Linear in the length of the text.
    """
    if text.isascii():
        return _ASCII_TERM.findall(text.lower())
    if is_simple(text):
        return _WORD.findall(text.casefold())
    terms: list[str] = []
    for match in _RUN.finditer(fold(text)):
        if match.group(1) is None:
            terms.append(match.group())
        else:
            terms.extend(_pairs(match.group()))
    return terms


def is_simple(text: str) -> bool:
    r"""Whether a text holds no mark, no joiner and no unspaced script: there `[^\W_]` is every letter and digit."""
    return text.isascii() or _SIMPLE.fullmatch(text) is not None


def reference_terms(text: str) -> list[str]:
    """Terms of the reference BM25, which knows no letters but a to z: for the golden scores only."""
    return _ASCII_TERM.findall(text.lower())


def fold(text: str) -> str:
    """The text as terms are cut from it: NFC, case-folded, spellings unified. Offsets do not survive."""
    folded = unicodedata.normalize("NFC", text).casefold()
    folded = unicodedata.normalize("NFC", folded).translate(_fold_table())
    return _REWRITES.sub(_rewrite, folded)


def _rewrite(match: re.Match[str]) -> str:
    found = match.group()
    if found == "i\u0307":
        return "i"
    return "" if found == "\u093c" else "\u0902"


@cache
def _fold_table() -> dict[int, str | None]:
    table: dict[int, str | None] = {}
    for first, last in _COMPATIBILITY_RANGES:
        for point in range(first, last + 1):
            plain = unicodedata.normalize("NFKC", chr(point)).casefold()
            if plain != chr(point):
                table[point] = "".join(_LETTER_FOLDS.get(letter, letter) for letter in plain if letter not in _DROPPED)
    for point in range(_LAST_DIGIT + 1):
        if chr(point).isdecimal():
            table[point] = str(unicodedata.decimal(chr(point)))
    table.update({ord(letter): plain for letter, plain in _LETTER_FOLDS.items()})
    table.update({ord(letter): None for letter in _DROPPED})
    table.update({point: None for first, last in _DROPPED_RANGES for point in range(first, last + 1)})
    return table


def _pairs(run: str) -> list[str]:
    clusters: list[str] = _CLUSTER.findall(run)
    if len(clusters) == 1:
        return clusters
    return [left + right for left, right in pairwise(clusters)]
