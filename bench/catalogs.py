"""The catalog's own work in SQLite and in a PostgreSQL server of this run's own: documents committed, rows read, a store moved.

Vectors and token codes are random numbers of the sizes MiniLM gives; nothing is extracted or embedded. The server keeps
fsync on, as one that is meant to last does.   python -m bench.catalogs [--documents 100] [--chunks 50]
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gawah.fingerprint import sha256_text
from gawah.ports import Embedding, TokenCodes
from gawah.store.catalog import SqlCatalog, SqliteCatalog
from gawah.store.moving import export_store, import_store
from gawah.store.originals import Originals
from gawah.testing.catalog import MODEL, make_chunks, make_document, make_stamp
from gawah.testing.postgres import PostgresServer, find_binaries
from gawah.types import DocumentCounters

DIMENSIONS, N_TOKENS = 384, 110


def embedding(text: str) -> Embedding:
    generator = np.random.default_rng(int(sha256_text(text)[:12], 16))
    vector = generator.standard_normal(DIMENSIONS)
    tokens = generator.standard_normal((N_TOKENS, DIMENSIONS))
    codes = TokenCodes(np.packbits(tokens > 0, axis=1), np.full(N_TOKENS, 0.04, np.float16))
    return Embedding((vector / np.linalg.norm(vector)).astype(np.float32), codes)


def prepared(n_documents: int, n_chunks: int) -> dict[str, tuple]:
    made = {}
    for number in range(n_documents):
        text = "".join(f"Line {n} of document {number}: {'words of some length ' * 20}\n" for n in range(n_chunks))
        document = make_document(f"{number:05}.txt", text)
        chunks = make_chunks(document)
        made[document.id] = (document, chunks, {item.text_sha256: embedding(item.chunk.text) for item in chunks})
    return made


def work_off(catalog: SqlCatalog, made: dict[str, tuple], owner: str) -> None:
    while (job := catalog.claim(owner)) is not None:
        document, chunks, embeddings = made[job.document.id]
        keys = list(embeddings)
        for start in range(0, len(keys), 32):
            catalog.put_embeddings(MODEL, {key: embeddings[key] for key in keys[start : start + 32]})
        catalog.commit_document(job, document, chunks, make_stamp(), DocumentCounters(len(document.text), len(chunks)))


def timed(what: Callable[[], object]) -> float:
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def measure(name: str, catalog: SqlCatalog, made: dict[str, tuple], n_workers: int) -> None:
    files = [("default", document.source.name, document.source.uri) for document, *_ in made.values()]
    n_chunks = sum(len(chunks) for _, chunks, _ in made.values())
    queued = timed(lambda: catalog.enqueue(files))
    threads = [threading.Thread(target=work_off, args=(catalog, made, f"w{n}")) for n in range(n_workers)]

    def all_of_them() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    committed = timed(all_of_them)
    with catalog.snapshot() as snapshot:
        read = timed(lambda: sum(1 for _ in snapshot.rows(0)))
        ids = [row.chunk_id for row, _ in zip(snapshot.rows(0), range(25), strict=False)]
        passages = min(timed(lambda: snapshot.passages([(key, 1.0, 0.5) for key in ids])) for _ in range(5))
        listed = min(timed(lambda: snapshot.page([], "", ("", ""), 100)) for _ in range(5))
    appended = min(timed(lambda n=n: catalog.append_answer(f"{name}{n}", "answered", {"n": n}, [])) for n in range(5))
    print(
        f"{name:<12} {n_workers} worker(s): queued {len(files) / queued:7,.0f} documents/s, committed "
        f"{n_chunks / committed:6,.0f} chunks/s, read {n_chunks / read:7,.0f} rows/s, 25 passages {passages * 1e3:5.1f} ms, "
        f"a page of 100 documents {listed * 1e3:4.1f} ms, an outcome {appended * 1e3:4.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--chunks", type=int, default=50)
    options = parser.parse_args()
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("PostgreSQL is not installed (requirements/system.sh)")
    from gawah.store.postgres.catalog import PostgresCatalog

    made = prepared(options.documents, options.chunks)
    server = PostgresServer(binaries, settings="-c shared_buffers=128MB")
    try:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for n_workers in (1, 4):
                sqlite = SqliteCatalog(root / f"sqlite{n_workers}", create=True)
                measure("SQLite", sqlite, made, n_workers)
                postgres = PostgresCatalog(server.new_address(), root / f"postgres{n_workers}", create=True)
                measure("PostgreSQL", postgres, made, n_workers)
            target = PostgresCatalog(server.new_address(), root / "moved", create=True)
            file = root / "store.zip"
            out = timed(lambda: export_store(sqlite, Originals(sqlite.directory), file))
            back = timed(lambda: import_store(file, target, Originals(target.directory)))
            n = options.documents * options.chunks
            print(
                f"moved {n:,} chunks, {file.stat().st_size / 1e6:.0f} MB: exported in {out:.1f} s, imported in {back:.1f} s"
            )
            for catalog in (sqlite, postgres, target):
                catalog.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
