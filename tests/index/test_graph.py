"""A graph of neighbours: it only proposes rows, filters and deletions hold, and what is missing or damaged is said."""

from __future__ import annotations

import builtins
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime")  # before usearch: see gawah.index.graph
pytest.importorskip("usearch")

from tests.index.test_local import compact, seal, tidied

from gawah.errors import ConfigurationError, StoreCorruptError
from gawah.index.graph import FILE_NAME, Graph, build_graph
from gawah.index.local import LocalIndex
from gawah.ports import Embedding, Index, IndexRow, TokenCodes
from gawah.testing.index import FakeIndex, FakeIndexCatalog, analyze_plain, assert_same_answers
from gawah.testing.index_contract import IndexContract

DIMENSIONS = 64


class WithGraphs(IndexContract):
    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.directory = tmp_path

    def make_index(self) -> LocalIndex:
        return LocalIndex(self.directory, analyze_plain, prefilter_above=0, graph_from=1)


class TestAGraphASegment(WithGraphs):
    def settle(self, index: Index, catalog: FakeIndexCatalog) -> None:
        assert isinstance(index, LocalIndex)
        seal(index, catalog)


class TestAGraphOfAll(WithGraphs):
    def settle(self, index: Index, catalog: FakeIndexCatalog) -> None:
        assert isinstance(index, LocalIndex)
        compact(index, catalog)


def clustered(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    topics = rng.standard_normal((max(1, n // 40), DIMENSIONS))
    vectors = topics[rng.integers(0, len(topics), n)] + 0.7 * rng.standard_normal((n, DIMENSIONS))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def catalog_of(vectors: np.ndarray) -> FakeIndexCatalog:
    codes = TokenCodes(np.zeros((0, DIMENSIONS // 8), np.uint8), np.zeros(0, np.float16))
    catalog = FakeIndexCatalog()
    catalog.rows = [
        IndexRow(at + 1, f"c{at:05}", at // 10, f"word{at}", Embedding(vector, codes))
        for at, vector in enumerate(vectors)
    ]
    catalog.n_seqs = len(vectors)
    catalog.next_epoch()
    return catalog


def indexed(directory: Path, vectors: np.ndarray) -> tuple[LocalIndex, LocalIndex, FakeIndexCatalog]:
    """One with a graph, one that scans, over one segment."""
    catalog = catalog_of(vectors)
    index = LocalIndex(directory, analyze_plain, graph_from=100)
    seal(index, catalog)
    assert len(list(directory.glob(f"segments/*/{FILE_NAME}"))) == 1
    return index, LocalIndex(directory, analyze_plain, prefilter_above=None), catalog


def test_the_graph_finds_nearly_all_of_the_nearest_and_their_scores_are_exact(tmp_path: Path) -> None:
    vectors = clustered(5000)
    index, scan, catalog = indexed(tmp_path, vectors)
    view, exact = index.view(catalog.feed()), scan.view(catalog.feed())
    shares = []
    for query in clustered(40, seed=0)[:40]:
        wanted, found = dict(exact.dense(query, 25)), view.dense(query, 25)
        assert len(found) == 25
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
        assert all(score == exact.cosine(query, [chunk_id])[0] for chunk_id, score in found[:3])
        shares.append(len(wanted.keys() & dict(found).keys()) / 25)
    assert np.mean(shares) >= 0.97


@pytest.mark.parametrize("n_documents", [1, 5, 200, 450])
def test_a_filter_gives_the_best_of_what_it_admits_however_few(n_documents: int, tmp_path: Path) -> None:
    vectors = clustered(5000)
    index, scan, catalog = indexed(tmp_path, vectors)
    only = np.sort(np.random.default_rng(1).permutation(500)[:n_documents]).astype(np.int64)
    view, exact = index.view(catalog.feed()), scan.view(catalog.feed())
    for query in clustered(10, seed=5):
        wanted, found = exact.dense(query, 10, only), view.dense(query, 10, only)
        assert len(found) == len(wanted) == 10
        assert len(dict(wanted).keys() & dict(found).keys()) >= 9
        assert all(int(chunk_id[1:]) // 10 in only for chunk_id, _ in found)


def test_deleted_chunks_are_never_found_and_do_not_crowd_out_the_living(tmp_path: Path) -> None:
    vectors = clustered(2000)
    index, scan, catalog = indexed(tmp_path, vectors)
    for number in range(150):
        catalog.delete(number)
    view, exact = index.view(catalog.feed()), scan.view(catalog.feed())
    n_common = 0
    for query in vectors[:20]:
        found, wanted = view.dense(query, 20), exact.dense(query, 20)
        assert len(found) == 20
        assert all(int(chunk_id[1:]) >= 1500 for chunk_id, _ in found)
        n_common += len(dict(wanted).keys() & dict(found).keys())
    assert n_common >= 0.95 * 20 * 20  # two threads build a graph, so it is not the same twice


def test_threads_ask_one_graph_at_the_same_time(tmp_path: Path) -> None:
    vectors = clustered(2000)
    index, _, catalog = indexed(tmp_path, vectors)
    view = index.view(catalog.feed())
    alone = [view.dense(query, 10) for query in vectors[:64]]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda query: view.dense(query, 10), vectors[:64])) == alone


def test_upkeep_adds_the_graph_that_a_segment_lacks_once_and_one_without_asks_for_none(tmp_path: Path) -> None:
    catalog = catalog_of(clustered(300))
    plain = LocalIndex(tmp_path, analyze_plain)
    seal(plain, catalog)
    index = LocalIndex(tmp_path, analyze_plain, graph_from=100)
    oracle = FakeIndex().view(catalog.feed())
    assert_same_answers(index.view(catalog.feed()), oracle, "word7", 3, None)
    assert tidied(index, catalog) == [1]
    assert tidied(index, catalog) == []
    assert len(list(tmp_path.glob(f"segments/*/{FILE_NAME}"))) == 1
    assert index.check(catalog.feed()) == ()
    assert tidied(LocalIndex(tmp_path, analyze_plain), catalog) == []
    assert tidied(LocalIndex(tmp_path, analyze_plain, graph_from=1000), catalog) == []


def test_a_graph_that_is_missing_or_cut_short_is_said_so_and_built_again(tmp_path: Path) -> None:
    index, scan, catalog = indexed(tmp_path, clustered(300))
    (path,) = tmp_path.glob(f"segments/*/{FILE_NAME}")
    sound = scan.view(catalog.feed()).fingerprint()
    for harm in (Path.unlink, lambda each: each.write_bytes(each.read_bytes()[:-5])):
        harm(path)
        reopened = LocalIndex(tmp_path, analyze_plain, graph_from=100)
        view = reopened.view(catalog.feed())
        assert FILE_NAME in view.degraded[0]
        assert view.fingerprint() == sound
        assert tidied(reopened, catalog) == [1]
        assert reopened.view(catalog.feed()).degraded == ()
        (path,) = tmp_path.glob(f"segments/*/{FILE_NAME}")
    assert index.check(catalog.feed()) == ()


def test_a_file_that_is_no_graph_of_these_vectors_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    build_graph(path, DIMENSIONS, [clustered(50)], 1)
    query = clustered(1)[0].astype(np.float64)
    assert len(Graph(path, 50, DIMENSIONS).nearest(query, 9)) == 9
    for n_rows, dimensions in ((49, DIMENSIONS), (50, 32)):
        with pytest.raises(StoreCorruptError, match="of other vectors"):
            Graph(path, n_rows, dimensions).nearest(query[:dimensions], 9)
    path.write_bytes(b"no graph" * 100)
    with pytest.raises(StoreCorruptError, match="cannot be mapped"):
        Graph(path, 50, DIMENSIONS).nearest(query, 9)


def test_without_the_package_one_line_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refusing(name: str, *rest: object, **more: object) -> object:
        if name.startswith("usearch"):
            raise ImportError("No module named 'usearch'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refusing)
    for name in [name for name in sys.modules if name.startswith("usearch")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ConfigurationError, match=r"pip install 'gawah\[hnsw\]'"):
        LocalIndex(tmp_path, analyze_plain, graph_from=1)
