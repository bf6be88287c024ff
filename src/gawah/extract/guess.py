"""Bytes in an unknown legacy encoding to the codec that reads most like text of its languages, or to none.

Each candidate decodes a sample strictly; the characters outside ASCII are then weighed by how common they are in the
languages written in that encoding, and by how they stand in words. A general detector was tried first: it took
"Müller" for Cyrillic, "© 2020" and "x²" for Japanese, and short Chinese and Russian texts for each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_SAMPLE_BYTES = 1 << 15
_ACCEPTED = 0.65  # below this, less than about two thirds of the characters are ones the language uses
_UNUSUAL = 0.3  # a letter that none of the languages uses

_WESTERN = dict.fromkeys("þðýÞÐÝ", 0.75) | dict.fromkeys("äöüßéèàçñáíóúêëîïôûâœæøåãõìòùÄÖÜÉÈÀÇÑÁÍÓÚÊÎÔÂŒÆØÅÃÕ", 1.0)
_TURKISH = dict.fromkeys("çğıöşüâîÇĞİÖŞÜ", 1.0)
_CENTRAL = dict.fromkeys("áčďéěíňóřšťúůýžąćęłńśźżőűöüäßôľĺŕăâîșțÁČĎÉĚÍŇÓŘŠŤÚŮÝŽĄĆĘŁŃÓŚŹŻŐŰÖÜÄ", 1.0)
_SIGNS = frozenset("€£¥§©®™°±²³µ·¼½¾×÷«»“”‘’„‚–—…•¿¡ªº¹†‡‰ \u00a0\u00ad")
_SIGNS_AMONG_WORDS = _SIGNS - frozenset("×÷¼½¾¥ªº")
_WORD = re.compile(r"[^\W\d_]+")
_RUN = re.compile(r"[^\x00-\x7f]+")
_SLAVIC_VOWELS = "аеёиоуыэюяіїєАЕЁИОУЫЭЮЯІЇЄ"
_GREEK_VOWELS = "αεηιουωάέήίόύώΑΕΗΙΟΥΩ"
_HEBREW_FREQUENT = "אהוילרשתםמ"
_ARABIC_FREQUENT = "اويلمنرةى"
_ISO_2022_JP = re.compile(rb"\x1b\$[B@](?:[\x21-\x7e]{2})*\x1b\([BJ]")


def guess_encoding(data: bytes) -> str:
    """The Python codec that fits best; empty when none does. Ties go to the earlier one in the table below."""
    if data.isascii():
        return "iso2022_jp" if _ISO_2022_JP.search(data) else ""
    best, best_score = "", _ACCEPTED
    for encoding, weigh in _CANDIDATES.items():
        text = _sample_text(data, encoding)
        score = weigh(text) if text else 0.0
        if score > best_score and _decodes(data, encoding):
            best, best_score = encoding, score
    return best


def _sample_text(data: bytes, encoding: str) -> str:
    """The first part of the file that has something to decide on; empty when the codec refuses it."""
    first = re.search(rb"[\x80-\xff]", data)
    start = max(0, (first.start() if first else 0) - 64)
    while start and data[start - 1] >= 0x80:
        start -= 1
    piece = data[start : start + _SAMPLE_BYTES]
    for cut in range(4):  # the sample may end inside a character
        try:
            return piece[: len(piece) - cut].decode(encoding)
        except UnicodeDecodeError as error:
            if error.start < len(piece) - 4 or start + len(piece) >= len(data):
                return ""
    return ""


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


# --- one alphabet of a few letters beside ASCII


def _weigh_latin(weights: Mapping[str, float], unusual: float = _UNUSUAL) -> Callable[[str], float]:
    def weigh(text: str) -> float:
        total, n = 0.0, 0
        for match in _RUN.finditer(text):
            run = match.group()
            before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
            # In Latin writing, letters outside ASCII stand alone or in pairs among the others.
            crowd = 1.0 if len(run) <= 2 or (len(run) <= 3 and run.isalpha()) else 0.3
            for char in run:
                n += 1
                if char in _SIGNS:
                    total += _weight_of_sign(char, in_word=before.isalpha() and after.isalpha()) * crowd
                elif char.isalpha():
                    total += weights.get(char, unusual) * crowd
        return total / n if n else 0.0

    return weigh


def _weight_of_sign(char: str, *, in_word: bool) -> float:
    """A currency sign or a superscript between two letters speaks for a wrong codec; an apostrophe does not."""
    return 0.0 if in_word and char not in "’‘·\u00ad–—" else 1.0


# --- alphabets of their own


def _weigh_words(letters: Callable[[str], bool], frequent: str) -> Callable[[str], float]:
    """Words wholly of these letters, in lower case but for the first; longer ones hold a letter of the frequent ones."""
    often = frozenset(frequent)

    def weigh(text: str) -> float:
        total, n = 0.0, 0
        for match in _WORD.finditer(text):
            word = match.group()
            own = [char for char in word if not char.isascii()]
            if not own:
                continue
            n += len(own)
            if not all(letters(char) for char in own) or len(own) < len(word):
                continue
            usual = len(word) < 3 or any(char in often for char in word)
            total += len(own) * (_weight_of_case(word) if usual else 0.35)
        n += sum(1 for char in text if not char.isascii() and not char.isalpha() and char not in _SIGNS_AMONG_WORDS)
        return total / n if n else 0.0

    return weigh


def _weight_of_case(word: str) -> float:
    if word[1:] == word[1:].lower():
        return 0.35 if "ς" in word[:-1] else 0.95  # the final sigma ends a word
    return 0.7 if word.isupper() else 0.35


def _is_cyrillic(char: str) -> bool:
    return "А" <= char <= "я" or char in "ЁёІіЇїЄєҐґ"


def _is_greek(char: str) -> bool:
    return "\u0384" <= char <= "\u03ce"


def _is_hebrew(char: str) -> bool:
    return "\u05b0" <= char <= "\u05f4"


def _is_arabic(char: str) -> bool:
    return "\u0621" <= char <= "\u06d2"


# --- two bytes a character: the first rows of each national table hold what is written every day


def _weigh_rows(codec: str, rows: tuple[tuple[int, int], ...], weight: float = 0.9) -> Callable[[str], float]:
    """`rows`: ranges of lead bytes of `codec` whose characters are common."""

    def weigh(text: str) -> float:
        total, n = 0.0, 0
        for char in text:
            if char.isascii():
                continue
            n += 1
            try:
                coded = char.encode(codec)
            except UnicodeEncodeError:
                continue
            lead = coded[0]
            if len(coded) == 2 and any(low <= lead <= high for low, high in rows):
                total += weight
        return total / n if n else 0.0

    return weigh


def _weigh_japanese(text: str) -> float:
    """Kana make up about half of Japanese writing; without any, it is more likely Chinese."""
    kana = sum(1 for char in text if "\u3041" <= char <= "\u30fc")
    wide = sum(1 for char in text if not char.isascii())
    share = kana / wide if wide else 0.0
    return _weigh_rows("euc_jp", ((0xA1, 0xA1), (0xA4, 0xA5), (0xB0, 0xCF)), 0.97 if share > 0.1 else 0.85)(text)


def _weigh_korean(text: str) -> float:
    """Hangul alone: its rows are also everyday rows in Chinese, where Chinese would use later rows too."""
    hangul = sum(1 for char in text if "\uac00" <= char <= "\ud7a3")
    wide = sum(1 for char in text if not char.isascii())
    return 0.96 * hangul / wide if wide else 0.0


_CANDIDATES: dict[str, Callable[[str], float]] = {
    "cp1252": _weigh_latin(_WESTERN),
    "cp1250": _weigh_latin(_CENTRAL),
    "cp1254": _weigh_latin(_TURKISH, unusual=0.0),
    "cp1251": _weigh_words(_is_cyrillic, _SLAVIC_VOWELS),
    "koi8_r": _weigh_words(_is_cyrillic, _SLAVIC_VOWELS),
    "cp1253": _weigh_words(_is_greek, _GREEK_VOWELS),
    "cp1255": _weigh_words(_is_hebrew, _HEBREW_FREQUENT),
    "cp1256": _weigh_words(_is_arabic, _ARABIC_FREQUENT),
    "shift_jis": _weigh_japanese,
    "euc_jp": _weigh_japanese,
    "euc_kr": _weigh_korean,
    "gb18030": _weigh_rows("gb2312", ((0xA1, 0xA1), (0xA3, 0xA3), (0xB0, 0xD7))),
    "big5": _weigh_rows("big5", ((0xA1, 0xA1), (0xA4, 0xC6))),
    "iso8859-1": _weigh_latin(_WESTERN),
}
