"""A prompt to a draft: by quoting the sources themselves, or by a language model, in this process or behind an endpoint."""

from gawah.generate.extractive import ExtractiveGenerator

__all__ = ["ExtractiveGenerator"]  # the others bring an HTTP client or a model's runtime: import their own modules
