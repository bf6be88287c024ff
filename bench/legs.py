"""Speeds of the query stages at 1,000 and 100,000 chunks, beside other libraries: `python -m bench.legs`.

The chunks are made up but shaped like real ones: Zipf-distributed terms (exponent 1.05, 120,000 words, 90 a chunk),
unit vectors of 384 dimensions around topics of 250 chunks, 90 random token codes a chunk. The segment is built from arrays.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from gawah.dense import search_dense
from gawah.fuse import fuse
from gawah.index.build import whole
from gawah.index.local import PREFILTER_ABOVE, LocalIndex
from gawah.index.part import Part, document_runs, sign_bits, starts_of, term_hash
from gawah.index.segment import write_segment
from gawah.index.view import LocalView
from gawah.lexical import search_lexical
from gawah.ports import Embedding, IndexRow, TokenCodes
from gawah.rerank import maxsim_of_each, token_weights
from gawah.testing.index import FakeIndexFeed

DIMENSIONS, N_WORDS, TERMS_A_CHUNK, TOKENS_A_CHUNK = 384, 120_000, 90, 90
CUTOFF, SHORTLIST, QUERY_TOKENS = 100, 50, 12
CHUNKS_A_TOPIC, N_QUERIES = 250, 60


@dataclass(frozen=True)
class Corpus:
    """`words[i]` are the word numbers of chunk i, `signs` and `scales` the token codes of all chunks in order."""

    words: np.ndarray
    vectors: np.ndarray
    signs: np.ndarray
    scales: np.ndarray

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class Query:
    terms: list[str]
    vector: np.ndarray
    token_vectors: np.ndarray


def made_up(n_chunks: int, rng: np.random.Generator) -> Corpus:
    shares = 1 / np.arange(1, N_WORDS + 1) ** 1.05
    words = rng.choice(N_WORDS, (n_chunks, TERMS_A_CHUNK), p=shares / shares.sum()).astype(np.int32)
    topics = rng.standard_normal((max(1, n_chunks // CHUNKS_A_TOPIC), DIMENSIONS), dtype=np.float32)
    vectors = topics[rng.integers(0, len(topics), n_chunks)]
    vectors += 0.9 * rng.standard_normal(vectors.shape, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    n_tokens = n_chunks * TOKENS_A_CHUNK
    signs = rng.integers(0, 256, (n_tokens, DIMENSIONS // 8), dtype=np.uint8)
    return Corpus(words, vectors, signs, rng.uniform(0.03, 0.05, n_tokens).astype(np.float16))


def part_of(corpus: Corpus) -> Part:
    """The corpus as an index part, straight from its arrays (no text is analysed)."""
    n_chunks = len(corpus)
    pairs = corpus.words.astype(np.int64).ravel() * n_chunks + np.repeat(np.arange(n_chunks), TERMS_A_CHUNK)
    pairs, counts = np.unique(pairs, return_counts=True)
    words, rows = np.divmod(pairs, n_chunks)
    present, n_holding = np.unique(words, return_counts=True)
    terms = [f"w{word}".encode() for word in present]
    hashes = np.array([term_hash(term) for term in terms], np.uint64)
    by_hash = np.argsort(hashes)
    rank = np.zeros(N_WORDS, np.int64)
    rank[present[by_hash]] = np.arange(len(present))
    order = np.argsort(rank[words], kind="stable")
    chunk_ids = np.array([f"c{number:024x}".encode() for number in np.random.default_rng(9).permutation(n_chunks)])
    documents, runs = document_runs(np.arange(n_chunks) // 20)
    return Part(
        seqs=np.arange(1, n_chunks + 1),
        chunk_ids=chunk_ids,
        id_order=np.argsort(chunk_ids).astype(np.int32),
        lengths=np.full(n_chunks, TERMS_A_CHUNK, np.int32),
        run_documents=documents,
        run_starts=runs,
        vectors=corpus.vectors,
        vector_bits=sign_bits(corpus.vectors),
        term_hashes=hashes[by_hash],
        term_starts=starts_of([len(terms[at]) for at in by_hash]),
        term_blob=np.frombuffer(b"".join(terms[at] for at in by_hash), np.uint8),
        posting_starts=starts_of(n_holding[by_hash]),
        posting_rows=rows[order].astype(np.int32),
        posting_counts=counts[order].astype(np.uint16),
        token_starts=np.arange(n_chunks + 1) * TOKENS_A_CHUNK,
        token_signs=corpus.signs,
        token_scales=corpus.scales,
    )


def queries(corpus: Corpus, rng: np.random.Generator) -> list[Query]:
    """Seven words and a noisy vector of some chunk each; one of the words is among the most frequent fifty."""
    made = []
    for chunk in rng.integers(0, len(corpus), N_QUERIES):
        words = [*rng.choice(corpus.words[chunk], 6), rng.integers(0, 50)]
        vector = corpus.vectors[chunk] + 0.03 * rng.standard_normal(DIMENSIONS, dtype=np.float32)
        tokens = rng.standard_normal((QUERY_TOKENS, DIMENSIONS), dtype=np.float32)
        unit = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
        made.append(Query([f"w{word}" for word in words], vector / np.linalg.norm(vector), unit))
    return made


def view_over(directory: Path, part: Part, *, prefilter_above: int | None = PREFILTER_ABOVE) -> LocalView:
    """The part as the one segment of an index that has just been opened (its files are in the page cache)."""
    record = write_segment(directory / "segments", [whole(part)], 1, "1")
    return LocalIndex(directory, _analyze, prefilter_above=prefilter_above).view(FakeIndexFeed(1, 1, (), (record,)))


def tail_over(directory: Path, corpus: Corpus) -> LocalView:
    """All chunks in the in-memory tail, one chunk a commit."""
    offsets = range(0, len(corpus.signs) + 1, TOKENS_A_CHUNK)
    codes = [TokenCodes(corpus.signs[a:b], corpus.scales[a:b]) for a, b in pairwise(offsets)]
    texts = [" ".join(f"w{word}" for word in words) for words in corpus.words]
    rows = tuple(
        IndexRow(at + 1, f"c{at:024x}", at // 20, texts[at], Embedding(corpus.vectors[at], codes[at]))
        for at in range(len(corpus))
    )
    index = LocalIndex(directory, _analyze)
    for n_committed in range(1, len(corpus)):
        index.view(FakeIndexFeed(1, n_committed, rows[:n_committed]))
    return index.view(FakeIndexFeed(1, len(corpus), rows))


def answer(view: LocalView, query: Query) -> list[float]:
    """Everything between the query's embedding and the passages: both legs, fusion, look-ups, weights, MaxSim."""
    dense = search_dense(view, query.vector, CUTOFF)
    lexical = search_lexical(view, query.terms, CUTOFF)
    shortlist = [hit.chunk_id for hit in fuse([dense, lexical], CUTOFF).hits[:SHORTLIST]]
    words = (query.terms * QUERY_TOKENS)[:QUERY_TOKENS]
    weights = token_weights(words, view.document_frequency, view.n_chunks, analyze=lambda word: [word])
    return maxsim_of_each(query.token_vectors, weights, view.tokens(shortlist))


def ours(view: LocalView, asked: list[Query]) -> list[tuple[str, Callable[[Query], object]]]:
    """The stages one by one (what a stage needs of an earlier one is made outside the clock), and all together."""
    rankings, codes = {}, {}
    for query in asked:
        both = search_dense(view, query.vector, CUTOFF), search_lexical(view, query.terms, CUTOFF)
        rankings[id(query)] = both
        codes[id(query)] = view.tokens([hit.chunk_id for hit in fuse(both, CUTOFF).hits[:SHORTLIST]])
    some = np.arange(0, view.n_chunks // 20, 3)
    return [
        ("dense", lambda query: search_dense(view, query.vector, CUTOFF)),
        ("dense, a third admitted", lambda query: search_dense(view, query.vector, CUTOFF, some)),
        ("BM25", lambda query: search_lexical(view, query.terms, CUTOFF)),
        ("RRF of 100 + 100", lambda query: fuse(rankings[id(query)], CUTOFF)),
        ("MaxSim of 50", lambda query: maxsim_of_each(query.token_vectors, [1.0] * QUERY_TOKENS, codes[id(query)])),
        ("all stages", lambda query: answer(view, query)),
    ]


def peers(corpus: Corpus, *, rank_bm25: bool) -> list[tuple[str, Callable[[Query], object]]]:
    """The same legs by others; rank_bm25 keeps a dictionary a chunk, which is not for 100,000."""
    import bm25s
    from rank_bm25 import BM25Okapi

    def plain(query: Query) -> object:
        scores = corpus.vectors @ query.vector
        best = np.argpartition(-scores, CUTOFF)[:CUTOFF]
        return best[np.argsort(-scores[best])]

    texts = [[f"w{word}" for word in words] for words in corpus.words]
    sparse = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    sparse.index(texts, show_progress=False)
    found: list[tuple[str, Callable[[Query], object]]] = [
        ("numpy: matrix, argpartition", plain),
        ("bm25s", lambda query: sparse.retrieve([query.terms], k=CUTOFF, show_progress=False)),
    ]
    if rank_bm25:
        okapi = BM25Okapi(texts)
        found.append(("rank_bm25", lambda query: np.argpartition(-okapi.get_scores(query.terms), CUTOFF)[:CUTOFF]))
    return found


def recall(exact: LocalView, quick: LocalView, asked: list[Query], cutoff: int) -> float:
    """Share of the exact dense leg's hits that the leg with sign bits first finds too."""
    shares = []
    for query in asked:
        wanted = {chunk_id for chunk_id, _ in exact.dense(query.vector, cutoff)}
        shares.append(len(wanted & {chunk_id for chunk_id, _ in quick.dense(query.vector, cutoff)}) / cutoff)
    return statistics.mean(shares)


def timed(what: Callable[[Query], object], asked: list[Query]) -> tuple[float, float, float]:
    """Milliseconds a query after a warm-up: median, 95th percentile, and median of processor time (for a busy machine)."""
    for query in asked[:5]:
        what(query)
    times, busy = [], []
    for query in asked * 2:
        start, start_busy = time.perf_counter(), time.thread_time()
        what(query)
        busy.append((time.thread_time() - start_busy) * 1e3)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times), float(np.quantile(times, 0.95)), statistics.median(busy)


def main(sizes: list[int], *, with_peers: bool) -> None:
    console = Console(width=100)
    table = Table(
        "chunks", "what", "p50 ms", "p95 ms", "p50 CPU ms", title="query stages, one thread of BLAS, cutoff 100"
    )
    for n_chunks in sizes:
        rng = np.random.default_rng(n_chunks)
        corpus = made_up(n_chunks, rng)
        asked = queries(corpus, rng)
        with tempfile.TemporaryDirectory() as directory:
            root, part = Path(directory), part_of(corpus)
            start = time.perf_counter()
            view = view_over(root / "one", part)
            console.print(
                f"{n_chunks} chunks: segment written, synced and opened in {time.perf_counter() - start:.1f} s"
            )
            measured = ours(view, asked)
            if n_chunks <= 2000:
                measured += [
                    (f"{name}, in the tail", what) for name, what in ours(tail_over(root / "tail", corpus), asked)
                ]
            if n_chunks > PREFILTER_ABOVE:
                exact = view_over(root / "one", part, prefilter_above=None)
                measured.append(("dense, exact scan", lambda query, view=exact: view.dense(query.vector, CUTOFF)))
                console.print(
                    f"recall of sign bits first: @10 {recall(exact, view, asked, 10):.3f}, @100 {recall(exact, view, asked, 100):.3f}"
                )
            measured += peers(corpus, rank_bm25=n_chunks <= 10_000) if with_peers else []
            for name, what in measured:
                table.add_row(f"{n_chunks:,}", name, *(f"{figure:.2f}" for figure in timed(what, asked)))
    console.print(table)


def _analyze(text: str) -> tuple[list[str], list[str]]:
    return text.split(), []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[1_000, 100_000])
    parser.add_argument("--alone", action="store_true", help="without the other libraries")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        main(arguments.sizes, with_peers=not arguments.alone)
