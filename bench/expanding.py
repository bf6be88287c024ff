"""Whether retrieval gains from words that stand neither in the passage nor in the question: expansion of both, measured.

python -m bench.expanding [--work DIR] [--written FILE] [--write N] [--model GGUF]

Passages get more terms for BM25 (those of their nearest neighbours, of their document, of links that lead to them, of
questions that a small model asks of them), or vectors of those questions beside their own. Questions get terms of what they
found (RM3: Abdul-Jaleel et al., TREC 2004), a vector that has moved there (Rocchio, 1971), or are said again by the model.
The strength of each is chosen on one of rustbook and etcd and judged on the other; `(none)` says that there leaving it
out was better than any. `--write N` lets the model write on for N seconds first; what it wrote is kept in FILE, and only
passages that it wrote of are expanded.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.corpora import SHARED
from bench.held import DEPTH, Held, Search, held, weighted_counts
from bench.links import link_texts
from bench.written import AT_ONCE, Writer
from gawah.config import load_settings
from gawah.eval.stats import estimate, sign_test
from gawah.evaluate import workshop
from gawah.text import analyze, query_terms

SETS = ("rustbook", "etcd")
STRENGTHS = (0.1, 0.2, 0.4, 0.8)

Ranks = NDArray[np.float64]
Grid = Sequence[Mapping[str, float]]
Variant = Callable[[Held, Mapping[str, float]], Ranks]


def grid(**choices: Sequence[float]) -> Grid:
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]


# --- passages


def neighbours(corpus: Held, p: Mapping[str, float]) -> Ranks:
    """Terms of the `k` nearest passages of other sections, each counted `w / k`."""
    near = corpus.nearest[:, : int(p["k"])]
    added = corpus.counts[near.ravel()].multiply(p["w"] / p["k"])
    return expanded(corpus, corpus.gather(added, np.repeat(np.arange(len(near)), near.shape[1])))


def of_document(corpus: Held, p: Mapping[str, float]) -> Ranks:
    """All terms of the passage's document, as many as a passage has, counted `w`."""
    return expanded(corpus, corpus.of_documents.multiply(p["w"]))


def of_links(corpus: Held, p: Mapping[str, float]) -> Ranks:
    """What other places say where they link to the passage's section or document, counted `w`."""
    return expanded(corpus, weighted_counts(corpus, [analyze(text) for text in link_texts(corpus)], p["w"]))


def expanded(corpus: Held, added: Any) -> Ranks:
    """With terms added to BM25; lengths too, or an expanded passage would win by its size."""
    counted = corpus.count(corpus.counts + added)
    return corpus.ranks(lambda at: Search(lexical=corpus.bm25(at, counted)))


def of_asked(writer: Writer) -> Variant:
    """Terms of the questions that the model asks of the passage, counted `w`."""

    def ranks(corpus: Held, p: Mapping[str, float]) -> Ranks:
        terms = [analyze(" ".join(said)) for said in corpus.asked(writer)]
        return expanded(corpus, weighted_counts(corpus, terms, p["w"]))

    return ranks


def asked_vectors(writer: Writer) -> Variant:
    """`w` of the cosine to the nearest question of a passage: in the dense leg, and `r` of it in the final order."""

    def ranks(corpus: Held, p: Mapping[str, float]) -> Ranks:
        nearest = corpus.asked_cosines(writer)

        def one(at: int) -> Search:
            own, other = corpus.cosines[at], np.maximum(nearest[at], -1)
            known = nearest[at] > -1
            dense = own + p["w"] * np.where(known, other - own, 0)
            return Search(dense=dense, final=corpus.late[at] + p["r"] * np.where(known, other, own))

        return corpus.ranks(one)

    return ranks


# --- questions


def rm3(corpus: Held, p: Mapping[str, float]) -> Ranks:
    """The `terms` likeliest terms of the first `n` results, their weights `w` of the question's own."""

    def one(at: int) -> Search:
        return Search(lexical=corpus.scored(feedback(corpus, at, p)))

    return corpus.ranks(one)


def feedback(corpus: Held, at: int, p: Mapping[str, float]) -> dict[int, float]:
    asked = corpus.term_weights(query_terms(corpus.questions[at].query))
    total = sum(asked.values()) or 1.0
    first = corpus.order[at][: int(p["n"])]
    chance = np.exp((corpus.late[at][first] - corpus.late[at][first[0]]) / 0.05)
    shares = corpus.counts[first].multiply(1 / np.maximum(1, corpus.lengths[first])[:, None])
    model = np.asarray((chance / chance.sum()) @ shares).ravel() * corpus.rarity
    best = np.argsort(-model, kind="stable")[: int(p["terms"])]
    mass = model[best].sum() or 1.0
    mixed = {term: (1 - p["w"]) * weight / total for term, weight in asked.items()}
    for term in best.tolist():
        mixed[term] = mixed.get(term, 0.0) + p["w"] * model[term] / mass
    return mixed


def rocchio(corpus: Held, p: Mapping[str, float]) -> Ranks:
    """The question's vector moved by `w` of the mean of the first `n` results: for the dense leg, and `r` of it at the end."""

    def one(at: int) -> Search:
        first = corpus.order[at][: int(p["n"])]
        moved = corpus.embedded[at].vector + p["w"] * corpus.vectors[first].mean(axis=0)
        dense = corpus.vectors @ (moved / np.linalg.norm(moved))
        return Search(dense=dense, final=corpus.late[at] + p["r"] * dense)

    return corpus.ranks(one)


def said_again(writer: Writer, task: str) -> Variant:
    """The question as the model says it: two more legs of the fusion, and `w` of its late interaction at the end."""

    def ranks(corpus: Held, p: Mapping[str, float]) -> Ranks:
        other = corpus.said_again(writer, task)

        def one(at: int) -> Search:
            legs = (other.cosines[at], other.bm25(at)) if p["legs"] else ()
            return Search(more=legs, final=(1 - p["w"]) * corpus.late[at] + p["w"] * other.late[at])

        return corpus.ranks(one)

    return ranks


def deeper(corpus: Held, p: Mapping[str, float]) -> Ranks:
    return corpus.ranks(lambda _: Search(depth=int(p["depth"])))


def variants(writer: Writer) -> dict[str, tuple[Variant, Grid]]:
    again = [{"legs": 1.0, "w": 0.0}, *grid(legs=(0, 1), w=(0.1, 0.25, 0.5))]
    return {
        "deeper shortlist": (deeper, grid(depth=(75, 100, 200))),
        "passage + terms of neighbours": (neighbours, grid(w=STRENGTHS, k=(3, 8))),
        "passage + terms of its document": (of_document, grid(w=STRENGTHS)),
        "passage + words of links to it": (of_links, grid(w=(0.25, 0.5, 1.0))),
        "passage + terms of questions asked by SmolLM2": (of_asked(writer), grid(w=(0.25, 0.5, 1.0))),
        "passage + vectors of these questions": (asked_vectors(writer), grid(w=(0.25, 0.5), r=(0.0, 0.1, 0.3))),
        "question + RM3": (rm3, grid(w=(0.2, 0.4, 0.6), n=(3, 10), terms=(10, 30))),
        "question + Rocchio": (rocchio, grid(w=(0.3, 0.6), n=(3, 10), r=(0.0, 0.1, 0.3))),
        "question said again by SmolLM2": (said_again(writer, "again"), again),
        "question + SmolLM2's answer to it": (said_again(writer, "answer"), again),
    }


# --- measuring


def mean_reciprocal(ranks: Ranks) -> float:
    return float((1 / ranks).mean())


def chosen(found: Sequence[Ranks]) -> int:
    """The choice with the best MRR; of equal ones the first, which is the weaker."""
    values = [round(mean_reciprocal(ranks), 9) for ranks in found]
    return values.index(max(values))


def line(name: str, ranks: Ranks, before: Ranks, tickets: NDArray[np.bool_], note: str) -> str:
    wins, losses = int(((ranks <= 1) & (before > 1)).sum()), int(((ranks > 1) & (before <= 1)).sum())
    better, worse = int((ranks < before)[tickets].sum()), int((ranks > before)[tickets].sum())
    of_tickets = ranks[tickets]
    first = estimate(int((of_tickets <= 1).sum()), len(of_tickets))
    cells = [
        f"{(ranks <= 1).mean():.3f}", f"{(ranks <= 4).mean():.3f}", f"{mean_reciprocal(ranks):.3f}",
        f"{first.mean:.3f} [{first.low:.2f}, {first.high:.2f}]", f"{(of_tickets <= 4).mean():.3f}",
        f"{mean_reciprocal(of_tickets):.3f}", f"+{wins}/−{losses}, p = {sign_test(wins, losses):.2g}",
        f"+{better}/−{worse}, p = {sign_test(better, worse):.2g}", note,
    ]  # fmt: skip
    return f"| {name} | {' | '.join(cells)} |"


def told(choice: Mapping[str, float]) -> str:
    return " ".join(f"{key} {value:g}" for key, value in choice.items())


def page(corpora: Sequence[Held], writer: Writer, only: str) -> str:
    tickets = np.concatenate([[query.phrasing == "ticket" for query in corpus.questions] for corpus in corpora])
    alone = [corpus.ranks(lambda _: Search()) for corpus in corpora]
    before = np.concatenate(alone)
    lines = [
        "| | R@1 | R@4 | MRR | tickets R@1 | R@4 | MRR | at rank 1 | tickets' ranks | chosen on the other set |",
        "| :-- | --: | --: | --: | :-- | --: | --: | --: | --: | :-- |",
        line("as it is", before, before, tickets, ""),
    ]
    for name, (variant, choices) in variants(writer).items():
        if only not in name:
            continue
        found = [[variant(corpus, choice) for choice in choices] for corpus in corpora]
        best = [chosen(of_corpus) for of_corpus in found]
        crossed = [found[at][best[1 - at]] for at in range(2)]
        worse = [mean_reciprocal(found[at][best[at]]) <= mean_reciprocal(alone[at]) for at in range(2)]
        taken = [told(choices[best[at]]) + (" (none)" if worse[at] else "") for at in range(2)]
        note = "; ".join(f"{corpora[at].name}: {taken[1 - at]}" for at in range(2))
        lines.append(line(name, np.concatenate(crossed), before, tickets, note))
        own = np.concatenate([found[at][best[at]] for at in range(2)])
        note = "; ".join(f"{corpora[at].name}: {taken[at]}" for at in range(2))
        lines.append(line("… were it chosen on the set itself", own, before, tickets, note))
        print("\n".join(lines[-2:]), file=sys.stderr, flush=True)
    return "\n".join(lines)


def write_on(writer: Writer, corpora: Sequence[Held], seconds: float) -> None:
    """First of the questions, then of passages by how far ahead a question's search finds them: those can change an order."""
    end = time.monotonic() + seconds
    for corpus in corpora:
        for task in ("again", "answer"):
            writer.write(task, [query.query for query in corpus.questions])
    for seed, rank in itertools.product(range(3), range(DEPTH)):
        for corpus in corpora:
            ahead = sorted({int(order[rank]) for order in corpus.order if len(order) > rank})
            for start in range(0, len(ahead), AT_ONCE):
                if time.monotonic() < end:
                    writer.write("question", [corpus.texts[at] for at in ahead[start : start + AT_ONCE]], seeds=[seed])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder of the indexes, kept for the next time")
    parser.add_argument("--written", type=Path, help="what the model wrote")
    parser.add_argument("--model", type=Path, help="another GGUF file, with a file of its own for what it writes")
    parser.add_argument("--only", default="", help="variants whose name holds this")
    parser.add_argument("--write", type=float, default=math.inf, help="seconds to write for")
    options = parser.parse_args()
    shop = workshop(load_settings(environment={}, options={"gate": "reference"}).settings, options.work)
    writer = Writer(options.written or shop.work / "written.jsonl", options.model, threads=1)
    corpora = [held(shop, SHARED / name) for name in SETS]
    write_on(writer, corpora, options.write)
    for corpus in corpora:
        said = corpus.asked(writer)
        print(
            f"{corpus.name}: {len(corpus.texts)} passages, {sum(map(bool, said))} with {sum(map(len, said))} questions"
        )
    print(page(corpora, writer, options.only))
    return 0


if __name__ == "__main__":
    sys.exit(main())
