"""The lines of a Markdown text to blocks: headings, fences, tables, list items and paragraphs, with their spans.

After CommonMark 0.31 and the table extension of GFM, as far as structure for retrieval needs it. On purpose different:
a quote is one paragraph whatever is in it, nested items are blocks of their own, a heading inside a list item is text,
and a row that begins with a pipe is a table even without its delimiter row.
"""

from __future__ import annotations

import re

from gawah.extract.inline import heading_words
from gawah.extract.lines import line_spans, paragraph
from gawah.types import Block, BlockKind, Span

_LONGEST_HEADING_CHARS = 1000  # a longer line is prose behind a number sign, and hostile to the patterns for markup
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_ATX = re.compile(r"(#{1,6})(?:[ \t]+|$)")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_ITEM = re.compile(r"([-*+]|(\d{1,9})[.)])(?:[ \t]+|$)")
_UNDERLINE = re.compile(r"(=+|-+)[ \t]*$")
_DELIMITER_CHARS = frozenset("|:- \t")
_RAW_START = re.compile(r"<(script|pre|style|textarea)(?=[\s>]|$)|(<!--)", re.IGNORECASE)
_FRONT_MATTER_KEY = re.compile(r"[\w\"'][\w .\"'-]*[:=](?:\s|$)|\s*#")
_TITLE_KEY = re.compile(r"title[ \t]*[:=][ \t]*(.+)$", re.IGNORECASE)


def markdown_blocks(text: str) -> tuple[tuple[Block, ...], str]:
    """The blocks in order, and the title that front matter gives, or an empty one."""
    scan = _Scan(text)
    title = scan.take_front_matter()
    while scan.at < len(scan.lines):
        scan.take_next()
    return tuple(scan.blocks), title


class _Scan:
    """A position in the lines, the blocks found so far, and the list the position is in.

    `list_floor` is the indentation from which on a line belongs to the list that is open, or None outside of lists.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = list(line_spans(text))
        self.at = 0
        self.blocks: list[Block] = []
        self.list_floor: int | None = None

    def line(self, at: int) -> str:
        start, end = self.lines[at]
        return self.text[start:end]

    def is_blank(self, at: int) -> bool:
        return not self.line(at).strip()

    def is_in_list(self, at: int) -> bool:
        return self.list_floor is not None and _indent(self.line(at)) >= self.list_floor

    def add(self, kind: BlockKind, first: int, after: int) -> None:
        """A block of the lines `first` to `after` (exclusive), and the position behind them."""
        start, end = self.lines[first][0], self.lines[after - 1][1]
        if kind is BlockKind.CODE:
            self.blocks.append(Block(kind, Span(start, start + len(self.text[start:end].rstrip()))))
        else:
            self.blocks.append(paragraph(self.text, start, end, kind))
        self.at = after

    # --- what may stand at a line

    def take_front_matter(self) -> str:
        """YAML between `---` lines or TOML between `+++` lines, at the very top and with a key in its first line."""
        mark = self.line(0).rstrip() if self.lines else ""
        if mark not in ("---", "+++") or len(self.lines) < 3 or not _FRONT_MATTER_KEY.match(self.line(1)):
            return ""
        ends = ("---", "...") if mark == "---" else ("+++",)
        close = next((at for at in range(1, len(self.lines)) if self.line(at).rstrip() in ends), None)
        if close is None:
            return ""
        keys = (_TITLE_KEY.match(self.line(at)) for at in range(1, close))
        title = next((found.group(1) for found in keys if found), "")
        self.add(BlockKind.CODE, 0, close + 1)
        return _unquoted(title)[:_LONGEST_HEADING_CHARS]

    def take_next(self) -> None:
        if self.is_blank(self.at):
            self.at += 1
            return
        line = self.line(self.at)
        bare, indent = line.lstrip(), _indent(line)
        in_list = self.is_in_list(self.at)
        item = _item(bare) if indent < 4 or self.list_floor is not None else None
        if not in_list and item is None:
            self.list_floor = None
        if item is None and not in_list and indent >= 4:
            self._take_indented_code()
        elif _FENCE.match(bare):
            self._take_fence(bare)
        elif not in_list and self._take_heading(bare):
            pass
        elif _is_rule(bare):
            self.add(BlockKind.PARAGRAPH, self.at, self.at + 1)
        elif bare.startswith(">"):
            self._take_paragraph(BlockKind.PARAGRAPH)
        elif item is not None:
            self._take_item(item, indent, bare)
        elif self.is_table_start(self.at):
            self._take_table()
        elif _RAW_START.match(bare):
            self._take_raw(bare)
        else:
            self._take_paragraph(BlockKind.ITEM if in_list else BlockKind.PARAGRAPH)

    def is_table_start(self, at: int) -> bool:
        line = self.line(at)
        if "|" not in line:
            return False
        if line.lstrip().startswith("|") and line.count("|") >= 2:
            return True
        return at + 1 < len(self.lines) and _is_delimiter_row(self.line(at + 1))

    def interrupts(self, at: int, *, in_item: bool) -> bool:
        """Whether a line ends the paragraph or item before it."""
        line = self.line(at)
        bare = line.lstrip()
        if _indent(line) < 4 or in_item:
            if _FENCE.match(bare) or _is_rule(bare) or bare.startswith(">") or _RAW_START.match(bare):
                return True
            item = _item(bare)
            if item is not None and (in_item or (item.end() < len(bare) and item.group(2) in (None, "1"))):
                return True
        if _indent(line) < 4 and _ATX.match(bare) and not self.is_in_list(at):
            return True
        return self.is_table_start(at)

    # --- taking it

    def _take_fence(self, opener: str) -> None:
        """To the closing fence, or to the end of the text when there is none."""
        mark = _FENCE.match(opener)
        fence = mark.group(1) if mark else "```"
        after = self.at + 1
        while after < len(self.lines):
            bare = self.line(after).strip()
            after += 1
            if len(bare) >= len(fence) and bare == fence[0] * len(bare):
                break
        self.add(BlockKind.CODE, self.at, after)

    def _take_heading(self, bare: str) -> bool:
        mark = _ATX.match(bare)
        if not mark or len(bare) > _LONGEST_HEADING_CHARS:
            return False
        title = heading_words(_CLOSING_MARKS.sub("", bare[mark.end() :]))
        if not title:
            return False
        start, end = self.lines[self.at]
        self.blocks.append(Block(BlockKind.HEADING, paragraph(self.text, start, end).span, len(mark.group(1)), title))
        self.at += 1
        return True

    def _take_item(self, item: re.Match[str], indent: int, bare: str) -> None:
        floor = indent + 2
        self.list_floor = floor if self.list_floor is None else min(self.list_floor, floor)
        content = bare[item.end() :]
        if _FENCE.match(content):
            self._take_fence(content)
            return
        after = self._after_lines_of_item(self.at + 1)
        while (following := self._next_text(after)) is not None and self._continues_item(following, floor):
            after = self._after_lines_of_item(following + 1)
        self.add(BlockKind.ITEM, self.at, after)

    def _after_lines_of_item(self, at: int) -> int:
        while at < len(self.lines) and not self.is_blank(at) and not self.interrupts(at, in_item=True):
            at += 1
        return at

    def _next_text(self, at: int) -> int | None:
        """The next line that is not blank, if blank lines come first."""
        following = at
        while following < len(self.lines) and self.is_blank(following):
            following += 1
        return following if at < following < len(self.lines) else None

    def _continues_item(self, at: int, floor: int) -> bool:
        return _indent(self.line(at)) >= floor and not self.interrupts(at, in_item=True)

    def _take_table(self) -> None:
        after = self.at + 1
        while after < len(self.lines):
            line = self.line(after)
            bare = line.lstrip()
            if "|" not in line or (not bare.startswith("|") and self.is_other_block(bare)):
                break
            after += 1
        self.add(BlockKind.TABLE, self.at, after)

    def is_other_block(self, bare: str) -> bool:
        return bool(_FENCE.match(bare) or _ATX.match(bare) or bare.startswith(">") or _item(bare))

    def _take_indented_code(self) -> None:
        after = self.at
        while after < len(self.lines) and (self.is_blank(after) or _indent(self.line(after)) >= 4):
            after += 1
        while self.is_blank(after - 1):
            after -= 1
        self.add(BlockKind.CODE, self.at, after)

    def _take_raw(self, bare: str) -> None:
        """HTML whose content is no Markdown: to the line with its end, whatever stands between."""
        mark = _RAW_START.match(bare)
        name = mark.group(1).lower() if mark and mark.group(1) else ""
        end = f"</{name}" if name else "-->"
        after = self.at
        while after < len(self.lines):
            after += 1
            if end in self.line(after - 1).lower():
                break
        self.add(BlockKind.CODE if name == "pre" else BlockKind.PARAGRAPH, self.at, after)

    def _take_paragraph(self, kind: BlockKind) -> None:
        """Lines to the next blank one or the next block; a line of = or - under them makes them a heading."""
        is_quote = self.line(self.at).lstrip().startswith(">")
        after = self.at + 1
        while after < len(self.lines) and not self.is_blank(after):
            line = self.line(after)
            underline = _UNDERLINE.match(line.lstrip()) if _indent(line) < 4 and not is_quote else None
            if underline and kind is BlockKind.PARAGRAPH and self._take_setext(after, underline.group(1)):
                return
            if self.interrupts(after, in_item=kind is BlockKind.ITEM) and not (is_quote and line.lstrip()[0] == ">"):
                break
            after += 1
        self.add(kind, self.at, after)

    def _take_setext(self, underline_at: int, underline: str) -> bool:
        start, end = self.lines[self.at][0], self.lines[underline_at - 1][1]
        if end - start > _LONGEST_HEADING_CHARS:
            return False
        title = heading_words(self.text[start:end])
        if not title:
            return False
        span = paragraph(self.text, start, self.lines[underline_at][1]).span
        self.blocks.append(Block(BlockKind.HEADING, span, 1 if underline[0] == "=" else 2, title))
        self.at = underline_at + 1
        return True


def _indent(line: str) -> int:
    """Columns of white space at the start; a tab goes to the next multiple of four."""
    column = 0
    for char in line:
        if char == " ":
            column += 1
        elif char == "\t":
            column += 4 - column % 4
        else:
            break
    return column


def _item(bare: str) -> re.Match[str] | None:
    return None if _is_rule(bare) else _ITEM.match(bare)


def _is_rule(bare: str) -> bool:
    """A thematic break: three or more of the same mark, and blanks."""
    if bare[:1] not in ("-", "*", "_"):
        return False
    marks = bare.replace(" ", "").replace("\t", "")
    return len(marks) >= 3 and marks == marks[0] * len(marks)


def _is_delimiter_row(line: str) -> bool:
    return "|" in line and "-" in line and _DELIMITER_CHARS.issuperset(line)


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].strip()
    return value
