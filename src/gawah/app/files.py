"""One file without a store: what is read of it, how it is cut, a page of it drawn."""

from __future__ import annotations

import os
from pathlib import Path

from gawah.app.parts import build_embedder, limits_of, options_of
from gawah.chunk import Audit, Chunking
from gawah.config import Settings
from gawah.errors import NotFoundError
from gawah.extract.detect import detect
from gawah.extract.sandbox import Sandbox
from gawah.sources import found_file, read_source
from gawah.types import Chunk, Document, SourceFile

_MEGABYTE = 1_000_000


def extract_file(settings: Settings, file: Path) -> Document:
    """A file's document, read as ingest reads it, without a store; raises NotFoundError, ExtractionError."""
    source, data = _read_file(settings, file)
    with Sandbox(limits_of(settings), options_of(settings)) as sandbox:
        return sandbox.extract(source, data)


def draw_page(settings: Settings, file: Path, number: int, png: Path) -> tuple[int, int]:
    """Writes a page of a PDF or an image as a PNG, with frames around what was read and what was taken out; their counts.

    Raises UsageError for a type without pages, NotFoundError for a page or file that is not there, ExtractionError.
    """
    from gawah.extract.showing import shown_page, with_boxes

    source, data = _read_file(settings, file)
    with Sandbox(limits_of(settings), options_of(settings)) as sandbox:
        shown = shown_page(sandbox, data, detect(source.media_type, data).media_type, number)
        document = sandbox.extract(source, data)
    picture, n_places, n_removed = with_boxes(shown, document, number)
    picture.save(png, "PNG")
    return n_places, n_removed


def _read_file(settings: Settings, file: Path) -> tuple[SourceFile, bytes]:
    found = found_file(file.absolute().as_uri())
    if found is None:
        if os.path.isdir(file):  # noqa: PTH112 — Path.is_dir raises for names that are too long
            raise NotFoundError(f"{str(file)!r} is a folder; name a file in it")
        raise NotFoundError(f"no such file: {str(file)!r}; check the path")
    return read_source(found, settings.collection, file.name, settings.max_file_mb * _MEGABYTE)


def chunk_file(
    settings: Settings, file: Path, *, strategy: str = "E", reference: bool = False, title: str | None = None
) -> tuple[list[Chunk], Audit]:
    """A file's chunks and the audit of them, without a store. The reference's title is the file's name without ending."""
    document = extract_file(settings, file)
    embedder = build_embedder(settings)
    chunking = Chunking(strategy, "reference" if reference else "blocks", settings.target_chars)
    count, window = embedder.count_tokens, embedder.stamp.window_tokens
    chunks = chunking.chunks(document, count_tokens=count, window_tokens=window, title=title or "")
    return chunks, chunking.audit(document, chunks, count_tokens=count, window_tokens=window)
