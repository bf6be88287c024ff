"""Estimates, names and thresholds to the words that tables, captions and figures share."""

from __future__ import annotations

from collections.abc import Sequence

from gawah.eval.render import NOTHING, proportion, share
from gawah.eval.stats import successes
from gawah.types import Estimate

NONE_ASKED = "none asked"
_NAME_CHARS = 24
_SPACE = "\N{NO-BREAK SPACE}"
_GROUPS = {"all": "all", "own": "own words", "ticket": "tickets", "hidden": "answer hidden"}


def rate(value: Estimate, nothing: str = NONE_ASKED) -> str:
    """As in 38/64 .594 [.471, .705], which breaks before its interval only; without observations what is said instead."""
    if not value.n:
        return nothing
    mean, interval = proportion(value).split(" [")
    return f"{mean.replace(' ', _SPACE)} [{interval.replace(' ', _SPACE)}"


def questions(n: int) -> str:
    return "1 question" if n == 1 else f"{n} questions"


def count(k: int, n: int, nothing: str = NONE_ASKED) -> str:
    return f"{k} of {n}" if n else nothing


def counted(value: Estimate, nothing: str = NONE_ASKED) -> str:
    return count(successes(value), value.n, nothing)


def bound(value: float, n: int) -> str:
    """What a rate is at most, with 95 % confidence; nothing without observations."""
    return share(value) if n else NOTHING


def number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def group_name(name: str) -> str:
    """A phrasing or kind as people read it."""
    return _GROUPS.get(name, name)


def drawn_name(name: str, place: int) -> str:
    """The same for a figure, whose letters are limited: names in other scripts are told by their place."""
    words = group_name(name).strip()
    if not words or not words.isascii() or not words.isprintable() or words.startswith("_"):
        return f"group {place + 1}"
    return words if len(words) <= _NAME_CHARS else f"{words[:_NAME_CHARS]}..."


def listed(words: Sequence[str], most: int = 8) -> str:
    """Names in a row, the rest counted."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more
