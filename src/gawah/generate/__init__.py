"""A prompt to a draft: by quoting the sources themselves, or by a language model behind an OpenAI-compatible endpoint."""

from gawah.generate.extractive import ExtractiveGenerator
from gawah.generate.openai import OpenAIGenerator

__all__ = ["ExtractiveGenerator", "OpenAIGenerator"]
