"""Settings to the parts that they name: the catalog, models, gate, generator, limits."""

from __future__ import annotations

from pathlib import Path

from gawah.config import Settings, pinned_model
from gawah.errors import ConfigurationError, ModelMissingError
from gawah.extract.sandbox import Limits, Options
from gawah.gate import (
    CalibratedGate,
    CalibrationStamp,
    Gate,
    ReferenceGate,
    differences,
    load_calibration,
    packaged_calibration,
)
from gawah.generate import ExtractiveGenerator
from gawah.models.encoder import load_encoder
from gawah.models.folder import fetch_advice, fetched_folder
from gawah.models.shelf.known import DEFAULT_RERANKER, KNOWN
from gawah.ports import Embedder, Generator, Reranker
from gawah.rerank import CrossReranker, LateInteraction
from gawah.store.catalog import SqlCatalog, SqliteCatalog
from gawah.text import analyze, identifier_terms

_MEBIBYTE = 1 << 20


def open_catalog(settings: Settings, *, create: bool = False) -> SqlCatalog:
    """The catalog of the settings: a database, or a file in the store's folder. Raises as their classes do."""
    address = settings.catalog.get_secret_value()
    if not address:
        return SqliteCatalog(settings.store, create=create)
    try:
        from gawah.store.postgres.catalog import PostgresCatalog
    except ImportError as error:
        raise ConfigurationError(
            f"a catalog in PostgreSQL needs psycopg ({error}); install it with: pip install 'gawah[postgres]'"
        ) from error
    return PostgresCatalog(address, settings.store, create=create)


def analyze_document(text: str) -> tuple[list[str], list[str]]:
    """Terms of an embedded text: those that count to its length, and those of its identifiers."""
    return analyze(text), identifier_terms(text)


def source_of(model: str) -> str:
    """A setting `model` as it means the same from any folder: a path is made absolute, a name and a pin stay."""
    named, sha256 = pinned_model(model)
    path = Path(named).expanduser()
    return f"{path.resolve()}{f'@sha256:{sha256}' if sha256 else ''}" if path.is_dir() else model


def build_embedder(settings: Settings) -> Embedder:
    name, sha256 = pinned_model(settings.model)
    return load_encoder(
        name,
        expected_sha256=sha256,
        cache_directory=settings.cache,
        n_threads=settings.threads or None,
    )


def build_reranker(settings: Settings) -> tuple[Reranker | None, tuple[str, ...]]:
    """The reranker of the settings, and a line where it is not the one they ask for.

    Where the cross-encoder that is asked for without naming one is not on this machine, late interaction takes its place
    and every result says so. Raises ModelError for one that is named and is not there, or cannot be used.
    """
    kind, _, named = settings.rerank.partition(":")
    if kind == "none":
        return None, ()
    if kind == "late":
        return LateInteraction(), ()
    from gawah.models.cross_encoder import load_cross_encoder

    try:
        found = load_cross_encoder(
            named.strip() or DEFAULT_RERANKER, cache_directory=settings.cache, n_threads=settings.threads or None
        )
    except ModelMissingError as error:
        if named:
            raise
        return LateInteraction(), (f"reranked by late interaction, not by a cross-encoder: {error}",)
    return CrossReranker(found), ()


def build_gate(settings: Settings, stamp: CalibrationStamp) -> tuple[Gate, tuple[str, ...]]:
    """The gate of the settings, and a note where it is not the one they ask for.

    Raises ConfigurationError for a calibration that was named and does not hold here. Where only the one that ships does
    not hold, the reference gate decides and every outcome says so.
    """
    reference = ReferenceGate(settings.gate_threshold, settings.passages)
    kind, _, named = settings.gate.partition(":")
    if kind == "reference":
        return reference, ()
    if named:
        return CalibratedGate(load_calibration(Path(named.strip()).expanduser(), stamp), settings.passages), ()
    calibration = packaged_calibration()
    if differing := differences(calibration.stamp, stamp):
        return reference, (
            f"gated by cosine distance: no calibration holds for this {differing}; `gawah calibrate` makes one",
        )
    return CalibratedGate(calibration, settings.passages), ()


def build_generator(settings: Settings, embedder: Embedder) -> Generator:
    if settings.generator == "extractive":
        return ExtractiveGenerator(embedder)
    if settings.generator == "local":
        if not settings.generator_model:
            raise ConfigurationError(
                "the local generator needs a model: set generator_model to a GGUF file (GAWAH_GENERATOR_MODEL)"
            )
        from gawah.generate.local import LocalGenerator

        return LocalGenerator(_gguf_model(settings), threads=settings.threads, deadline_s=settings.generator_timeout_s)
    if not settings.generator_model:
        raise ConfigurationError("the openai generator needs a model name: set generator_model (GAWAH_GENERATOR_MODEL)")
    from gawah.generate.openai import OpenAIGenerator

    return OpenAIGenerator(
        base_url=settings.openai_url,
        model=settings.generator_model,
        api_key=settings.openai_key.get_secret_value(),
        deadline_s=settings.generator_timeout_s,
    )


def _gguf_model(settings: Settings) -> Path:
    """A file or folder, or the folder of a model that was fetched by its name; ModelMissingError for a known name."""
    named = settings.generator_model
    path = Path(named).expanduser()
    if path.exists():
        return path
    if fetched := fetched_folder(named, settings.cache):
        return fetched.directory
    if any(named in (model.name, model.repository) for model in KNOWN):
        raise ModelMissingError(f"the model {named} is not on this machine; {fetch_advice(named)}")
    return path


def limits_of(settings: Settings) -> Limits:
    return Limits(
        memory_bytes=settings.extract_memory_mb * _MEBIBYTE,
        cpu_s=max(1, settings.extract_wall_s // 2),
        wall_s=settings.extract_wall_s,
    )


def options_of(settings: Settings) -> Options:
    return Options(
        speech_model="" if settings.speech_model is None else str(settings.speech_model.absolute()),
        ocr_languages=settings.ocr_languages,
    )
