"""Texts to the page numbers they are, and whether a number inside of one stands as a page's number does."""

from __future__ import annotations

import re
from itertools import pairwise

_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|p\.?|pag\.?)\s*)?(\d{1,5}|[ivxlc]{1,7})(?:\s*(?:of|/|von|de)\s*\d{1,5})?\W*", re.IGNORECASE
)
# Before a number, in lower case; in languages that are often met.
_PAGE_WORD = re.compile(
    r"(?:^|\W)(?:pages?|pp?\.?|pag\.?|p[aá]gina|p[aá]g\.?|seite|s\.|side|sida|sivu|strona|str\.?|strana|стр\.?|страница"
    r"|slide|folio|fol\.?|पृष्ठ|صفحہ|صفحة|第)$"
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def number_of(text: str) -> int | None:
    """The number of a page that a text says and nothing else: 12, - xii -, page 3 of 9; None of any other text."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    digits = match.group(1).lower()
    if digits.isdigit():
        return int(digits)
    values = [_ROMAN[letter] for letter in digits]
    return sum(-a if a < b else a for a, b in pairwise([*values, 0]))


def is_lone_number(text: str) -> bool:
    """Whether a text is a page's number: in digits, or in small Roman letters."""
    match = _NUMBER.fullmatch(text)
    return match is not None and (match.group(1).isdigit() or text.islower())


def is_set_off(text: str, start: int, end: int) -> bool:
    """Whether a number stands as a page's does: behind a word for pages, or parted by a sign from the words on each side.

    What follows a word plainly is named by it: "Room 3" is not page 3 of anything, though rooms may count with the pages.
    """
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if _PAGE_WORD.search(before):
        return True
    return all(not side or not (side[at].isalnum() or side[at] in "'’") for side, at in ((before, -1), (after, 0)))
