"""Migrate a store to another model while two readers ask all the while, and kill -9 the migration again and again.

Every answer must be of one generation, with the model of that generation and the distances that its vectors give; in the end
the index must be the one that a fresh build under the new model gives, and the way back must lead back.
python -m bench.migrate [--times 10] [--corpus FOLDER] [--seed 1]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path

from bench.corpora import rustbook
from bench.kill import fingerprint, ingest_command, open_store
from bench.permuted import write_permuted
from gawah.app import Application
from gawah.errors import GawahError
from gawah.types import Answer

PAUSE_S = 0.02
AFTERWARDS_S = 3.0  # what the readers are given to see a switch
TOLERANCE = 5e-5  # of a distance: float32 sums in another order; between vectors of two models distances are near 1
QUESTIONS = (
    "How does a reference borrow a value?",
    "What happens when the logger clock differs?",
    "When may a guide leave the site?",
    "How is a package published?",
)
CUTOFF = 10

Expected = Mapping[str, Mapping[str, float]]
"""Question to the cosine distance of every chunk, which both models give alike."""


def migrate_command(store: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "gawah", "migrate", "--store", str(store), *words]


def expected_distances(store: Path) -> Expected:
    """The distances of all chunks from each question, of a store that nobody changes."""
    with open_store(store) as app, app.catalog.snapshot() as snapshot:
        n_chunks = sum(snapshot.n_chunks_by_document().values())
        snapshot_view = app.index.view(snapshot)
        return {
            question: {
                chunk: 1 - cosine
                for chunk, cosine in snapshot_view.dense(app.embedder.embed_query(question).vector, n_chunks)
            }
            for question in QUESTIONS
        }


def checked(app: Application, question: str, expected: Mapping[str, float], models: Mapping[int, str]) -> int:
    """Searches and asks; returns the generation of the answer. AssertionError for anything that is of two generations."""
    found = app.search(question, cutoff=CUTOFF)
    for passage in found.passages:
        _same(passage.chunk.id, passage.cosine_distance, expected, found.generation)
    outcome = app.ask(question)
    provenance = outcome.provenance
    assert models.get(provenance.generation) == provenance.model_sha256, (
        f"generation {provenance.generation}: {provenance.model}"
    )
    if isinstance(outcome, Answer):
        for citation in outcome.citations:
            _same(citation.chunk_id, citation.cosine_distance, expected, provenance.generation)
            with app.catalog.snapshot() as snapshot:
                text = snapshot.load_document(snapshot.document(citation.document_id).no).text
            assert citation.span.slice(text) == citation.quote, "a quote does not slice"
    return provenance.generation


def _same(chunk_id: str, distance: float, expected: Mapping[str, float], generation: int) -> None:
    assert chunk_id in expected, f"generation {generation}: an unknown chunk"
    difference = abs(distance - expected[chunk_id])
    assert difference <= TOLERANCE, (
        f"generation {generation}: a distance is {difference:.3f} off: two models were mixed"
    )


def read_on(
    store: Path, stop: Event, expected: Expected, models: dict[int, str], counts: dict[str, int], number: int
) -> None:
    """A reader process: asks until it is told to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seen: Counter[int] = Counter()
    parent = os.getppid()
    with open_store(store) as app:
        while not stop.is_set() and os.getppid() == parent:
            question = QUESTIONS[sum(seen.values()) % len(QUESTIONS)]
            try:
                generation = checked(app, question, expected[question], models)
            except (AssertionError, GawahError) as error:
                counts[f"fault {number}"] = 1
                print(f"reader {number}: {type(error).__name__}: {error}", flush=True)
                break
            seen[generation] += 1
            for each, n in seen.items():
                counts[f"{number} {each}"] = n
            time.sleep(PAUSE_S)


class Readers:
    """Two processes that ask all the while."""

    def __init__(self, store: Path, expected: Expected, models: Mapping[int, str]) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._manager = multiprocessing.Manager()
        self._counts = self._manager.dict()
        self._stop = spawn.Event()
        self._processes = [
            spawn.Process(
                target=read_on, args=(store, self._stop, expected, dict(models), self._counts, number), daemon=True
            )
            for number in range(2)
        ]
        for process in self._processes:
            process.start()

    def wait_for(self, generation: int, patience_s: float) -> None:
        """Until both have had an answer of that generation, or have had long enough for it."""
        until = time.monotonic() + patience_s
        while time.monotonic() < until and not all(f"{number} {generation}" in self._counts for number in range(2)):
            time.sleep(PAUSE_S)

    def end(self) -> tuple[bool, dict[int, int]]:
        """Stops them; (whether one found a fault, how many answers each generation gave)."""
        self._stop.set()
        for process in self._processes:
            process.join()
        counts = dict(self._counts)
        self._manager.shutdown()
        by_generation: Counter[int] = Counter()
        for key, n in counts.items():
            if not key.startswith("fault"):
                by_generation[int(key.split()[1])] += n
        return any(key.startswith("fault") for key in counts), dict(by_generation)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trial found: faults, one line each; kills that hit a migration at work; answers by generation; seconds."""

    faults: tuple[str, ...]
    n_hits: int
    answers: Mapping[int, int]
    migrated_s: float


def trial(corpus: Path, folder: Path, model: Path, delays_s: Sequence[float], *, patience_s: float = 30.0) -> Outcome:
    """Ingests, migrates under fire, switches, compares with a fresh build, goes back. Everything is below `folder`."""
    store, fresh = folder / "store", folder / "fresh"
    _done(ingest_command(corpus, store))
    _done([*ingest_command(corpus, fresh), "--set", f"model={model}"])
    before, wanted = fingerprint(store), _fingerprint_under(fresh, model)
    expected = expected_distances(store)
    models = {1: _weights(store), 2: _weights(fresh)}
    readers = Readers(store, expected, models)
    readers.wait_for(1, patience_s)
    started = time.perf_counter()
    n_hits = sum(_killed(migrate_command(store, "--model", str(model), "--no-switch"), delay_s) for delay_s in delays_s)
    faults: list[str] = []
    if fingerprint(store) != before:
        faults.append("the old generation changed")
    _done(migrate_command(store, "--model", str(model)))
    migrated_s = time.perf_counter() - started
    readers.wait_for(2, patience_s)
    if _fingerprint_under(store, model) != wanted:
        faults.append("another fingerprint than a fresh build")
    _done(migrate_command(store, "--rollback"))
    if fingerprint(store) != before:
        faults.append("going back does not lead back")
    time.sleep(PAUSE_S)
    is_wrong, answers = readers.end()
    faults += ["a reader was given a wrong answer"] if is_wrong else []
    faults += [f"no reader saw generation {number}" for number in models if not answers.get(number)]
    return Outcome(tuple(faults), n_hits, answers, migrated_s)


def _fingerprint_under(store: Path, model: Path) -> str:
    from gawah.config import load_settings

    settings = load_settings(environment={}, options={"store": store, "model": str(model)}).settings
    with Application(settings) as app, app.catalog.snapshot() as snapshot:
        return app.index.view(snapshot).fingerprint()


def _weights(store: Path) -> str:
    with open_store(store) as app, app.catalog.snapshot() as snapshot:
        assert snapshot.model is not None
        return snapshot.model.sha256


def _done(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[3:5])} exits with {done.returncode}: {done.stderr.strip()[-300:]}")


def _killed(command: list[str], delay_s: float) -> bool:
    """Starts it and kills it; whether it was still at work."""
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        worker.wait(delay_s)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
        return True
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--corpus", type=Path, default=rustbook())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=12.0, help="seconds until a kill at most")
    options = parser.parse_args()
    moments = random.Random(options.seed)
    delays_s = [moments.uniform(1.0, options.longest) for _ in range(options.times)]
    with tempfile.TemporaryDirectory(prefix="gawah-migrate-") as name:
        folder = Path(name)
        model = write_permuted(folder / "model")
        found = trial(options.corpus, folder, model, delays_s)
    print(
        f"killed after {', '.join(f'{delay:.1f}' for delay in delays_s)} s: {found.n_hits} of {options.times} at work"
    )
    print(f"migrated in {found.migrated_s:.0f} s with all the starts; answers by generation: {dict(found.answers)}")
    print(
        "; ".join(found.faults)
        or "every answer of one generation; fingerprint of a fresh build; the way back leads back"
    )
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
