"""The fake keeps the contract."""

from gawah.testing.reranker import FakeReranker, RerankerContract


class TestFake(RerankerContract):
    def make_reranker(self):
        return FakeReranker()
