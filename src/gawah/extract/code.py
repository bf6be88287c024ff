"""Source code to a document. The canonical text is the file; blocks are the groups of lines that blank lines separate.

A group begins at a line that is not indented. Python's classes and functions become headings of no length, so that a
piece of code is found under the names around it.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from gawah.extract.canonical import read_text
from gawah.extract.decode import declared_encoding
from gawah.extract.lines import line_spans
from gawah.types import Block, BlockKind, Document, SourceFile, Span

_LEVEL_OF_MODULE = 2
_LONGEST_PARSED_CHARS = 5_000_000  # the parser takes about a hundred bytes of memory for each


class CodeExtractor:
    """Source code, configuration and XML."""

    name = "code"
    version = 1

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the file's name with its extension. Raises ExtractionError `undecodable` or `empty`."""
        own = read_text(data, declared_encoding(data))
        symbols = _python_symbols(own.text) if source.media_type == "text/x-python" else []
        title = PurePosixPath(source.name).name
        return own.document(source, f"{self.name}/{self.version}", _blocks(own.text, symbols), title=title)


@dataclass(frozen=True, slots=True)
class _Symbol:
    """A definition: the line it begins at (1-based, decorators and comments above it included), its level and title."""

    line: int
    level: int
    title: str


def _blocks(text: str, symbols: list[_Symbol]) -> Iterator[Block]:
    lines = list(line_spans(text))
    headings = {symbol.line - 1: symbol for symbol in symbols if symbol.line <= len(lines)}
    starts = sorted({0, *headings, *_group_starts(text, lines)})
    for first, after in pairwise([*starts, len(lines)]):
        start, end = lines[first][0], lines[after - 1][1]
        if first in headings:
            symbol = headings[first]
            yield Block(BlockKind.HEADING, Span(start, start), symbol.level, symbol.title)
        body = text[start:end]
        bare = body.rstrip()
        blank_lines = len(body) - len(body.lstrip())
        if bare:
            start += body.rfind("\n", 0, blank_lines) + 1  # the indentation of the first line stays
            yield Block(BlockKind.CODE, Span(start, end - len(body) + len(bare)))


def _group_starts(text: str, lines: list[tuple[int, int]]) -> Iterator[int]:
    """Lines that are not indented and follow a blank one."""
    after_blank = True
    for at, (start, end) in enumerate(lines):
        is_blank = not text[start:end].strip()
        if after_blank and not is_blank and not text[start].isspace():
            yield at
        after_blank = is_blank


# --- Python


def _python_symbols(text: str) -> list[_Symbol]:
    """Classes and functions of the module and of its classes, in order; none when it does not parse."""
    if len(text) > _LONGEST_PARSED_CHARS:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the parser thinks of somebody's escapes is not our business
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines = text.split("\n")
    return list(_symbols_of(module.body, lines, _LEVEL_OF_MODULE, outer="module"))


def _symbols_of(body: list[ast.stmt], lines: list[str], level: int, outer: str) -> Iterator[_Symbol]:
    """What follows a definition and is none itself goes back under the heading around it."""
    is_after_definition = False
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "class" if isinstance(node, ast.ClassDef) else "def"
            title = f"{kind} {node.name}"
            yield _Symbol(_first_line(node, lines), level, title)
            if isinstance(node, ast.ClassDef) and level == _LEVEL_OF_MODULE:
                yield from _symbols_of(node.body, lines, level + 1, title)
            is_after_definition = True
        elif is_after_definition:
            yield _Symbol(node.lineno, _LEVEL_OF_MODULE, outer)
            is_after_definition = False


def _first_line(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    """With its decorators, and with the comments that stand right above."""
    line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    while line > 1 and lines[line - 2].lstrip().startswith("#"):
        line -= 1
    return line
