"""A question and what was found for it to the gate's decision when nothing that holds the answer is found.

A hidden-answer query as `hidden` makes them, decided over the evidence of the question it was made of: nothing is searched
again, what is excluded is as if it had not been found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gawah.eval.hidden import HIDDEN, HiddenQuery, without
from gawah.eval.sweep import GateCase, unanswerable_case
from gawah.gate import Gate
from gawah.ports import Snapshot
from gawah.retrieve import Retrieved, Retriever, gather
from gawah.types import GateDecision


@dataclass(frozen=True, slots=True)
class Withheld:
    """What a gate decided without the answer, and over what."""

    decision: GateDecision
    case: GateCase

    @property
    def refused(self) -> bool:
        return self.decision.refuse_reason is not None


def judge_without(
    retriever: Retriever, gate: Gate, snapshot: Snapshot, retrieved: Retrieved, hidden: HiddenQuery
) -> Withheld:
    """The gate's decision over what was retrieved, of the same snapshot, less what the query excludes."""
    left = retrieved_without(retrieved, hidden)
    return Withheld(gate(gather(retriever, snapshot, left)), unanswerable_case(hidden.id, HIDDEN, left.passages))


def retrieved_without(retrieved: Retrieved, hidden: HiddenQuery) -> Retrieved:
    """The same with the excluded chunks gone from passages and rankings."""
    gone = frozenset(hidden.excluded)
    return replace(
        retrieved,
        passages=tuple(passage for passage in retrieved.passages if passage.chunk.id not in gone),
        rankings={system: without(ranking, gone) for system, ranking in retrieved.rankings.items()},
    )
