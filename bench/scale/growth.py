"""A store that grows: rows into a real catalog, segments through the product's own upkeep, timed and watched for memory."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from bench.scale.made import CHUNKS_A_DOCUMENT, Made
from gawah.index.local import LocalIndex
from gawah.ports import IndexRow
from gawah.store import epochs
from gawah.store.catalog import SqliteCatalog
from gawah.store.snapshot import SqlSnapshot
from gawah.store.sql import Order
from gawah.types import CharRange, ModelStamp
from gawah.upkeep import tidy
from gawah.wire import to_json

STEP_CHUNKS = 4096  # what an ingest commits between two rounds of upkeep
MODEL = ModelStamp("bench", "0" * 64, 384, 256, "sign1-fp16/1")


class GrowingCatalog(SqliteCatalog):
    """A catalog whose chunks' embeddings are made anew when they are asked for instead of being kept."""

    def __init__(self, directory: Path, made: Made, *, create: bool = False) -> None:
        super().__init__(directory, create=create)
        self.made = made
        self.newest: list[IndexRow] = []
        self.last_seq = 0

    @contextmanager
    def snapshot(self, generation: int | None = None) -> Iterator[SqlSnapshot]:
        with super().snapshot(generation) as snapshot:
            snapshot.rows = self._rows  # type: ignore[method-assign]
            yield snapshot

    def _rows(self, after_seq: int) -> Iterator[IndexRow]:
        if self.newest and self.newest[0].seq == after_seq + 1:
            yield from self.newest
        elif after_seq < self.last_seq:
            yield from self.made.rows(after_seq + 1, self.last_seq)

    def grow(self, rows: list[IndexRow]) -> None:
        """Commits rows that follow the ones before."""
        locator = json.dumps(to_json(CharRange(0, 1)))
        generation = self.generation_for(MODEL)
        with self.writing(Order.CONTENT) as opened:
            documents = sorted({row.document_no for row in rows})
            opened.executemany(
                "INSERT OR IGNORE INTO documents (no, id, collection, name, uri, state, created_at, updated_at) "
                "VALUES (?, ?, ?, ?, '', 'ready', 0, 0)",
                [(no, f"d{no:024x}", f"c{no % 10}", f"document {no}") for no in documents],
            )
            texts = [self.made.text(row.text) for row in rows]
            opened.executemany(
                "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, '', 0, ?, 100, 0, ?, ?, 1)",
                [
                    (
                        row.seq,
                        row.chunk_id,
                        generation,
                        row.document_no,
                        row.seq % CHUNKS_A_DOCUMENT,
                        len(text),
                        text,
                        locator,
                    )
                    for row, text in zip(rows, texts, strict=True)
                ],
            )
            epochs.bump(opened)
        self.newest, self.last_seq = rows, rows[-1].seq


class Memory(threading.Thread):
    """The most anonymous memory of this process while it is watched, in MiB: what mapped files hold is the system's."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most_mib = 0.0
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        while not self._ended.wait(0.02):
            self.most_mib = max(self.most_mib, status_mib("RssAnon"))


def status_mib(name: str) -> float:
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return 0.0


def index_over(directory: Path, made: Made | None, **options: object) -> LocalIndex:
    return LocalIndex(directory, made.analyze if made else _never, **options)  # type: ignore[arg-type]


def grow(directory: Path, made: Made, size: int) -> dict[str, object]:
    """Brings the store to `size` chunks; what that took, and what lies on the disk."""
    catalog = GrowingCatalog(directory, made, create=True)
    index = index_over(directory, made)
    with sqlite3.connect(catalog.path) as opened:
        first = (opened.execute("SELECT max(seq) FROM chunks").fetchone()[0] or 0) + 1
        opened.execute("INSERT OR IGNORE INTO embeddings VALUES (1, '', '', '', '', '')")
    catalog.last_seq = first - 1
    indexing_s = catalog_s = 0.0
    with Memory() as memory:
        for start in range(first, size + 1, STEP_CHUNKS):
            rows = list(made.rows(start, min(start + STEP_CHUNKS - 1, size)))
            began = time.perf_counter()
            catalog.grow(rows)
            grown = time.perf_counter()
            tidy(catalog, index)
            catalog_s += grown - began
            indexing_s += time.perf_counter() - grown
        with catalog.snapshot() as snapshot:
            rest = index.seal(snapshot)  # what is left would be analysed by every process that opens the store
        if rest:
            catalog.replace_segments([], rest)
    catalog.close()
    return {
        "chunks": size,
        "added": size - first + 1,
        "rows_per_s": round((size - first + 1) / indexing_s),
        "indexing_s": round(indexing_s, 1),
        "catalog_s": round(catalog_s, 1),
        "peak_anonymous_mib": round(memory.most_mib),
        "memory_before_mib": round(status_mib("RssAnon")),
        **_on_disk(directory, size),
    }


def add_graphs(directory: Path, made: Made, graph_from: int) -> dict[str, object]:
    """What upkeep does when the setting changes to hnsw: every segment that is large enough is rewritten with a graph."""
    catalog = GrowingCatalog(directory, made)
    with Memory() as memory:
        began = time.perf_counter()
        tidy(catalog, index_over(directory, made, graph_from=graph_from))
        took = time.perf_counter() - began
    n_graphs = len(list(directory.glob("segments/*/*.usearch")))
    n_bytes = sum(path.stat().st_size for path in directory.glob("segments/*/*.usearch"))
    catalog.close()
    return {
        "graphs": n_graphs, "seconds": round(took, 1), "bytes": n_bytes, "peak_anonymous_mib": round(memory.most_mib)
    }  # fmt: skip


def _on_disk(directory: Path, n_chunks: int) -> dict[str, object]:
    sizes: dict[str, int] = {}
    for path in directory.glob("segments/*/*"):
        sizes[path.name] = sizes.get(path.name, 0) + path.stat().st_size
    return {
        "segments": len(list(directory.glob("segments/*/manifest.json"))),
        "bytes_per_chunk": {name: round(n / n_chunks, 1) for name, n in sorted(sizes.items())},
        "index_bytes_per_chunk": round(sum(sizes.values()) / n_chunks),
        "catalog_bytes_per_chunk": round((directory / "catalog.sqlite").stat().st_size / n_chunks),
    }


def _never(text: str) -> tuple[list[str], list[str]]:
    raise AssertionError(f"everything is in segments, yet this is analysed: {text[:60]}")
