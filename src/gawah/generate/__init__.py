"""A prompt to a draft: by quoting the sources themselves, or by a language model, in this process or behind an endpoint."""

from gawah.generate.extractive import ExtractiveGenerator
from gawah.generate.local import LocalGenerator
from gawah.generate.openai import OpenAIGenerator

__all__ = ["ExtractiveGenerator", "LocalGenerator", "OpenAIGenerator"]
