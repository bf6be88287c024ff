"""Many names to the few that a warning can hold."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_NAMED = 5


def named(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Like "A1, B2, C3 and 4 more": all of them where there are at most so many."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
