"""kill -9 an ingest at random moments, again and again; two readers look on all the while.

After each kill: no acknowledged document is lost, no half document is in either leg, and finishing gives the index
fingerprint of an undisturbed run.   python -m bench.kill [--times 20] [--corpus FOLDER] [--seed 1]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing.synchronize import Event
from pathlib import Path

from bench.corpora import rustbook
from gawah.app import Application
from gawah.config import load_settings
from gawah.errors import GawahError, NotFoundError
from gawah.types import DocumentState

PAUSE_S = 0.05  # between two looks of a reader, or the readers take the cores and the ingest never gets anywhere
QUESTIONS = ("How does a reference borrow a value?", "panic", "what happens when the logger clock differs")


def ingest_command(corpus: Path, store: Path) -> list[str]:
    return [sys.executable, "-m", "gawah", "ingest", str(corpus), "--store", str(store), "--json"]


def open_store(store: Path) -> Application:
    return Application(load_settings(environment={}, options={"store": store}).settings)


def fingerprint(store: Path) -> str:
    with open_store(store) as app, app.catalog.snapshot() as snapshot:
        return app.index.view(snapshot).fingerprint()


def inspect(app: Application, question: str | None) -> set[str]:
    """Raises AssertionError for anything inconsistent; returns the ids of the documents that are ready."""
    with app.catalog.snapshot() as snapshot:
        records = snapshot.documents()
        held = snapshot.n_chunks_by_document()
        view = app.index.view(snapshot)
        rows = {row.chunk_id for row in snapshot.rows(0)}
        assert view.n_chunks == len(rows) == sum(held.values()), "the index and the catalog disagree"
        texts = {}
        for record in records:
            assert record.counters.n_chunks == held.get(record.no, 0), f"{record.name}: counter against rows"
            if record.state is DocumentState.READY:
                texts[record.id] = snapshot.load_document(record.no).text
                for chunk in snapshot.chunks_of(record.no):
                    assert chunk.span.slice(texts[record.id]) == chunk.content, f"{record.name}: a chunk does not slice"
                    assert chunk.id in rows, f"{record.name}: a chunk is not in the index"
    if question and rows:
        found = app.search(question, cutoff=20)
        with app.catalog.snapshot() as snapshot:
            for passage in found.passages:
                text = snapshot.load_document(snapshot.find_document(passage.chunk.document_id).no).text
                assert passage.chunk.span.slice(text) == passage.chunk.content, "a hit does not slice"
    return set(texts)


def read_on(store: Path, stop: Event, seen: dict[str, bool], counts: dict[str, int], number: int) -> None:
    """A reader process: looks at everything until it is told to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    n = 0
    app = None
    parent = os.getppid()
    while not stop.is_set() and os.getppid() == parent:
        try:
            app = app or open_store(store)
            for document in inspect(app, QUESTIONS[n % len(QUESTIONS)] if n % 5 == 0 else None):
                seen[document] = True
            n += 1
            time.sleep(PAUSE_S)
        except NotFoundError:
            time.sleep(PAUSE_S)  # the store is not made yet
        except (AssertionError, GawahError) as error:
            counts[f"fault {number}"] = 1
            print(f"reader {number}: {type(error).__name__}: {error}", flush=True)
            return
    counts[f"reader {number}"] = n
    if app:
        app.close()


def trial(corpus: Path, delay_s: float, reference: str) -> tuple[str, int, int]:
    """One kill; returns (what went wrong or "", documents acknowledged before the kill, looks taken by the readers)."""
    with tempfile.TemporaryDirectory(prefix="gawah-kill-") as folder, multiprocessing.Manager() as manager:
        store = Path(folder) / "store"
        seen, counts = manager.dict(), manager.dict()
        stop = multiprocessing.get_context("spawn").Event()
        readers = [
            multiprocessing.get_context("spawn").Process(target=read_on, args=(store, stop, seen, counts, number))
            for number in range(2)
        ]
        for reader in readers:
            reader.start()
        worker = subprocess.Popen(ingest_command(corpus, store), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            worker.wait(delay_s)
        except subprocess.TimeoutExpired:
            worker.kill()
        worker.wait()
        acknowledged = set(seen.keys())
        fault = ""
        try:
            if store.exists():
                with open_store(store) as app:
                    lost = acknowledged - inspect(app, QUESTIONS[0])
                    fault = f"{len(lost)} acknowledged documents lost" if lost else ""
        except NotFoundError:
            fault = "acknowledged documents lost with the store" if acknowledged else ""
        except (AssertionError, GawahError) as error:
            fault = f"after the kill: {error}"
        finished = subprocess.run(ingest_command(corpus, store), check=False, capture_output=True, text=True)
        stop.set()
        for reader in readers:
            reader.join()
        if finished.returncode != 0:
            fault = fault or f"finishing exits with {finished.returncode}: {finished.stderr.strip()[-200:]}"
        elif fingerprint(store) != reference:
            fault = fault or "another fingerprint than an undisturbed run"
        fault = fault or next((key for key in dict(counts) if key.startswith("fault")), "")
        return fault, len(acknowledged), sum(n for key, n in counts.items() if key.startswith("reader"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--corpus", type=Path, default=rustbook())
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gawah-kill-"))
    start = time.perf_counter()
    subprocess.run(ingest_command(options.corpus, folder), check=True, stdout=subprocess.DEVNULL)
    undisturbed_s = time.perf_counter() - start
    reference = fingerprint(folder)
    shutil.rmtree(folder)
    print(f"undisturbed: {undisturbed_s:.1f} s, fingerprint {reference[:16]}", flush=True)
    moments = random.Random(options.seed)
    n_faults = 0
    for number in range(1, options.times + 1):
        delay_s = moments.uniform(0.1, 1.3 * undisturbed_s)
        fault, n_acknowledged, n_looks = trial(options.corpus, delay_s, reference)
        n_faults += bool(fault)
        print(
            f"{number:3d}  killed after {delay_s:6.2f} s  {n_acknowledged:3d} documents acknowledged  "
            f"{n_looks:4d} looks by readers  {fault or 'ok'}",
            flush=True,
        )
    print(f"{options.times - n_faults} passed, {n_faults} failed")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
