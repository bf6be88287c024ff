"""The cross-encoder as a reranker: the port's contract, what it reads, and what it says of what it did not read."""

from __future__ import annotations

import pytest
from tests.models.small_checkpoint import write_cross_encoder

from gawah.models.cross_encoder import CrossEncoder, load_cross_encoder
from gawah.rerank import CrossReranker, LateInteraction
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.reranker import RerankerContract, candidates_of
from gawah.types import Chunk, Span


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    folder = tmp_path_factory.mktemp("cross")
    write_cross_encoder(folder)
    return load_cross_encoder(str(folder), cache_directory=folder / "cache", n_threads=2)


class TestCross(RerankerContract):
    @pytest.fixture(autouse=True)
    def _take(self, cross: CrossEncoder) -> None:
        self.cross = cross

    def make_reranker(self) -> CrossReranker:
        return CrossReranker(self.cross)


class TestLate(RerankerContract):
    def make_reranker(self) -> LateInteraction:
        return LateInteraction()


def test_it_reads_the_text_with_its_header_and_is_named_by_its_checkpoint(cross: CrossEncoder) -> None:
    (candidate,) = candidates_of(["backup"])
    content = "restore"
    text = f"[Backups > Night]\n{content}"
    chunk = Chunk("c0", "d", 0, "Night", content, text, Span(0, len(content)), 9)
    reranker, query = CrossReranker(cross), FakeEmbedder(dimensions=384).embed_query("a")
    found = reranker.score("a", query, [type(candidate)("c0", chunk, candidate.tokens)], [])
    assert found.values == cross.score("a", [text]).scores != cross.score("a", [content]).scores
    assert found.notes == ()
    assert reranker.name == f"cross-encoder:{cross.checkpoint.name}"
    assert cross.checkpoint.name in reranker.name


def test_pairs_that_were_cut_are_counted(cross: CrossEncoder) -> None:
    query = FakeEmbedder(dimensions=384).embed_query("a b c")
    found = CrossReranker(cross).score("a b c", query, candidates_of(["backup", "a " * 80, "b " * 58, "c " * 59]), [])
    assert found.notes == ("2 of 4 passages were reranked by a part: with the question they are over 64 word-pieces",)
