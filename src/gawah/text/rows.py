"""Which lines of a text are rows of a table: those of Markdown, and those that extraction writes, "FM-01 | mill | 3.79"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPENING_BAR = re.compile(r"[ \t]*\|")
_JOINT = re.compile(r" \|(?=\s|$)")
_SURE_JOINTS = 2  # a line with one is a row only beside another: prose has such a bar too, a pipe of a shell


def are_rows(lines: Sequence[str]) -> list[bool]:
    """For each of a text's lines in order whether it is a row; what stands in a fence is not looked at here."""
    joints = [len(_JOINT.findall(line)) for line in lines]
    return [
        bool(_OPENING_BAR.match(line))
        or n >= _SURE_JOINTS
        or (n > 0 and any(joints[at] for at in (number - 1, number + 1) if 0 <= at < len(lines)))
        for number, (line, n) in enumerate(zip(lines, joints, strict=True))
    ]
