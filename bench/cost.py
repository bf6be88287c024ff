"""What reranking costs and brings: token vectors in three formats and a cross-encoder, at three depths. Writes docs/reranking.md.

python -m bench.cost [--work DIR] [--out FILE] [--cross-encoder MODEL]     make bench-cost does it

The sets are rustbook and etcd where they are, else the example handbook. One-bit codes are what the product stores; fp16 and
int8 exist here only. A cross-encoder has a recall only with weights that were trained: name them with --cross-encoder, else
a random checkpoint of MiniLM-L6's shape is timed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.models.small_checkpoint import write_cross_encoder
from threadpoolctl import threadpool_limits
from tokenizers import Tokenizer

from bench.corpora import ROOT, SHARED
from bench.token_formats import FORMATS, STORED, Format, Vectors
from gawah.app import Application
from gawah.chunk import Chunking
from gawah.config import load_settings
from gawah.eval import Collection, QueryOutcome, compare, load_collection, outcome_of, summarise
from gawah.eval.collection import JudgedQuery
from gawah.eval.measures import MRR_CUTOFF
from gawah.eval.render import comparisons_table, proportion, share, table
from gawah.evaluate import Workshop, evaluate, workshop
from gawah.models.cross_encoder import CrossEncoder, load_cross_encoder
from gawah.ports import Embedder
from gawah.rerank import reorder, token_weights
from gawah.retrieve import retrieve
from gawah.text import analyze
from gawah.types import Ranking

DEPTHS = (25, 50, 100)
N_TIMED_PAIRS = 8  # questions that the cross-encoder is timed on; one takes seconds
MINILM = {
    "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536,
    "max_position_embeddings": 512, "vocab_size": 30522,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A question, its fused shortlist, and the contents that it is judged on."""

    query_id: str
    query: JudgedQuery
    vectors: Vectors
    weights: tuple[float, ...]
    fused: Ranking
    keys: tuple[str, ...]


@dataclass
class Corpus:
    """Texts by chunk id, as embedded and as quoted; the token vectors in every format; how many tokens all chunks have."""

    texts: dict[str, str] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    kept: dict[str, dict[str, object]] = field(default_factory=dict)
    n_tokens: int = 0
    n_chunks: int = 0


@dataclass
class Cost:
    """Of one way of reranking at one depth: milliseconds a question, by the wall and of processors, and what was found."""

    wall_ms: list[float] = field(default_factory=list)
    busy_ms: list[float] = field(default_factory=list)
    outcomes: list[QueryOutcome] = field(default_factory=list)


def scored(format_: Format, case: Case, corpus: Corpus, depth: int) -> list[float]:
    kept = [corpus.kept[key][format_.name] for key in case.keys[:depth]]
    weights = np.asarray(case.weights)
    total = weights.sum()
    if not total:
        return [0.0] * len(kept)
    return [float(score) for score in format_.matches(case.vectors, kept) @ (weights / total)]


def outcome(case: Case, corpus: Corpus, scores: Sequence[float]) -> QueryOutcome:
    final = reorder(case.fused, scores, "rerank") if scores else case.fused
    contents = [corpus.contents[hit.chunk_id] for hit in final.hits[:MRR_CUTOFF]]
    found = outcome_of(case.query, contents)
    return QueryOutcome(case.query_id, found.phrasing, found.kind, found.rank, found.n_chars)


def gathered(shop: Workshop, collection: Collection, corpus: Corpus) -> Iterator[Case]:
    """The questions of a set with their fused shortlists, from an index that is built once and used again."""
    evaluate(shop, collection, systems=("bm25",), cite=False)
    own = shop.settings.model_copy(
        update={"store": shop.folder(collection, Chunking(target=shop.settings.target_chars))}
    )
    with Application(own, embedder=shop.embedder) as app, app.catalog.snapshot() as snapshot:
        view = app.index.view(snapshot)
        ids = [chunk.id for record in snapshot.documents() for chunk in snapshot.chunks_of(record.no)]
        corpus.n_chunks += len(ids)
        corpus.n_tokens += sum(len(codes.scales) for codes in view.tokens(ids))
        for query in collection.queries:
            fused = retrieve(app.retriever, snapshot, query.query, system="rrf", cutoff=max(DEPTHS)).rankings["rrf"]
            embedded = app.embedder.embed_query(query.query)
            weights = token_weights(embedded.words, view.document_frequency, view.n_chunks, analyze=analyze)
            for hit in fused.hits:
                chunk = snapshot.chunk(hit.chunk_id)
                corpus.texts[hit.chunk_id], corpus.contents[hit.chunk_id] = chunk.text, chunk.content
            keys = tuple(hit.chunk_id for hit in fused.hits[: max(DEPTHS)])
            yield Case(f"{collection.name}/{query.id}", query, embedded.token_vectors, tuple(weights), fused, keys)


def keep_vectors(cases: Sequence[Case], corpus: Corpus, embedder: Embedder) -> None:
    """Encodes every chunk of a shortlist once; what the question side gives of a text are its kept tokens in fp32."""
    keys = list(dict.fromkeys(key for case in cases for key in case.keys))
    with ThreadPoolExecutor(2) as pool:
        encoded = pool.map(lambda key: embedder.embed_query(corpus.texts[key]).token_vectors, keys)
        for at, (key, vectors) in enumerate(zip(keys, encoded, strict=True)):
            corpus.kept[key] = {format_.name: format_.keep(vectors) for format_ in FORMATS}
            if at % 500 == 499:
                print(f"{at + 1} of {len(keys)} chunks encoded", file=sys.stderr)


def late_costs(cases: Sequence[Case], corpus: Corpus) -> dict[tuple[str, int], Cost]:
    """Every format and depth in turns on each question, one thread: a busy moment hits them alike."""
    costs = {(format_.name, depth): Cost() for format_ in FORMATS for depth in DEPTHS}
    for case in cases:
        for format_ in FORMATS:
            scored(format_, case, corpus, DEPTHS[0])  # its data into the caches
            for depth in DEPTHS:
                start, busy = time.perf_counter(), time.thread_time()
                scores = scored(format_, case, corpus, depth)
                cost = costs[format_.name, depth]
                cost.busy_ms.append((time.thread_time() - busy) * 1e3)
                cost.wall_ms.append((time.perf_counter() - start) * 1e3)
                cost.outcomes.append(outcome(case, corpus, scores))
    return costs


def cross_costs(cases: Sequence[Case], corpus: Corpus, cross: CrossEncoder, *, is_trained: bool) -> dict[int, Cost]:
    """Timed on a few questions; judged on all, where the weights mean something: a score does not depend on the depth."""
    costs = {depth: Cost() for depth in DEPTHS}
    step = max(1, len(cases) // N_TIMED_PAIRS)
    cross.score("a question", ["a passage"])
    for case in cases[::step][:N_TIMED_PAIRS]:
        for depth in DEPTHS:
            passages = [corpus.texts[key] for key in case.keys[:depth]]
            start, busy = time.perf_counter(), time.process_time()
            cross.score(case.query.query, passages)
            costs[depth].busy_ms.append((time.process_time() - busy) * 1e3)
            costs[depth].wall_ms.append((time.perf_counter() - start) * 1e3)
    if is_trained:
        for number, case in enumerate(cases):
            scores = cross.score(case.query.query, [corpus.texts[key] for key in case.keys]).scores
            for depth, cost in costs.items():
                cost.outcomes.append(outcome(case, corpus, scores[:depth]))
            print(f"{number + 1} of {len(cases)} questions read by the cross-encoder", file=sys.stderr)
    return costs


def spread(values: Sequence[float]) -> str:
    """Median and the interval that nine of ten questions are in."""
    if not values:
        return "–"
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    places = 1 if middle < 100 else 0
    return f"{middle:,.{places}f} [{low:,.{places}f}, {high:,.{places}f}]"


def row(name: str, depth: str, bytes_per_chunk: str, cost: Cost) -> list[str]:
    found = summarise(cost.outcomes) if cost.outcomes else None
    recalls = [proportion(found.recall[1]), proportion(found.recall[4]), share(found.mrr)] if found else ["–"] * 3
    return [name, depth, bytes_per_chunk, spread(cost.wall_ms), spread(cost.busy_ms), *recalls]


def found_first(cost: Cost, k: int = 1) -> dict[str, bool]:
    return {one.query_id: one.found_within(k) for one in cost.outcomes}


def tests_table(late: dict[tuple[str, int], Cost], fused: Cost) -> str:
    pairs = {f"{STORED}, {depth} – no reranking": (late[STORED, depth], fused) for depth in DEPTHS}
    for depth in DEPTHS:
        pairs |= {f"{name} – {STORED}, {depth}": (late[name, depth], late[STORED, depth]) for name in ("fp16", "int8")}
    pairs |= {f"{STORED}, {a} – {b}": (late[STORED, a], late[STORED, b]) for a, b in ((50, 25), (100, 50))}
    return comparisons_table({
        f"{name}, R@{k}": compare(found_first(a, k), found_first(b, k)) for name, (a, b) in pairs.items() for k in (1, 4)
    })  # fmt: skip


def page(
    cases: Sequence[Case], corpus: Corpus, late: dict[tuple[str, int], Cost], cross: dict[int, Cost], told: str
) -> str:
    fused = Cost(outcomes=[outcome(case, corpus, ()) for case in cases])
    rows = [row("no reranking (RRF)", "", "0", fused)]
    a_chunk = corpus.n_tokens / corpus.n_chunks
    for format_ in FORMATS:
        size = f"{format_.bytes_per_token * a_chunk:,.0f}"
        name = f"**{format_.name}** (stored)" if format_.name == STORED else format_.name
        rows += [row(name, str(depth), size, late[format_.name, depth]) for depth in DEPTHS]
    rows += [row("cross-encoder", str(depth), "0", cross[depth]) for depth in DEPTHS]
    head = ["", "depth", "bytes a chunk", "ms a question", "of processors", "R@1", "R@4", "MRR"]
    sets = " and ".join(dict.fromkeys(case.query_id.partition("/")[0] for case in cases))
    intro = HEAD.format(
        sets=sets,
        n=len(cases),
        chunks=corpus.n_chunks,
        tokens=a_chunk,
        cross=told,
        load=os.getloadavg()[1],
        cores=len(os.sched_getaffinity(0)),
    )
    return f"{intro}\n{table(head, rows)}\n{reading(late)}\n\n## Paired\n\n{PAIRED}\n\n{tests_table(late, fused)}"


def reading(late: dict[tuple[str, int], Cost]) -> str:
    """What the table says of the stored format, in figures of this run."""
    (stored,) = (one for one in FORMATS if one.name == STORED)
    parts = []
    for other in FORMATS:
        if other is not stored:
            pair = compare(found_first(late[STORED, 50]), found_first(late[other.name, 50]))
            times = other.bytes_per_token / stored.bytes_per_token
            parts.append(
                f"{other.name} takes {times:.1f} times the bytes ({pair.wins} first places less, {pair.losses} more)"
            )
    return f"Against one bit at depth 50, {'; '.join(parts)}."


HEAD = """# What reranking costs and brings

`make bench-cost` writes this page, all figures in one run. Sets: {sets}; {n} questions with a needle, {chunks:,} chunks of
{tokens:.0f} kept tokens on average. The shortlist is that of the product: BM25 and dense, 100 each, fused.

**fp16**, **int8** and **1 bit** are late interaction over the encoder's token vectors, kept with as many bits a dimension and
one fp16 scale a token (fp16 needs none); the question's side is fp32. The product stores 1 bit. Their time is that of MaxSim
alone, one thread, vectors in memory, in turns on every question; fp16 and int8 are one matrix product in numpy.
**cross-encoder** reads each pair of question and passage anew, on all cores, and stores nothing: {cross}.

Times are medians, in brackets the range of nine questions in ten; "of processors" is their time added up, which another
program's load moves less (load average of this run: {load:.1f} on {cores} cores).
R@1 and R@4: the needle whole in the first result, in one of the first four, with Wilson 95 % intervals.
"""
PAIRED = """By question: wins, losses, and the two-sided exact sign test; "p (Holm)" corrects for all rows."""
RANDOM = """here a random
checkpoint of the shape of ms-marco-MiniLM-L-6-v2, which takes the time and finds nothing, so its recall is left out
(`python -m bench.cost --cross-encoder MODEL` measures one that was trained)"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder of the indexes, kept for the next time")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "reranking.md")
    parser.add_argument("--cross-encoder", default="", help="a trained checkpoint's folder or name")
    options = parser.parse_args()
    folders = [SHARED / "rustbook", SHARED / "etcd"] if SHARED.is_dir() else [ROOT / "examples"]
    shop = workshop(load_settings(environment={}, options={"gate": "reference"}).settings, options.work)
    corpus = Corpus()
    cases = [case for folder in folders for case in gathered(shop, load_collection(folder), corpus)]
    print(f"{len(cases)} questions over {corpus.n_chunks} chunks", file=sys.stderr)
    keep_vectors(cases, corpus, shop.embedder)
    with threadpool_limits(1):
        late = late_costs(cases, corpus)
    with tempfile.TemporaryDirectory(prefix="gawah-cost-") as made:
        if not options.cross_encoder:
            tokenizer = Tokenizer.from_file(str(shop.embedder.checkpoint.tokenizer_path))
            write_cross_encoder(Path(made), config=MINILM, spread=0.05, tokenizer=tokenizer)
        model = load_cross_encoder(
            options.cross_encoder or made, cache_directory=shop.settings.cache if options.cross_encoder else Path(made)
        )
        cross = cross_costs(cases, corpus, model, is_trained=bool(options.cross_encoder))
        told = f"here {model.checkpoint.name}" if options.cross_encoder else RANDOM
    text = page(cases, corpus, late, cross, told)
    options.out.write_text(text, encoding="utf-8", newline="\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
