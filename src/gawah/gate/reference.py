"""Passages to a decision by one number and one comparison; and what a refusal of any gate says.

The reference gate compares cosine distance with one threshold. It says nothing about whether a passage holds the answer,
only that nothing nearer was found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gawah.errors import UsageError
from gawah.fragment import label, one_line
from gawah.gate.evidence import AT_MOST, Evidence
from gawah.types import GateDecision, Passage

REFERENCE = "reference"
EMPTY_INDEX = "empty_index"  # nothing was retrieved at all: no documents, or a filter that admits none
NOTHING_NEAR = "nothing_near"
_LARGEST_DISTANCE = 2.0  # 1 - cos of opposite vectors
_QUESTION_CHARS = 200


@dataclass(frozen=True, slots=True)
class ReferenceGate:
    """`reference_gate` as a gate: over questions that the encoder cannot read, whose distances say nothing, without a cut."""

    threshold: float
    at_most: int = AT_MOST

    def __call__(self, evidence: Evidence) -> GateDecision:
        decision = reference_gate(evidence.passages, threshold=self.threshold, at_most=self.at_most)
        if evidence.readable or not evidence.passages:
            return decision
        # Found by words alone, in the order of words: a distance between vectors of unknown pieces is chance. Urdu, with
        # the cut: 65 of 143 answered right instead of 140.
        return replace(
            decision,
            signals={**decision.signals, "by_words": 1.0},
            refuse_reason=None,
            admitted=evidence.passages[: self.at_most],
        )


def reference_gate(passages: Sequence[Passage], *, threshold: float, at_most: int = AT_MOST) -> GateDecision:
    """Admits, in their order, the first `at_most` passages within the threshold of cosine distance; refuses without any.

    The score is the best distance, infinite when there is none; a distance that is not a number is never within.
    Raises UsageError for a threshold outside 0 to 2 or an `at_most` under 1.
    """
    if not 0 <= threshold <= _LARGEST_DISTANCE:
        raise UsageError(f"a gate threshold of {threshold:g} is no cosine distance; choose one from 0 to 2")
    if at_most < 1:
        raise UsageError(f"at most {at_most} passages would answer nothing; choose 1 or more")
    under = [passage for passage in passages if passage.cosine_distance <= threshold]  # false for NaN
    best = min((p.cosine_distance for p in passages if not math.isnan(p.cosine_distance)), default=math.inf)
    reason = None
    if not passages:
        reason = EMPTY_INDEX
    elif not under:
        reason = f"nothing under cosine distance {threshold:g}"
    return GateDecision(
        gate=REFERENCE,
        score=best,
        threshold=threshold,
        signals={"best_cosine_distance": best, "n_under": float(len(under))},
        refuse_reason=reason,
        admitted=tuple(under[:at_most]),
    )


def refusal_code(decision: GateDecision) -> str:
    """A stable code for why a gate refused: EMPTY_INDEX or NOTHING_NEAR; ValueError when it did not."""
    if decision.refuse_reason is None:
        raise ValueError("the gate did not refuse")
    return EMPTY_INDEX if decision.refuse_reason == EMPTY_INDEX else NOTHING_NEAR


def refusal_message(question: str, decision: GateDecision, nearest: Sequence[Passage]) -> str:
    """One line: why, with the threshold, for which question, and the nearest passages with their distances."""
    asked = f'"{one_line(question, _QUESTION_CHARS)}"'
    if refusal_code(decision) == EMPTY_INDEX:
        return f"nothing found for {asked}: no document is indexed, or none has a word of the question"
    if not nearest:
        return f"{decision.refuse_reason} for {asked}"
    return f"{decision.refuse_reason} for {asked}; nearest: {'; '.join(_named(passage) for passage in nearest)}"


def _named(passage: Passage) -> str:
    place = passage.chunk.section or label(passage.locator)
    name, where = one_line(passage.document_name), one_line(place)
    return f"{name} - {where} ({passage.cosine_distance:.3f})"
