"""Which runs of a document are furniture: running heads and feet, page numbers, line numbers, stamps in the margin.

Furniture repeats: the same words at the same height on several pages, where at most one number differs and that one
counts with the pages; or it is a number that counts them. What differs otherwise is said once, so it stays, as do the
rows of a table.
On a lone page only a bare page number at the very edge and the slug lines of typesetting programs are taken for it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from gawah.extract.pdf.lines import Line, lines_of
from gawah.extract.pdf.page_numbers import is_lone_number, is_set_off, number_of
from gawah.extract.pdf.runs import PageText, Run

HEAD, FOOT, PAGE_NUMBER, LINE_NUMBER, STAMP = (
    "running head", "running foot", "page number", "line number", "stamp in the margin",
)  # fmt: skip
_ZONE = 0.12  # of the page's height, at the top and at the bottom
_MOST_EDGE_LINES = 4
_MOST_CELLS = 4  # a line of more runs is a row of a table
_SAME_HEIGHT_PT = 4.0
_FEWEST_PAGES = 3
_LARGEST_SHARE = 0.4  # of a page's letters: furniture is never most of a page
_LARGE = 1.15  # times the usual size: of headings, rather than heads
_MOST_NUMBERS = 8  # in a line, that are looked at
_ROW_DISTANCE = 2.5  # letter sizes between two rows of a table, at most
_CLOSE_ROWS = 1.8  # the same, where a row is one piece
_SAME_COLUMN_PT = 3.0
_STAMP_SHARE = 0.2
_FEWEST_LINE_NUMBERS = 8
_RUNNING_ON = 0.25  # of numbered lines, that go on with a sentence: lines of verse and of speech often begin one
_ENDS = re.compile(r"[.!?…:;।॥۔؟。！？][\"'”’»)\]]*$")
_COUNT = re.compile(r"\d+|^[ivxlc]{1,7}\b|\b[ivxlc]{1,7}$")  # in lower case
_VALUE = re.compile(r"\W*[^\W\d]{0,3}\W*\d[\d.,:'’/\s-]*\W*[^\W\d]{0,4}\W*")  # 17.50, EUR 5, 12 %
_ROW = re.compile(r"(?:[^\W\d_][^\d\s]*\s+){1,4}\W?\d[\d.,'’]*(?:\s?\W|\s[A-Z]{3})?")  # Net amount 17.50, in one piece
_AMOUNT = re.compile(r"\d[.,]\d\d\b")
_SLUG = re.compile(
    r"VerDate\b.*\bJkt\b|\b\w+\.(?:indd|qxd|qxp|fm|pmd)\b.*\d|^file://\S+( \d+/\d+)?$|^https?://\S+ \d+/\d+$",
    re.IGNORECASE,
)


def furniture(pages: Sequence[PageText]) -> dict[int, str]:
    """The reason by `id(run)` for every run that is furniture."""
    found: dict[int, str] = {}
    edges = [_edge_lines(page) for page in pages]
    _mark_repeated(pages, edges, found)
    for page, lines in zip(pages, edges, strict=True):
        _mark_slugs(page, lines, len(pages), found)
        _mark_line_numbers(page, found)
        _mark_stamps(page, found)
        _spare_whole_pages(page, found)
    return found


def _edge_lines(page: PageText) -> list[tuple[bool, int, Line]]:
    """(whether at the top, how many lines from the edge, line) of the lines near the page's top and bottom."""
    _, low, _, high = page.frame_box()
    height = high - low
    runs = [run for run in page.runs if run.turn == page.turn]
    top = lines_of([run for run in runs if run.middle > high - _ZONE * height])[:_MOST_EDGE_LINES]
    bottom = lines_of([run for run in runs if run.middle < low + _ZONE * height])[::-1][:_MOST_EDGE_LINES]
    return [(True, rank, line) for rank, line in enumerate(top)] + [
        (False, rank, line) for rank, line in enumerate(bottom)
    ]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line near an edge, or a part of one. number: what it counts the pages with, if it does nothing else."""

    page: int
    is_top: bool
    runs: list[Run]
    text: str
    number: int | None
    is_large: bool

    @property
    def height(self) -> int:
        return round(self.runs[0].middle / _SAME_HEIGHT_PT)


def _mark_repeated(pages: Sequence[PageText], edges: list[list[tuple[bool, int, Line]]], found: dict[int, str]) -> None:
    """Marks lines, or their parts, whose words or count recur on enough pages."""
    candidates = [each for page, lines in zip(pages, edges, strict=True) for each in _candidates(page, lines)]
    seen: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    offsets: defaultdict[tuple[bool, int], set[int]] = defaultdict(set)
    for each in candidates:
        for pattern in _patterns(each):
            for near in (each.height, each.height + 1):
                seen[pattern, near].add(each.page)
        if each.number is not None:
            offsets[each.is_top, each.number - each.page].add(each.page)
    needed = max(_FEWEST_PAGES, min(8, round(0.15 * len(pages))))
    for each in candidates:
        near_by = [seen[pattern, near] for pattern in _patterns(each) for near in (each.height, each.height + 1)]
        if max(map(len, near_by), default=0) >= needed:
            reason = HEAD if each.is_top else FOOT
        elif each.number is not None and len(offsets[each.is_top, each.number - each.page]) >= _FEWEST_PAGES:
            reason = PAGE_NUMBER
        else:
            continue
        for run in each.runs:
            found.setdefault(id(run), reason)
    for page, lines in zip(pages, edges, strict=True):
        _spare_rows(page, [line for _, _, line in lines], found)


def _candidates(page: PageText, lines: list[tuple[bool, int, Line]]) -> Iterator[_Candidate]:
    sizes = Counter[float]()
    for run in page.runs:
        sizes[run.size] += len(run.text)
    usual = max(sizes, key=lambda size: sizes[size], default=0.0)
    for is_top, _, line in lines:
        if len(line.runs) > _MOST_CELLS:
            continue
        for part in [line.runs] + ([[run] for run in line.runs] if len(line.runs) > 1 else []):
            text = " ".join(" ".join(run.text for run in part).split())
            is_large = min(run.size for run in part) > _LARGE * usual
            yield _Candidate(page.number, is_top, part, text, number_of(text), is_large)


def _patterns(candidate: _Candidate) -> list[str]:
    """What a line must have in common with those of other pages: its words and numbers, or all but one that counts.

    Page 1 of 3 has its words alone, as its count may begin anew; a number in large letters, as of a chapter, none that
    counts; few letters have no pattern.
    """
    text = candidate.text.casefold()
    if sum(letter.isalpha() for letter in text) < 3:
        return []
    if candidate.number is not None:
        return [re.sub(r"\d+", "#", text)]
    patterns = [text]
    for match in islice(_COUNT.finditer(text), 0 if candidate.is_large else _MOST_NUMBERS):
        is_roman = match.group().isalpha() and match.group() in candidate.text  # in small letters only pages are
        if not (is_roman or is_set_off(text, *match.span())):
            continue
        offset = (number_of(match.group()) or 0) - candidate.page
        patterns.append(f"{text[: match.start()]}#{offset}#{text[match.end() :]}")
    return patterns


def _spare_rows(page: PageText, lines: list[Line], found: dict[int, str]) -> None:
    """Takes back the cells of rows: a line with a value that does not recur, or set in columns over or under values."""
    neighbours = lines_of([run for run in page.runs if run.turn == page.turn])
    waiting = [line for line in lines if any(id(run) in found for run in line.runs)]
    while rows := [
        line
        for line in waiting
        if (len(line.runs) > 1 and _unmarked_values(line, found))
        or any(_are_rows(line, other, found) for other in neighbours)
    ]:  # a row that is taken back may show that the one next to it is one
        waiting = [line for line in waiting if line not in rows]
        for run in (run for line in rows for run in line.runs):
            found.pop(id(run), None)


def _unmarked_values(line: Line, found: dict[int, str]) -> list[Run]:
    return [run for run in line.runs if id(run) not in found and _VALUE.fullmatch(run.text)]


def _are_rows(line: Line, other: Line, found: dict[int, str]) -> bool:
    """Whether a line stands in columns with one near it that has a value, which differs or where neither counts the pages."""
    distance = abs(line.middle - other.middle)
    if not 0.5 * line.size < distance < _ROW_DISTANCE * line.size or len(line.runs) != len(other.runs):
        return False
    if len(line.runs) == 1:
        is_like = abs(line.x0 - other.x0) < _SAME_COLUMN_PT and distance < _CLOSE_ROWS * line.size
        is_read = id(other.runs[0]) not in found or _AMOUNT.search(other.text)
        return bool(is_like and is_read and _ROW.fullmatch(other.text) and id(line.runs[0]) in found)
    counts = any(found.get(id(run)) == PAGE_NUMBER for run in (*line.runs, *other.runs))
    if counts and not _unmarked_values(other, found):
        return False
    return any(_VALUE.fullmatch(run.text) for run in other.runs) and all(
        min(abs(a.x0 - b.x0), abs(a.x1 - b.x1), abs(a.x0 + a.x1 - b.x0 - b.x1) / 2) < _SAME_COLUMN_PT
        for a, b in zip(line.runs, other.runs, strict=True)
    )


def _mark_slugs(page: PageText, lines: list[tuple[bool, int, Line]], n_pages: int, found: dict[int, str]) -> None:
    for is_top, rank, line in lines:
        text = " ".join(line.text.split())
        if _SLUG.search(text):
            reason = HEAD if is_top else FOOT
        elif n_pages < _FEWEST_PAGES and rank == 0 and len(page.runs) > 2 and is_lone_number(text):
            reason = PAGE_NUMBER
        else:
            continue
        for run in line.runs:
            found.setdefault(id(run), reason)


def _mark_line_numbers(page: PageText, found: dict[int, str]) -> None:
    """Marks a column of numbers that count the lines beside them, one by one or in fives."""
    columns: defaultdict[int, list[Run]] = defaultdict(list)
    for run in page.runs:
        if run.turn == page.turn and run.text.isdecimal() and len(run.text) <= 4:
            columns[round(run.x1 / 3)].append(run)
    for place, runs in columns.items():
        column = sorted(runs + columns.get(place + 1, []), key=lambda run: -run.middle)
        numbers = [int(run.text) for run in column]
        steps = Counter(b - a for a, b in pairwise(numbers))
        if len(column) < _FEWEST_LINE_NUMBERS or not (steps[1] or steps[5]) >= 0.9 * (len(numbers) - 1):
            continue
        if _stands_beside_prose(column, page):
            for run in column:
                found.setdefault(id(run), LINE_NUMBER)


def _stands_beside_prose(column: list[Run], page: PageText) -> bool:
    """Whether a column stands outside of all other text, whose lines are prose that runs on, not cells or entries."""
    own = {id(run) for run in column}
    others = [run for run in page.runs if run.turn == page.turn and id(run) not in own and len(run.text) > 4]
    if not others:
        return False
    left, right = min(run.x0 for run in others), max(run.x1 for run in others)
    is_outside = max(run.x1 for run in column) < left or min(run.x0 for run in column) > right
    long_lines = sum(run.x1 - run.x0 > 0.5 * (right - left) for run in others)
    return is_outside and long_lines > 0.6 * len(others) and _runs_on(column, lines_of(others))


def _runs_on(column: list[Run], lines: list[Line]) -> bool:
    """Whether many of the numbered lines go on with what the line above, which is full, left unfinished.

    Lines that do not begin with a capital though there was room on the one above are entries, and speak against it.
    """
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    n_going_on = n_apart = 0
    for number in column:
        at = min(range(len(lines)), key=lambda index: abs(lines[index].middle - number.middle))
        first = next((letter for letter in lines[at].text if letter.isalnum()), "")
        if at == 0 or first.isupper() or _ENDS.search(lines[at - 1].text):
            continue
        run, above = lines[at].runs[0], lines[at - 1]
        word = (run.x1 - run.x0) * len(run.text.split(" ", 1)[0]) / len(run.text)
        room = above.x0 - left if run.is_rtl else right - above.x1
        n_going_on += room < word + run.size
        n_apart += room >= word + run.size
    return n_going_on >= _RUNNING_ON * len(column) and n_going_on > n_apart


def _mark_stamps(page: PageText, found: dict[int, str]) -> None:
    """Marks text that runs sideways outside of the block that all other text makes."""
    aside = [run for run in page.runs if run.turn != page.turn]
    body = [run for run in page.runs if run.turn == page.turn and id(run) not in found]
    n_letters = sum(len(run.text) for run in body)
    if not aside or sum(len(run.text) for run in aside) > _STAMP_SHARE * n_letters:
        return
    left, right = min(run.x0 for run in body), max(run.x1 for run in body)
    for run in aside:
        # Where the run stands, in the frame of the body: there it goes up or down, at one x.
        across = run.middle if (run.turn - page.turn) % 4 == 3 else -run.middle
        if not left <= across <= right:
            found.setdefault(id(run), STAMP)


def _spare_whole_pages(page: PageText, found: dict[int, str]) -> None:
    """Takes back what would leave little of a page."""
    marked = [run for run in page.runs if id(run) in found]
    n_marked = sum(len(run.text) for run in marked)
    n_all = sum(len(run.text) for run in page.runs)
    if n_marked > _LARGEST_SHARE * n_all and n_all - n_marked < 200:
        for run in marked:
            if found[id(run)] in (HEAD, FOOT):
                del found[id(run)]
