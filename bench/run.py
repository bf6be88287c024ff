"""One table of speeds and sizes, medians and ratios of one run.   python -m bench.run [--quick]

Every figure that compares is taken in turns with what it is compared to, on the same texts, in this very run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from bench import legs, recognition
from bench.corpora import SHARED, rustbook
from bench.pdf import pdf_rows
from gawah.models.encoder import load_encoder

ROUNDS = 5
LAYERS, HIDDEN, INNER = 6, 384, 1536  # MiniLM-L6's shape, for its arithmetic


def median_s(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def flops_per_text(n_tokens: int) -> float:
    """Multiply-adds counted as two: projections and feed-forward, and attention over the text's own tokens."""
    projections = 2 * (4 * HIDDEN * HIDDEN + 2 * HIDDEN * INNER)
    attention = 2 * 2 * n_tokens * HIDDEN
    return LAYERS * n_tokens * (projections + attention)


def gemm_peak(n_threads: int) -> float:
    """The machine's fp32 peak in flop/s: the best of several matrix products, each thread with its own."""
    from concurrent.futures import ThreadPoolExecutor

    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["a", "b"], ["c"])],
        "peak",
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None, None]) for name in "ab"],
        [onnx.helper.make_tensor_value_info("c", onnx.TensorProto.FLOAT, [None, None])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    model.ir_version = 8
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    best = 0.0
    with ThreadPoolExecutor(n_threads) as pool:
        for m, k, n in ((128, 384, 1536), (256, 384, 1152), (1024, 1024, 1024), (512, 1536, 384)):
            a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
            repeats = max(4, int(2e9 / (2 * m * k * n)))

            def multiply(_: int, a: np.ndarray = a, b: np.ndarray = b, repeats: int = repeats) -> None:
                for _ in range(repeats):
                    session.run(None, {"a": a, "b": b})

            seconds = min(median_s(lambda f=multiply: list(pool.map(f, range(n_threads))), 1) for _ in range(3))
            best = max(best, 2 * m * k * n * repeats * n_threads / seconds)
    return best


def sample_texts(limit: int) -> list[str]:
    """Embedded texts of real chunks."""
    golden = SHARED / "golden" / "rustbook.json"
    if golden.is_file():
        documents = json.loads(golden.read_text(encoding="utf-8"))["documents"]
        texts = [chunk["text"] for document in documents for chunk in document["chunks"]]
    else:
        texts = [
            part for file in sorted(rustbook().rglob("*.md")) for part in file.read_text("utf-8").split("\n\n") if part
        ]
    encoder = load_encoder("all-MiniLM-L6-v2")
    counts = encoder.count_tokens(texts)
    fitting = [text for text, n in zip(texts, counts, strict=True) if n <= encoder.stamp.window_tokens]
    return fitting[:: max(1, len(fitting) // limit)][:limit]


def embedding_rows() -> list[tuple[str, str, str]]:
    texts = sample_texts(200)
    encoder = load_encoder("all-MiniLM-L6-v2")
    flops = sum(flops_per_text(n) for n in encoder.count_tokens(texts))
    n_threads = len(os.sched_getaffinity(0))
    shares, rates = [], []
    encoder.embed(texts[:20])
    for _ in range(ROUNDS):
        peak = gemm_peak(n_threads)
        seconds = median_s(lambda: encoder.embed(texts), 1)
        shares.append(flops / seconds / peak)
        rates.append(len(texts) / seconds)
    rows = [
        ("embedding, chunks/s", f"{statistics.median(rates):.1f}", ""),
        ("embedding, share of the fp32 GEMM peak", f"{statistics.median(shares):.2f}", ">= 0.85"),
    ]
    return rows + sentence_transformers_rows(encoder, texts)


def sentence_transformers_rows(encoder, texts: list[str]) -> list[tuple[str, str, str]]:
    name = "embedding against sentence-transformers"
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        return [(name, "not measured: torch is not installed here", "")]
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    other = SentenceTransformer(str(encoder.checkpoint.directory), device="cpu")
    other.max_seq_length = 256
    other.encode(texts[:20])
    ratios = []
    for _ in range(ROUNDS):
        theirs = median_s(lambda: other.encode(texts, batch_size=32), 1)
        ours = median_s(lambda: encoder.embed(texts), 1)
        ratios.append(theirs / ours)
    return [(name, f"{statistics.median(ratios):.2f} x its rate", "")]


# --- the command line, in processes of its own


def gawah(*words: str, store: Path) -> None:
    """Runs a command; its output is thrown away."""
    subprocess.run(
        [sys.executable, "-m", "gawah", *words],
        check=True, capture_output=True, env={**os.environ, "GAWAH_STORE": str(store)},
    )  # fmt: skip


def peak_mib(*words: str, store: Path) -> tuple[float, float]:
    """(wall seconds, peak resident MiB of the process itself, not of its children)."""
    code = (
        "import resource, sys, time\nstart = time.perf_counter()\nfrom gawah.cli.entry import _run\n"
        "sys.argv = ['gawah', *sys.argv[1:]]\ncode = _run()\n"
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        check=True, capture_output=True, text=True, env={**os.environ, "GAWAH_STORE": str(store)},
    )  # fmt: skip
    wall, peak = done.stderr.split()[-2:]
    return float(wall), float(peak)


def ingest_rows(folder: Path) -> list[tuple[str, str, str]]:
    """Ingest against embedding the same chunks alone, in turns; re-ingest; memory; cold start."""
    corpus = rustbook()
    encoder = load_encoder("all-MiniLM-L6-v2")
    ratios, walls, peaks = [], [], []
    store = folder / "0"
    for number in range(3):
        store = folder / str(number)
        wall, peak = peak_mib("ingest", str(corpus), "--json", store=store)
        from gawah.app import Application
        from gawah.config import load_settings

        settings = load_settings(environment={}, options={"store": store}).settings
        with Application(settings, embedder=encoder) as app, app.catalog.snapshot() as snapshot:
            texts = list(dict.fromkeys(row.text for row in snapshot.rows(0)))
        embedding = median_s(lambda texts=texts: encoder.embed(texts), 1)
        ratios.append(wall / embedding)
        walls.append(wall)
        peaks.append(peak)
    again = median_s(lambda: gawah("ingest", str(corpus), "--json", store=store), 3)
    helps = median_s(lambda: gawah("--help", store=store), 7)
    cold = median_s(lambda: gawah("ask", "How do I define and return an error?", "--json", store=store), 5)
    return [
        (f"ingest of {corpus.parent.name}, s", f"{statistics.median(walls):.1f}", ""),
        ("ingest wall over embedding wall", f"{statistics.median(ratios):.2f}", "<= 1.15"),
        ("ingest peak memory, MiB", f"{max(peaks):.0f}", "<= 600"),
        ("ingest again, nothing changed, s", f"{again:.2f}", "<= 1"),
        ("gawah --help, s", f"{helps:.2f}", "<= 0.3"),
        ("cold gawah ask, s", f"{cold:.2f}", "<= 1.5"),
    ]


def print_rows(title: str, rows: list[tuple[str, str, str]]) -> None:
    print(f"\n## {title}\n\n| what | measured | goal |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the index of 100,000 chunks")
    options = parser.parse_args()
    print(
        f"# Benchmarks: {len(os.sched_getaffinity(0))} cores, Python {sys.version.split()[0]}, numpy {np.__version__}"
    )
    print_rows("Embedding", embedding_rows())
    with tempfile.TemporaryDirectory(prefix="gawah-bench-") as folder:
        print_rows("Command line", ingest_rows(Path(folder)))
    print_rows("Extraction", pdf_rows())
    print_rows("Hearing and reading", recognition.rows())
    print("\n## Query stages without the query's embedding\n", flush=True)
    with threadpool_limits(1):
        legs.main([1_000] if options.quick else [1_000, 100_000], with_peers=True)


if __name__ == "__main__":
    main()
