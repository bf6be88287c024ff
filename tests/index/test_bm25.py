"""BM25: the worked values, and the reference's scores over two corpora."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.index import bm25
from gawah.index.local import LocalIndex
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.index import FakeIndexCatalog

GOLDEN = Path(__file__).resolve().parents[2] / "../shared/eval/golden"


def test_worked_values() -> None:
    assert bm25.idf(10, 3) == pytest.approx(math.log(1 + 7.5 / 3.5), abs=1e-15)
    assert bm25.length_norms(np.array([0, 10, 20], np.int32), 10.0).tolist() == pytest.approx([0.3, 1.2, 2.1])
    assert bm25.length_norms(np.array([0, 0], np.int32), 0.0).tolist() == pytest.approx([0.3, 0.3])
    assert bm25.saturated(np.array([1, 3], np.uint16), np.array([1.2, 1.2])).tolist() == pytest.approx([1.0, 6.6 / 4.2])


@given(st.integers(1, 10**9), st.data())
def test_idf_is_positive_and_falls_with_frequency(n_chunks: int, data: st.DataObject) -> None:
    n_holding = data.draw(st.integers(1, n_chunks))
    assert 0 < bm25.idf(n_chunks, n_holding) < bm25.idf(n_chunks, n_holding - 1)


@given(st.integers(1, 2**31 - 2), st.floats(0.3, 1e6))
def test_further_occurrences_add_less_and_less_up_to_a_limit(count: int, norm: float) -> None:
    one, more = bm25.saturated(np.array([count, count + 1]), np.array([norm, norm]))
    assert 0 < one <= more * (1 + 1e-15)
    assert more <= (bm25.K1 + 1) * (1 + 1e-15)


def reference_terms(text: str) -> tuple[list[str], list[str]]:
    return re.findall("[a-z0-9]+", text.lower()), []


@pytest.mark.parametrize("corpus", ["rustbook", "etcd"])
@pytest.mark.parametrize("n_segments", [0, 3])
def test_golden_scores_and_order(corpus: str, n_segments: int, tmp_path: Path) -> None:
    path = GOLDEN / f"{corpus}.json"
    if not path.exists():
        pytest.skip(f"the reference outputs are not at {GOLDEN}")
    golden = json.loads(path.read_text())
    catalog = FakeIndexCatalog(FakeEmbedder(dimensions=8, window_tokens=100_000))
    index = LocalIndex(tmp_path, reference_terms)
    n_chunks = 0
    for number, document in enumerate(golden["documents"]):
        catalog.add(number, {f"c{n_chunks + at:06}": chunk["text"] for at, chunk in enumerate(document["chunks"])})
        n_chunks += len(document["chunks"])
        if number < n_segments:
            catalog.register(index.seal(catalog.feed()))
    view = index.view(catalog.feed())
    for case in golden["bm25"]:
        found = view.bm25(reference_terms(case["query"])[0], 20)
        assert [chunk_id for chunk_id, _ in found] == [f"c{hit['chunk']:06}" for hit in case["top"]]
        assert max(abs(score - hit["score"]) for (_, score), hit in zip(found, case["top"], strict=True)) <= 1e-9
