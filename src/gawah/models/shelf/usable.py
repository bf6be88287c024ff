"""Whether a folder can be used as the model that it is to be: tried before it is installed.

A hash that is trusted on first use says nothing of what was received; a page of an error in place of weights is met here.
"""

from __future__ import annotations

from pathlib import Path

from gawah.errors import ModelError
from gawah.models.checkpoint import find_checkpoint
from gawah.models.cross_checkpoint import ARCHITECTURE, find_cross_encoder
from gawah.models.graph_cache import cached_graph
from gawah.models.jsonfile import read_object
from gawah.models.pairs import PairPieces
from gawah.models.shelf.known import KnownModel
from gawah.models.wordpieces import WordPieces

_GGUF_MAGIC = b"GGUF"


def require_usable(model: KnownModel, folder: Path, cache_directory: Path) -> None:
    """Raises ModelError when the folder is no such model. The graph of an encoder or a cross-encoder stays in the cache."""
    purpose = model.purpose
    if purpose == "generator":
        for name in model.files:
            with (folder / name).open("rb") as stream:
                if stream.read(len(_GGUF_MAGIC)) != _GGUF_MAGIC:
                    raise ModelError(f"{name} of {model.repository} is no GGUF file; nothing was installed")
        return
    if purpose == "any":
        architectures = read_object(folder / "config.json").get("architectures")
        purpose = "reranker" if architectures == [ARCHITECTURE] else "encoder"
    if purpose == "reranker":
        pairs = find_cross_encoder(str(folder), cache_directory=cache_directory)
        PairPieces(pairs)
        cached_graph(pairs, cache_directory)
    else:
        texts = find_checkpoint(str(folder), cache_directory=cache_directory)
        WordPieces(texts)
        cached_graph(texts, cache_directory)
