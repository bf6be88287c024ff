"""How documents are cut, as one value: rules, strategy and target. It names itself in stamps and cuts a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from gawah.chunk.audit import Audit, audit
from gawah.chunk.blocks import chunk_document
from gawah.chunk.reference import reference_chunks
from gawah.chunk.strategy import TARGET_CHARS, chunker_name, strategy_of
from gawah.ports import CountTokens
from gawah.types import Chunk, Document

Rules = Literal["blocks", "reference"]


@dataclass(frozen=True, slots=True)
class Chunking:
    """The product's block-aware chunker, or the reference's, with one of the six strategies.

    The reference guards no window: an encoder that refuses longer texts must be given a way to cut them.
    """

    strategy: str = "E"
    rules: Rules = "blocks"
    target: int = TARGET_CHARS

    @property
    def name(self) -> str:
        """As it stands in stamps and chunk ids; raises UsageError for an unknown strategy."""
        return chunker_name(self.strategy, target=self.target, rules=self.rules)

    @property
    def repeats_words(self) -> bool:
        """Whether embedded texts hold words of the chunk before (overlap)."""
        return strategy_of(self.strategy).overlap

    def chunks(
        self, document: Document, *, count_tokens: CountTokens, window_tokens: int, title: str = ""
    ) -> list[Chunk]:
        """Chunks in order of the text. `title` replaces the document's own; the reference's is the file's stem."""
        if self.rules == "reference":
            named = title or PurePosixPath(document.source.name).stem
            return reference_chunks(
                document, named, strategy=self.strategy, target=self.target, count_tokens=count_tokens
            )
        return chunk_document(
            replace(document, title=title) if title else document,
            count_tokens=count_tokens,
            window_tokens=window_tokens,
            strategy=self.strategy,
            target=self.target,
        )

    def audit(
        self, document: Document, chunks: Sequence[Chunk], *, count_tokens: CountTokens, window_tokens: int
    ) -> Audit:
        """Judges chunks that this chunking made of the document."""
        judged = audit(
            document,
            chunks,
            count_tokens=count_tokens,
            window_tokens=window_tokens,
            strategy=self.strategy,
            target=self.target,
        )
        return judged if self.rules == "blocks" else replace(judged, n_over_before_guard=judged.n_truncated)
