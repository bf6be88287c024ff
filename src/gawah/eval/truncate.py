"""Texts over the encoder's window to vectors, for measuring chunkers that guard no window.

The product never cuts: its chunks fit. The reference's do not always, and what it reports are vectors of cut texts. This
is the only place where a text is cut; how many there were is counted by ingest (`DocumentCounters.n_truncated`).
"""

from __future__ import annotations

from collections.abc import Sequence

from gawah.ports import Embedder, Embedding, QueryEmbedding
from gawah.types import ModelStamp


class TruncatingEmbedder:
    """An Embedder that reads of a text over the window only the beginning that fits. Keep its vectors to themselves.

    A cut text's vector stands under the whole text's key: a store that was filled with it must not serve as a real one.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def stamp(self) -> ModelStamp:
        return self._embedder.stamp

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One embedding a text, in order."""
        counts = self._embedder.count_tokens(texts)
        window = self.stamp.window_tokens
        fitting = [text if n <= window else self._beginning(text) for text, n in zip(texts, counts, strict=True)]
        return self._embedder.embed(fitting)

    def embed_query(self, question: str) -> QueryEmbedding:
        return self._embedder.embed_query(question)

    def coverage(self, text: str) -> float:
        return self._embedder.coverage(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Of the whole texts: nothing is cut when counting."""
        return self._embedder.count_tokens(texts)

    def _beginning(self, text: str) -> str:
        """A longest beginning that fits, by halving: one more character would be too much."""
        fits, too_long = 0, len(text)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if self._embedder.count_tokens([text[:middle]])[0] <= self.stamp.window_tokens:
                fits = middle
            else:
                too_long = middle
        return text[:fits]
