"""Recordings to documents: sound out of its container, speech to segments with times, segments to paragraphs."""

from gawah.extract.speech.extractor import SpeechExtractor
from gawah.extract.speech.model import find_model, model_bytes

__all__ = ["SpeechExtractor", "find_model", "model_bytes"]
