"""Signals to a score: a logistic model whose every coefficient has the sign its signal must have.

So the score is monotone: more of what speaks for an answer never lowers it, whatever the data it was fitted on said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# +1: more of it speaks for an answer; -1: against one.
DIRECTIONS: Mapping[str, int] = MappingProxyType(
    {
        "cosine_best": 1,
        "cosine_capped": 1,
        "maxsim_best": 1,
        "maxsim_pieces": 1,
        "margin": 1,
        "gain": 1,
        "above_background": 1,
        "coverage": 1,
        "coverage_best": 1,
        "bm25_share": 1,
        "missing": -1,
        "missing_identifiers": -1,
        "missing_numbers": -1,
        "missing_names": -1,
    }
)


@dataclass(frozen=True, slots=True)
class Feature:
    """A signal's part in a score: coefficient * (value - mean) / scale. The coefficient is 0 or of the signal's sign."""

    name: str
    coefficient: float
    mean: float
    scale: float

    def __post_init__(self) -> None:
        if self.name not in DIRECTIONS:
            raise ValueError(f"there is no signal {self.name}")
        if not all(map(math.isfinite, (self.coefficient, self.mean, self.scale))) or self.scale <= 0:
            raise ValueError(f"the numbers of {self.name} must be finite, its scale above 0")
        if self.coefficient * DIRECTIONS[self.name] < 0:
            raise ValueError(f"the coefficient of {self.name} has the wrong sign: the score would not be monotone")

    def contribution(self, value: float) -> float:
        return self.coefficient * (value - self.mean) / self.scale


@dataclass(frozen=True, slots=True)
class MonotoneModel:
    """Log-odds that an answer is there, up to a constant: the intercept and the sum of the features' contributions."""

    intercept: float
    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        if not math.isfinite(self.intercept):
            raise ValueError("the intercept must be finite")
        if len({feature.name for feature in self.features}) < len(self.features):
            raise ValueError("a signal may stand in a model once")

    def contributions(self, signals: Mapping[str, float]) -> dict[str, float]:
        """What each feature adds to the score; raises KeyError for a signal that is not given."""
        return {feature.name: feature.contribution(signals[feature.name]) for feature in self.features}

    def score(self, signals: Mapping[str, float]) -> float:
        return math.fsum((self.intercept, *self.contributions(signals).values()))
