"""Pages in Indic scripts: where their words end, asked of poppler's `pdftotext`, put into what pdfium read.

pdfium sees a blank behind most vowel signs of browsers' text, poppler behind some of an office program's; where both
see one, there is one. Letters and boxes stay pdfium's where both read the same letters; else the words are poppler's, and their letters
share each word's box evenly. Arabic script is not asked for: poppler turns lam-alef round, pdfium's boxes tell it.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from gawah.extract.confine import die_with_parent
from gawah.extract.pdf.frame import shown_to_page, to_page
from gawah.extract.pdf.letters import letters_of
from gawah.extract.pdf.runs import PageText, Run

PACKAGE = "poppler-utils"
_PROGRAM = "pdftotext"
_TIMEOUT_S = 100
_INDIC = re.compile("[\u0900-\u0dff]")
_INDIC_SHARE = 0.3
_PAGE = re.compile(r"<page [^>]*>(.*?)</page>", re.DOTALL)
_WORD = re.compile(r'<word xMin="(-?[\d.]+)" yMin="(-?[\d.]+)" xMax="(-?[\d.]+)" yMax="(-?[\d.]+)">(.*?)</word>')


@dataclass(frozen=True, slots=True)
class _Word:
    """A word in the reading frame of its page."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float


def is_indic(page: PageText) -> bool:
    """Whether a page is dominated by Indic letters."""
    n_indic = sum(1 for run in page.runs for _ in _INDIC.finditer(run.text))
    return n_indic > _INDIC_SHARE * max(1, sum(len(run.text) for run in page.runs))


def is_installed() -> bool:
    return shutil.which(_PROGRAM) is not None


def with_words_mended(data: bytes, pages: Sequence[PageText], rotations: Sequence[int]) -> bool:
    """Puts poppler's word ends into the runs of the pages, which are in order; False when poppler gives none."""
    first, last = pages[0].number, pages[-1].number
    command = [_PROGRAM, "-q", "-bbox-layout", "-cropbox", "-f", str(first), "-l", str(last), "-", "-"]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=_TIMEOUT_S, check=True, preexec_fn=_follow
        )
    except (OSError, subprocess.SubprocessError):
        return False
    found = _PAGE.findall(done.stdout.decode("utf-8", "replace"))
    if len(found) != last - first + 1:
        return False
    for page, rotation in zip(pages, rotations, strict=True):
        words = [_word(page, rotation, match) for match in _WORD.findall(found[page.number - first])]
        page.runs = [run for old in page.runs for run in _mended(page, old, words)]
    return True


def _follow() -> None:
    """In the new process: it must not outlive this one."""
    die_with_parent(os.getppid())


def _word(page: PageText, rotation: int, match: tuple[str, ...]) -> _Word:
    """A word's box, given as shown, from the top left, in the page's reading frame."""
    left, top, right, bottom = (float(number) for number in match[:4])
    user = shown_to_page(rotation, page.box, left, top, right, bottom)
    return _Word(html.unescape(match[4]), *to_page((4 - page.turn) % 4, *user))


def _mended(page: PageText, run: Run, words: Sequence[_Word]) -> list[Run]:
    """The run with the blanks where poppler has them; the run as it is when it is in another script or not found."""
    if _INDIC.search(run.text) is None or run.turn != page.turn:
        return [run]
    own = [
        word for word in words
        if run.x0 - 1 <= (word.x0 + word.x1) / 2 <= run.x1 + 1 and word.y0 < run.middle < word.y1
    ]  # fmt: skip
    own.sort(key=lambda word: word.x0)
    if not own:
        return [run]
    counts = Counter[str](), Counter[str]()
    texts = [letters_of(word.text, [False] * len(word.text), *counts)[0] for word in own]
    letters = [index for index, letter in enumerate(run.text) if letter != " "]
    if "".join(texts) == "".join(run.text[index] for index in letters):
        mended = _with_blanks(run, letters, _ends_in_both(run.text, texts))
        page.dropped["blank inside a word"] += len(run.text) - len(mended.text)
    else:
        mended = _spread(run, own, texts)
        page.dropped["read anew"] += len(run.text)
        page.added["read anew"] += len(mended.text)
    return [mended] if mended.text else []


def _ends_in_both(text: str, words: Sequence[str]) -> list[str]:
    """The words that end where both programs see a blank: neither leaves one out, both see some where none are."""
    pieces: list[str] = []
    own_ends, at = set(accumulate(len(word) for word in text.split(" "))), 0
    opened = ""
    for word in words:
        opened += word
        at += len(word)
        if at in own_ends:
            pieces.append(opened)
            opened = ""
    return [*pieces, opened] if opened else pieces


def _with_blanks(run: Run, letters: Sequence[int], texts: Sequence[str]) -> Run:
    """Pdfium's letters and boxes, a blank between the words."""
    lefts, rights = array("d"), array("d")
    at = 0
    for text in texts:
        if not text:
            continue
        if lefts:
            lefts.append(rights[-1])
            rights.append(max(rights[-1], run.lefts[letters[at]]))
        for index in letters[at : at + len(text)]:
            lefts.append(run.lefts[index])
            rights.append(run.rights[index])
        at += len(text)
    return replace(run, text=" ".join(text for text in texts if text), lefts=lefts, rights=rights)


def _spread(run: Run, words: Sequence[_Word], texts: Sequence[str]) -> Run:
    """Poppler's words, the letters of each in equal parts of its box."""
    lefts, rights = array("d"), array("d")
    for word, text in zip(words, texts, strict=True):
        if not text:
            continue
        if lefts:
            lefts.append(rights[-1])
            rights.append(max(rights[-1], word.x0))
        step = (word.x1 - word.x0) / len(text)
        lefts.extend(word.x0 + step * index for index in range(len(text)))
        rights.extend(word.x0 + step * (index + 1) for index in range(len(text)))
    joined = " ".join(text for text in texts if text)
    return replace(run, text=joined, lefts=lefts, rights=rights, x0=words[0].x0, x1=words[-1].x1)
