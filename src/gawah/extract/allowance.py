"""What a type needs beyond the limits of text: hearing a recording takes longer than reading a page, and more memory."""

from __future__ import annotations

from dataclasses import replace

from gawah.extract.confine import Limits
from gawah.extract.detect import EML, MBOX
from gawah.extract.ole import MSG
from gawah.extract.options import Options
from gawah.extract.speech.model import find_model, model_bytes
from gawah.media_types import IMAGE_FORMATS

_MEBIBYTE = 1 << 20
_WITH_PAGES = ("application/pdf", EML, MBOX, MSG)  # what may be attached to a message is read like a file
# Address space, not memory: the libraries of sound and speech map 0.9 GB before the model; the model is held in several
# forms while it is loaded.
_SPEECH_LIBRARIES_BYTES = 1 << 30
_MODEL_COPIES = 4
_LEAST_BYTES_A_SECOND = 500  # of sound; the thriftiest encoders of speech write 600
# Processor seconds for a second of sound: 0.3 measured at worst for a model of 75 MB (tiny), growing with the model.
_MODEL_BYTES_A_FACTOR = 75 * _MEBIBYTE
_WALL_A_CPU_SECOND = 2.0
_PIXELS_BYTES = 1 << 30  # a picture of 80 million pixels in colour, in grey and as numbers
_PAGE_PICTURE_BYTES = 400 << 20  # a page of 36 million pixels in grey and as numbers, and the libraries of pictures


def limits_for(media_type: str, size_bytes: int, limits: Limits, options: Options) -> Limits:
    """The limits of one file of a type; never lower than the given ones."""
    if media_type.startswith(("audio/", "video/")):
        return _speech_limits(size_bytes, limits, options)
    # The time of pages that are read by eye is granted page by page (confine.Limits).
    if media_type in IMAGE_FORMATS:
        return replace(limits, memory_bytes=limits.memory_bytes + _PIXELS_BYTES)
    if media_type in _WITH_PAGES:
        return replace(limits, memory_bytes=limits.memory_bytes + _PAGE_PICTURE_BYTES)
    return limits


def _speech_limits(size_bytes: int, limits: Limits, options: Options) -> Limits:
    folder = find_model(options.speech_model)
    if folder is None:
        return limits
    n_model_bytes = model_bytes(folder)
    sound_s = min(options.speech_minutes * 60, size_bytes // _LEAST_BYTES_A_SECOND)
    cpu_s = int(sound_s * max(1.0, n_model_bytes / _MODEL_BYTES_A_FACTOR))
    return replace(
        limits,
        memory_bytes=limits.memory_bytes + _SPEECH_LIBRARIES_BYTES + _MODEL_COPIES * n_model_bytes,
        cpu_s=limits.cpu_s + cpu_s,
        wall_s=limits.wall_s + _WALL_A_CPU_SECOND * cpu_s,
    )
