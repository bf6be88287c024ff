"""The calibrated gate: signals to a score, and a threshold that was chosen on questions that must be refused."""

from __future__ import annotations

from dataclasses import dataclass

from gawah.fragment import one_line
from gawah.gate.calibration import Calibration, Fitted
from gawah.gate.evidence import AT_MOST, Evidence
from gawah.gate.reference import EMPTY_INDEX
from gawah.gate.signals import missing_from, signals_of
from gawah.text import Demands, analyze, content_terms
from gawah.types import GateDecision

CALIBRATED = "calibrated"
CONTRIBUTION = "+"  # begins the name of what a signal adds to the score, beside the signal itself
_WORDS_CHARS = 80


@dataclass(frozen=True, slots=True)
class CalibratedGate:
    """Admits the first `at_most` passages when the score is over the threshold, none otherwise.

    A question that the encoder cannot read is judged by the model of words alone, and refused whatever its score when the
    passages hold not one of its content words: in an index of few such texts "का" and "है" are as rare as any other. The decision's signals are all that
    were seen and, with a "+" before the name, what each that counts adds to the score; the score is the sum of those.
    """

    calibration: Calibration
    at_most: int = AT_MOST

    def __call__(self, evidence: Evidence) -> GateDecision:
        fitted = self.calibration.vectors if evidence.readable else self.calibration.words
        lacking = missing_from(evidence)
        signals = signals_of(evidence, lacking)
        score = fitted.model.score(signals)
        strangers = () if evidence.readable else _all_absent(evidence)
        passes = bool(evidence.passages) and not strangers and score > fitted.threshold  # false for NaN
        parts = {"intercept": fitted.model.intercept, **fitted.model.contributions(signals)}
        return GateDecision(
            gate=CALIBRATED,
            score=score,
            threshold=fitted.threshold,
            signals={**signals, **{f"{CONTRIBUTION}{name}": value for name, value in parts.items()}},
            refuse_reason=None if passes else _reason(evidence, fitted, score, lacking, strangers),
            admitted=evidence.passages[: self.at_most] if passes else (),
        )


def _all_absent(evidence: Evidence) -> tuple[str, ...]:
    """The question's content words when the passages that would go on hold none of them, else nothing."""
    asked = content_terms(evidence.question)
    held = {term for passage in evidence.passages[:AT_MOST] for term in analyze(passage.chunk.text)}
    return tuple(asked) if held.isdisjoint(asked) else ()


def _reason(evidence: Evidence, fitted: Fitted, score: float, lacking: Demands, strangers: tuple[str, ...]) -> str:
    if not evidence.passages:
        return EMPTY_INDEX
    words = list(dict.fromkeys((*lacking.words, *strangers)))
    lacks = f"; not in the passages: {one_line(', '.join(words), _WORDS_CHARS)}" if words else ""
    if strangers and score > fitted.threshold:
        return f"nothing that answers it (none of its words but the smallest{lacks})"
    return f"nothing that answers it (score {score:.2f}, not over {fitted.threshold:.2f}{lacks})"
