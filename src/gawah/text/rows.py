"""Which lines of a text are rows of a table: those of Markdown, those that extraction writes, "FM-01 | mill | 3.79", and CSV's.

CSV is told by its file's type, but not where it hangs on a message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPENING_BAR = re.compile(r"[ \t]*\|")
_JOINT = re.compile(r" \|(?=\s|$)")
_SURE_JOINTS = 2  # a line with one is a row only beside another: prose has such a bar too, a pipe of a shell
_SEPARATED = re.compile(
    r"""(?:"(?:[^"]|"")*+"|[^\s",][^",]*+)(?:,(?:"(?:[^"]|"")*+"|[^\s",][^",]*+|(?=,|\s*$))){2,}\s*"""
)


def are_rows(lines: Sequence[str]) -> list[bool]:
    """For each of a text's lines in order whether it is a row; what stands in a fence is not looked at here.

    Cells with commas and no blank behind them are a row beside another of these: prose has a blank there.
    """
    joints = [len(_JOINT.findall(line)) for line in lines]
    separated = ["," in line and bool(_SEPARATED.fullmatch(line)) for line in lines]

    def is_beside(found: Sequence[object], number: int) -> bool:
        return any(found[at] for at in (number - 1, number + 1) if 0 <= at < len(lines))

    return [
        bool(_OPENING_BAR.match(line))
        or joints[number] >= _SURE_JOINTS
        or (joints[number] > 0 and is_beside(joints, number))
        or (separated[number] and is_beside(separated, number))
        for number, line in enumerate(lines)
    ]
