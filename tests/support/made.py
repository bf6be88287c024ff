"""Quotes, citations and checks for tests, on the fake embedder and equal word weights."""

from gawah.cite import resolve, without_marks
from gawah.support import Likeness, check_claims
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.generator import make_source
from gawah.types import DraftPart


class CountingEmbedder(FakeEmbedder):
    """Counts what it was asked to read."""

    def __init__(self):
        super().__init__()
        self.n_read = 0

    def embed_query(self, question):
        self.n_read += 1
        return super().embed_query(question)


class BlindEmbedder(CountingEmbedder):
    """Can read plain ASCII only."""

    def coverage(self, text):
        return float(text.isascii())


def equal(words):
    return [1.0] * len(words)


def checked(answer, *contents, embedder=None, **options):
    """The claims of an answer over sources of these contents."""
    sources = [make_source(n, content, before="# T\n\n", **options) for n, content in enumerate(contents, start=1)]
    resolved = resolve([DraftPart(answer)], sources)
    likeness = Likeness(embedder or FakeEmbedder(), equal)
    words = without_marks(resolved.text, resolved.marks)
    return check_claims(words, resolved.claims, resolved.citations, sources, likeness)


def status(answer, *contents, **options):
    (claim,) = checked(answer, *contents, **options)
    return claim.status
