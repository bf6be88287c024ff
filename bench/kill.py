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
from collections.abc import Sequence
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


class Readers:
    """Two processes that look at a store all the while, and what they saw."""

    def __init__(self, store: Path) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._manager = multiprocessing.Manager()
        self._seen, self._counts = self._manager.dict(), self._manager.dict()
        self._stop = spawn.Event()
        self._processes = [
            spawn.Process(target=read_on, args=(store, self._stop, self._seen, self._counts, number), daemon=True)
            for number in range(2)
        ]
        for process in self._processes:
            process.start()

    def acknowledged(self) -> set[str]:
        """Ids of the documents that some reader has seen as ready."""
        return set(self._seen.keys())

    def end(self) -> tuple[str, int]:
        """Stops them; (what one found wrong, how often they looked)."""
        self._stop.set()
        for process in self._processes:
            process.join()
        counts = dict(self._counts)
        self._manager.shutdown()
        fault = next((key for key in counts if key.startswith("fault")), "")
        return fault, sum(n for key, n in counts.items() if key.startswith("reader"))


def kill_once(corpus: Path, store: Path, delay_s: float) -> bool:
    """Starts an ingest and kills it; returns whether it was still at work."""
    worker = subprocess.Popen(ingest_command(corpus, store), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        worker.wait(delay_s)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
        return True
    return False


def check_reopened(store: Path, acknowledged: set[str]) -> str:
    """What is wrong with a store after a kill; empty when nothing is."""
    try:
        if store.exists():
            with open_store(store) as app:
                lost = acknowledged - inspect(app, QUESTIONS[0])
                return f"{len(lost)} acknowledged documents lost" if lost else ""
    except NotFoundError:
        return "acknowledged documents lost with the store" if acknowledged else ""
    except (AssertionError, GawahError) as error:
        return f"after the kill: {error}"
    return ""


def finish(corpus: Path, store: Path, reference: str) -> str:
    """Ends the ingest undisturbed; what is wrong with the result, or nothing."""
    finished = subprocess.run(ingest_command(corpus, store), check=False, capture_output=True, text=True)
    if finished.returncode != 0:
        return f"finishing exits with {finished.returncode}: {finished.stderr.strip()[-200:]}"
    return "" if fingerprint(store) == reference else "another fingerprint than an undisturbed run"


def trial(corpus: Path, delays_s: Sequence[float], reference: str) -> tuple[str, int, int, int]:
    """Kills one store's ingest once a delay, then lets it finish.

    Returns (what went wrong or "", kills that hit it at work, documents acknowledged before the last, readers' looks).
    """
    with tempfile.TemporaryDirectory(prefix="gawah-kill-") as folder:
        store = Path(folder) / "store"
        readers = Readers(store)
        fault, n_hits, acknowledged = "", 0, set()
        for delay_s in delays_s:
            n_hits += kill_once(corpus, store, delay_s)
            acknowledged = readers.acknowledged()
            fault = fault or check_reopened(store, acknowledged)
        fault = fault or finish(corpus, store, reference)
        seen_wrong, n_looks = readers.end()
        return fault or seen_wrong, n_hits, len(acknowledged), n_looks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--corpus", type=Path, default=rustbook())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--relay", action="store_true", help="all kills on one store, one after the other")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gawah-kill-"))
    start = time.perf_counter()
    subprocess.run(ingest_command(options.corpus, folder), check=True, stdout=subprocess.DEVNULL)
    undisturbed_s = time.perf_counter() - start
    reference = fingerprint(folder)
    shutil.rmtree(folder)
    print(f"undisturbed: {undisturbed_s:.1f} s, fingerprint {reference[:16]}", flush=True)
    moments = random.Random(options.seed)
    if options.relay:
        trials = [[moments.uniform(0.5, 0.4 * undisturbed_s) for _ in range(options.times)]]
    else:
        trials = [[moments.uniform(0.1, 1.3 * undisturbed_s)] for _ in range(options.times)]
    n_faults = 0
    for number, delays_s in enumerate(trials, start=1):
        fault, n_hits, n_acknowledged, n_looks = trial(options.corpus, delays_s, reference)
        n_faults += bool(fault)
        print(
            f"{number:3d}  killed after {', '.join(f'{delay:.2f}' for delay in delays_s)} s ({n_hits} at work)  "
            f"{n_acknowledged} documents acknowledged  {n_looks} looks by readers  {fault or 'ok'}",
            flush=True,
        )
    print(f"{len(trials) - n_faults} passed, {n_faults} failed")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
