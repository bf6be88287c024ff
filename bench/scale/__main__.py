"""Growth on one machine: 1,000 to 1,000,000 chunks in one store, measured at every size.   python -m bench.scale

    python -m bench.scale [--work DIR] [--minutes N] [SIZE ...]

Results: bench/out/scale.json and bench/out/scale.md. The store (some 6 GB at a million chunks) lies in the work directory and
is removed at the end; vectors of real passages are made in the first run, for --minutes, and kept in bench/out/scale/.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from bench.corpora import ROOT
from bench.scale import asking, growth
from bench.scale.made import Made
from bench.scale.page import as_markdown, p50
from bench.scale.real import CACHE, asked, embed, load
from gawah.app import analyze_document
from gawah.index.local import GRAPH_FROM

SIZES = [1_000, 10_000, 100_000, 1_000_000]
TOKENS_A_MADE_CHUNK = (
    32  # a third of a real one's: so that a million chunks fit in 6 GB; the cost of the rest is added below
)
OUT = ROOT / "bench" / "out"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--work", type=Path, default=OUT / "scale-store", help="where the store grows")
    parser.add_argument("--minutes", type=float, default=4.0, help="of embedding, when no vectors are kept yet")
    parser.add_argument("--child", choices=("grow", "ask", "graphs"), help=argparse.SUPPRESS)
    parser.add_argument("--graphs", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments)
        return
    if not any(CACHE.glob("real-*.npz")):
        embed(arguments.minutes, 20_000)
    asked()
    began = time.perf_counter()
    shutil.rmtree(arguments.work, ignore_errors=True)
    try:
        results = measured(arguments.work, sorted(arguments.sizes))
    finally:
        shutil.rmtree(arguments.work, ignore_errors=True)
    results["minutes"] = round((time.perf_counter() - began) / 60, 1)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "scale.json").write_text(json.dumps(results, indent=1), "utf-8")
    (OUT / "scale.md").write_text(as_markdown(results), "utf-8")
    print((OUT / "scale.md").read_text("utf-8"))


def child(arguments: argparse.Namespace) -> None:
    if arguments.child == "ask":
        found = asking.measure(arguments.work, GRAPH_FROM if arguments.graphs else None)
    elif arguments.child == "graphs":
        found = growth.add_graphs(arguments.work, Made(TOKENS_A_MADE_CHUNK), GRAPH_FROM)
    else:
        found = growth.grow(arguments.work, Made(TOKENS_A_MADE_CHUNK), arguments.sizes[0])
    print(json.dumps(found))


def measured(work: Path, sizes: list[int]) -> dict[str, object]:
    grown, answered = [], []
    for size in sizes:
        grown.append(apart("grow", work, size))
        answered.append(apart("ask", work))
        print(size, answered[-1]["query"], answered[-1]["recall"], file=sys.stderr, flush=True)
    largest: dict[str, object] = {}
    if (build := apart("graphs", work))["graphs"]:
        largest = {"build": build, "asked": apart("ask", work, "--graphs")}
    real = load()
    return {
        "machine": {"cores": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0]},
        "real_passages": len(real.texts),
        "analysed_per_s": analysed_per_s(real.texts),
        "grown": grown,
        "asked": answered,
        "hnsw": largest,
        "exponents": exponents(answered),
    }


def apart(what: str, work: Path, *more: object) -> dict[str, object]:
    """Runs a step in a process of its own and returns what it found."""
    command = [sys.executable, "-m", "bench.scale", "--child", what, "--work", str(work), *map(str, more)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def analysed_per_s(texts: list[str]) -> int:
    """Real passages to terms, on one core."""
    some = texts[:1000]
    start = time.process_time()
    for text in some:
        analyze_document(text)
    return round(len(some) / (time.process_time() - start))


def exponents(answered: list[dict[str, object]]) -> dict[str, float]:
    """How a time grows with the chunks: the slope of log(p50) over log(chunks), by least squares; 1 is in proportion."""
    legs = ["query", "dense", "bm25", "rerank", "passages", "evidence", "dense by scan"]
    sizes = [math.log(found["chunks"]) for found in answered]  # type: ignore[arg-type]
    if len(sizes) < 2:
        return {}
    found = {}
    for leg in legs:
        times = [math.log(max(p50(each, leg), 1e-3)) for each in answered]
        found[leg] = round(float(np.polyfit(sizes, times, 1)[0]), 2)
    return found


if __name__ == "__main__":
    main()
