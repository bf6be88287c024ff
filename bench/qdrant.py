"""The Qdrant index beside the local one: `python -m bench.qdrant [--store FOLDER]`.

Over made-up chunks (see bench.legs): bulk load, bytes, and the legs through HTTP. Over a real store (rustbook, ingested here
unless one is named; it is copied): the same questions on both indexes, and how far their answers differ. Last, what an
engine's own BM25 scores are worth when a collection has several shards. The engine runs in a process of its own behind
the requests of a server (gawah.testing.qdrant_engine); HTTP is Python's, so a server's is faster.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bench.corpora import SHARED, rustbook
from bench.legs import CUTOFF, TOKENS_A_CHUNK, Query, made_up, queries
from gawah.app import Application
from gawah.config import load_settings
from gawah.index.local import LocalIndex
from gawah.index.qdrant import QdrantIndex
from gawah.index.qdrant_requests import Connection
from gawah.index.qdrant_view import QdrantView
from gawah.index.view import LocalView
from gawah.ports import Embedding, IndexRow, TokenCodes
from gawah.testing.index import FakeIndexFeed
from gawah.types import Answer

N_CHUNKS, N_SHARDS, N_PATCHES = 10_000, 4, 50


@dataclass
class Feed(FakeIndexFeed):
    """A feed in memory whose look-ups cost as little as a catalog's."""

    def __post_init__(self) -> None:
        self.by_seq = {row.seq: row for row in self.all_rows}
        self.by_id = {row.chunk_id: row for row in self.all_rows}

    def chunk_ids_of(self, seqs: Sequence[int]) -> dict[int, str]:
        return {seq: self.by_seq[seq].chunk_id for seq in seqs if seq in self.by_seq}

    def embeddings_of(self, chunk_ids: Sequence[str]) -> dict[str, Embedding]:
        return {each: self.by_id[each].embedding for each in chunk_ids if each in self.by_id}


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The engine in a process of its own; its address."""
    command = [sys.executable, "-m", "gawah.testing.qdrant_engine", str(folder), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        try:
            yield engine.stdout.readline().strip()
        finally:
            engine.terminate()


def analyze(text: str) -> tuple[list[str], list[str]]:
    return text.split(), []


def feed_of(n_chunks: int, rng: np.random.Generator) -> tuple[Feed, list[Query]]:
    corpus = made_up(n_chunks, rng)
    offsets = range(0, len(corpus.signs) + 1, TOKENS_A_CHUNK)
    codes = [TokenCodes(corpus.signs[a:b], corpus.scales[a:b]) for a, b in pairwise(offsets)]
    lengths = rng.integers(30, corpus.words.shape[1] + 1, n_chunks)
    rows = tuple(
        IndexRow(
            at + 1,
            f"c{at:024x}",
            at // 20,
            " ".join(f"w{word}" for word in corpus.words[at][: lengths[at]]),
            Embedding(corpus.vectors[at], codes[at]),
        )
        for at in range(n_chunks)
    )
    return Feed(1, 1, rows, tokens={1: ""}), queries(corpus, rng)


def timed(run: Callable[[Query], object], asked: Sequence[Query]) -> str:
    """p50 and p95 in milliseconds."""
    took = []
    for query in asked:
        start = time.perf_counter()
        run(query)
        took.append(1000 * (time.perf_counter() - start))
    return f"p50 {statistics.median(took):6.1f}  p95 {float(np.percentile(took, 95)):6.1f} ms"


def load_and_legs(console: Console, work: Path, feed: Feed, asked: list[Query]) -> None:
    local = LocalIndex(work / "local", analyze).view(feed)
    with served(work / "engine") as url:
        index = QdrantIndex(Connection(url), "bench", analyze, work / "none")
        start = time.perf_counter()
        view = index.view(feed)
        took = time.perf_counter() - start
        console.print(f"bulk load: {feed.n_chunks():,} chunks in {took:.1f} s, {feed.n_chunks() / took:,.0f} a second")
        n_bytes = sum(path.stat().st_blocks * 512 for path in (work / "engine").rglob("*") if path.is_file())
        console.print(f"on disk: {n_bytes / feed.n_chunks():,.0f} bytes a chunk before the optimizer, log included")
        start = time.perf_counter()
        QdrantIndex(Connection(url), "bench", analyze, work / "none").view(feed)
        console.print(f"opened by a second process: {1000 * (time.perf_counter() - start):.1f} ms")
        console.print(agreement(local, view, asked))
        some = np.arange(0, feed.n_chunks() // 20, 3)
        stages: tuple[tuple[str, Callable[[Any, Query], object]], ...] = (
            ("dense", lambda over, query: over.dense(query.vector, CUTOFF)),
            ("dense, a third admitted", lambda over, query: over.dense(query.vector, CUTOFF, some)),
            ("BM25, terms known", lambda over, query: over.bm25(query.terms, CUTOFF)),
            ("document frequencies of 7 new terms", lambda _, query: fresh(view).document_frequency(query.terms)),
        )
        for name, stage in stages:
            console.print(f"{name:36} Qdrant {timed(lambda query, stage=stage: stage(view, query), asked)}")  # type: ignore[misc]
            if "new" not in name:
                console.print(f"{'':36} local  {timed(lambda query, stage=stage: stage(local, query), asked)}")  # type: ignore[misc]
        index.close()


def fresh(view: QdrantView) -> QdrantView:
    """The same view without the frequencies it knows."""
    view.contents.frequencies.clear()
    return view


def agreement(local: LocalView, view: QdrantView, asked: Sequence[Query]) -> str:
    same, worst = 0, 0.0
    for query in asked:
        same += local.dense(query.vector, CUTOFF) == view.dense(query.vector, CUTOFF)
        ours, theirs = dict(local.bm25(query.terms, CUTOFF)), dict(view.bm25(query.terms, CUTOFF))
        assert ours.keys() == theirs.keys()
        worst = max([worst, *(abs(score - theirs[key]) / score for key, score in ours.items())])
    return f"dense rankings and scores equal to the bit: {same} of {len(asked)}; BM25, largest relative difference: {worst:.1e}"


def per_shard(console: Console, work: Path, feed: Feed, asked: Sequence[Query]) -> None:
    """The engine's own BM25 over one text index, whole and in shards, against scores with figures of the whole."""
    import qdrant_edge as edge

    local = LocalIndex(work / "whole", analyze).view(feed)
    for n_shards in (1, N_SHARDS):
        shards = []
        for number in range(n_shards):
            folder = work / f"shard-{n_shards}-{number}"
            shard = edge.EdgeShard.create(
                str(folder), edge.EdgeConfig(sparse_vectors={"x": edge.EdgeSparseVectorParams()})
            )
            words = edge.TextIndexParams(tokenizer=edge.TokenizerType.Whitespace, lowercase=False, scoring=True)
            shard.update(edge.UpdateOperation.create_field_index("bag", words))
            # by document, as a shard key would: topics stay together
            rows = [row for row in feed.all_rows if row.document_no * n_shards // (len(feed.all_rows) // 20) == number]
            made = [edge.Point(row.seq, {}, {"bag": row.text, "chunk": row.chunk_id}) for row in rows]
            shard.update(edge.UpdateOperation.upsert_points(made))
            shards.append(shard)
        worst, kept = 0.0, []
        for query in asked:
            request = edge.QueryRequest(
                limit=CUTOFF, query=edge.TextQuery("bag", " ".join(query.terms)), with_payload=["chunk"]
            )
            found = [(point.payload["chunk"], point.score) for shard in shards for point in shard.query(request)]
            best = sorted(found, key=lambda pair: (-pair[1], pair[0]))[:10]
            true = dict(local.bm25(list(Counter(query.terms)), feed.n_chunks()))
            worst = max([worst, *(abs(score - true[key]) / true[key] for key, score in best)])
            expected = {key for key, _ in sorted(true.items(), key=lambda pair: (-pair[1], pair[0]))[:10]}
            kept.append(len(expected & {key for key, _ in best}) / len(expected))
        console.print(
            f"the engine's own BM25, {n_shards} shard(s): scores off by at most {worst:.1e}, "
            f"{100 * statistics.mean(kept):.1f} % of the ten best found"
        )


def multivectors(console: Console, work: Path, rng: np.random.Generator) -> None:
    """Late interaction in the engine: what 50 candidates cost as multivectors of 90 tokens."""
    import qdrant_edge as edge

    n_chunks = 400
    comparator = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)
    params = edge.EdgeVectorParams(size=384, distance=edge.Distance.Dot, multivector_config=comparator)
    shard = edge.EdgeShard.create(str(work / "multi"), edge.EdgeConfig(vectors={"tokens": params}))
    for number in range(1, n_chunks + 1):
        tokens = rng.standard_normal((TOKENS_A_CHUNK, 384)).astype(np.float32)
        shard.update(edge.UpdateOperation.upsert_points([edge.Point(number, {"tokens": tokens.tolist()}, {})]))
    query = rng.standard_normal((12, 384)).tolist()
    request = edge.QueryRequest(
        limit=N_PATCHES,
        query=edge.Query.Nearest(query, using="tokens"),
        filter=edge.Filter(must=[edge.HasIdCondition(set(range(1, N_PATCHES + 1)))]),
        params=edge.SearchParams(exact=True),
    )
    took = []
    for _ in range(20):
        start = time.perf_counter()
        shard.query(request)
        took.append(1000 * (time.perf_counter() - start))
    console.print(
        f"multivectors: {TOKENS_A_CHUNK * 384 * 4:,} bytes a chunk as float32 (our codes: {TOKENS_A_CHUNK * 50:,}), "
        f"MaxSim of {N_PATCHES} in the engine {statistics.median(took):.1f} ms"
    )


def real_questions(console: Console, work: Path, store: Path | None) -> None:
    """rustbook's questions on one catalog with both indexes."""
    folder = work / "store"
    if store is not None:
        shutil.copytree(store, folder)
    with served(work / "real") as url:
        apps = [
            Application(
                load_settings(
                    environment={}, options={"store": folder, "cache": work / "cache", "index": name}
                ).settings,
                create=True,
            )
            for name in ("local", f"qdrant:{url}")
        ]
        if store is None:
            list(apps[0].ingest(apps[0].plan(rustbook())))
        path = SHARED / "rustbook" / "queries.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ['{"query": "Who is on duty?"}']
        compared = [compare(*apps, json.loads(line)["query"]) for line in lines]
        for app in apps:
            app.close()
    dense, worst, citations, times = zip(*compared, strict=True)
    console.print(
        f"{len(lines)} questions: dense rankings equal {sum(dense)}, BM25 off by at most {max(worst):.1e}, "
        f"outcomes and citations equal {sum(citations)}"
    )
    for number, name in enumerate(("local", "Qdrant")):
        console.print(
            f"whole search without embedding, {name}: p50 {statistics.median(t[number] for t in times):.1f} ms"
        )


def compare(local: Application, qdrant: Application, question: str) -> tuple[bool, float, bool, tuple[float, float]]:
    both = [app.search(question) for app in (local, qdrant)]
    ours, theirs = both[0].rankings, both[1].rankings
    scores = {hit.chunk_id: hit.score for hit in theirs["bm25"].hits}
    worst = max(
        (abs(scores.get(hit.chunk_id, math.inf) - hit.score) / hit.score for hit in ours["bm25"].hits), default=0
    )
    outcomes = [app.ask(question) for app in (local, qdrant)]
    cited = [outcome.citations if isinstance(outcome, Answer) else () for outcome in outcomes]
    took = [sum(ms for stage, ms in each.times_ms.items() if stage != "embed") for each in both]
    same = type(outcomes[0]) is type(outcomes[1]) and cited[0] == cited[1]
    return ours["dense"] == theirs["dense"], worst, same, (took[0], took[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="a store with rustbook in it")
    parser.add_argument("--chunks", type=int, default=N_CHUNKS)
    arguments = parser.parse_args()
    console = Console()
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        feed, asked = feed_of(arguments.chunks, rng)
        load_and_legs(console, work, feed, asked)
        per_shard(console, work, feed, asked)
        multivectors(console, work, rng)
        real_questions(console, work, arguments.store)


if __name__ == "__main__":
    main()
