"""From texts to unit vectors and token codes: a checkpoint's graph run by onnxruntime in float32.

Every text is run alone, so that its result has the same bits whatever stands beside it, and without padding, which
would cost 40 % of the work. Several texts are run at once by several threads, one core each: that uses all cores
better than one text on all of them (by 17 % on two).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from gawah.errors import ModelError
from gawah.models.checkpoint import Checkpoint, find_checkpoint
from gawah.models.folder import default_cache_directory
from gawah.models.graph_cache import cached_graph
from gawah.models.graph_names import INPUT_IDS, SENTENCE, TOKENS
from gawah.models.session import load_graph, run_graph
from gawah.models.wordpieces import Pieces, WordPieces
from gawah.ports import Embedding, QueryEmbedding, TokenCodes, Vector
from gawah.types import ModelStamp

TOKEN_FORMAT = "sign1-fp16/1"  # the layout that ports.TokenCodes describes  # noqa: S105
_NORM_TOLERANCE = 1e-5


class OnnxEncoder:
    """An Embedder over a BERT checkpoint. It may be used from several threads at once."""

    def __init__(
        self, checkpoint: Checkpoint, *, cache_directory: Path | None = None, n_threads: int | None = None
    ) -> None:
        """The graph is built, unless it is in the cache, and loaded when the first text is embedded.

        `n_threads`: how many texts are run at once; by default the cores that this process may use. Raises ModelError.
        """
        self.checkpoint = checkpoint
        self._n_threads = len(os.sched_getaffinity(0)) if n_threads is None else max(1, n_threads)
        self._wordpieces = WordPieces(checkpoint)
        self._cache = default_cache_directory() if cache_directory is None else cache_directory
        self._loaded: onnxruntime.InferenceSession | None = None
        self._loading = Lock()
        self._stamp = _stamp(checkpoint)

    @property
    def stamp(self) -> ModelStamp:
        return self._stamp

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One embedding a text. ValueError for a text over the window; ModelError when a vector is not of unit length."""
        pieces = self._wordpieces.split(texts)
        if len(pieces) <= 1 or self._n_threads == 1:
            return [self._embed_one(one) for one in pieces]
        # The longest first: the threads end at about the same time.
        order = sorted(range(len(pieces)), key=lambda number: -len(pieces[number].ids))
        with ThreadPoolExecutor(min(self._n_threads, len(pieces))) as pool:
            found = dict(zip(order, pool.map(self._embed_one, (pieces[number] for number in order)), strict=True))
        return [found[number] for number in range(len(pieces))]

    def embed_query(self, question: str) -> QueryEmbedding:
        """The question's vector, its kept tokens' unit vectors and words; cut at the window when it is longer."""
        pieces, words = self._wordpieces.split_question(question)
        vector, token_vectors = self._run(pieces)
        return QueryEmbedding(vector, token_vectors, words)

    def coverage(self, text: str) -> float:
        return self._wordpieces.coverage(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._wordpieces.count(texts)

    def _embed_one(self, pieces: Pieces) -> Embedding:
        vector, token_vectors = self._run(pieces)
        return Embedding(vector, token_codes(token_vectors))

    def _session(self) -> onnxruntime.InferenceSession:
        """Listing documents, or cutting chunks, needs the stamp and the tokenizer only: loading takes 0.2 s."""
        with self._loading:
            if self._loaded is None:
                self._loaded = load_graph(cached_graph(self.checkpoint, self._cache))
            return self._loaded

    def _run(self, pieces: Pieces) -> tuple[Vector, NDArray[np.float32]]:
        """The unit vector [dimensions] and the unit vectors of the kept tokens [n_kept, dimensions]."""
        sentences, tokens = run_graph(self._session(), [SENTENCE, TOKENS], {INPUT_IDS: pieces.ids[np.newaxis]})
        vector: Vector = sentences[0]
        norm = float(np.linalg.norm(vector.astype(np.float64)))
        if not abs(norm - 1) <= _NORM_TOLERANCE:  # written so that NaN fails too
            raise ModelError(f"{self.checkpoint.name} gave a vector of length {norm}, not 1; check its weights' source")
        return vector, _unit_rows(tokens[0][pieces.kept], self.checkpoint.name)


def load_encoder(
    name_or_path: str,
    *,
    expected_sha256: str | None = None,
    cache_directory: Path | None = None,
    n_threads: int | None = None,
) -> OnnxEncoder:
    """The encoder of a model's name or folder, ready to embed. Raises ModelError."""
    checkpoint = find_checkpoint(name_or_path, expected_sha256=expected_sha256, cache_directory=cache_directory)
    return OnnxEncoder(checkpoint, cache_directory=cache_directory, n_threads=n_threads)


def token_codes(unit_vectors: NDArray[np.float32]) -> TokenCodes:
    """Unit token vectors [n, dimensions] as one sign bit a dimension and one scale a token."""
    scales = np.abs(unit_vectors).mean(axis=1, dtype=np.float32).astype(np.float16)
    return TokenCodes(np.packbits(unit_vectors > 0, axis=1), scales)


def _unit_rows(rows: NDArray[np.float32], model: str) -> NDArray[np.float32]:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not (np.isfinite(norms).all() and (norms > 0).all()):
        raise ModelError(f"{model} gave a token vector without a direction; check its weights' source")
    return np.asarray(rows / norms[:, np.newaxis], dtype=np.float32)


def _stamp(checkpoint: Checkpoint) -> ModelStamp:
    return ModelStamp(
        name=checkpoint.name,
        sha256=checkpoint.model_sha256,
        dimensions=checkpoint.dimensions,
        window_tokens=checkpoint.window_tokens,
        token_format=TOKEN_FORMAT,
        recipe_sha256=checkpoint.recipe_sha256,
    )
