"""Large letters that reach down over the first lines of a chapter, put to the words they begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from gawah.extract.pdf.runs import DROPPED, PageText, Run, append_blank

# Shares of the size of the letters beside it, but where named otherwise.
_BESIDE = 1.2  # at most so far from it the first line begins
_SAME_TOP = 0.5  # so far over the head of the first line its own may be
_FOOT = 0.2  # how far over the foot of its cell a letter stands
_BELOW = 0.6  # at least so far below the first line's foot the large letter ends
_WORD_GAP = 0.45  # what stands farther from a letter that is a word may be another one
_LETTER_WORDS = frozenset("aioyeuàéèôó")  # in some of the languages written in Latin letters


def with_initials(pages: Sequence[PageText]) -> int:
    """Takes the large letters out of the pages' runs, and gives each to the run that it begins; how many blanks came in."""
    n_blanks, words = 0, Counter[str]()
    for page in pages:
        usual = median(run.size for run in page.runs) if page.runs else 0.0
        for initial in [run for run in page.runs if run.size >= DROPPED * usual and _may_be_initial(run)]:
            host = min(_hosts(initial, page.runs), key=lambda run: run.x0, default=None)
            if host is None:
                continue
            words = words or Counter(
                word for each in pages for run in each.runs for word in run.text.casefold().split()
            )
            if _is_word_of_its_own(initial, host, words):
                append_blank(initial, host)
                n_blanks += 1
            host.initial = initial
            page.runs = [run for run in page.runs if run is not initial]
    return n_blanks


def _may_be_initial(run: Run) -> bool:
    letters = run.text.lstrip("\"'“‘«„¿¡")
    return len(letters) == 1 and letters.isupper()


def _hosts(initial: Run, runs: Iterable[Run]) -> list[Run]:
    """The runs beside the head of a letter that reaches below them."""
    return [
        run for run in runs
        if run.turn == initial.turn and run.slant == initial.slant and initial.size >= DROPPED * run.size
        and -0.2 * run.size < run.x0 - initial.x1 < _BESIDE * run.size
        and run.bottom + _FOOT * run.size < initial.y1 < run.y1 + _SAME_TOP * run.size
        and initial.y0 < run.bottom + (_FOOT - _BELOW) * run.size
        and run.text[:1].isalpha()
    ]  # fmt: skip


def _is_word_of_its_own(initial: Run, host: Run, words: Counter[str]) -> bool:
    """Whether the letter is a word and what stands beside it another: "A" and "dog", not "A" and "fter"."""
    letter, first = initial.text[-1].casefold(), host.text.split(" ", 1)[0].strip(".,;:!?").casefold()
    if letter not in _LETTER_WORDS or words[letter + first]:
        return False
    return words[first] > 1 or host.x0 - initial.x1 > _WORD_GAP * host.size
