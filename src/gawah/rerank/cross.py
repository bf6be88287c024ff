"""A shortlist to a better order by a cross-encoder: question and passage are read together (Nogueira and Cho, 2019).

It reads what is embedded, the contextual header included: a passage that names neither product nor section is judged by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gawah.ports import Candidate, QueryEmbedding, RerankScores

if TYPE_CHECKING:
    from gawah.models.cross_encoder import CrossEncoder


class CrossReranker:
    """Implements ports.Reranker with a cross-encoder; its name tells the checkpoint, so that no calibration is mistaken."""

    def __init__(self, cross_encoder: CrossEncoder) -> None:
        self._cross_encoder = cross_encoder

    @property
    def name(self) -> str:
        return f"cross-encoder:{self._cross_encoder.checkpoint.name}"

    def score(
        self, question: str, query: QueryEmbedding, candidates: Sequence[Candidate], weights: Sequence[float]
    ) -> RerankScores:
        """One score a candidate; notes how many were longer than the window and read in part. Raises ModelError."""
        del query, weights  # a port's arguments; late interaction reads them
        found = self._cross_encoder.score(question, [candidate.chunk.text for candidate in candidates])
        window = self._cross_encoder.checkpoint.window_tokens
        cut = f"{found.n_cut} of {len(candidates)} passages were reranked by a part: with the question they are over {window} word-pieces"
        return RerankScores(found.scores, (cut,) if found.n_cut else ())
