"""The composition root: settings to working parts. Only this package names concrete classes; nothing is built before use."""

from gawah.app.application import Application
from gawah.app.files import chunk_file, draw_page, extract_file
from gawah.app.parts import (
    analyze_document,
    build_embedder,
    build_gate,
    build_generator,
    limits_of,
    open_catalog,
    options_of,
    source_of,
)

__all__ = [
    "Application",
    "analyze_document",
    "build_embedder",
    "build_gate",
    "build_generator",
    "chunk_file",
    "draw_page",
    "extract_file",
    "limits_of",
    "open_catalog",
    "options_of",
    "source_of",
]
