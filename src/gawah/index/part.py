"""A part of the index: some chunks as arrays, in memory or mapped from files, never changed once made.

A row is a chunk's place in its part. Rows are in order of `seq`. Text in arrays (chunk ids, terms) is UTF-8, whose byte
order is the order of code points, so ties fall as Python's strings compare.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gawah.ports import TokenCodes

BITS_PER_WORD = 64


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """n chunks of d dimensions, v terms, r runs of chunks of one document, t tokens.

    seqs int64 [n]; chunk_ids S [n]; id_order int32 [n], rows by chunk id; lengths int32 [n], counted terms.
    run_documents int64 [r] and run_starts int64 [r + 1]: rows run_starts[i]:run_starts[i + 1] are of one document.
    vectors float32 [n, d]; vector_bits uint64 [ceil(d / 64), n], the vectors' signs.
    term_hashes uint64 [v], ascending; term_starts int64 [v + 1] into term_blob uint8: the terms themselves.
    posting_starts int64 [v + 1] into posting_rows int32 (ascending within a term) and posting_counts uint16 or int32.
    token_starts int64 [n + 1] into token_signs uint8 [t, d / 8] and token_scales float16 [t] (see ports.TokenCodes).
    """

    seqs: NDArray[np.int64]
    chunk_ids: NDArray[np.bytes_]
    id_order: NDArray[np.int32]
    lengths: NDArray[np.int32]
    run_documents: NDArray[np.int64]
    run_starts: NDArray[np.int64]
    vectors: NDArray[np.float32]
    vector_bits: NDArray[np.uint64]
    term_hashes: NDArray[np.uint64]
    term_starts: NDArray[np.int64]
    term_blob: NDArray[np.uint8]
    posting_starts: NDArray[np.int64]
    posting_rows: NDArray[np.int32]
    posting_counts: NDArray[np.integer]
    token_starts: NDArray[np.int64]
    token_signs: NDArray[np.uint8]
    token_scales: NDArray[np.float16]

    @property
    def n_chunks(self) -> int:
        return len(self.seqs)

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    def postings(self, term: bytes, hashed: int | None = None) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        """Rows that hold the term, ascending, and how often; two empty arrays when none does. `hashed` is its term_hash."""
        wanted = term_hash(term) if hashed is None else hashed
        at = int(np.searchsorted(self.term_hashes, np.uint64(wanted)))
        while at < len(self.term_hashes) and int(self.term_hashes[at]) == wanted:
            if self.term(at) == term:
                place = slice(int(self.posting_starts[at]), int(self.posting_starts[at + 1]))
                return self.posting_rows[place], self.posting_counts[place]
            at += 1  # another term with the same hash
        return self.posting_rows[:0], self.posting_counts[:0]

    def term(self, at: int) -> bytes:
        return self.term_blob[int(self.term_starts[at]) : int(self.term_starts[at + 1])].tobytes()

    def terms(self) -> Iterator[bytes]:
        """All terms, in the order of their hashes."""
        blob = self.term_blob.tobytes()
        starts = self.term_starts.tolist()
        return (blob[start:end] for start, end in pairwise(starts))

    def rows_of(self, chunk_ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """The row of each chunk id, -1 for one that is not in this part."""
        keys = chunk_ids.astype(self.chunk_ids.dtype)  # of another width, all of the part's ids would be copied instead
        at = np.minimum(np.searchsorted(self.chunk_ids, keys, sorter=self.id_order), self.n_chunks - 1)
        rows = self.id_order[at].astype(np.int64)
        return np.where(self.chunk_ids[rows] == chunk_ids, rows, -1)

    def rows_of_seqs(self, seqs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of those of the given seqs that are in this part."""
        at = np.searchsorted(self.seqs, seqs)
        inside = at < self.n_chunks
        at, seqs = at[inside], seqs[inside]
        return np.asarray(at[self.seqs[at] == seqs], np.int64)

    def tokens(self, row: int) -> TokenCodes:
        place = slice(int(self.token_starts[row]), int(self.token_starts[row + 1]))
        return TokenCodes(self.token_signs[place], self.token_scales[place])


ARRAY_NAMES: tuple[str, ...] = tuple(field.name for field in fields(Part))
LARGE_ARRAYS: tuple[str, ...] = ("vectors", "token_signs", "token_scales", "posting_rows", "posting_counts")
"""What is written in pieces and never held twice."""


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate (an undecodable byte of a command line) is kept, so that it matches nothing."""
    return text.encode("utf-8", "surrogatepass")


def term_hash(term: bytes) -> int:
    """BLAKE2b of 8 bytes, little-endian: where a term's postings are looked for."""
    return int.from_bytes(hashlib.blake2b(term, digest_size=8).digest(), "little")


def sign_bits(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """uint64 [ceil(d / 64), n]: one bit a dimension, set where it is positive; missing dimensions are clear."""
    packed = np.packbits(vectors > 0, axis=1)
    n_words = -(-vectors.shape[1] // BITS_PER_WORD)
    padded = np.zeros((len(vectors), n_words * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(padded.view("<u8").T)


def starts_of(lengths: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int64]:
    """int64 [n + 1]: where each of n consecutive pieces starts, and where the last ends."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def document_runs(document_nos: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(run_documents, run_starts) of one document number a row."""
    changes = np.flatnonzero(np.diff(document_nos)) + 1
    starts = np.concatenate([[0], changes, [len(document_nos)]]).astype(np.int64)
    return document_nos[starts[:-1]], starts


def blob_of(pieces: Iterable[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(pieces), np.uint8)
