"""Portions to one part: small neighbours joined, deleted rows left behind.

All that grows with text (vectors, token codes, postings) comes piece by piece, so that a merge needs memory for some
hundred bytes a chunk, whatever its segments weigh. The same live rows give the same arrays, however they were laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gawah.errors import StoreCorruptError
from gawah.index.build import Portion, id_order, whole
from gawah.index.part import LARGE_ARRAYS, Part, document_runs, starts_of

_ROWS_A_PIECE = 8192  # 12 MiB of 384 float32
_POSTINGS_A_PIECE = 1 << 21  # with their places in the merged part some 50 MiB
_NARROW = np.dtype(np.uint16)
_TAIL_RATIO = 4  # a tail part is merged into one less than four times as large: at most five of them below 1,000 rows


def joined(tail: Sequence[Portion], new: Sequence[Portion]) -> tuple[Portion, ...]:
    """The tail's portions with new ones behind, small neighbours merged, dead portions dropped."""
    both = [portion for portion in (*tail, *new) if portion.n_live]
    while len(both) > 1 and both[-2].n_live < _TAIL_RATIO * both[-1].n_live:
        both[-2:] = [whole(merge(both[-2:]))]
    return tuple(both)


def merge(portions: Sequence[Portion]) -> Part:
    """The live rows of portions, which are in order of seq, as one part in memory; at least one row must live."""
    merger = Merger(portions)
    large = {name: np.empty(merger.shapes[name], merger.dtypes[name]) for name in LARGE_ARRAYS}
    for name, array in large.items():
        first = 0
        for piece in merger.pieces(name):
            array[first : first + len(piece)] = piece
            first += len(piece)
    return Part(**merger.small, **large)


class Merger:
    """What a merged part is made of: `small` arrays whole; of LARGE_ARRAYS `shapes`, `dtypes`, and `pieces` in order."""

    def __init__(self, portions: Sequence[Portion]) -> None:
        """Portions in order of seq, of which at least one row lives. Raises StoreCorruptError."""
        if len({portion.part.dimensions for portion in portions}) > 1:
            raise StoreCorruptError("one generation holds vectors of several sizes; run 'gawah doctor'")
        self._portions = portions
        self._terms = _merged_terms(portions)
        self.small = _small_arrays(portions, self._terms)
        first = portions[0].part
        n_chunks, n_tokens = len(self.small["seqs"]), int(self.small["token_starts"][-1])
        n_postings = int(self._terms.starts[-1])
        self.shapes: dict[str, tuple[int, ...]] = {
            "vectors": (n_chunks, first.dimensions),
            "token_signs": (n_tokens, first.token_signs.shape[1]),
            "token_scales": (n_tokens,),
            "posting_rows": (n_postings,),
            "posting_counts": (n_postings,),
        }
        self.dtypes: dict[str, np.dtype[Any]] = {name: getattr(first, name).dtype for name in LARGE_ARRAYS}
        self.dtypes["posting_counts"] = _counts_dtype(portions)

    def pieces(self, name: str) -> Iterator[NDArray[Any]]:
        """One of LARGE_ARRAYS of the merged part, piece by piece."""
        if name in ("posting_rows", "posting_counts"):
            return _posting_pieces(self._portions, self._terms, name, self.dtypes[name])
        return _row_pieces(self._portions, name)


def _row_pieces(portions: Sequence[Portion], name: str) -> Iterator[NDArray[Any]]:
    for portion in portions:
        array = getattr(portion.part, name)
        for start in range(0, portion.part.n_chunks, _ROWS_A_PIECE):
            rows = slice(start, min(start + _ROWS_A_PIECE, portion.part.n_chunks))
            live = None if portion.live is None else portion.live[rows]
            if name != "vectors":
                token_starts = portion.part.token_starts
                live = None if live is None else np.repeat(live, np.diff(token_starts[rows.start : rows.stop + 1]))
                rows = slice(int(token_starts[rows.start]), int(token_starts[rows.stop]))
            yield array[rows] if live is None else array[rows][live]


def _small_arrays(portions: Sequence[Portion], terms: _Terms) -> dict[str, NDArray[Any]]:
    """All arrays of the merged part but LARGE_ARRAYS."""
    parts = [portion.part for portion in portions]
    kept = [slice(None) if portion.live is None else portion.live for portion in portions]
    chunk_ids = np.concatenate([part.chunk_ids[live] for part, live in zip(parts, kept, strict=True)])
    chunk_ids = chunk_ids.astype(f"S{max(1, int(np.char.str_len(chunk_ids).max()))}")
    numbers = [np.repeat(part.run_documents, np.diff(part.run_starts)) for part in parts]
    run_documents, run_starts = document_runs(
        np.concatenate([number[live] for number, live in zip(numbers, kept, strict=True)])
    )
    n_tokens = [np.diff(part.token_starts)[live] for part, live in zip(parts, kept, strict=True)]
    return {
        "seqs": np.concatenate([part.seqs[live] for part, live in zip(parts, kept, strict=True)]),
        "chunk_ids": chunk_ids,
        "id_order": id_order(chunk_ids),
        "lengths": np.concatenate([part.lengths[live] for part, live in zip(parts, kept, strict=True)]),
        "run_documents": run_documents,
        "run_starts": run_starts,
        "vector_bits": np.concatenate(
            [part.vector_bits[:, live] for part, live in zip(parts, kept, strict=True)], axis=1
        ),
        "term_hashes": terms.hashes,
        "term_starts": terms.term_starts,
        "term_blob": terms.blob,
        "posting_starts": terms.starts,
        "token_starts": starts_of(np.concatenate(n_tokens)),
    }


# --- terms


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """The merged vocabulary; per portion which merged term each of its kept terms is, where it has it, and in how many live rows.

    `numbers[i]` ascend: parts and the merged part have their terms in one order, (hash, term).
    """

    hashes: NDArray[np.uint64]
    term_starts: NDArray[np.int64]
    blob: NDArray[np.uint8]
    starts: NDArray[np.int64]
    numbers: list[NDArray[np.int64]]
    places: list[NDArray[np.int64]]
    n_holding: list[NDArray[np.int64]]


def _merged_terms(portions: Sequence[Portion]) -> _Terms:
    """A term that no live row holds is left out: its rows are deleted, and what is deleted must not stay in a file."""
    n_holding = [_live_postings(portion) for portion in portions]
    kept = [np.flatnonzero(n) for n in n_holding]
    parts = [portion.part for portion in portions]
    hashes = [part.term_hashes[some] for part, some in zip(parts, kept, strict=True)]
    merged, inverse = np.unique(np.concatenate(hashes), return_inverse=True)
    numbers = np.split(inverse.astype(np.int64), np.cumsum([len(some) for some in kept])[:-1])
    home = np.full(len(merged), -1, np.int64)  # a part that has the term, and the term's place there
    place = np.zeros(len(merged), np.int64)
    for at, (number, some) in enumerate(zip(numbers, kept, strict=True)):
        home[number], place[number] = at, some
    if _collide(parts, kept, numbers, home, place):
        merged, numbers, home, place = _told_apart(parts, kept)
    lengths = np.zeros(len(merged), np.int64)
    totals = np.zeros(len(merged), np.int64)
    for at, part in enumerate(parts):
        mine = home == at
        lengths[mine] = np.diff(part.term_starts)[place[mine]]
        totals[numbers[at]] += n_holding[at][kept[at]]
    term_starts = starts_of(lengths)
    blob = np.empty(int(term_starts[-1]), np.uint8)
    for at, part in enumerate(parts):
        mine = np.flatnonzero(home == at)
        blob[_ranges(term_starts[mine], lengths[mine])] = _letters(part, place[mine])
    held = [n[some] for n, some in zip(n_holding, kept, strict=True)]
    return _Terms(merged, term_starts, blob, starts_of(totals), numbers, kept, held)


def _live_postings(portion: Portion) -> NDArray[np.int64]:
    """How many live rows hold each term of a part."""
    part = portion.part
    if portion.live is None:
        return np.diff(part.posting_starts)
    counts = np.zeros(len(part.term_hashes), np.int64)
    for first, past in _term_blocks(part.posting_starts):
        starts = part.posting_starts[first : past + 1]
        held = portion.live[part.posting_rows[int(starts[0]) : int(starts[-1])]]
        counts[first:past] = np.diff(starts_of(held.astype(np.int64))[starts - starts[0]])
    return counts


def _term_blocks(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """(first, past) terms with some _POSTINGS_A_PIECE postings together, or one with more."""
    first, n_terms = 0, len(starts) - 1
    while first < n_terms:
        past = int(np.searchsorted(starts, starts[first] + _POSTINGS_A_PIECE, "right")) - 1
        past = min(max(past, first + 1), n_terms)
        yield first, past
        first = past


def _collide(
    parts: Sequence[Part],
    kept: Sequence[NDArray[np.int64]],
    numbers: Sequence[NDArray[np.int64]],
    home: NDArray[np.int64],
    place: NDArray[np.int64],
) -> bool:
    """Whether two different terms have one hash: of 10 million terms a chance of 3 in a million."""
    for at, (part, some, number) in enumerate(zip(parts, kept, numbers, strict=True)):
        if (np.diff(number) == 0).any():
            return True
        for other, other_part in enumerate(parts):
            mine = np.flatnonzero(home[number] == other) if other != at else np.zeros(0, np.int64)
            theirs = place[number[mine]]
            if not np.array_equal(
                np.diff(part.term_starts)[some[mine]], np.diff(other_part.term_starts)[theirs]
            ) or not np.array_equal(_letters(part, some[mine]), _letters(other_part, theirs)):
                return True
    return False


def _told_apart(
    parts: Sequence[Part], kept: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.uint64], list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64]]:
    """As the quick way gives them where no hash is shared: hashes, numbers a part, home and place of each merged term."""
    keys = [
        [(int(part.term_hashes[at]), part.term(at)) for at in some.tolist()]
        for part, some in zip(parts, kept, strict=True)
    ]
    found = {
        key: (at, place) for at, some in enumerate(keys) for key, place in zip(some, kept[at].tolist(), strict=True)
    }
    ordered = sorted(found)
    number_of = {key: number for number, key in enumerate(ordered)}
    return (
        np.array([hashed for hashed, _ in ordered], np.uint64),
        [np.array([number_of[key] for key in some], np.int64) for some in keys],
        np.array([found[key][0] for key in ordered], np.int64),
        np.array([found[key][1] for key in ordered], np.int64),
    )


def _letters(part: Part, terms: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The given terms of a part one behind the other."""
    starts = part.term_starts[terms]
    return part.term_blob[_ranges(starts, part.term_starts[terms + 1] - starts)]


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of all ranges start, start + 1, … one behind the other."""
    before = starts_of(lengths)
    return np.repeat(starts - before[:-1], lengths) + np.arange(int(before[-1]))


# --- postings


def _counts_dtype(portions: Sequence[Portion]) -> np.dtype[Any]:
    """uint16 where every count of a live row fits, else int32."""
    for portion in portions:
        part = portion.part
        if part.posting_counts.dtype == _NARROW:
            continue
        for start in range(0, len(part.posting_counts), _POSTINGS_A_PIECE):
            piece = slice(start, start + _POSTINGS_A_PIECE)
            high = part.posting_counts[piece] > np.iinfo(_NARROW).max
            if portion.live is not None:
                high &= portion.live[part.posting_rows[piece]]
            if high.any():
                return np.dtype(np.int32)
    return _NARROW


def _posting_pieces(
    portions: Sequence[Portion], terms: _Terms, name: str, dtype: np.dtype[Any]
) -> Iterator[NDArray[Any]]:
    """Rows or counts of the merged postings: for each term those of the first portion, then of the next."""
    first_row = 0
    offsets: list[NDArray[np.int32] | int] = []  # what a row's number becomes: itself and so many more, or looked up
    for portion in portions:
        offsets.append(
            first_row if portion.live is None else np.cumsum(portion.live, dtype=np.int32) + np.int32(first_row - 1)
        )
        first_row += portion.n_live
    for first, past in _term_blocks(terms.starts):
        filled = terms.starts[first:past] - terms.starts[first]
        piece = np.empty(int(terms.starts[past] - terms.starts[first]), dtype)
        for portion, offset, number, place, n_holding in zip(
            portions, offsets, terms.numbers, terms.places, terms.n_holding, strict=True
        ):
            low, high = np.searchsorted(number, [first, past]).tolist()
            if low < high:
                mine = number[low:high] - first
                values = _live_values(portion, int(place[low]), int(place[high - 1]), name, offset)
                piece[_ranges(filled[mine], n_holding[low:high])] = values
                filled[mine] += n_holding[low:high]
        yield piece


def _live_values(
    portion: Portion, first_term: int, last_term: int, name: str, offset: NDArray[np.int32] | int
) -> NDArray[Any]:
    """Merged rows, or counts, of the live postings of consecutive terms of a portion."""
    part = portion.part
    piece = slice(int(part.posting_starts[first_term]), int(part.posting_starts[last_term + 1]))
    rows = part.posting_rows[piece]
    live = None if portion.live is None else portion.live[rows]
    values = part.posting_counts[piece] if name == "posting_counts" else rows
    values = values if live is None else values[live]
    if name == "posting_counts":
        return values
    return values + np.int32(offset) if isinstance(offset, int) else offset[values]
