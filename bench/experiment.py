"""The method's experiment: strategies A to F, and the product's, times systems. Writes docs/experiment.md.

python -m bench.experiment [SET ...] [--work DIR] [--out FILE]     sets: folders; default rustbook and etcd, else examples
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from bench.corpora import ROOT, SHARED
from bench.findings import findings
from gawah.chunk import Audit, Chunking
from gawah.config import load_settings
from gawah.eval import Collection, Destroyed, QueryOutcome, by_phrasing, compare, load_collection, pool, summarise
from gawah.eval.corpus import total_audit
from gawah.eval.render import comparisons_table, destroyed_table, measures_table, share, table
from gawah.eval.run import Run
from gawah.evaluate import Workshop, evaluate, workshop
from gawah.types import Comparison

DEFAULT = "product"
BARE = "no header"
FORMS = {
    **{letter: Chunking(letter, "reference") for letter in "ABCDEF"},
    BARE: Chunking("C"),
    DEFAULT: Chunking(),
}
SYSTEMS = ("dense", "bm25", "rrf", "rerank")
STRATEGY_PAIRS = (("B", "A"), ("E", "A"), ("E", "C"), ("F", "E"), (DEFAULT, "E"), (DEFAULT, BARE))
SYSTEM_PAIRS = (("rrf", "bm25"), ("rrf", "dense"), ("bm25", "dense"), ("rerank", "rrf"))
STRATEGY_RANKS = (1, 8, 20)
SYSTEM_RANKS = (1, 4, 8)
PEERS = {2000: 0.72, 4000: 0.80}  # the best of six other systems over rustbook, each with the same encoder
LARGE_CHARS = 1024  # whole paragraphs: what words alone rank best


@dataclass(frozen=True)
class Experiment:
    """Runs by strategy and set."""

    runs: dict[str, dict[str, Run]]

    @property
    def sets(self) -> list[str]:
        return list(next(iter(self.runs.values())))

    def outcomes(self, form: str, system: str) -> tuple[QueryOutcome, ...]:
        """Of all sets, as one."""
        return pool({name: run.outcomes(system) for name, run in self.runs[form].items()})

    def audit(self, form: str) -> Audit:
        return total_audit([run.audit for run in self.runs[form].values()])

    def destroyed(self, form: str) -> Destroyed:
        lost = [run.destroyed for run in self.runs[form].values()]
        return Destroyed(
            sum(one.n_needles for one in lost),
            tuple(words for one in lost for words in one.in_content),
            tuple(words for one in lost for words in one.in_text),
        )

    def strategies(self, treatment: str, baseline: str, system: str, k: int) -> Comparison:
        """The same system over two ways of cutting, paired by question, at rank k."""
        return compare(self._found(treatment, system, k), self._found(baseline, system, k))

    def whole(self, treatment: str, baseline: str, system: str, k: int) -> Comparison:
        """The same over the questions only whose answer the baseline holds whole in what it embeds."""
        lost = {
            f"{name}/{query.id}"
            for name, run in self.runs[baseline].items()
            for query in run.queries
            if query.needle in run.destroyed.in_text
        }
        ours, theirs = (
            {key: found for key, found in self._found(form, system, k).items() if key not in lost}
            for form in (treatment, baseline)
        )
        return compare(ours, theirs)

    def systems(self, treatment: str, baseline: str, form: str, k: int) -> Comparison:
        """Two systems over the same chunks."""
        return compare(self._found(form, treatment, k), self._found(form, baseline, k))

    def _found(self, form: str, system: str, k: int) -> dict[str, bool]:
        return {outcome.query_id: outcome.found_within(k) for outcome in self.outcomes(form, system)}


def run_all(shop: Workshop, folders: list[Path]) -> Experiment:
    runs: dict[str, dict[str, Run]] = {}
    for form, chunking in FORMS.items():
        for folder in folders:
            run = evaluate(shop, load_collection(folder), chunking=chunking, cite=False)
            runs.setdefault(form, {})[run.set_name] = run
            print(f"{run.set_name} {run.chunker}: {run.audit.n_chunks} chunks", file=sys.stderr)
    return Experiment(runs)


def other_sets() -> dict[str, list[Collection]]:
    """Exact strings over both manuals, and questions in scripts and mixtures that the English encoder does not know."""
    exact = []
    for name in ("rustbook", "etcd"):
        found = load_collection(
            SHARED / "identifiers", corpus_dir=SHARED / name / "corpus", queries_name="queries-dev.jsonl"
        )
        own = tuple(query for query in found.queries if query.extras["corpus"] == name)
        exact.append(replace(found, name=name, queries=own))
    languages = {"Hindi": "hi", "Urdu": "ur"}
    return {
        "identifiers": exact,
        **{name: [load_collection(SHARED / "multilingual" / code)] for name, code in languages.items()},
        **{
            f"{name}, code-mixed": [
                load_collection(SHARED / "multilingual" / code, queries_name="queries_codemixed.jsonl")
            ]
            for name, code in languages.items()
        },
    }


def other_tables(shop: Workshop) -> str:
    """The product's chunks; every system apart."""
    rows = {}
    for name, collections in other_sets().items():
        runs = [evaluate(shop, collection, cite=False) for collection in collections]
        for system in SYSTEMS:
            rows[f"{name}, {system}"] = summarise(pool({run.set_name: run.outcomes(system) for run in runs}))
        print(f"{name}: {sum(len(run.judged) for run in runs)} questions", file=sys.stderr)
    for name in ("Hindi", "Urdu"):
        (collection,) = other_sets()[name]
        run = evaluate(shop, collection, chunking=Chunking(target=LARGE_CHARS), systems=("bm25",), cite=False)
        rows[f"{name}, bm25, target_chars {LARGE_CHARS}"] = summarise(pool({run.set_name: run.outcomes("bm25")}))
    return measures_table(rows)


def cuts_table(experiment: Experiment) -> str:
    rows = []
    for form in FORMS:
        audit = experiment.audit(form)
        rows.append([
            form, f"{audit.n_chunks:,}", f"{audit.n_tokens:,}", share(audit.header_share), str(audit.n_over_before_guard),
            str(audit.n_truncated), f"{audit.n_whole:,}/{audit.n_sentences:,}", share(audit.survival),
        ])  # fmt: skip
    head = [
        "",
        "chunks",
        "tokens embedded",
        "header and overlap",
        "over the window",
        "truncated",
        "sentences whole",
        "share",
    ]
    return table(head, rows)


def system_tables(experiment: Experiment) -> str:
    parts = []
    for system in SYSTEMS:
        rows = {form: summarise(experiment.outcomes(form, system)) for form in FORMS}
        parts.append(f"### {system}\n\n{measures_table(rows)}")
    return "\n".join(parts)


def product_tables(experiment: Experiment) -> str:
    """The product's chunker by set and phrasing."""
    parts = []
    for name, run in experiment.runs[DEFAULT].items():
        rows = {
            f"{system}, {phrasing}": summarise(outcomes)
            for system in SYSTEMS
            for phrasing, outcomes in by_phrasing(run.outcomes(system)).items()
        }
        parts.append(f"### {name}\n\n{measures_table(rows)}")
    return "\n".join(parts)


def peers_table(run: Run) -> str:
    rows = []
    for system in SYSTEMS:
        found = summarise(run.outcomes(system)).text_recall
        cells = [f"{share(found[size].mean)} [{share(found[size].low)}, {share(found[size].high)}]" for size in PEERS]
        rows.append([f"gawah, {system}", *cells])
    rows.append(["best of six peers", *(share(mark) for mark in PEERS.values())])
    return table(["", *(f"in {size:,} characters" for size in PEERS)], rows)


def strategy_tests(experiment: Experiment, system: str) -> str:
    return comparisons_table({
        f"{a} – {b}, R@{k}": experiment.strategies(a, b, system, k) for a, b in STRATEGY_PAIRS for k in STRATEGY_RANKS
    })  # fmt: skip


def system_tests(experiment: Experiment, form: str) -> str:
    return comparisons_table({
        f"{a} – {b}, R@{k}": experiment.systems(a, b, form, k) for a, b in SYSTEM_PAIRS for k in SYSTEM_RANKS
    })  # fmt: skip


def page(experiment: Experiment) -> str:
    n_judged = sum(len(run.judged) for run in experiment.runs[DEFAULT].values())
    stamp = next(iter(experiment.runs[DEFAULT].values())).stamps[0]
    model, window = stamp.model.name, stamp.model.window_tokens
    parts = [
        HEAD.format(sets=" and ".join(experiment.sets), n=n_judged, model=model, window=window),
        f"## What the method found, and whether it repeats\n\n{findings(experiment)}",
        f"## Answers destroyed\n\n{destroyed_table({form: experiment.destroyed(form) for form in FORMS})}",
        f"## What each strategy costs and keeps\n\n{CUTS}\n\n{cuts_table(experiment)}",
        f"## Recall by strategy\n\n{system_tables(experiment)}",
        f"## The product, by set and phrasing\n\n{product_tables(experiment)}",
        "## Strategies, paired\n",
        *(f"### {system}\n\n{strategy_tests(experiment, system)}" for system in ("dense", "rerank")),
        "## Systems, paired\n",
        f"### over the reference's E\n\n{system_tests(experiment, 'E')}",
        f"### over the product's chunks\n\n{system_tests(experiment, DEFAULT)}",
    ]
    if "rustbook" in experiment.sets:
        run = experiment.runs[DEFAULT]["rustbook"]
        parts.insert(4, f"## At equal text, beside others (rustbook)\n\n{EQUAL}\n\n{peers_table(run)}")
    return "\n".join(parts)


HEAD = """# The experiment: six ways of cutting, four ways of ranking

`make experiment` writes this page. Sets: {sets}; {n} questions with a needle. Encoder: {model},
window {window} word-pieces. The gate is measured in gate.md.

**A** cuts blindly every 512 characters, **B** is A with the last 64 characters of the chunk before, **C** cuts at paragraphs
and sentence ends, **D** is C with overlap, **E** is C with a header of title and section, **F** is E with overlap: all six as
the reference cuts them. **product** is what gawah ships, E over blocks; **no header** is the same without its header. Texts of
the reference that exceed the window are cut there before they are embedded, and counted.

A question counts as found when one of the first k results holds its needle whole. What can be quoted is judged (content);
with overlap (B, D, F) the embedded text is, since only there the repeated words stand. Brackets are Wilson 95 % intervals.
Comparisons are paired by question: wins, losses, and the two-sided exact sign test over both; "p (Holm)" corrects for all
rows of its table.
"""
CUTS = """"Header and overlap" is the share of embedded tokens that are not the chunk's own words. "Over the window" counts chunks
longer than the encoder reads (of the product: before its guard cuts them again); "truncated" those of which the encoder
saw a part only. "Sentences whole" are those of prose and table rows that lie in one chunk's content."""
EQUAL = """Equal k flatters large chunks, so here results are cut after as many characters, whatever the size of chunks. The peers are
LlamaIndex, Haystack, LangChain, txtai, haiku.rag and chroma, with the same encoder; the mark is the best of them in each
column, measured on another day."""

OTHERS = """Over the product's chunks. The encoder is English: over Hindi and Urdu dense retrieval fails, and what finds there is BM25,
which is all that fusion and reranking use for a question whose words the encoder does not know. Code-mixed questions are
mostly in Latin letters, their answers are not: few words are shared, and every system is weak. With chunks of
1,024 characters more first passages hold the answer; in 2,000 characters of results Hindi gains three questions, Urdu loses three."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--work", type=Path, help="folder of the indexes, kept for the next time")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "experiment.md")
    options = parser.parse_args()
    usual = [SHARED / "rustbook", SHARED / "etcd"] if SHARED.is_dir() else [ROOT / "examples"]
    folders = options.sets or usual
    shop = workshop(load_settings(environment={}, options={"gate": "reference"}).settings, options.work)
    text = page(run_all(shop, folders))
    if folders == usual and SHARED.is_dir():
        text += f"\n## Exact strings, Hindi, Urdu\n\n{OTHERS}\n\n{other_tables(shop)}"
    options.out.write_text(text, encoding="utf-8", newline="\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
