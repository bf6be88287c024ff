"""Whether late interaction gains from the other signals: learning to rank over the shortlist, one set left out at a time.

python -m bench.combining [--work DIR] [--out FILE]     sets: rustbook, etcd, SQuAD 2.0, XQuAD (English), the handbook

A listwise softmax over the fifty candidates of a question (Cao et al., "ListNet", 2007, with a needle's chunks as the
relevant ones), linear in the signals named. Fitted on all sets but the one it is judged on; for the two development sets
also on one and judged on the other.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.corpora import ROOT, SHARED
from gawah.app import Application
from gawah.chunk import Chunking
from gawah.config import load_settings
from gawah.eval import load_collection
from gawah.eval.collection import JudgedQuery
from gawah.eval.match import contains
from gawah.eval.stats import sign_test
from gawah.evaluate import Workshop, evaluate, workshop
from gawah.maxsim import best_matches
from gawah.rerank import token_weights
from gawah.retrieve import Retrieved, retrieve
from gawah.text import analyze, query_terms

SIGNALS = (
    "MaxSim", "cosine", "BM25", "log RRF", "1/BM25 rank", "worst quarter of matches", "document", "log length", "words held",
)  # fmt: skip
FORMS = ((0, 1), (0, 2), (0, 3), (0, 5), (0, 6), (0, 1, 2, 3), tuple(range(len(SIGNALS))))
DEVELOPMENT = ("rustbook", "etcd")
RIDGE = 0.02
N_BEST_OF_DOCUMENT = 3

Rows = list["Shortlist"]


@dataclass(frozen=True)
class Shortlist:
    """A question's candidates: signals [n, signals], and which hold the needle."""

    phrasing: str
    signals: NDArray[np.float64]
    holds: NDArray[np.bool_]


def shortlists(shop: Workshop, folder: Path, most: int = 200) -> Rows:
    collection = load_collection(folder)
    chunking = Chunking(target=shop.settings.target_chars)
    evaluate(shop, collection, chunking=chunking, systems=["rerank"], cite=False)
    own = shop.settings.model_copy(update={"store": shop.folder(collection, chunking)})
    found = []
    with Application(own, embedder=shop.embedder, chunking=chunking) as app:
        for query in [query for query in collection.questions if isinstance(query, JudgedQuery)][:most]:
            with app.catalog.snapshot() as snapshot:
                retrieved = retrieve(
                    app.retriever, snapshot, query.query, system="rerank", cutoff=app.retriever.rerank_depth
                )
                view = app.index.view(snapshot)
                tokens = view.tokens([passage.chunk.id for passage in retrieved.passages])
                words = retrieved.query.words
                weights = token_weights(words, view.document_frequency, view.n_chunks, analyze=analyze)
                matches = best_matches(retrieved.query.token_vectors, tokens)
            if not matches.size or "dense" not in retrieved.rankings:
                continue  # a question without readable words is not reranked
            holds = np.asarray([contains(passage.chunk.content, query) for passage in retrieved.passages])
            found.append(Shortlist(query.phrasing, signals(retrieved, matches, np.asarray(weights)), holds))
    return found


def signals(retrieved: Retrieved, matches: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    passages = retrieved.passages
    lexical = {hit.chunk_id: hit for hit in retrieved.rankings["bm25"].hits}
    fused = {hit.chunk_id: hit.score for hit in retrieved.rankings["rrf"].hits}
    hits = [lexical.get(passage.chunk.id) for passage in passages]
    best_score = max((hit.score for hit in hits if hit), default=1.0)
    maxsim = matches @ weights / (weights.sum() or 1.0)
    of_document: dict[str, list[float]] = {}
    for passage, score in zip(passages, maxsim.tolist(), strict=True):
        of_document.setdefault(passage.document_name, []).append(score)
    asked = set(query_terms(retrieved.question))
    columns = [
        maxsim,
        [1 - passage.cosine_distance for passage in passages],
        [hit.score / best_score if hit else 0.0 for hit in hits],
        [math.log(fused.get(passage.chunk.id, 0.0) + 1e-4) for passage in passages],
        [1 / (1 + hit.rank) if hit else 0.0 for hit in hits],
        np.sort(matches, axis=1)[:, : max(1, matches.shape[1] // 4)].mean(axis=1),
        [math.fsum(sorted(of_document[passage.document_name])[-N_BEST_OF_DOCUMENT:]) for passage in passages],
        [math.log(len(passage.chunk.content) + 20) for passage in passages],
        [len(asked & set(analyze(passage.chunk.text))) / max(1, len(asked)) for passage in passages],
    ]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def fitted(rows: Rows, form: Sequence[int]) -> NDArray[np.float64]:
    from scipy.optimize import minimize

    pairs = [(row.signals[:, form], row.holds) for row in rows if row.holds.any()]
    scale = np.concatenate([x for x, _ in pairs]).std(axis=0) + 1e-9

    def loss(weights: Any) -> tuple[float, Any]:
        total, slope = 0.0, np.zeros_like(weights)
        for x, holds in pairs:
            scaled = x / scale
            scores = scaled @ weights
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            held = chances[holds].sum()
            total -= math.log(held + 1e-12)
            slope -= (scaled[holds] * (chances[holds] / held)[:, None]).sum(axis=0) - chances @ scaled
        penalty = RIDGE * len(pairs)
        return total + penalty * float(weights @ weights), slope + 2 * penalty * weights

    return np.asarray(minimize(loss, np.zeros(len(form)), jac=True).x / scale)


def ranks(rows: Rows, form: Sequence[int], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rank of the first chunk that holds the needle; infinite where the shortlist has none."""
    found = []
    for row in rows:
        order = np.argsort(-(row.signals[:, form] @ weights), kind="stable")
        at = np.flatnonzero(row.holds[order])
        found.append(at[0] + 1.0 if len(at) else math.inf)
    return np.asarray(found)


def line(name: str, found: NDArray[np.float64], before: NDArray[np.float64], tickets: NDArray[np.bool_]) -> str:
    wins, losses = int(((found <= 1) & (before > 1)).sum()), int(((found > 1) & (before <= 1)).sum())
    cells = [f"{(part <= k).mean():.3f}" for part in (found, found[tickets]) for k in (1, 4, 8)]
    mean = [f"{(1 / part).mean():.3f}" for part in (found, found[tickets])]
    return (
        f"| {name} | {' | '.join([*cells[:3], mean[0], *cells[3:], mean[1]])} | +{wins}/−{losses},"
        f" p = {sign_test(wins, losses):.2g} |"
    )


def page(sets: dict[str, Rows]) -> str:
    development = [name for name in DEVELOPMENT if name in sets] or list(sets)
    tickets = np.asarray([row.phrasing == "ticket" for name in development for row in sets[name]])
    alone = {name: ranks(rows, (0,), np.ones(1)) for name, rows in sets.items()}
    before = np.concatenate([alone[name] for name in development])
    head = (
        "| order by | R@1 | R@4 | R@8 | MRR | tickets R@1 | R@4 | R@8 | MRR | at rank 1 |\n"
        "| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    )
    lines, others = [line("MaxSim alone", before, before, tickets)], []
    for form in FORMS:
        name = " + ".join(SIGNALS[at] for at in form) if len(form) < len(SIGNALS) else "all nine"
        left_out = {}
        for one, rows_of_one in sets.items():
            rest = [row for other, rows in sets.items() if other != one for row in rows]
            left_out[one] = ranks(rows_of_one, form, fitted(rest, form))
        lines.append(
            line(
                f"{name}, fitted on the other sets", np.concatenate([left_out[d] for d in development]), before, tickets
            )
        )
        if len(development) == len(DEVELOPMENT):
            across = [
                ranks(sets[one], form, fitted(sets[other], form)) for one, other in (development, reversed(development))
            ]
            lines.append(line(f"{name}, each fitted on the other of the two", np.concatenate(across), before, tickets))
        shares = [
            f"{(left_out[one] <= 1).mean():.3f} ({(alone[one] <= 1).mean():.3f})"
            for one in sets
            if one not in development
        ]
        others.append(f"| {name} | {' | '.join(shares)} |")
    rest = [one for one in sets if one not in development]
    text = f"{head}\n" + "\n".join(lines)
    if rest:
        text += f"\n\n| R@1 (MaxSim alone) | {' | '.join(rest)} |\n|{' :-- |' * (len(rest) + 1)}\n" + "\n".join(others)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder of the indexes, kept for the next time")
    options = parser.parse_args()
    shop = workshop(load_settings(environment={}, options={"gate": "reference"}).settings, options.work)
    folders = [SHARED / "rustbook", SHARED / "etcd", SHARED / "unanswerable", SHARED / "multilingual" / "en"]
    folders = [folder for folder in folders if folder.is_dir()] + [ROOT / "examples"]
    print(page({folder.name: shortlists(shop, folder) for folder in folders}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
