"""Documents to chunks: spans of the canonical text, with the text that is embedded for each.

`Chunking` holds the choice between them. `chunk_document` is the product's chunker, `chunk_reference` the reference's, chunk for chunk; both know the six
strategies. `audit` judges any chunking without labels.
"""

from gawah.chunk.audit import Audit, audit, header_share, sentence_survival
from gawah.chunk.blocks import chunk_document
from gawah.chunk.chunking import Chunking
from gawah.chunk.reference import chunk_reference, reference_chunks
from gawah.chunk.strategy import OVERLAP_CHARS, STRATEGIES, TARGET_CHARS, Piece, Strategy, chunker_name, strategy_of

__all__ = [
    "OVERLAP_CHARS",
    "STRATEGIES",
    "TARGET_CHARS",
    "Audit",
    "Chunking",
    "Piece",
    "Strategy",
    "audit",
    "chunk_document",
    "chunk_reference",
    "chunker_name",
    "header_share",
    "reference_chunks",
    "sentence_survival",
    "strategy_of",
]
