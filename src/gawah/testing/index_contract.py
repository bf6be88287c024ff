"""The contract that every index keeps; it needs no test runner to be imported."""

from __future__ import annotations

import numpy as np

from gawah.errors import NotFoundError
from gawah.ports import Index, IndexView, Vector
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.index import (
    QUESTIONS,
    TEXTS,
    FakeIndex,
    FakeIndexCatalog,
    assert_same_answers,
)
from gawah.types import Filter


class IndexContract:
    """What every index keeps. Inherit in a test class and override `make_index`, and `settle` if there are layouts."""

    def make_index(self) -> Index:
        raise NotImplementedError

    def settle(self, index: Index, catalog: FakeIndexCatalog) -> None:
        """Called after each commit: an index may seal or compact here."""

    def test_an_empty_index_finds_nothing(self) -> None:
        view = self.make_index().view(FakeIndexCatalog().feed())
        assert view.n_chunks == 0
        assert view.dense(_vector("backup"), 10) == []
        assert view.bm25(["backup"], 10) == []
        assert view.document_frequency(["backup"]) == [0]
        assert view.cosine(_vector("backup"), []) == []
        assert view.tokens([]) == []

    def test_every_question_is_answered_as_by_looking_at_every_chunk(self) -> None:
        index, catalog = self._filled()
        view, oracle = index.view(catalog.feed()), FakeIndex().view(catalog.feed())
        assert (view.generation, view.epoch, view.n_chunks) == (catalog.generation, catalog.epoch, len(TEXTS))
        for question in QUESTIONS:
            for cutoff in (1, 2, 3, 100):
                assert_same_answers(view, oracle, question, cutoff, None)

    def test_chunks_of_the_same_score_are_ordered_and_cut_by_chunk_id(self) -> None:
        catalog = FakeIndexCatalog()
        index = self.make_index()
        for number, chunk_id in enumerate(["c5", "c1", "c9", "c3"]):
            catalog.add(number, {chunk_id: "the same words"})
            self.settle(index, catalog)
        view = index.view(catalog.feed())
        assert [chunk_id for chunk_id, _ in view.dense(_vector("same"), 2)] == ["c1", "c3"]
        assert [chunk_id for chunk_id, _ in view.bm25(["same"], 2)] == ["c1", "c3"]
        assert len({score for _, score in view.dense(_vector("same"), 9)}) == 1
        assert len({score for _, score in view.bm25(["same"], 9)}) == 1

    def test_no_room_means_no_hits(self) -> None:
        index, catalog = self._filled()
        view = index.view(catalog.feed())
        for cutoff in (0, -1):
            assert view.dense(_vector("backup"), cutoff) == []
            assert view.bm25(["backup"], cutoff) == []

    def test_a_filter_gives_the_best_of_what_it_admits_and_changes_no_score(self) -> None:
        index, catalog = self._filled()
        feed = catalog.feed()
        view, oracle = index.view(feed), FakeIndex().view(feed)
        for only in (Filter(documents=("8",)), Filter(collections=("odd",)), Filter(documents=("3", "1", "99"))):
            numbers = feed.document_numbers(only)
            for question in QUESTIONS:
                assert_same_answers(view, oracle, question, 2, numbers)
        everywhere = dict(view.bm25(["database"], 100))
        odd = view.bm25(["database"], 100, feed.document_numbers(Filter(collections=("odd",))))
        assert odd
        assert all(everywhere[chunk_id] == score for chunk_id, score in odd)

    def test_a_filter_that_admits_no_document_admits_no_chunk(self) -> None:
        index, catalog = self._filled()
        view = index.view(catalog.feed())
        for only in (np.array([], np.int64), np.array([-5, 1 << 40], np.int64)):
            assert view.dense(_vector("backup"), 10, only) == []
            assert view.bm25(["backup"], 10, only) == []

    def test_a_term_that_is_asked_twice_counts_twice(self) -> None:
        index, catalog = self._filled()
        view = index.view(catalog.feed())
        once, twice = view.bm25(["backup"], 10), view.bm25(["backup", "backup"], 10)
        assert [(chunk_id, 2 * score) for chunk_id, score in once] == twice

    def test_an_identifier_is_found_whole_and_does_not_lengthen_its_chunk(self) -> None:
        catalog = FakeIndexCatalog()
        index = self.make_index()
        catalog.add(1, {"c1": "alpha err_conn-17", "c2": "alpha err conn 17"})
        self.settle(index, catalog)
        view = index.view(catalog.feed())
        assert [chunk_id for chunk_id, _ in view.bm25(["err_conn-17"], 10)] == ["c1"]
        assert len({score for _, score in view.bm25(["alpha"], 10)}) == 1

    def test_deleted_chunks_are_gone_from_hits_and_from_statistics(self) -> None:
        index, catalog = self._filled()
        for number in (0, 3, 9):
            index.view(catalog.feed())
            catalog.delete(number)
            self.settle(index, catalog)
            view, oracle = index.view(catalog.feed()), FakeIndex().view(catalog.feed())
            for question in QUESTIONS:
                assert_same_answers(view, oracle, question, 3, None)
        assert _refuses(view, "c0")

    def test_a_chunk_may_come_back_under_its_old_id(self) -> None:
        index, catalog = self._filled()
        for text in ("a backup of cats", "a backup of dogs"):
            catalog.delete(3)
            catalog.add(3, {"c3": text})
            self.settle(index, catalog)
            view, oracle = index.view(catalog.feed()), FakeIndex().view(catalog.feed())
            for question in (*QUESTIONS, text):
                assert_same_answers(view, oracle, question, 3, None)

    def test_a_view_never_changes(self) -> None:
        index, catalog = self._filled()
        feed = catalog.feed()
        view = index.view(feed)
        before = view.dense(_vector("backup"), 100), view.bm25(["backup"], 100), view.document_frequency(["backup"])
        catalog.add(77, {"c77": "backup of a backup"})
        catalog.delete(2)
        self.settle(index, catalog)
        assert index.view(catalog.feed()).n_chunks == view.n_chunks
        assert before == (
            view.dense(_vector("backup"), 100),
            view.bm25(["backup"], 100),
            view.document_frequency(["backup"]),
        )
        again = index.view(feed)  # an older snapshot, asked for late
        assert again.epoch == feed.epoch
        assert before[0] == again.dense(_vector("backup"), 100)

    def test_generations_do_not_mix(self) -> None:
        index, catalog = self._filled()
        other = FakeIndexCatalog(FakeEmbedder("another model", dimensions=128), generation=2)
        other.add(0, {"c0": "another backup"})
        assert index.view(catalog.feed()).n_chunks == len(TEXTS)
        view = index.view(other.feed())
        assert (view.generation, view.n_chunks) == (2, 1)
        assert [chunk_id for chunk_id, _ in view.bm25(["backup"], 10)] == ["c0"]
        assert index.view(catalog.feed()).n_chunks == len(TEXTS)

    def test_a_chunk_that_is_not_there_is_an_error(self) -> None:
        index, catalog = self._filled()
        view = index.view(catalog.feed())
        for chunk_id in ("", "c", "c00", "c1 and a long tail that no id has", "ç", "\udcff"):
            assert _refuses(view, chunk_id)

    def _filled(self) -> tuple[Index, FakeIndexCatalog]:
        catalog = FakeIndexCatalog()
        index = self.make_index()
        for number, text in enumerate(TEXTS):
            catalog.add(number, {f"c{number}": text}, "odd" if number % 2 else "even")
            self.settle(index, catalog)
        return index, catalog


def _vector(text: str) -> Vector:
    return FakeEmbedder().embed([text])[0].vector


def _refuses(view: IndexView, chunk_id: str) -> bool:
    try:
        view.cosine(_vector("backup"), [chunk_id])
    except NotFoundError:
        return True
    return False
