"""What lies upon a page, to runs and remarks: the values of fields where they stand, comments behind the page's text.

Letters that an appearance draws have their own boxes, as on any page; what is only said has the box of the whole thing.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from gawah.extract.pdf.annotations import Annotation, annotations_of
from gawah.extract.pdf.frame import to_page
from gawah.extract.pdf.judge import is_garbled
from gawah.extract.pdf.letters import ODD, letters_of
from gawah.extract.pdf.page import PdfPage
from gawah.extract.pdf.pdfium import Pdf
from gawah.extract.pdf.runs import PageText, Remark, Run
from gawah.extract.pdf.words import read_page

CHECKED, UNCHECKED = "\u2611", "\u2610"
_DRAWN = frozenset({"text field", "choice", "signature", "typed text", "text box", "stamp"})
_IN_FLOW = frozenset({"text field", "choice", "typed text"})
_MARKS = {"signature": "Signature", "stamp": "Stamp"}  # all else is a note
_LINE_END = re.compile(r"[\r\n\x0b\x0c\x85\u2028\u2029]+")
_USUAL_SIZE_PT, _LEADING, _LETTER = (
    10.0,
    1.2,
    0.55,
)  # of what leaves them to the viewer; the latter in shares of the size
_TOLERANCE_PT = 2.0  # how far drawn letters may stand outside of the annotation's box
_Box = tuple[float, float, float, float]


def annotations_shown(page: PdfPage, pdf: Pdf) -> list[Annotation]:
    """The annotations of a page; no form is made for a page that has none."""
    return annotations_of(page, pdf.form()) if pdf.raw.FPDFPage_GetAnnotCount(page.handle) > 0 else []


def drawn_upon(pdf: Pdf, index: int, annotations: Sequence[Annotation]) -> PageText | None:
    """What the appearances of the annotations say, in runs; None when none says anything that can be read.

    The page of the open document is changed: whoever needs it as it was reads it before.
    """
    kept = [item.index for item in annotations if item.kind in _DRAWN and item.is_shown]
    if not kept:
        return None
    n_own = pdf.flatten(index, kept)
    with pdf.page(index) as page:
        if page is None:
            return None
        found = read_page(page, index + 1, page.text_objects_behind(n_own))
    return found if found.runs and not is_garbled(found) else None


def said_upon(page: PageText, annotations: Sequence[Annotation], drawn: PageText | None) -> PageText:
    """What is to be read of the annotations of a page, as a page of its own: runs that stand in the text, and remarks.

    What was typed upon a page that an eye has read is a remark: the eye has seen it in its place.
    """
    result = PageText(
        page.number, page.box, confidence=page.confidence, turn=page.turn if page.runs else drawn.turn if drawn else 0
    )
    runs: dict[int, list[Run]] = {}
    for run in drawn.runs if drawn else ():
        if (owner := _owner(run, annotations)) is not None:
            runs.setdefault(owner, []).append(run)
        else:
            result.dropped["drawn beside its note"] += len(run.text)
    if drawn is not None:
        result.n_read = drawn.n_read
        result.dropped += drawn.dropped
        result.added += drawn.added
        result.aslant, result.outside = drawn.aslant, drawn.outside
    squashed = _letters("".join(run.text for run in page.runs))
    size = median(run.size for run in page.runs) if page.runs else _USUAL_SIZE_PT
    said = sorted((_Said(result, item, size) for item in annotations), key=lambda each: (-each.box[3], each.box[0]))
    for each in said:
        each.take(runs.get(each.item.index, []), squashed)
    return result


def put_upon(page: PageText, upon: PageText) -> None:
    """Adds what lies upon a page to what it says."""
    page.runs += upon.runs
    page.remarks += upon.remarks
    page.hidden += upon.hidden
    page.aslant += upon.aslant
    page.outside += upon.outside
    page.unread += upon.unread
    page.n_fields += upon.n_fields
    page.n_read += upon.n_read
    page.dropped += upon.dropped
    page.added += upon.added


class _Said:
    """One annotation, put to what is to be read of a page."""

    def __init__(self, result: PageText, item: Annotation, usual_size: float) -> None:
        self.result = result
        self.item = item
        self.usual_size = usual_size
        self.box = to_page((4 - result.turn) % 4, *item.box)

    def take(self, drawn: list[Run], squashed: str) -> None:
        item, result = self.item, self.result
        result.n_fields += item.kind in ("text field", "choice", "check box", "signature")
        if item.kind == "media":
            result.unread[item.name] += 1
        elif item.kind == "file":
            result.unread["attached file"] += 1
            self._remark("[File] ", self._lines())
        elif not item.is_shown:
            self._hide()
        elif item.kind == "check box":
            self._check()
        elif item.kind in _IN_FLOW and not (item.kind == "typed text" and result.confidence is not None):
            self._field(drawn)
        elif item.kind == "comment" and _letters(item.text) in squashed:
            result.n_read += len(item.text)
            result.dropped["note that says what stands there"] += len(item.text)
        else:
            self._note(drawn)

    def _note(self, drawn: list[Run]) -> None:
        item = self.item
        by = f" by {' '.join(item.name.split())}" if item.name.strip() else ""
        mark = f"[{_MARKS.get(item.kind, 'Note')}{by}] "
        self._remark(mark, drawn)
        if item.kind != "signature" and _letters(item.text) != _letters("".join(run.text for run in drawn)):
            self._remark(mark, self._lines())
        else:
            self._leave_out("said as it is drawn")

    def _field(self, drawn: list[Run]) -> None:
        item = self.item
        shown, value = _letters("".join(run.text for run in drawn)), _letters(item.text)
        if item.kind == "choice" and shown != value:  # a list draws all that may be chosen
            self.result.dropped["not chosen"] += sum(len(run.text) for run in drawn)
            drawn = []
        if not drawn:
            drawn = self._lines(stacked=True)
        self.result.runs += drawn
        if item.kind == "typed text":
            if shown:
                self._leave_out("said as it is drawn")
            return
        name = self._clean_name()
        if name and value:
            self._remark(f"{name}: ", self._lines(), is_item=True)
        elif shown:
            self._leave_out("said as it is drawn")

    def _check(self) -> None:
        item, result = self.item, self.result
        mark = CHECKED if item.is_checked else UNCHECKED
        result.runs.append(self._run(mark, self.box, self.usual_size))
        result.added["mark of a field"] += 1
        name = self._clean_name()
        if item.is_checked and name:
            self._remark(f"{name}: ", self._lines(), is_item=True)

    def _hide(self) -> None:
        text = " ".join(self.item.text.split())
        if text:
            self.result.n_read += len(text)
            self.result.dropped["hidden upon the page"] += len(text)
            self.result.hidden.append((text, self.item.box))

    def _leave_out(self, reason: str) -> None:
        """The words of an annotation that are read already in another way."""
        if self.item.text:
            self.result.n_read += len(self.item.text)
            self.result.dropped[reason] += len(self.item.text)

    def _remark(self, mark: str, runs: list[Run], *, is_item: bool = False) -> None:
        if runs:
            self.result.remarks.append(Remark(mark, runs, is_item))

    def _clean_name(self) -> str:
        return _clean(self.item.name, Counter(), Counter())

    def _lines(self, *, stacked: bool = False) -> list[Run]:
        """The text as runs, a line each: in the whole box, or, where it is read in its place, one below the other."""
        item = self.item
        dropped, added = self.result.dropped, self.result.added
        pieces = _LINE_END.split(item.text)
        lines = [text for piece in pieces if (text := _clean(piece, dropped, added))]
        self.result.n_read += len(item.text)
        dropped["white space"] += len(item.text) - sum(map(len, pieces))
        x0, y0, x1, y1 = self.box
        room = (y1 - y0) / max(1, len(lines))
        size = item.size or min(self.usual_size, room / _LEADING) or 1.0
        if not stacked:
            return [self._run(line, self.box, size) for line in lines]
        pitch = (
            room if room < 2 * _LEADING * size else _LEADING * size
        )  # a box with room to spare is filled from the top
        edges = [y1 - pitch * number for number in range(len(lines) + 1)]
        return [
            self._run(line, (x0, low, min(x1, x0 + _LETTER * size * len(line)), high), size)
            for line, (high, low) in zip(lines, pairwise(edges), strict=True)
        ]

    def _run(self, text: str, box: _Box, size: float) -> Run:
        """All letters share the box, as those of a ligature do."""
        x0, y0, x1, y1 = box
        lefts, rights = array("d", [x0] * len(text)), array("d", [x1] * len(text))
        style = {(size, False): len(text)}
        return Run(
            text, lefts, rights, x0, y0, x1, y1, y0, y1, size,
            is_bold=False, page=self.result.number, turn=self.result.turn, n_letters_by_style=style,
        )  # fmt: skip


def _owner(run: Run, annotations: Sequence[Annotation]) -> int | None:
    """The number of the smallest annotation in whose box the middle of a run stands."""
    x0, y0, x1, y1 = run.on_page(run.x0, run.x1)
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    around = [
        item for item in annotations
        if item.kind in _DRAWN and item.is_shown
        and item.box[0] - _TOLERANCE_PT <= x <= item.box[2] + _TOLERANCE_PT
        and item.box[1] - _TOLERANCE_PT <= y <= item.box[3] + _TOLERANCE_PT
    ]  # fmt: skip
    return (
        min(around, key=lambda item: ((item.box[2] - item.box[0]) * (item.box[3] - item.box[1]), item.index)).index
        if around
        else None
    )


def _clean(text: str, dropped: Counter[str], added: Counter[str]) -> str:
    """One line, each white space a blank, the odd letters as everywhere else; what goes and what comes is counted."""
    text = "".join(" " if letter.isspace() else letter for letter in text)
    letters = letters_of(text, [False] * len(text), dropped, added)[0] if ODD.search(text) else text
    line = " ".join(letters.split())
    dropped["white space"] += len(letters) - len(line)
    return line


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
