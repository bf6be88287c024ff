"""How a marker is spelt, and what only looks like one. Every pattern here is bounded, so that a stream can decide soon.

The patterns are searched with `partial=True` while more text may come: a partial match means "wait".
"""

from __future__ import annotations

import regex

PAIRS = {"[": "]", "［": "］", "【": "】"}
SHOWN_OPEN, SHOWN_CLOSE = "⟦", "⟧"  # how the prompt shows a source's own brackets around numbers
MOST_DIGITS = 9

_SEPARATOR = r"[ \t]{0,2}[,;，،；؛、][ \t]{0,2}"
_DASH = r"[ \t]{0,2}[-‐‑‒–—−][ \t]{0,2}"
_NUMBERS = rf"\d{{1,{MOST_DIGITS}}}(?:(?:{_SEPARATOR}|{_DASH})\d{{1,{MOST_DIGITS}}}){{0,15}}"
GROUP = regex.compile(rf"[\[［【][ \t]{{0,2}}({_NUMBERS})[ \t]{{0,2}}[\]］】]")
SHOWN_GROUP = regex.compile(rf"{SHOWN_OPEN}([^\n{SHOWN_OPEN}{SHOWN_CLOSE}]{{1,200}}){SHOWN_CLOSE}")
NUMBER_OR_RANGE = regex.compile(rf"(\d+)(?:{_DASH}(\d+))?")

# What behind a group decides about it. A link target has no blanks (CommonMark); one level of brackets may nest in it.
LINK_TARGET = regex.compile(
    r"\([ \t]{0,2}[^\s()]{0,1024}(?:\([^\s()]{0,256}\)[^\s()]{0,256})?"
    r"(?:[ \t]{1,2}(?:\"[^\n\"]{0,256}\"|'[^\n']{0,256}'))?[ \t]{0,2}\)"
)
DEFINITION = regex.compile(r":[ \t]{0,8}(?:<|/|www\.|mailto:|[A-Za-z][A-Za-z0-9+.-]{0,16}://)")
CODE_FOLLOWS = regex.compile(r"[A-Za-z_]|\.[a-z_]|[ ]?=|\([^\s()/:#.]{0,64}\)")  # arr[1].len(), arr[1] = 2, f[1](x)

FENCE_LINE = regex.compile(r"(`{3,64}(?=[^`\n]{0,200}\n)|~{3,64})[^\n]{0,200}\n")
FENCE_END = regex.compile(r"[ ]{0,3}([`~]{3,})[ \t]*\n?")
TICKS = 64  # a longer run of backticks opens and closes nothing
CODE_SPAN_CHARS = 1000  # and within one line; an opening backtick that is not closed by then is a backtick
CODE_LINE_CHARS = 4096  # a longer line of a code block cannot be the end of it

BLANKS = " \t\u00a0"
PLAIN = regex.compile(rf"[^{BLANKS}\n\[［【{SHOWN_OPEN}`~]+")
CLOSING_PUNCTUATION = frozenset(".,;:!?)]}’”»›…%。、，；：！？）】］」』।॥۔؟،؛")
_INDENT_CHARS = 3  # with more it is no fence and no definition
_LINE_BEGINNING = regex.compile(r"\n[ ]{0,3}\Z")

# Text of a glued bracket: arr[1], f(x)[1], x[0][1]. Other scripts write no subscripts and no blanks, but markers.
_INDEXED = regex.compile(r"[A-Za-z0-9_.)\]]{1,40}\Z")
_INDEXED_CHARS = 40
QUOTATION_MARKS = {'"': '"', "“": "”", "„": "“", "«": "»", "‹": "›", "‘": "’", "「": "」", "『": "』"}
_ANY_QUOTATION_MARK = regex.compile("[" + "".join(QUOTATION_MARKS) + "]")
LEFT_CHARS = 400  # how far back a quotation may begin


def indexed(left: str) -> str | None:
    """What a bracket behind `left` would be an index of; None behind a blank, a full stop or another script."""
    match = _INDEXED.search(left[-_INDEXED_CHARS:])
    return None if match is None or left[-1] == "." else str(match.group())


def begins_line(left: str) -> bool:
    return _LINE_BEGINNING.search(left[-_INDENT_CHARS - 1 :]) is not None


def open_quotation(left: str) -> str | None:
    """The words since the quotation mark that is still open at the end of `left`, within its last line; None without."""
    line = left[left.rfind("\n") + 1 :]
    if _ANY_QUOTATION_MARK.search(line) is None:
        return None
    opened, closer = -1, ""
    for at, character in enumerate(line):
        if opened >= 0 and character == closer:
            opened = -1
        elif opened < 0 and character in QUOTATION_MARKS:
            opened, closer = at, QUOTATION_MARKS[character]
    return line[opened + 1 :] if opened >= 0 else None


def numbers_of(body: str, known: frozenset[int]) -> list[int]:
    """The numbers of a group, each once, in order. A range counts through when both its ends are known sources."""
    numbers: dict[int, None] = {}
    for match in NUMBER_OR_RANGE.finditer(body):
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if first in known and last in known and first < last:
            numbers.update(dict.fromkeys(n for n in sorted(known) if first <= n <= last))
        else:
            numbers.update(dict.fromkeys((first, last)))
    return list(numbers)


def has_zero(body: str) -> bool:
    """Whether a number is 0 or begins with one: sources are numbered from 1, [0, 1] is an interval or an index."""
    return any(int(digits[0]) == 0 for digits in regex.findall(r"\d+", body))


def run_end(text: str, at: int) -> int:
    """Where the backticks that begin at `at` end."""
    end = at
    while end < len(text) and text[end] == "`":
        end += 1
    return end
