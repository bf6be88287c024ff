"""A set to a run: every question to every system and the gate, over an index that is built once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.eval.conftest import CORPUS, QUERIES

from gawah.app import Application
from gawah.chunk import Chunking
from gawah.errors import ModelError, UsageError
from gawah.eval import CollectionError, load_collection, successes
from gawah.eval.run import CUTOFF
from gawah.evaluate import evaluate
from gawah.testing.embedder import FakeEmbedder


class CountingEmbedder(FakeEmbedder):
    n_texts = 0

    def embed(self, texts):
        self.n_texts += len(texts)
        return super().embed(texts)


class BrokenEmbedder(FakeEmbedder):
    """Its vectors are not numbers."""

    def embed(self, texts):
        made = super().embed(texts)
        for one in made:
            one.vector[:] = np.nan
        return made


@pytest.fixture
def little(write_set):
    return load_collection(write_set())


def test_every_question_meets_every_system_and_the_gate(make_shop, little):
    run = evaluate(make_shop(), little)
    assert run.systems == ("dense", "bm25", "rrf", "rerank")
    assert [one.query.id for one in run.asked] == ["fee", "boat", "u1", "u2"]
    for one in run.judged:
        assert set(one.rankings) == set(one.outcomes) == set(run.systems)
        assert all(len(ranking.hits) <= CUTOFF for ranking in one.rankings.values())
    for one in run.unanswerable:
        assert not one.outcomes
        assert not one.citations
    assert {o.query_id: o.rank for o in run.outcomes("bm25")} == {"fee": 1, "boat": 1}
    assert run.destroyed.in_content == ()
    assert run.n_documents == 2
    assert run.chunker == "blocks-E/1"


def test_the_quotes_of_an_extractive_answer_are_exact(make_shop, little):
    run = evaluate(make_shop(), little)
    assert run.quote_exact.n > 0
    assert successes(run.quote_exact) == run.quote_exact.n
    assert evaluate(make_shop(), little, cite=False).quote_exact.n == 0


def test_the_index_is_built_once_for_a_corpus_a_chunking_and_a_model(make_shop, little):
    embedder = CountingEmbedder()
    shop = make_shop(embedder=embedder)
    evaluate(shop, little, cite=False)
    n = embedder.n_texts
    evaluate(shop, little, cite=False)
    assert embedder.n_texts == n
    evaluate(shop, little, chunking=Chunking("A"), cite=False)
    assert embedder.n_texts > n
    assert len({shop.folder(little, c) for c in (Chunking(), Chunking("A"), Chunking("A", "reference"))}) == 3


def test_another_encoder_has_an_index_of_its_own(make_shop, little):
    names = ("one", "other")
    assert len({make_shop(embedder=FakeEmbedder(name)).folder(little, Chunking()) for name in names}) == 2
    for name in names:
        assert evaluate(make_shop(embedder=FakeEmbedder(name)), little, cite=False).n_documents == 2


def test_a_file_that_left_the_corpus_leaves_the_index(make_shop, write_set):
    shop = make_shop()
    folder = write_set(corpus={**CORPUS, "old.md": "# Old\n\nThe blue boat leaves at nine.\n"})
    assert evaluate(shop, load_collection(folder), cite=False).n_documents == 3
    (folder / "corpus" / "old.md").unlink()
    assert evaluate(shop, load_collection(folder), cite=False).n_documents == 2


def test_a_corpus_reached_by_a_link_is_the_same_corpus(make_shop, write_set, tmp_path):
    shop, folder = make_shop(), write_set()
    (tmp_path / "link").symlink_to(folder)
    for path in (folder, tmp_path / "link", folder):
        assert evaluate(shop, load_collection(path), cite=False).n_documents == 2


def test_documents_from_elsewhere_leave_the_index(make_shop, write_set, tmp_path):
    shop, found = make_shop(), load_collection(write_set())
    evaluate(shop, found, cite=False)
    settings = shop.settings.model_copy(update={"store": shop.folder(found, Chunking())})
    (tmp_path / "stray").mkdir()
    (tmp_path / "stray" / "fees.md").write_text(CORPUS["fees.md"])
    with Application(settings, embedder=shop.embedder) as app:
        assert [record.state.value for record in app.ingest(app.plan(tmp_path / "stray"))] == ["ready"]
    assert evaluate(shop, found, cite=False).n_documents == 2


def test_systems_can_be_chosen_and_stand_in_their_fixed_order(make_shop, little):
    assert evaluate(make_shop(), little, systems=("rrf", "dense"), cite=False).systems == ("dense", "rrf")
    assert evaluate(make_shop(rerank="none"), little, cite=False).systems == ("dense", "bm25", "rrf")
    with pytest.raises(UsageError, match="no system rerank here; choose of dense, bm25, rrf"):
        evaluate(make_shop(rerank="none"), little, systems=("rerank",))


def test_a_leg_that_the_best_system_leaves_out_is_still_measured(make_shop, little):
    class Foreign(FakeEmbedder):
        def coverage(self, text):
            del text
            return 0.0

    run = evaluate(make_shop(embedder=Foreign()), little, cite=False)
    assert all(one.rankings["dense"].hits for one in run.judged)
    assert all("searched by words alone" in one.notes[0] for one in run.judged)


def test_with_overlap_the_repeated_words_count_as_found(make_shop, write_set):
    """A needle over a blind cut stands whole only in the text that repeats the last words of the chunk before."""
    text = "x" * 480 + " the needle is torn apart at the cut between two chunks " + "y" * 300
    needle = "the needle is torn apart at the cut"
    assert text.index(needle) < 512 < text.index(needle) + len(needle)
    query = {"id": "q", "query": "needle torn apart cut", "needle": needle, "document": "a.txt"}
    found = load_collection(write_set(corpus={"a.txt": text}, queries=[query], unanswerable=[]))
    ranks = {}
    for letter in "AB":
        run = evaluate(make_shop(), found, chunking=Chunking(letter, "reference"), cite=False)
        ranks[letter] = (run.outcomes("bm25")[0].rank, len(run.destroyed.in_content), len(run.destroyed.in_text))
    assert ranks == {"A": (None, 1, 1), "B": (1, 1, 0)}


def test_a_needle_that_stands_twice_is_named(make_shop, write_set):
    folder = write_set(corpus={**CORPUS, "again.md": "# Again\n\nThe membership fee is 40 EUR a month, they say.\n"})
    with pytest.raises(
        CollectionError, match="little cannot be measured: fee: the needle occurs 2 times in the corpus"
    ):
        evaluate(make_shop(), load_collection(folder))


def test_a_document_that_failed_is_named_with_the_needle_it_held(make_shop, write_set):
    folder = write_set(corpus={**CORPUS, "boats.md": b""})
    with pytest.raises(
        CollectionError, match=r"no document 'boats.md' in the corpus \(documents that failed: boats.md: empty"
    ):
        evaluate(make_shop(), load_collection(folder))


def test_a_document_that_failed_and_holds_no_needle_is_reported(make_shop, write_set):
    run = evaluate(make_shop(), load_collection(write_set(corpus={**CORPUS, "bad.bin": bytes(range(256))})), cite=False)
    assert [line.split(":")[0] for line in run.failed] == ["bad.bin"]
    assert run.n_documents == 2


def test_only_the_first_problems_are_listed_and_the_others_counted(make_shop, write_set):
    queries = [{**QUERIES[0], "id": f"q{n}", "needle": f"nowhere {n}"} for n in range(5)]
    with pytest.raises(CollectionError, match=r"; and 2 more$"):
        evaluate(make_shop(), load_collection(write_set(queries=queries)))


def test_vectors_that_are_not_numbers_stop_the_run(make_shop, little):
    with pytest.raises(ModelError, match="vector of length nan instead of 1"):
        evaluate(make_shop(embedder=BrokenEmbedder()), little)


def test_an_empty_corpus_folder_holds_no_needle(make_shop, write_set):
    folder = write_set(corpus={})
    with pytest.raises(CollectionError, match=r"there is no document 'fees.md' in the corpus"):
        evaluate(make_shop(), load_collection(folder))


def test_one_question_and_none_to_refuse_is_enough(make_shop, write_set):
    run = evaluate(make_shop(), load_collection(write_set(queries=QUERIES[:1], unanswerable=[])))
    assert (len(run.judged), len(run.unanswerable)) == (1, 0)
