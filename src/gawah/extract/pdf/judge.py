"""What a page is: text that can be read, text in a code that nobody can, an image, or nothing. OCR is for the middle two."""

from __future__ import annotations

import re
from typing import Literal

from gawah.extract.pdf.page import PdfPage
from gawah.extract.pdf.runs import PageText

PageKind = Literal["text", "garbled", "image_only", "blank", "picture"]
"""`picture`: an eye has looked at an image and made out no text in it."""

_GARBLED_SHARE = 0.05  # of the letters: private use, control, without a letter in the font
_FEWEST_LETTERS = 20
_IMAGE_SHARE = 0.5  # of the page
_SOME_IMAGE = 0.02  # is enough where no letter stands, as on a page with a scanned slip
_FEWEST_OUTLINES = 60  # drawn objects that may be letters without a font
_FEWEST_WORDS = 40
_CODE_SHIFTS = (
    *range(1, 40),
    *range(-32, 0),
)  # fonts without a map of letters often number them from the first that prints
_PLAIN_SHARE = 0.01  # of a text's words: what any text in Latin letters has of the words below
_CODED_SHARE = 0.06
_WORD = re.compile(r"[^\s]{2,}")
_COMMON = frozenset(
    [
        "the",
        "of",
        "and",
        "to",
        "in",
        "is",
        "that",
        "for",
        "it",
        "with",
        "as",
        "was",
        "on",
        "are",
        "be",
        "this",
        "by",
        "at",
        "from",
        "or",
        "an",
        "not",
        "have",
        "der",
        "die",
        "und",
        "den",
        "das",
        "von",
        "zu",
        "mit",
        "sich",
        "des",
        "auf",
        "für",
        "ist",
        "im",
        "dem",
        "nicht",
        "ein",
        "eine",
        "als",
        "auch",
        "es",
        "an",
        "werden",
        "aus",
        "er",
        "hat",
        "dass",
        "le",
        "la",
        "les",
        "et",
        "des",
        "en",
        "un",
        "une",
        "du",
        "est",
        "que",
        "pour",
        "dans",
        "qui",
        "par",
        "sur",
        "au",
        "il",
        "ne",
        "se",
        "plus",
        "avec",
        "son",
        "el",
        "los",
        "las",
        "una",
        "del",
        "por",
        "con",
        "no",
        "para",
        "su",
        "al",
        "lo",
        "como",
        "más",
        "pero",
        "sus",
        "di",
        "che",
        "non",
        "per",
        "si",
        "da",
        "sono",
        "della",
        "con",
        "del",
        "alla",
        "een",
        "het",
        "van",
        "dat",
        "op",
        "te",
        "zijn",
        "met",
        "voor",
        "niet",
        "er",
        "maar",
        "om",
        "og",
        "att",
        "det",
        "som",
        "av",
        "på",
        "med",
        "och",
        "till",
        "har",
        "um",
        "não",
        "uma",
        "os",
        "dos",
    ]
)


def page_kind(page: PageText, source: PdfPage) -> PageKind:
    """Decides from the characters of a page, and from its images when it has hardly any."""
    if page.n_letters >= _FEWEST_LETTERS:
        return "garbled" if is_garbled(page) else "text"
    share = source.image_share()
    if share > _IMAGE_SHARE or (not page.n_letters and (share > _SOME_IMAGE or source.n_objects() >= _FEWEST_OUTLINES)):
        return "image_only"
    if not page.runs:
        return "blank"
    return "garbled" if is_garbled(page) else "text"


def is_garbled(page: PageText) -> bool:
    """More than 5 % of the characters stand for no letter, or the words are some language's in a shifted code."""
    if page.n_garbled > _GARBLED_SHARE * page.n_letters:
        return True
    return is_shifted(" ".join(run.text for run in page.runs))


def is_shifted(text: str) -> bool:
    """Whether a text has next to none of the words that every text of its kind has, but has them in a shifted code."""
    words = _WORD.findall(text)
    latin = [word for word in words if word.isascii()]
    if len(latin) < _FEWEST_WORDS or _common_share(latin) > _PLAIN_SHARE:
        return False
    for shift in _CODE_SHIFTS:
        moved = text.translate({code: code + shift for code in range(3, 127)})
        if _common_share(_WORD.findall(moved)) > _CODED_SHARE:
            return True
    return False


def _common_share(words: list[str]) -> float:
    return sum(word.casefold() in _COMMON for word in words) / max(1, len(words))
