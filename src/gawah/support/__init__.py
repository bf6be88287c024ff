"""Claims to verdicts: whether the quotes that a claim cites carry it. A judgement that can be wrong, and says how it came."""

from gawah.support.agreement import agreeing
from gawah.support.check import SUPPORTED_FROM, WEAK_FROM, check_claims
from gawah.support.likeness import Likeness, Weigh

__all__ = ["SUPPORTED_FROM", "WEAK_FROM", "Likeness", "Weigh", "agreeing", "check_claims"]
