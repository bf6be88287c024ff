"""Whole sets measured: BM25 over the golden chunks, the needles that blind cuts destroy, the answers that are hidden."""

from __future__ import annotations

import json
import math
from collections import Counter
from functools import cache

import pytest
from tests.eval.made import SHARED, cut

from gawah.chunk import chunk_reference
from gawah.eval import (
    by_phrasing,
    destroyed,
    hidden_queries,
    load_collection,
    outcomes_of,
    pool,
    qrels_of,
    successes,
    summarise,
)
from gawah.text import reference_terms

SETS = ("rustbook", "etcd")
pytestmark = pytest.mark.skipif(
    not (SHARED / "golden").is_dir(), reason="the shared evaluation sets are not beside this checkout"
)


@cache
def bm25_rankings(name):
    """The 20 best chunks of BM25 over the golden chunks, for each query, by the formula and nothing else."""
    golden = json.loads((SHARED / "golden" / f"{name}.json").read_text(encoding="utf-8"))
    chunks = [chunk for document in golden["documents"] for chunk in document["chunks"]]
    terms = [Counter(reference_terms(chunk["text"])) for chunk in chunks]
    n_terms = [sum(counts.values()) for counts in terms]
    average = sum(n_terms) / len(chunks)
    df = Counter(term for counts in terms for term in counts)
    found = {}
    for query in load_collection(SHARED / name).queries:
        scored = []
        for i, counts in enumerate(terms):
            norm = 1.2 * (0.25 + 0.75 * n_terms[i] / average)
            idf = [
                (math.log(1 + (len(chunks) - df[t] + 0.5) / (df[t] + 0.5)), counts[t]) for t in query_of(query, counts)
            ]
            scored.append((-sum(weight * tf * 2.2 / (tf + norm) for weight, tf in idf), i))
        found[query.id] = [chunks[i]["content"] for score, i in sorted(scored)[:20] if score]
    return found


def query_of(query, counts):
    return [term for term in reference_terms(query.query) if term in counts]


def bm25_outcomes(name):
    return outcomes_of(load_collection(SHARED / name).queries, bm25_rankings(name))


def texts_of(found):
    return {path.name: path.read_bytes().decode("utf-8") for path in sorted(found.corpus_dir.glob("*.md"))}


@pytest.mark.parametrize(("name", "own", "ticket"), [("rustbook", 23, 3), ("etcd", 21, 5)])
def test_bm25_over_the_reference_chunks_finds_as_much_at_rank_1_as_it_did(name, own, ticket):
    groups = by_phrasing(bm25_outcomes(name))
    at_1 = {phrasing: summarise(outcomes).recall[1] for phrasing, outcomes in groups.items()}
    assert {p: (successes(e), e.n) for p, e in at_1.items()} == {
        "own": (own, 32),
        "ticket": (ticket, 32),
        "all": (own + ticket, 64),
    }


def test_pooled_recall_is_the_share_of_queries_with_the_needle_in_a_result():
    by_hand = [
        " ".join(query.needle.split()) in " ".join(text.split())
        for name in SETS
        for query in load_collection(SHARED / name).queries
        for text in [*bm25_rankings(name)[query.id], ""][:1]
    ]
    pooled = summarise(pool({name: bm25_outcomes(name) for name in SETS}))
    assert (pooled.n, successes(pooled.recall[1])) == (128, sum(by_hand))


@pytest.mark.parametrize("name", SETS)
def test_blind_cuts_destroy_as_many_needles_as_is_known(name):
    found = load_collection(SHARED / name)
    spans = {
        file: [p.span for p in chunk_reference(text, file, strategy="A")] for file, text in texts_of(found).items()
    }
    chunks = [c for file, text in texts_of(found).items() for c in cut(text, *((s.start, s.end) for s in spans[file]))]
    lost = destroyed(found.queries, chunks)
    assert (lost.n_needles, len(lost.in_content)) == (32, 6)


@pytest.mark.parametrize("name", SETS)
def test_hiding_the_answer_leaves_no_chunk_that_is_judged_right(name):
    found = load_collection(SHARED / name)
    texts = texts_of(found)
    chunks = {
        file: cut(
            text, *((p.span.start, p.span.end) for p in chunk_reference(text, file, strategy="E")), document_id=file
        )
        for file, text in texts.items()
    }
    hidden = hidden_queries(found.queries, texts, chunks)
    qrels = qrels_of(found.queries, {chunk.id: chunk.content for each in chunks.values() for chunk in each})
    assert (len(hidden.queries), hidden.repeated, hidden.unplaced) == (64, (), ())
    for query in hidden.queries:
        right = set(qrels[query.id.removeprefix("hidden-")]) - {"destroyed"}
        assert right <= set(query.excluded)
        assert len(query.excluded) <= 3
        # The reference's E drops what stands before the first heading: such a needle is in no chunk at all.
        assert query.excluded or "destroyed" in qrels[query.id.removeprefix("hidden-")]
