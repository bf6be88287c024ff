"""What a stream of markers leaves behind, and what it has to remember between two characters."""

from __future__ import annotations

from enum import Enum

from gawah.types import Mark

__all__ = ["Beside", "Gap", "Mark"]


class Gap(Enum):
    """What the blanks held back stand behind."""

    TEXT = "text"
    ERASED = "erased"  # a marker was taken out; the blanks are those before it
    AFTER_ERASED = "after erased"  # these are the blanks behind it
    AT_LINE_START = "at line start"  # taken out at the beginning of a line: the blanks behind go with it


class Beside(Enum):
    """What ends right before a bracket."""

    WORDS = "words"
    INDEX = "index"  # x[0], so that [1] behind it is an index too
    MARKER = "marker"  # so that [2] behind it is a marker too
