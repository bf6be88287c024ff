"""A claim against further samples of the generator: in how many of them a claim stands that supports it.

What a model says every time may still be wrong; what it says once in five times is a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from gawah.support.check import verdict_of
from gawah.support.likeness import Likeness
from gawah.support.quotes import Quote


def agreeing(claims: Sequence[str], samples: Sequence[Sequence[str]], likeness: Likeness) -> list[int]:
    """For each claim the number of samples that support it. A sample is the list of its claims' words."""
    quotes = [[Quote(at, text) for at, text in enumerate(sample) if text.strip()] for sample in samples]
    return [
        sum(bool(sample) and verdict_of(claim, sample, likeness).status == "supported" for sample in quotes)
        for claim in claims
    ]
