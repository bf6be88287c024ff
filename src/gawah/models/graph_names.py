"""What the builder of a graph and those who run it agree on; apart, because the builder brings in onnx (0.2 s)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

from gawah.models.shape import BertShape

GRAPH_FORMAT = 1  # raise it with every change of graph.py that changes what it writes: cached graphs are built anew

GRAPH_FILE = "graph.onnx"
WEIGHTS_FILE = "weights.bin"  # beside it: the matrices

INPUT_IDS = "input_ids"  # int64 [batch, sequence], rows of equal length
SENTENCE = "sentence_embedding"  # float32 [batch, dimensions], unit length
TOKENS = "token_embeddings"  # float32 [batch, sequence, dimensions], hidden states of the last layer

PIECE_TYPES = (
    "token_type_ids"  # of pairs only; int64 [batch, sequence], 0 for the question's pieces, 1 for the passage's
)
LOGIT = "logit"  # float32 [batch], of pairs only

Head = Literal["mean", "cls", "score"]
"""What a graph ends in: a text's vector, pooled one way or the other, with its tokens' vectors; or a pair's logit."""


class GraphSource(Protocol):
    """A checkpoint, as far as a graph is made of it."""

    @property
    def name(self) -> str: ...

    @property
    def weights_path(self) -> Path: ...

    @property
    def model_sha256(self) -> str: ...

    @property
    def shape(self) -> BertShape: ...

    @property
    def head(self) -> Head: ...
