"""What a gate decides over, and the seam of every gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from gawah.ports import QueryEmbedding, TokenCodes
from gawah.types import GateDecision, Passage

AT_MOST = 4  # long contexts degrade: twenty passages may answer worse than four
N_COMPARED = 8  # passages whose tokens are looked at: those that go on, and as many that lost to them
N_BACKGROUND = 48  # chunks that stand for the rest of the index; more move no signal by more than .01


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question and what was found for it, all of one snapshot.

    `passages` are best first; `tokens` are the codes of the first N_COMPARED of them. `weights[i]` is the weight of
    question token i. `background` are up to N_BACKGROUND other chunks of the index, drawn without looking at the question.
    `term_weights` gives each of the question's terms its idf, `bm25_best` the best score and `bm25_attainable` the bound
    of any. `readable` says whether the encoder knows the question's words: if not, vectors and tokens mean nothing.
    """

    question: str
    passages: tuple[Passage, ...]
    query: QueryEmbedding
    weights: tuple[float, ...]
    tokens: tuple[TokenCodes, ...]
    background: tuple[TokenCodes, ...]
    term_weights: Mapping[str, float]
    bm25_best: float
    bm25_attainable: float
    readable: bool = True


class Gate(Protocol):
    """Decides over the evidence of one question."""

    def __call__(self, evidence: Evidence) -> GateDecision: ...
