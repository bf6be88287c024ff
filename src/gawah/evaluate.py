"""Settings and an evaluation set to a measured run: an index for each way of cutting, built once and used again.

The indexes live in a work folder of their own, one for each corpus, chunking and model; deleting it costs time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gawah.app import Application, build_embedder
from gawah.chunk import Chunking
from gawah.config import Settings
from gawah.errors import NotFoundError
from gawah.eval.collection import Collection, CollectionError
from gawah.eval.run import Run, Subject, measure
from gawah.eval.truncate import TruncatingEmbedder
from gawah.fingerprint import sha256_json, sha256_text
from gawah.ports import Embedder
from gawah.types import DocumentRecord
from gawah.wire import to_json

_HASH_CHARS = 8
_MODEL_CHARS = 12

Progress = Callable[[DocumentRecord], None]


@dataclass(frozen=True, slots=True)
class Workshop:
    """What sets are measured with: settings, the folder of the indexes, and an encoder that is loaded once."""

    settings: Settings
    work: Path
    embedder: Embedder

    def folder(self, collection: Collection, chunking: Chunking) -> Path:
        """Where the index of a corpus under a chunking and the encoder's whole stamp is, or will be."""
        corpus = sha256_text(str(collection.corpus_dir.resolve()))[:_HASH_CHARS]
        model = sha256_json(to_json(self.embedder.stamp))[:_MODEL_CHARS]
        return self.work / f"{collection.corpus_dir.resolve().parent.name}-{corpus}" / f"{chunking.name.replace('/', '.')}-{model}"


def workshop(settings: Settings, work: Path | None = None) -> Workshop:
    """A workshop with the settings' encoder; its folder is below the cache unless given."""
    return Workshop(settings, work or settings.cache / "eval", build_embedder(settings))


def evaluate(
    shop: Workshop,
    collection: Collection,
    *,
    chunking: Chunking | None = None,
    systems: Sequence[str] = (),
    cite: bool = True,
    progress: Progress | None = None,
) -> Run:
    """Indexes the set's corpus where that is not done yet, and measures it; answers are quoted, no model writes.

    `chunking` is the product's unless given. Quoting takes most of the time and tells nothing of retrieval: `cite=False`
    leaves it out. Raises CollectionError when the set cannot be used, StoreBusyError when another process indexes the
    same, and what ingest and retrieval raise.
    """
    chunking = chunking or Chunking(target=shop.settings.target_chars)
    embedder = TruncatingEmbedder(shop.embedder) if chunking.rules == "reference" else shop.embedder
    update = {"store": shop.folder(collection, chunking), "generator": "extractive"}
    own = shop.settings.model_copy(update=update)
    with Application(own, create=True, embedder=embedder, chunking=chunking) as app:
        _ingest(app, collection, progress)
        assistant = app.assistant
        generator = assistant.generator if cite else None
        subject = Subject(app.catalog, app.retriever, assistant.gate, generator, chunking)
        return measure(subject, collection, systems=systems)


def _ingest(app: Application, collection: Collection, progress: Progress | None) -> None:
    """Brings the index to the state of the corpus: what is new or changed goes in, what is not in it goes out.

    The folder's real path is used: reached by a link, its files would count as other documents of the same words.
    """
    root = collection.corpus_dir.resolve()
    try:
        plan = app.plan(root)
    except NotFoundError as error:
        raise CollectionError(f"the corpus of {collection.name}: {error}") from error
    inside = root.as_uri().rstrip("/") + "/"
    if gone := [*plan.vanished, *(record for record in app.documents() if not record.uri.startswith(inside))]:
        app.remove(gone)
        plan = app.plan(root)  # a name that was taken is free now
    for record in app.ingest(plan):
        if progress:
            progress(record)
