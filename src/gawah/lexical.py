"""Query terms to the lexical leg's ranking (BM25)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gawah.errors import IndexLegError
from gawah.ports import IndexView
from gawah.types import Hit, Ranking

SYSTEM = "lexical"


def search_lexical(
    view: IndexView, terms: Sequence[str], cutoff: int, only: NDArray[np.int64] | None = None
) -> Ranking:
    """The best `cutoff` chunks that hold a term; `only` are the sorted numbers of the documents that may be found.

    Raises IndexLegError when the index's files or memory fail; a caller may go on with the other leg and must say so.
    """
    try:
        found = view.bm25(terms, cutoff, only)
    except (OSError, IndexError, ValueError, MemoryError) as error:  # what numpy raises over a damaged or lost mapping
        raise IndexLegError(SYSTEM, f"{str(error) or type(error).__name__}; run 'gawah doctor'") from error
    hits = tuple(Hit(chunk_id, score, rank) for rank, (chunk_id, score) in enumerate(found, start=1))
    return Ranking(SYSTEM, hits, cutoff)


def find_terms(view: IndexView, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[tuple[bool, ...]]:
    """Per chunk which of the terms it holds. Raises IndexLegError as `search_lexical` does."""
    try:
        return view.holds(terms, chunk_ids)
    except (OSError, IndexError, ValueError, MemoryError) as error:
        raise IndexLegError(SYSTEM, f"{str(error) or type(error).__name__}; run 'gawah doctor'") from error
