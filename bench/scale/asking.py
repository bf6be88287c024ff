"""Questions to a store that lies there: a process of its own, so that its memory is that of queries and its start is cold."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bench.scale.growth import MODEL, index_over, status_mib
from bench.scale.real import asked
from gawah.index.view import LocalView
from gawah.ports import QueryEmbedding
from gawah.rerank import LateInteraction
from gawah.retrieve import Retriever, _exactness, gather, retrieve
from gawah.store.catalog import SqliteCatalog

N_QUESTIONS = 150
DEPTH = 100


class KnownQuestions:
    """An embedder that has seen every question: what is timed is everything else."""

    stamp = MODEL

    def __init__(self, known: dict[str, QueryEmbedding]) -> None:
        self._known = known

    def embed_query(self, question: str) -> QueryEmbedding:
        return self._known[question]

    def coverage(self, text: str) -> float:
        letters = [character for character in text if character.isalpha()]
        return sum(map(str.isascii, letters)) / len(letters) if letters else 1.0


def measure(directory: Path, graph_from: int | None) -> dict[str, object]:
    pairs = [(question, query) for question, query in asked() if question.isascii()]
    pairs = pairs[:: max(1, len(pairs) // N_QUESTIONS)][:N_QUESTIONS]
    embedder = KnownQuestions(dict(pairs))
    questions = [question for question, _ in pairs]
    dropped = drop_from_page_cache(directory)
    began = time.perf_counter()
    catalog = SqliteCatalog(directory)
    index = index_over(directory, None, graph_from=graph_from)
    retriever = Retriever(index, embedder, LateInteraction())  # type: ignore[arg-type]
    with catalog.snapshot() as snapshot:
        view = index.view(snapshot)
        opened = time.perf_counter()
        retrieve(retriever, snapshot, questions[0], system="rerank", cutoff=10)
    answered = time.perf_counter()
    with catalog.snapshot() as snapshot:
        index_over(directory, None, graph_from=graph_from).view(snapshot)
    reopened = time.perf_counter()
    memory_after_open = status_mib("RssAnon")
    with catalog.snapshot() as snapshot:
        for question in questions:
            retrieve(retriever, snapshot, question, system="rerank", cutoff=10)  # the files come into the page cache
        whole, busy, stages, evidence, exactness = [], [], [], [], []
        for question in questions:
            start, start_busy = time.perf_counter(), time.process_time()
            found = retrieve(retriever, snapshot, question, system="rerank", cutoff=10)
            whole.append((time.perf_counter() - start) * 1e3)
            busy.append((time.process_time() - start_busy) * 1e3)
            stages.append(found.times_ms)
            start = time.perf_counter()
            gather(retriever, snapshot, found)
            evidence.append((time.perf_counter() - start) * 1e3)
            start = time.perf_counter()
            _exactness(view, f"{question} E0382 --max-txn-ops", [passage.chunk.id for passage in found.passages])
            exactness.append((time.perf_counter() - start) * 1e3)
        legs = {
            name: spread([times[name] for times in stages]) for name in ("dense", "bm25", "fuse", "rerank", "passages")
        }
        admitted = np.arange(1, view.n_chunks // 20, 7)
        legs |= {
            "evidence": spread(evidence),
            "exactness": spread(exactness),
            "dense of a seventh": timed(lambda at: view.dense(pairs[at][1].vector, DEPTH, admitted), 30),
        }
        exact = index_over(directory, None, prefilter_above=None).view(snapshot)
        legs["dense by scan"] = timed(lambda at: exact.dense(pairs[at][1].vector, DEPTH), 9)
        recall = recalls(view, [query for _, query in pairs])
    return {
        "chunks": view.n_chunks,
        "page_cache_dropped": dropped,
        "open_cold_ms": round((opened - began) * 1e3, 1),
        "first_answer_cold_ms": round((answered - opened) * 1e3, 1),
        "open_warm_ms": round((reopened - answered) * 1e3, 1),
        "query": spread(whole),
        "query_cpu": spread(busy),
        "legs": legs,
        "recall": recall,
        "anonymous_mib_after_open": round(memory_after_open),
        "anonymous_mib": round(status_mib("RssAnon")),
        "with_mapped_files_mib": round(status_mib("VmHWM")),
    }


def recalls(view: LocalView, queries: Sequence[QueryEmbedding]) -> dict[str, float]:
    """Share of the exactly best k of every question that the view's dense leg finds, over all questions."""
    asked_for = np.array([query.vector for query in queries], np.float32)
    best = np.full((len(queries), 1), -np.inf, np.float32)
    ids = np.zeros((len(queries), 1), "S25")
    for portion in view.contents.segments.values():
        part = portion.part
        for start in range(0, part.n_chunks, 65_536):
            scores = asked_for @ part.vectors[start : start + 65_536].T
            keep = min(DEPTH, scores.shape[1])
            top = np.argpartition(-scores, keep - 1, axis=1)[:, :keep]
            best = np.concatenate([best, np.take_along_axis(scores, top, 1)], axis=1)
            ids = np.concatenate([ids, part.chunk_ids[start + top]], axis=1)
            order = np.argsort(-best, axis=1)[:, :DEPTH]
            best, ids = np.take_along_axis(best, order, 1), np.take_along_axis(ids, order, 1)
    shares: dict[int, list[float]] = {10: [], 25: [], DEPTH: []}
    for row, query in enumerate(queries):
        found = {chunk_id.encode(): rank for rank, (chunk_id, _) in enumerate(view.dense(query.vector, DEPTH), start=1)}
        for k, of_k in shares.items():
            wanted = [chunk_id for chunk_id in ids[row, :k].tolist() if chunk_id]
            of_k.append(sum(chunk_id in found for chunk_id in wanted) / len(wanted))
    return {f"@{k}": round(statistics.mean(of_k), 4) for k, of_k in shares.items()}


def spread(times_ms: Sequence[float]) -> dict[str, float]:
    return {"p50": round(statistics.median(times_ms), 2), "p95": round(float(np.quantile(times_ms, 0.95)), 2)}


def timed(work: Callable[[int], object], rounds: int) -> dict[str, float]:
    work(0)
    times = []
    for at in range(rounds):
        start = time.perf_counter()
        work(at)
        times.append((time.perf_counter() - start) * 1e3)
    return spread(times)


def drop_from_page_cache(directory: Path) -> bool:
    """Asks the system to forget the store's files; False where it cannot be asked."""
    if not hasattr(os, "posix_fadvise"):
        return False
    os.sync()
    for path in directory.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
    return True
