"""A shortlist to a better order, by late interaction over stored token codes or by a cross-encoder that reads every pair."""

from gawah.rerank.cross import CrossReranker
from gawah.rerank.late import LateInteraction, maxsim, maxsim_of_each, rarity, reorder, token_weights

__all__ = ["CrossReranker", "LateInteraction", "maxsim", "maxsim_of_each", "rarity", "reorder", "token_weights"]
