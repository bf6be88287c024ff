"""How well the extractive generator quotes: the needle in what it quotes, beside quoting the best passage whole.

python -m bench.quoting [--fit] [--most N]     sets: those in ../shared/eval where they are, and the examples

Every answerable question, whatever the gate says of it. `--fit` also prints weights fitted on all sets but one, for each
set, with what they quote there: the generator's own weights are those of all sets.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpora import ROOT, SHARED
from gawah.app import Application
from gawah.ask import judge
from gawah.chunk import Chunking
from gawah.compose import compose, number_sources
from gawah.config import load_settings
from gawah.eval import load_collection
from gawah.eval.collection import JudgedQuery
from gawah.eval.match import contains
from gawah.eval.stats import sign_test
from gawah.evaluate import Workshop, evaluate, workshop
from gawah.generate import ExtractiveGenerator
from gawah.generate.candidates import Piece
from gawah.generate.extractive import BY_VECTORS, Measured, Weights, choose
from gawah.types import NumberedSource

N_SOURCES = 4
RIDGE = 0.01


@dataclass(frozen=True)
class Asked:
    query: JudgedQuery
    sources: tuple[NumberedSource, ...]
    measured: list[Measured]
    weights: Weights

    @property
    def in_best_passage(self) -> bool:
        return contains(self.sources[0].passage.chunk.content, self.query)

    def quotes(self, weights: Weights) -> list[Piece]:
        return choose(self.measured, weights, self.sources)

    def finds(self, pieces: Sequence[Piece]) -> bool:
        """Whether the needle stands in what is quoted; neighbours in a source are read as one."""
        return any(contains(text, self.query) for text in joined(pieces, self.sources))


def joined(pieces: Sequence[Piece], sources: Sequence[NumberedSource]) -> list[str]:
    ranges: list[list[int]] = []
    for piece in sorted(pieces, key=lambda piece: (piece.source, piece.span)):
        content = sources[piece.source].passage.chunk.content
        if ranges and ranges[-1][0] == piece.source and not content[ranges[-1][2] : piece.span.start].strip():
            ranges[-1][2] = max(ranges[-1][2], piece.span.end)
        else:
            ranges.append([piece.source, piece.span.start, piece.span.end])
    return [sources[source].passage.chunk.content[start:end] for source, start, end in ranges]


def asked(shop: Workshop, folder: Path, queries_name: str, most: int) -> list[Asked]:
    collection = load_collection(folder, queries_name=queries_name)
    chunking = Chunking(target=shop.settings.target_chars)
    evaluate(shop, collection, chunking=chunking, systems=["rerank"], cite=False)
    own = shop.settings.model_copy(update={"store": shop.folder(collection, chunking)})
    generator = ExtractiveGenerator(shop.embedder)
    found = []
    with Application(own, embedder=shop.embedder, chunking=chunking) as app:
        for query in [query for query in collection.questions if isinstance(query, JudgedQuery)][:most]:
            with app.catalog.snapshot() as snapshot:
                retrieved, _ = judge(app.retriever, app.assistant.gate, snapshot, query.query)
            sources = number_sources(retrieved.passages[:N_SOURCES])
            prompt = compose(query.query, sources)
            found.append(Asked(query, sources, generator.measure(prompt), generator.weights(query.query)))
    return [one for one in found if one.measured]


def fitted(questions: Sequence[Asked], long: float) -> Weights:
    """The weights that make the pieces with the needle likeliest, none of them negative."""
    from scipy.optimize import minimize

    rows: list[tuple[Any, Any]] = []
    for one in questions:
        holds = np.asarray([contains(item.piece.text, one.query) for item in one.measured])
        if holds.any():
            rows.append((np.asarray([[item.near, item.words, item.rank] for item in one.measured]), holds))
    scale = np.concatenate([x for x, _ in rows]).std(axis=0) + 1e-9

    def loss(weights: Any) -> float:
        total = 0.0
        for x, holds in rows:
            scores = (x / scale) @ weights
            odds = np.exp(scores - scores.max())
            total -= math.log(odds[holds].sum() / odds.sum() + 1e-12)
        return total + RIDGE * len(rows) * float(weights @ weights)

    near, words, rank = minimize(loss, np.ones(3), bounds=[(0, None)] * 3).x / scale
    return Weights(float(near), float(words), float(rank), long)


def line(name: str, questions: Sequence[Asked], weigh: Callable[[Asked], Weights]) -> str:
    quoted = [one.quotes(weigh(one)) for one in questions]
    finds = [one.finds(pieces) for one, pieces in zip(questions, quoted, strict=True)]
    passage = [one.in_best_passage for one in questions]
    wins = sum(a and not b for a, b in zip(finds, passage, strict=True))
    losses = sum(b and not a for a, b in zip(finds, passage, strict=True))
    n_chars = sum(len(piece.text) for pieces in quoted for piece in pieces) / len(questions)
    of_passage = sum(len(one.sources[0].passage.chunk.content) for one in questions) / len(questions)
    n_pieces = sum(map(len, quoted)) / len(questions)
    return (
        f"| {name} | {sum(finds)}/{len(questions)} | {sum(passage)}/{len(questions)} | +{wins}/−{losses},"
        f" p = {sign_test(wins, losses):.2g} | {n_pieces:.1f} | {n_chars:.0f} | {of_passage:.0f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--most", type=int, default=150, help="questions of a set at most")
    parser.add_argument("--work", type=Path, help="folder of the indexes, kept for the next time")
    options = parser.parse_args()
    shop = workshop(load_settings(environment={}, options={"gate": "reference"}).settings, options.work)
    folders = [(SHARED / name, "queries.jsonl") for name in ("rustbook", "etcd", "unanswerable")]
    folders += [(SHARED / "multilingual" / name, "queries.jsonl") for name in ("en", "hi", "ur")]
    folders = [(folder, name) for folder, name in folders if folder.is_dir()]
    folders += [(ROOT / "examples", "queries.jsonl"), (ROOT / "examples", "formats.jsonl")]
    sets = {
        (folder.name if name == "queries.jsonl" else Path(name).stem): asked(shop, folder, name, options.most)
        for folder, name in folders
    }
    head = "| set | quotes hold the needle | best passage | paired | quotes | characters | of the passage |"
    print(f"{head}\n|---|---|---|---|---|---|---|")
    for name, questions in sets.items():
        print(line(name, questions, lambda one: one.weights), flush=True)
    print(line("all", [one for questions in sets.values() for one in questions], lambda one: one.weights))
    if options.fit:
        print_fits(sets)
    return 0


def print_fits(sets: dict[str, list[Asked]]) -> None:
    everything = [one for questions in sets.values() for one in questions]
    for reads in (True, False):
        fit = fitted([one for one in everything if (one.weights is BY_VECTORS) == reads], BY_VECTORS.long)
        print(f"{'by vectors' if reads else 'by words'}: {fit}")
    print("Fitted on the other sets:")
    for name, questions in sets.items():
        others = [one for other, found in sets.items() if other != name for one in found]
        kinds = {one.weights is BY_VECTORS for one in questions}
        fits = {
            reads: fitted([one for one in others if (one.weights is BY_VECTORS) == reads], BY_VECTORS.long)
            for reads in kinds
        }
        print(line(name, questions, lambda one, fits=fits: fits[one.weights is BY_VECTORS]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
