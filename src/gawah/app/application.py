"""gawah over one store: what people do with it, and the parts it works with, which follow the store's active model."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from gawah.app.parts import (
    analyze_document,
    build_embedder,
    build_gate,
    build_generator,
    build_reranker,
    limits_of,
    open_catalog,
    options_of,
    source_of,
)
from gawah.ask import Assistant, ask
from gawah.chunk import Chunking
from gawah.cite import Hear
from gawah.config import Settings
from gawah.errors import ConfigurationError, ModelError, ModelMissingError, StampMismatchError, StoreError
from gawah.extract.registry import extractor_for
from gawah.extract.sandbox import Sandbox
from gawah.extract.senses import Senses
from gawah.gate import (
    CalibrationStamp,
)
from gawah.index.local import GRAPH_FROM, LocalIndex
from gawah.index.qdrant import QdrantIndex
from gawah.index.qdrant_requests import Connection
from gawah.ingest import PIPELINE, Intake, Plan, Practice, plan_folder, queue_plan, run_jobs
from gawah.migrate import Followed, LoadModel, follow, load_model_of
from gawah.ports import Embedder, Generator, Reranker
from gawah.retrieve import Retrieved, Retriever, retrieve
from gawah.store.answers import broken_links, fault_at_end
from gawah.store.keyring import KeyRing
from gawah.store.moving import Moved, export_store, import_store
from gawah.store.originals import Originals
from gawah.store.uploads import Uploads
from gawah.types import Document, DocumentRecord, Filter, Generation, ModelStamp, Outcome, SourceFile
from gawah.upkeep import Check, MaintainedIndex, Removed, committed, examine, finish_purge, purge, remove, repair, tidy
from gawah.verify import CitationCheck, SourceReader, verify_answer

_MEGABYTE = 1_000_000
_MOST_SWITCHES = 3  # within one question; who switches faster than a model is loaded is told that it is refused
_TIDY_EVERY_CHUNKS = 4096  # a long ingest seals now and then, so that readers keep a short tail


T = TypeVar("T")


class _ModelParts:
    """What belongs to one encoder, made when it is first needed. A switch of generations puts others in the place of all."""

    def __init__(self, app: Application, followed: Followed) -> None:
        self._app = app
        self._notes = (followed.note,) if followed.note else ()
        self.embedder = followed.embedder

    @cached_property
    def retriever(self) -> Retriever:
        reranker, missing = self._app.reranker
        return Retriever(
            index=self._app.index,
            embedder=self.embedder,
            reranker=reranker,
            candidates=self._app.settings.candidates,
            rerank_depth=self._app.settings.rerank_depth,
            missing=missing,
            notes=self._notes,
        )

    @cached_property
    def assistant(self) -> Assistant:
        app = self._app
        gate, notes = build_gate(app.settings, app.calibration_stamp(self.embedder.stamp))
        generator = app.generator or build_generator(app.settings, self.embedder)
        return Assistant(app.catalog, self.retriever, gate, generator, notes, app.settings.strict)

    @cached_property
    def intake(self) -> Intake:
        app = self._app
        return Intake(
            catalog=app.catalog,
            embedder=self.embedder,
            extract=app.extract or app.sandbox.extract,
            extractor_for=extractor_for,
            senses_for=app.senses,
            chunking=app.chunking,
            max_file_bytes=app.settings.max_file_mb * _MEGABYTE,
        )

    def made_like(self, other: _ModelParts) -> Self:
        """Makes all that the other has made. What the settings do not allow is refused to whoever needs it, each time."""
        for name in ("retriever", "assistant", "intake"):
            if name in other.__dict__:
                with contextlib.suppress(ConfigurationError):
                    getattr(self, name)
        return self


class Application:
    """gawah over one store. Use it as a context manager; parts are made when they are first needed.

    `embedder`, `generator` and `chunking` take the place of those that the settings name, `load_model` of what makes an encoder
    of a name, `extract` of the sandbox that files are read in for ingest. A store that stands under another model than the settings', of those it has known, is read with its own.
    Raises NotFoundError when there is no store and `create` is not given.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        create: bool = False,
        embedder: Embedder | None = None,
        generator: Generator | None = None,
        chunking: Chunking | None = None,
        load_model: LoadModel | None = None,
        extract: Callable[[SourceFile, bytes], Document] | None = None,
    ) -> None:
        self.settings = settings
        self.extract = extract
        self._embedder = embedder
        self._generator = generator
        self._load_model = load_model
        self._parts: _ModelParts | None = None
        self._remaking = threading.RLock()
        self.chunking = chunking or Chunking(target=settings.target_chars)
        self.catalog = open_catalog(settings, create=create)
        self._resources = contextlib.ExitStack()
        self._resources.callback(self.catalog.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._resources.close()

    # --- parts

    @property
    def embedder(self) -> Embedder:
        """That of the active generation, where it is one of a model that the settings name or the store has known."""
        return self._for_active.embedder

    @property
    def retriever(self) -> Retriever:
        with self._remaking:
            return self._for_active.retriever

    @property
    def assistant(self) -> Assistant:
        with self._remaking:
            parts = self._for_active
            try:
                return parts.assistant
            except ConfigurationError:  # that of a generation which was switched away from meanwhile, perhaps
                self.follow()
                if self._for_active is parts:
                    raise
                return self._for_active.assistant

    @property
    def intake(self) -> Intake:
        with self._remaking:
            return self._for_active.intake

    @property
    def _for_active(self) -> _ModelParts:
        with self._remaking:
            if self._parts is None:
                self._parts = _ModelParts(self, follow(self.catalog, self._configured, self.load_model))
            return self._parts

    @cached_property
    def _configured(self) -> Embedder:
        return self._embedder or self.load_model(self.settings.model)

    def load_model(self, source: str) -> Embedder:
        """The encoder that a setting `model` names; raises ModelError."""
        if self._load_model:
            return self._load_model(source)
        return build_embedder(self.settings.model_copy(update={"model": source}))

    @cached_property
    def generator(self) -> Generator | None:
        """The one that every encoder shares; None for the extractive one, which has an encoder of its own."""
        if self._generator or self.settings.generator == "extractive":
            return self._generator
        made = build_generator(self.settings, self.embedder)
        if isinstance(made, contextlib.AbstractContextManager):  # one with a model in this process
            self._resources.enter_context(made)
        return made

    @cached_property
    def reranker(self) -> tuple[Reranker | None, tuple[str, ...]]:
        """The reranker, and a line where it is not the one that the settings ask for."""
        return build_reranker(self.settings)

    @cached_property
    def index(self) -> MaintainedIndex:
        kind, _, url = self.settings.index.partition(":")
        if kind != "qdrant":
            return LocalIndex(
                self.settings.store,
                analyze_document,
                graph_from=GRAPH_FROM if kind == "hnsw" else None,
                keeps_copies=bool(self.settings.catalog.get_secret_value()),
            )
        found = QdrantIndex(Connection(url), f"gawah-{self.catalog.identity()}", analyze_document, self.settings.store)
        self._resources.callback(found.close)
        return found

    @cached_property
    def sandbox(self) -> Sandbox:
        return self._resources.enter_context(Sandbox(limits_of(self.settings), options_of(self.settings)))

    @cached_property
    def senses(self) -> Senses:
        return Senses(options_of(self.settings))

    def require_all(self) -> None:
        """Raises ModelMissingError where a part is replaced by another: what is measured must be what was asked for."""
        if self.retriever.missing:
            raise ModelMissingError(self.retriever.missing[0])

    @property
    def gate_stamp(self) -> CalibrationStamp:
        """What a calibration must have been made under to hold here."""
        return self.calibration_stamp(self.embedder.stamp)

    def calibration_stamp(self, model: ModelStamp) -> CalibrationStamp:
        """What a calibration must have been made under to hold for that model."""
        reranker, _ = self.reranker
        return CalibrationStamp(
            model_sha256=model.sha256,
            token_format=model.token_format,
            pipeline=PIPELINE,
            chunker=self.chunking.name,
            reranker=reranker.name if reranker else "none",
            recipe_sha256=model.recipe_sha256,
        )

    @cached_property
    def keys(self) -> KeyRing:
        return KeyRing(self.catalog)

    @cached_property
    def uploads(self) -> Uploads:
        return Uploads(self.catalog)

    @cached_property
    def originals(self) -> Originals:
        return Originals(self.settings.store)

    # --- generations

    def open_generation(self) -> int:
        """The active generation, made when there is none; raises StampMismatchError for a model the store does not know."""
        return self._on_active(lambda: self.catalog.generation_for(self.embedder.stamp, self._source()))

    def encoder_of(self, generation: Generation) -> Embedder:
        """The encoder that built a generation: the settings' if it is that one, else from where it is noted to lie.

        Raises StampMismatchError when it is neither.
        """
        with contextlib.suppress(ModelError):
            if self._configured.stamp == generation.model:
                return self._configured
        return load_model_of(generation, self.load_model)

    def _source(self) -> str:
        """How the settings' model is found again from anywhere; empty when it was given or is not the one in use."""
        if self._embedder or self.embedder is not self._configured:
            return ""
        return source_of(self.settings.model)

    def follow(self) -> bool:
        """After a switch: puts what belongs to the encoder of the active generation in the place of the other's, all at once.

        False when the settings' encoder is none that the store has known. What is under way keeps the parts it has, and is
        refused where it would read the new generation with them.
        """
        with self._remaking:
            before = self._for_active
            active = next((one.model for one in self.catalog.generations() if one.state == "active"), None)
            if active == before.embedder.stamp:
                return True
            followed = follow(self.catalog, self._configured, self.load_model)
            if followed.embedder.stamp == before.embedder.stamp:
                return False
            self._parts = _ModelParts(self, followed).made_like(before)
            return True

    def _on_active(self, call: Callable[[], T]) -> T:
        """Calls it once more whenever the store was switched to another generation meanwhile, which is seldom."""
        for _ in range(_MOST_SWITCHES):
            try:
                return call()
            except StampMismatchError:
                if not self.follow():
                    raise
        return call()

    def worked_off(self) -> Iterator[DocumentRecord]:
        """Works off the queue, under the model of the generation that is active; yields each document as it ends."""
        while True:
            try:
                yield from run_jobs(self.intake)
            except StampMismatchError:
                if not self.follow():
                    raise
            else:
                return

    # --- what people do

    def plan(
        self,
        root: Path,
        collection: str | None = None,
        *,
        exclude: Sequence[str] = (),
        among: Collection[str] | None = None,
    ) -> Plan:
        """What an ingest of the folder would do; writes nothing. `exclude` are patterns of names, like `*.png`; with `among`
        only files of these names are looked at.
        """
        self.follow()  # or all would be stale that was migrated meanwhile
        return plan_folder(self.intake, root, collection or self.settings.collection, exclude=exclude, among=among)

    def ingest(self, plan: Plan) -> Iterator[DocumentRecord]:
        """Does what was planned, then what an earlier, interrupted run left; yields each document as it ends."""
        with self.catalog.writer_lock(), self.catalog.at_work():
            self.open_generation()
            self._on_active(lambda: queue_plan(self.intake, plan))
            yield from self._tidied(self.worked_off())

    def resume(self, records: Sequence[DocumentRecord]) -> Iterator[DocumentRecord]:
        """Queues known documents again and works off the queue."""
        with self.catalog.writer_lock(), self.catalog.at_work():
            self.open_generation()
            self.catalog.enqueue([(record.collection, record.name, record.uri) for record in records])
            yield from self._tidied(self.worked_off())

    def _tidied(self, ended: Iterator[DocumentRecord]) -> Iterator[DocumentRecord]:
        n_new = 0
        for record in ended:
            n_new += record.counters.n_chunks
            if n_new >= _TIDY_EVERY_CHUNKS:
                tidy(self.catalog, self.index)
                n_new = 0
            yield record
        with committed("what was ingested is in the catalog"):
            tidy(self.catalog, self.index)
            finish_purge(self.catalog, self.index)

    def remove(self, records: Sequence[DocumentRecord]) -> Removed:
        """Removes documents; recorded answers keep their quotes."""
        with self.catalog.writer_lock():
            return remove(self.catalog, self.index, records)

    def purge(self, records: Sequence[DocumentRecord] = ()) -> Removed:
        """Leaves no word of the documents, or of those removed before, in any file of the store."""
        with self.catalog.writer_lock():
            with self.originals.sweeping():
                self.uploads.forget([record.id for record in records])
                self.originals.sweep(self.uploads.kept_paths())
            return purge(self.catalog, self.index, records)

    def search(self, question: str, *, system: str = "", cutoff: int = 10, only: Filter | None = None) -> Retrieved:
        """The best passages, without a gate and without a generator."""

        def searched() -> Retrieved:
            retriever = self.retriever
            chosen = system or retriever.best_system
            with self.catalog.snapshot() as snapshot:
                return retrieve(retriever, snapshot, question, system=chosen, cutoff=cutoff, only=only)

        return self._on_active(searched)

    def ask(
        self, question: str, *, only: Filter | None = None, heard: Hear | None = None, self_check: int = 0
    ) -> Outcome:
        """An answer or a refusal, recorded. `heard` is told its sentences as they are written; `self_check`: further
        samples of the generator to hold each claim against.

        Raises StoreError when the store may not be written: every outcome is recorded.
        """
        if self.catalog.read_only:
            raise StoreError(
                f"the store {self.catalog.shown} cannot be written, and every answer is recorded in it; get write permission or "
                "copy the folder and name it with --store (`gawah search` records nothing and works as it is)"
            )
        # Another generation is refused before anything is heard, so nothing is said twice.
        return self._on_active(lambda: ask(self.assistant, question, only=only, heard=heard, self_check=self_check))

    def verify(self, answer_ids: Sequence[str] = ()) -> list[CitationCheck]:
        """Checks the named answers, or all, against their sources as they are now."""
        reader = SourceReader(self.sandbox.extract, self.settings.max_file_mb * _MEGABYTE)
        records = [self.catalog.load_answer(key) for key in answer_ids] if answer_ids else self.catalog.load_answers()
        return [check for record in records for check in verify_answer(self.catalog, record, reader)]

    def broken_links(self) -> list[str]:
        """Ids of recorded outcomes that were altered, or whose predecessor was."""
        return broken_links(self.catalog.load_answers())

    def log_fault(self) -> str:
        """What is wrong with the end of the log: that its newest outcomes are gone; empty when it is whole."""
        head = self.catalog.log_head()
        return fault_at_end(head, self.catalog.load_answers())

    def documents(self, only: Filter | None = None) -> list[DocumentRecord]:
        with self.catalog.snapshot() as snapshot:
            return snapshot.documents(only)

    def find_document(self, id_or_name: str) -> DocumentRecord:
        with self.catalog.snapshot() as snapshot:
            return snapshot.find_document(id_or_name)

    def stale(self, record: DocumentRecord) -> tuple[str, ...]:
        """The parts of a document's stamp that differ from what would be written today.

        While the model cannot be found the others are told: what is searchable was made with that very model.
        """
        if record.stamp is None:
            return ()
        model = record.stamp.model
        with contextlib.suppress(ModelError, StampMismatchError):
            if model != self.embedder.stamp:
                self.follow()
            model = self.embedder.stamp
        return Practice(model, self.chunking.name, extractor_for, self.senses).stale_parts(record)

    def export(self, file: Path) -> Moved:
        """Writes the whole store into one file, as of one moment; nobody is held up."""
        return export_store(self.catalog, self.originals, file)

    def import_from(self, file: Path) -> Moved:
        """Fills this store, which must be empty, from such a file, and puts its index in order."""
        with self.catalog.writer_lock():
            moved = import_store(file, self.catalog, self.originals)
            tidy(self.catalog, self.index)
            return moved

    def repair(self) -> list[str]:
        """Builds damaged segments of the index again from the catalog; returns their names."""
        with self.catalog.writer_lock():
            return repair(self.catalog, self.index)

    def examine(self) -> Iterator[Check]:
        with contextlib.suppress(ModelError, StampMismatchError):  # the check of the model says it
            self.follow()
        return examine(self.catalog, self.index, lambda: self.embedder)
