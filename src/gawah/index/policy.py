"""When the tail becomes a segment, and which neighbouring segments are rewritten as one.

A ladder, as in a log-structured merge tree (O'Neil et al., 1996): eight neighbours of one rung become one of a higher. So a
chunk is written three or four times on its way to the top, a store of a million chunks has some fifteen segments, and
the largest are hardly ever touched.
"""

from __future__ import annotations

from collections.abc import Sequence

SEALED_AT_CHUNKS = 256  # analysing that many rows at every start takes a twentieth of a second
_RUNGS = (8_192, 65_536, 524_288)  # chunks; shorter neighbours go along when eight of a rung are put together
_NEIGHBOURS = 8
_LARGEST_CHUNKS = 1 << 21  # larger ones are not made: at some 7 KB a chunk that is 15 GB to rewrite
_DEAD_SHARE = 0.2

Size = tuple[int, int]
"""Live and dead rows of a segment."""


def should_seal(n_tail: int) -> bool:
    """Whether the tail is worth a segment."""
    return n_tail >= SEALED_AT_CHUNKS


def due_run(sizes: Sequence[Size]) -> range | None:
    """Which neighbours, of segments in order, are to be rewritten as one; None when all may stay as they are.

    One alone when too many of its rows are dead, so that no more than a fifth of the disk is wasted.
    """
    for at, (n_live, n_dead) in enumerate(sizes):
        if n_dead > _DEAD_SHARE * (n_live + n_dead):
            return range(at, at + 1)
    below = 0
    for rung in _RUNGS:
        start = 0
        for at in range(len(sizes) + 1):
            if at < len(sizes) and sizes[at][0] < rung:
                continue
            if sum(n_live >= below for n_live, _ in sizes[start:at]) >= _NEIGHBOURS:
                return range(start, _fitting(sizes, start, at))
            start = at + 1
        below = rung
    return None


def _fitting(sizes: Sequence[Size], start: int, stop: int) -> int:
    """Where the run ends that begins at `start` and holds no more than the largest segment may."""
    total = 0
    for at in range(start, stop):
        total += sizes[at][0]
        if total > _LARGEST_CHUNKS:
            return max(at, start + 2)
    return stop
