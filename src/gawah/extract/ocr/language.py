"""A page that was recognised to what must be said of its language: that another one than those it was read in is written there.

Confidence does not tell: German read as English has a mean of 92 %, English of 96 %, and only its umlauts are wrong. What
tells is the small words that every sentence of a language is made of; and of another script, tesseract's finder of scripts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from gawah.extract.ocr.tesseract import NOT_LATIN, PACKAGE, Eyes
from gawah.extract.ocr.words import OcrPage
from gawah.text import STOP_WORDS

_FEWEST_WORDS = 25
_FEWEST_KINDS = 4
_LEAST_SHARE = 0.15  # of small words, of a language that was not asked for; prose of ten languages has 0.2 to 0.5
_TIMES_OTHERS = 2.0  # as many of them as of a language it was read in
_SURE = 85.0  # a page that was read with this confidence is in the script it was read in, whatever the finder says
# Small words of languages in Latin letters, as an eye for English reads them: without marks. By tesseract's names.
_SMALL_WORDS: dict[str, tuple[str, frozenset[str]]] = {
    code: (name, frozenset(words.split()))
    for code, name, words in (
        ("ces", "Czech", "a i je se na v ve ze to s z do ktery pro jako by ale byl bylo jeho po za od nebo si"),
        ("dan", "Danish", "og i at det er en et den til af som pa de med der ikke han for var fra eller om sig"),
        (
            "deu",
            "German",
            "der die das und ist nicht ein eine einen den dem des mit von zu im am auf sich wird wenn oder",
        ),
        ("fin", "Finnish", "ja on ei se etta oli mutta kun jos ovat han ole tai niin joka kuin myos"),
        ("fra", "French", "le la les des et est un une dans pour que qui sur avec pas du au aux ne se ce de par ou il"),
        ("hun", "Hungarian", "a az es nem hogy egy is van meg de ha vagy mint csak volt ezt azt"),
        ("ind", "Indonesian", "yang dan di dengan untuk tidak ini itu dari pada dalam ke akan atau oleh adalah ada"),
        ("ita", "Italian", "il lo la gli le di che e un una per con non del della dei nel alla si da sono al"),
        ("nld", "Dutch", "de het een en van is niet op dat voor met zijn aan er te door bij wordt als of naar ook"),
        ("nor", "Norwegian", "og i at det er en et den til av som pa de med ikke han for var fra eller om seg"),
        ("pol", "Polish", "i w z na nie do sie jest to ze od po przy dla oraz jak o za ale przez ktory go"),
        ("por", "Portuguese", "o a os as de que e do da em um uma para com nao no na dos das por ao se"),
        ("ron", "Romanian", "si de la in cu nu este care pe un o din pentru sa ca mai sau se al"),
        ("spa", "Spanish", "el la los las de que en y un una por con para se del al es no su lo como mas"),
        ("swe", "Swedish", "och att det som en ett av for med inte den till ar pa i de om eller har fran sig"),
        ("tur", "Turkish", "ve bir bu icin ile da de olarak kadar gibi cok daha o ne en sonra olan ya her"),
        ("vie", "Vietnamese", "va cua la co khong cho nguoi duoc trong mot cac nay voi den khi o tu thi da"),
    )
}
_ENGLISH = "eng"


def said_of_language(page: OcrPage, eyes: Eyes) -> tuple[str, ...]:
    """A line that names the language or script, the package and the setting; none for a page that was read as what it is."""
    if page.script and not eyes.reads_script(page.script) and page.confidence < _SURE:
        return (
            f"its script looks like {page.script}, which no language of `ocr_languages` ({_read_in(eyes)}) is written in",
        )
    code = foreign_language([word.text for word in page.words], eyes.languages)
    if not code:
        return ()
    name = _SMALL_WORDS[code][0]
    setting = "+".join((*eyes.languages, code))
    return (
        f"it looks like {name}, but was read as {_read_in(eyes)}: apt-get install {PACKAGE}-{code}, `ocr_languages` {setting}",
    )


def foreign_language(words: Sequence[str], languages: Sequence[str]) -> str:
    """The language (tesseract's name) whose small words a text in Latin letters is full of; "" when it is one of `languages`.

    Nothing is said of few words, nor where one of the languages it was read in is not known here.
    """
    folded = [word for word in map(_folded, words) if word]
    latin = [name.split("_")[0] for name in languages if name.split("_")[0] not in NOT_LATIN]
    if len(folded) < _FEWEST_WORDS or not all(name == _ENGLISH or name in _SMALL_WORDS for name in latin):
        return ""
    own = max(
        (_share(folded, STOP_WORDS if name == _ENGLISH else _SMALL_WORDS[name][1]) for name in latin), default=0.0
    )
    share, code = max((_share(folded, small), code) for code, (_, small) in _SMALL_WORDS.items())
    return code if share >= max(_LEAST_SHARE, _TIMES_OTHERS * own) and code not in latin else ""


def _share(words: Sequence[str], small: frozenset[str]) -> float:
    """The share of small words; 0 where they are always the same few, as names of variables are."""
    found = [word for word in words if word in small]
    return len(found) / len(words) if len(set(found)) >= _FEWEST_KINDS else 0.0


def _folded(word: str) -> str:
    """A word of Latin letters in small ones, without their marks and without punctuation; "" for what is none."""
    letters = unicodedata.normalize("NFKD", word).casefold().strip(".,;:!?()[]\"'“”„«»‘’…")
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return bare if bare.isascii() and bare.isalpha() else ""


def _read_in(eyes: Eyes) -> str:
    return "+".join(eyes.languages)
