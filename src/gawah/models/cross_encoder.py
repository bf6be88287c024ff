"""From a question and passages to scores: a cross-encoder's graph run by onnxruntime in float32.

Every pair is run alone, the longest first, several at once by several threads: so a score has the same bits whatever stands
beside it, and nothing is padded.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np
import onnxruntime

from gawah.errors import ModelError
from gawah.models.cross_checkpoint import CrossCheckpoint, find_cross_encoder
from gawah.models.folder import default_cache_directory
from gawah.models.graph_cache import cached_graph
from gawah.models.graph_names import INPUT_IDS, LOGIT, PIECE_TYPES
from gawah.models.pairs import Pair, PairPieces
from gawah.models.session import load_graph, run_graph


@dataclass(frozen=True, slots=True)
class PairScores:
    """One score a passage, a higher one is better; and how many of the pairs were longer than the window and cut."""

    scores: tuple[float, ...]
    n_cut: int


class CrossEncoder:
    """A BERT that reads a question and a passage together. It may be used from several threads at once."""

    def __init__(
        self, checkpoint: CrossCheckpoint, *, cache_directory: Path | None = None, n_threads: int | None = None
    ) -> None:
        """The graph is built, unless it is in the cache, and loaded when the first pair is scored.

        `n_threads`: how many pairs are run at once; by default the cores that this process may use. Raises ModelError.
        """
        self.checkpoint = checkpoint
        self._n_threads = len(os.sched_getaffinity(0)) if n_threads is None else max(1, n_threads)
        self._pieces = PairPieces(checkpoint)
        self._cache = default_cache_directory() if cache_directory is None else cache_directory
        self._loaded: onnxruntime.InferenceSession | None = None
        self._loading = Lock()

    def score(self, question: str, passages: Sequence[str]) -> PairScores:
        """One score a passage, in order; ModelError when one is not a number."""
        pairs = self._pieces.pairs(question, passages)
        order = sorted(range(len(pairs)), key=lambda number: (-len(pairs[number].ids), number))
        longest_first = [pairs[number] for number in order]
        n_threads = min(self._n_threads, len(pairs))
        if n_threads > 1:
            with ThreadPoolExecutor(n_threads) as pool:
                logits = list(pool.map(self._logit, longest_first))
        else:
            logits = [self._logit(pair) for pair in longest_first]
        found = dict(zip(order, logits, strict=True))
        scores = tuple(self._activated(found[number]) for number in range(len(pairs)))
        return PairScores(scores, sum(pair.is_cut for pair in pairs))

    def _logit(self, pair: Pair) -> float:
        feed = {INPUT_IDS: pair.ids[np.newaxis], PIECE_TYPES: pair.types[np.newaxis]}
        logit = float(run_graph(self._session(), [LOGIT], feed)[0][0])
        if not math.isfinite(logit):
            raise ModelError(f"{self.checkpoint.name} gave the score {logit}; check its weights' source")
        return logit

    def _activated(self, logit: float) -> float:
        if self.checkpoint.activation == "identity":
            return logit
        # Written so that neither side overflows.
        return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))

    def _session(self) -> onnxruntime.InferenceSession:
        with self._loading:
            if self._loaded is None:
                self._loaded = load_graph(cached_graph(self.checkpoint, self._cache))
            return self._loaded


def load_cross_encoder(
    name_or_path: str, *, cache_directory: Path | None = None, n_threads: int | None = None
) -> CrossEncoder:
    """The cross-encoder of a model's name or folder, ready to score. Raises what `find_cross_encoder` raises."""
    checkpoint = find_cross_encoder(name_or_path, cache_directory=cache_directory)
    return CrossEncoder(checkpoint, cache_directory=cache_directory, n_threads=n_threads)
