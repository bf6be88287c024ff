"""Which runs of a document are furniture: running heads and feet, page numbers, line numbers, stamps in the margin.

Furniture repeats: the same words, digits aside, at the same height on several pages, or numbers that count the pages.
On a lone page only a bare page number at the very edge and the slug lines of typesetting programs are taken for it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from gawah.extract.pdf.lines import Line, lines_of
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
_STAMP_SHARE = 0.2
_FEWEST_LINE_NUMBERS = 8
_RUNNING_ON = 0.25  # of numbered lines, that go on with a sentence: lines of verse and of speech often begin one
_ENDS = re.compile(r"[.!?…:;।॥۔؟。！？][\"'”’»)\]]*$")
_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|p\.?|pag\.?)\s*)?(\d{1,5}|[ivxlc]{1,7})(?:\s*(?:of|/|von|de)\s*\d{1,5})?\W*", re.IGNORECASE
)
_SLUG = re.compile(
    r"VerDate\b.*\bJkt\b|\b\w+\.(?:indd|qxd|qxp|fm|pmd)\b.*\d|^file://\S+( \d+/\d+)?$|^https?://\S+ \d+/\d+$",
    re.IGNORECASE,
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


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


def _mark_repeated(pages: Sequence[PageText], edges: list[list[tuple[bool, int, Line]]], found: dict[int, str]) -> None:
    """Marks lines, or their parts, whose words or count recur on enough pages."""
    seen: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    offsets: defaultdict[tuple[bool, int], set[int]] = defaultdict(set)
    candidates: list[tuple[int, bool, list[Run], str, int, int | None]] = []
    for page, lines in zip(pages, edges, strict=True):
        for is_top, _, line in lines:
            if len(line.runs) > _MOST_CELLS:
                continue
            parts = [line.runs] + ([[run] for run in line.runs] if len(line.runs) > 1 else [])
            for part in parts:
                text = " ".join(" ".join(run.text for run in part).split())
                key, slot = _key(text), round(part[0].middle / _SAME_HEIGHT_PT)
                number = _number(text)
                candidates.append((page.number, is_top, part, key, slot, number))
                for near in (slot, slot + 1):
                    seen[key, near].add(page.number)
                if number is not None:
                    offsets[is_top, number - page.number].add(page.number)
    needed = max(_FEWEST_PAGES, min(8, round(0.15 * len(pages))))
    for page_number, is_top, part, key, slot, number in candidates:
        n_pages = max(len(seen[key, slot]), len(seen[key, slot + 1]))
        if n_pages >= needed and sum(letter.isalpha() for letter in key) >= 3:
            reason = HEAD if is_top else FOOT
        elif number is not None and len(offsets[is_top, number - page_number]) >= _FEWEST_PAGES:
            reason = PAGE_NUMBER
        else:
            continue
        for run in part:
            found.setdefault(id(run), reason)


def _key(text: str) -> str:
    """The words without what counts: digits become one sign, unless there is little else."""
    key = re.sub(r"\d+", "#", text.casefold())
    return key if sum(letter.isalpha() for letter in key) >= 3 else text


def _number(text: str) -> int | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    digits = match.group(1).lower()
    if digits.isdigit():
        return int(digits)
    values = [_ROMAN[letter] for letter in digits]
    return sum(-a if a < b else a for a, b in pairwise([*values, 0]))


def _mark_slugs(page: PageText, lines: list[tuple[bool, int, Line]], n_pages: int, found: dict[int, str]) -> None:
    for is_top, rank, line in lines:
        text = " ".join(line.text.split())
        if _SLUG.search(text):
            reason = HEAD if is_top else FOOT
        elif n_pages < _FEWEST_PAGES and rank == 0 and len(page.runs) > 2 and _is_lone_number(text):
            reason = PAGE_NUMBER
        else:
            continue
        for run in line.runs:
            found.setdefault(id(run), reason)


def _is_lone_number(text: str) -> bool:
    match = _NUMBER.fullmatch(text)
    return match is not None and (match.group(1).isdigit() or text.islower())


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
