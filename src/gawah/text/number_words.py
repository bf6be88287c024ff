"""Number words of English, Hindi and Urdu to their values."""

from __future__ import annotations

from collections.abc import Sequence

from gawah.text.terms import fold

_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
# Hindi and Urdu have a word of its own for every number below a hundred; these are the round ones and those up to 20.
_HINDI = {
    "शून्य": 0, "एक": 1, "दो": 2, "तीन": 3, "चार": 4, "पाँच": 5, "पांच": 5, "छह": 6, "छः": 6, "छ": 6, "सात": 7, "आठ": 8, "नौ": 9,
    "दस": 10, "ग्यारह": 11, "बारह": 12, "तेरह": 13, "चौदह": 14, "पंद्रह": 15, "पन्द्रह": 15, "सोलह": 16, "सत्रह": 17, "अठारह": 18,
    "उन्नीस": 19, "बीस": 20, "तीस": 30, "चालीस": 40, "पचास": 50, "साठ": 60, "सत्तर": 70, "अस्सी": 80, "नब्बे": 90,
}  # fmt: skip
_URDU = {
    "صفر": 0, "ایک": 1, "دو": 2, "تین": 3, "چار": 4, "پانچ": 5, "چھ": 6, "چھے": 6, "سات": 7, "آٹھ": 8, "نو": 9, "دس": 10,
    "گیارہ": 11, "بارہ": 12, "تیرہ": 13, "چودہ": 14, "پندرہ": 15, "سولہ": 16, "سترہ": 17, "اٹھارہ": 18, "انیس": 19, "بیس": 20,
    "اکیس": 21, "تیس": 30, "چالیس": 40, "اکتالیس": 41, "پچاس": 50, "ساٹھ": 60, "ستر": 70, "نوے": 90,
}  # fmt: skip
_MULTIPLIERS = {
    "hundred": 100, "thousand": 1000, "lakh": 100_000, "lakhs": 100_000, "million": 10**6, "crore": 10**7, "crores": 10**7,
    "billion": 10**9, "सौ": 100, "हज़ार": 1000, "हजार": 1000, "लाख": 100_000, "करोड़": 10**7, "سو": 100, "ہزار": 1000,
    "لاکھ": 100_000, "کروڑ": 10**7,
}  # fmt: skip

MULTIPLIERS = {fold(word): factor for word, factor in _MULTIPLIERS.items()}
NUMBER_WORDS: dict[str, int | None] = {
    **{fold(word): value for word, value in (*_UNITS.items(), *_TENS.items(), *_HINDI.items(), *_URDU.items())},
    **dict.fromkeys(MULTIPLIERS),
}
"""Every word that can be part of a number; None for one that only multiplies what stands before it."""

_TENS_VALUES = frozenset(_TENS.values())
_HUNDRED = 100


def composed(words: Sequence[str]) -> list[tuple[int, int, int]]:
    """(value, first word, last word) of each number in a run of number words and "and".

    "two hundred and twelve" is one number, "two three" are two: a word that cannot go on with the number begins another.
    """
    found: list[tuple[int, int, int]] = []
    total, current, first, last = 0, None, -1, -1  # first < 0: no number is open
    for at, word in enumerate(words):
        if word == "and":
            continue
        value, factor = NUMBER_WORDS[word], MULTIPLIERS.get(word, 1)
        if first >= 0 and value is not None and current is not None and not _goes_on(current, value):
            found.append((total + current, first, last))
            total, current, first = 0, None, -1
        first, last = (at if first < 0 else first), at
        if value is not None:
            current = (current or 0) + value
        elif factor == _HUNDRED:
            current = (1 if current is None else current) * factor
        else:
            total, current = total + (1 if current is None else current) * factor, None
    if first >= 0:
        found.append((total + (current or 0), first, last))
    return found


def _goes_on(current: int, value: int) -> bool:
    """Whether a value may follow within one number: 20 and 1, 200 and 12, 200 and 40."""
    if current % _HUNDRED == 0 and current:
        return 0 < value < _HUNDRED
    return current % _HUNDRED in _TENS_VALUES and 0 < value < 10
