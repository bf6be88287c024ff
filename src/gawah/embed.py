"""Chunks to embeddings: each distinct text once, in batches, none that is known already."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from gawah.errors import ModelError
from gawah.fingerprint import sha256_text
from gawah.ports import Embedder, Embedding

BATCH_TEXTS = 256  # what a kill can cost: about ten CPU-seconds of embedding
UNIT_NORM_TOLERANCE = 1e-5  # float32 rounding over 384 dimensions stays under 1e-6


def text_keys(texts: Sequence[str]) -> list[str]:
    """The key of each text's embedding, in order."""
    return [sha256_text(text) for text in texts]


def embed_missing(
    embedder: Embedder, texts: Sequence[str], known: Collection[str]
) -> Iterator[Mapping[str, Embedding]]:
    """Embeddings of the texts whose keys are not known, a batch at a time.

    Raises ModelError when the encoder returns a vector that is not of unit length: distances would mean nothing.
    """
    wanted: dict[str, str] = {}
    for key, text in zip(text_keys(texts), texts, strict=True):
        if key not in known:
            wanted.setdefault(key, text)
    keys = list(wanted)
    for start in range(0, len(keys), BATCH_TEXTS):
        batch = keys[start : start + BATCH_TEXTS]
        made = dict(zip(batch, embedder.embed([wanted[key] for key in batch]), strict=True))
        for embedding in made.values():
            check_unit(embedding.vector)
        yield made


def check_unit(vector: np.ndarray) -> None:
    """Cosine distance equals `1 - a·b` and `d²/2` for unit vectors only."""
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if not abs(norm - 1.0) <= UNIT_NORM_TOLERANCE:  # `not <=` so that NaN is caught
        raise ModelError(f"the encoder returned a vector of length {norm:.6f} instead of 1; run `gawah doctor`")
