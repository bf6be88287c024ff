"""Vectors to a graph of neighbours in a file, and a query vector to rows that are probably the nearest (Malkov and
Yashunin, "Efficient and robust approximate nearest neighbor search using hierarchical navigable small world graphs", 2018).

The graph holds the vectors as one byte a dimension: it only names rows, whose exact scores are computed elsewhere. It is
made by usearch, which is optional. https://github.com/unum-cloud/usearch
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gawah.errors import ConfigurationError, StoreCorruptError

FILE_NAME = "vectors.usearch"
_CONNECTIVITY = 16  # links a row
_EXPANSION_BUILD = 128  # rows looked at for a new row's links
_EXPANSION_SEARCH = 256  # rows kept in view on the way, or as many as are asked for


class Graph:
    """The graph of one segment, mapped from its file when it is first asked; any number of threads may ask."""

    def __init__(self, path: Path, n_rows: int, dimensions: int) -> None:
        self._path, self._n_rows, self._dimensions = path, n_rows, dimensions
        self._mapped: Any = None
        self._lock = Lock()

    def nearest(self, query: NDArray[np.float64], n: int) -> NDArray[np.int64]:
        """Up to `n` rows, probably the nearest, in no order; dead ones among them. Raises StoreCorruptError."""
        index = self._opened()
        found = index.search(query.astype(np.float32), min(n, self._n_rows), threads=1)
        rows = np.asarray(found.keys, np.int64)
        if len(rows) and int(rows.max()) >= self._n_rows:
            raise StoreCorruptError(
                f"{self._path.name} of segment {self._path.parent.name} names rows that are not there"
            )
        return rows

    def _opened(self) -> Any:
        with self._lock:
            if self._mapped is None:
                index = _empty(self._dimensions)
                try:
                    index.view(str(self._path))
                except (RuntimeError, ValueError) as error:
                    raise StoreCorruptError(
                        f"{self._path.name} of segment {self._path.parent.name} cannot be mapped: {error}"
                    ) from error
                if (len(index), index.ndim) != (self._n_rows, self._dimensions):
                    raise StoreCorruptError(
                        f"{self._path.name} of segment {self._path.parent.name} is of other vectors"
                    )
                index.expansion_search = _EXPANSION_SEARCH
                self._mapped = index
            return self._mapped


def build_graph(path: Path, dimensions: int, pieces: Iterable[NDArray[np.float32]], n_threads: int) -> None:
    """Writes the graph of all rows, in order, to a file that is not there yet; all of it is in memory meanwhile."""
    index = _empty(dimensions)
    first = 0
    for piece in pieces:
        index.add(np.arange(first, first + len(piece), dtype=np.uint64), piece, threads=n_threads)
        first += len(piece)
    index.save(str(path))


def require_usearch() -> None:
    """Raises ConfigurationError where the package is missing."""
    _index_class()


def _empty(dimensions: int) -> Any:
    return _index_class()(
        ndim=dimensions,
        metric="ip",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_BUILD,
        enable_key_lookups=False,
    )


def _index_class() -> Any:
    with contextlib.suppress(ImportError):
        import onnxruntime  # noqa: F401 — loaded after usearch's kernels (2.26) its own start crashes the process
    try:
        from usearch.index import Index
    except ImportError as error:
        raise ConfigurationError(
            f"the index hnsw needs the package usearch ({error}); install it with: pip install 'gawah[hnsw]'"
        ) from error
    return Index
