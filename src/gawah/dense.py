"""A query vector to the dense leg's ranking (cosine similarity)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gawah.errors import IndexLegError
from gawah.ports import IndexView, Vector
from gawah.types import Hit, Ranking

SYSTEM = "dense"


def search_dense(view: IndexView, vector: Vector, cutoff: int, only: NDArray[np.int64] | None = None) -> Ranking:
    """The best `cutoff` chunks by cosine similarity; `only` are the sorted numbers of the documents that may be found.

    Raises IndexLegError when the index's files or memory fail; a caller may go on with the other leg and must say so.
    A vector of another model's size is a StampMismatchError: no leg can answer that.
    """
    try:
        found = view.dense(vector, cutoff, only)
    except (OSError, IndexError, ValueError, MemoryError) as error:  # what numpy raises over a damaged or lost mapping
        raise IndexLegError(SYSTEM, f"{str(error) or type(error).__name__}; run 'gawah doctor'") from error
    hits = tuple(Hit(chunk_id, score, rank) for rank, (chunk_id, score) in enumerate(found, start=1))
    return Ranking(SYSTEM, hits, cutoff)
