"""Rankings of several systems to one, by ranks only (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", 2009)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gawah.types import Hit, Ranking

K = 60  # the paper's constant: how little the first ranks stand out
SYSTEM = "rrf"


def rrf(lists: Sequence[Sequence[str]], k: int = K) -> list[tuple[str, float]]:
    """(id, sum over lists of 1 / (k + rank)), by (-score, id); rank is 1-based, an id that is in a list twice counts once.

    The sum is rounded once, so the order of the lists changes no bit of it, and ties are ties.
    """
    shares: dict[str, list[float]] = {}
    for ids in lists:
        for rank, id_ in enumerate(dict.fromkeys(ids), start=1):
            shares.setdefault(id_, []).append(1 / (k + rank))
    fused = [(id_, math.fsum(parts)) for id_, parts in shares.items()]
    return sorted(fused, key=lambda pair: (-pair[1], pair[0]))


def fuse(rankings: Sequence[Ranking], cutoff: int, k: int = K) -> Ranking:
    """The best `cutoff` hits of all rankings together."""
    fused = rrf([[hit.chunk_id for hit in ranking.hits] for ranking in rankings], k)[: max(0, cutoff)]
    return Ranking(SYSTEM, tuple(Hit(id_, score, rank) for rank, (id_, score) in enumerate(fused, start=1)), cutoff)
