"""Evidence made of texts, with the fake embedder."""

from gawah.gate import Evidence
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.generator import make_source

EMBEDDER = FakeEmbedder()


def make_evidence(question, passages=(), *, texts=(), background=(), weights=None, readable=True, **lexical):
    """Evidence over given passages, or over passages of the given texts, best first."""
    passages = tuple(passages) or tuple(make_source(n, text).passage for n, text in enumerate(texts, start=1))
    query = EMBEDDER.embed_query(question)
    return Evidence(
        question=question,
        passages=passages,
        query=query,
        weights=tuple(weights if weights is not None else [1.0] * len(query.words)),
        tokens=tuple(one.tokens for one in EMBEDDER.embed([p.chunk.text for p in passages[:8]])),
        background=tuple(one.tokens for one in EMBEDDER.embed(list(background))),
        term_weights=lexical.get("term_weights", {}),
        bm25_best=lexical.get("bm25_best", 0.0),
        bm25_attainable=lexical.get("bm25_attainable", 0.0),
        readable=readable,
    )
