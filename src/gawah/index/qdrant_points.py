"""A catalog's row to a Qdrant point: what the engine ranks by, and what our own code scores a candidate from.

The sparse vector `terms` holds, for each term, its saturation under the collection's *reference length*: its dot product with
the idf of a question's terms is BM25 as it would be if that were the mean length. The mean moves with every document, so that
product only chooses candidates; `score` then counts in `bag` and gives BM25 as it is.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gawah.errors import StoreCorruptError
from gawah.index import bm25
from gawah.index.build import UNIT_TOLERANCE, AnalyzeDocument
from gawah.ports import IndexRow, Vector

STATE_POINT = 0  # seqs start at 1; the point says what of the catalog the collection holds
DENSE, TERMS = "dense", "terms"
CHUNK, DOCUMENT, SEQ, DEAD, LENGTH, BAG = "chunk", "document", "seq", "dead", "length", "bag"
EPOCH = "epoch"  # of the state point
_ROUNDING = 1e-5  # of sums of float32 products in the engine, relative; some fifty terms give 3e-6 at most


@dataclass(frozen=True, slots=True)
class TermPoint:
    """A chunk's terms as the engine gets them."""

    bag: str
    length: int
    indices: list[int]
    values: list[float]


def term_point(text: str, analyze: AnalyzeDocument, reference_length: float) -> TermPoint:
    """A chunk's embedded text to its bag of terms (identifiers behind the counted ones) and its sparse vector.

    Two terms of one hash add up there: a candidate may look better than it is, never worse.
    """
    counted, extra = analyze(text)
    held = Counter(counted)
    held.update(extra)
    values: dict[int, float] = {}
    norm = float(bm25.length_norms(np.array([len(counted)], np.int32), reference_length)[0])
    for term, count in held.items():
        index = term_index(term)
        values[index] = values.get(index, 0.0) + count * (bm25.K1 + 1) / (count + norm)
    return TermPoint(" ".join([*counted, *extra]), len(counted), list(values), list(values.values()))


def term_index(term: str) -> int:
    """The dimension of a term: BLAKE2b of 4 bytes, little-endian, as sparse vectors count theirs in 32 bits."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little")


def query_vector(weights: Mapping[str, float]) -> tuple[list[int], list[float]]:
    """Terms and their weights as a sparse vector; of two with one hash the greater, so that no score is too small."""
    values: dict[int, float] = {}
    for term, weight in weights.items():
        index = term_index(term)
        values[index] = max(values.get(index, 0.0), weight)
    return list(values), list(values.values())


def score(bag: str, length: int, weights: Mapping[str, float], mean_length: float) -> float:
    """BM25 of one chunk, summed over the terms in the order of `weights`, as the local index sums them."""
    held = Counter(bag.split(" "))  # only blanks divide: the marks of identifiers count as white space elsewhere
    norm = float(bm25.length_norms(np.array([length], np.int32), mean_length)[0])
    total = 0.0
    for term, weight in weights.items():
        if count := held[term]:
            total += weight * (count * (bm25.K1 + 1) / (count + norm))
    return total


def ceiling(engine_score: float, mean_length: float, reference_length: float) -> float:
    """What a chunk can score at most whose engine score is not above the given one.

    A saturation tf (k1 + 1) / (tf + norm) grows by less than the norm shrinks, and the norm shrinks by less than the mean
    length grows; where the mean is below the reference, true scores are below the engine's.
    """
    growth = max(1.0, mean_length / reference_length) if reference_length > 0 else 1.0
    return engine_score * growth * (1 + _ROUNDING)


def checked_vector(row: IndexRow, dimensions: int) -> list[float]:
    """The row's vector as numbers that become the same float32 again; StoreCorruptError when it is not a unit vector."""
    vector: Vector = row.embedding.vector
    length = float(np.sqrt(np.vdot(vector, vector)))
    if len(vector) != dimensions or not abs(length - 1) <= UNIT_TOLERANCE:
        raise StoreCorruptError(
            f"chunk {row.chunk_id}: a vector of {len(vector)} dimensions and length {length:.4g}, where "
            f"{dimensions} and 1 are expected; ingest its document again"
        )
    numbers: list[float] = vector.astype(float).tolist()
    return numbers


def payload_of(row: IndexRow, terms: TermPoint) -> dict[str, Any]:
    """What is stored beside the vectors; no text of a document but its terms."""
    return {CHUNK: row.chunk_id, DOCUMENT: row.document_no, SEQ: row.seq, LENGTH: terms.length, BAG: terms.bag}


def document_runs(only: Sequence[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Sorted document numbers as (first, last) runs of three or more that follow each other, and the numbers left over."""
    runs: list[tuple[int, int]] = []
    single: list[int] = []
    start = 0
    for at in range(1, len(only) + 1):
        if at < len(only) and only[at] == only[at - 1] + 1:
            continue
        if at - start > 2:
            runs.append((only[start], only[at - 1]))
        else:
            single += only[start:at]
        start = at
    return runs, single
