"""JSON and JSON Lines to a document. The canonical text is the file; blocks end where members end.

Only the places where a text may be cut are looked for, by a scanner that takes anything. Whether it is JSON at all is
checked beside it and told as a warning: broken JSON is text too.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from gawah.extract.canonical import read_text
from gawah.extract.lines import line_spans, paragraph
from gawah.types import Block, BlockKind, Document, SourceFile

_PACKED_CHARS = 400  # members are packed up to this into one block; a chunk aims at 512
_DEEPEST_CUT = 6
# A string, closed or not (the possessive loop cannot backtrack, so an unclosed one costs its length once), or a mark.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)


class JsonExtractor:
    """application/json and application/jsonl."""

    name = "json"
    version = 1

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """Raises ExtractionError `undecodable` or `empty`."""
        own = read_text(data)
        if source.media_type == "application/jsonl":
            blocks, problem = _blocks_of_lines(own.text)
        else:
            blocks, problem = json_blocks(own.text, 0, len(own.text)), _fault(own.text)
        return own.document(source, f"{self.name}/{self.version}", blocks, warnings=[problem] if problem else [])


def json_blocks(text: str, start: int, end: int) -> list[Block]:
    """Blocks that together cover the range: packed members, those that are too long cut at their own members."""
    cuts = _member_ends(text, start, end)
    pieces = _divide(start, end, cuts, depth=1)
    blocks = (paragraph(text, first, last, BlockKind.CODE) for first, last in pieces)
    return [block for block in blocks if len(block.span)]


def _member_ends(text: str, start: int, end: int) -> list[list[int]]:
    """By depth: the offsets behind the commas of that depth, in order."""
    cuts: list[list[int]] = [[] for _ in range(_DEEPEST_CUT + 1)]
    depth = 0
    for token in _TOKEN.finditer(text, start, end):
        mark = text[token.start()]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth = max(0, depth - 1)
        elif mark == "," and depth <= _DEEPEST_CUT:
            cuts[depth].append(token.end())
    return cuts


def _divide(start: int, end: int, cuts: Sequence[Sequence[int]], depth: int) -> Iterator[tuple[int, int]]:
    """The range in pieces: whole when short, else cut at the commas of this depth, long pieces at deeper ones."""
    if end - start <= _PACKED_CHARS or depth > _DEEPEST_CUT:
        yield start, end
        return
    packed = start  # where the piece that is being packed began
    last = start
    for cut in [*_within(cuts[depth], start, end), end]:
        if cut - last > _PACKED_CHARS:
            if last > packed:
                yield packed, last
            yield from _divide(last, cut, cuts, depth + 1)
            packed = cut
        elif cut - packed > _PACKED_CHARS:
            yield packed, last
            packed = last
        last = cut
    if last > packed:
        yield packed, last


def _within(ordered: Sequence[int], start: int, end: int) -> Sequence[int]:
    return ordered[bisect_right(ordered, start) : bisect_left(ordered, end)]


def _blocks_of_lines(text: str) -> tuple[list[Block], str]:
    """One record a line; long records are cut at their members."""
    blocks: list[Block] = []
    n_records, n_broken, first_broken = 0, 0, 0
    for number, (start, end) in enumerate(line_spans(text), start=1):
        line = text[start:end]
        if not line.strip():
            continue
        n_records += 1
        blocks.extend(json_blocks(text, start, end))
        if _fault(line):
            n_broken += 1
            first_broken = first_broken or number
    if not n_broken:
        return blocks, ""
    return blocks, f"{n_broken} of {n_records} lines are not JSON, the first is line {first_broken}; indexed as text"


def _fault(text: str) -> str:
    """What is wrong with it as JSON; empty when nothing is. Objects and long numbers are not built, only checked."""
    try:
        # Not strict: a line separator inside a string is a newline by now.
        json.loads(text, strict=False, object_pairs_hook=_nothing, parse_int=_nothing, parse_float=_nothing)
    except json.JSONDecodeError as error:
        return f"not valid JSON ({error.msg}, line {error.lineno}); indexed as text"
    except RecursionError:
        return "nested too deeply to be checked as JSON; indexed as text"
    return ""


def _nothing(_: object) -> None:
    return None
