"""What a type needs beyond the limits of text: hearing a recording takes longer than reading a page, and more memory."""

from __future__ import annotations

from dataclasses import replace

from gawah.extract.confine import Limits
from gawah.extract.ocr.extractor import FORMATS
from gawah.extract.options import Options
from gawah.extract.speech.model import find_model, model_bytes

_MEBIBYTE = 1 << 20
# Address space, not memory: the libraries of sound and speech map 0.9 GB before the model; the model is held in several
# forms while it is loaded.
_SPEECH_LIBRARIES_BYTES = 1 << 30
_MODEL_COPIES = 4
_LEAST_BYTES_A_SECOND = 500  # of sound; the thriftiest encoders of speech write 600
# Processor seconds for a second of sound: 0.3 measured at worst for a model of 75 MB (tiny), growing with the model.
_MODEL_BYTES_A_FACTOR = 75 * _MEBIBYTE
_WALL_A_CPU_SECOND = 2.0
_PIXELS_BYTES = 1 << 30  # a picture of 80 million pixels in colour, in grey and as numbers
_PICTURE_WALL = 3.0
_PAGES_WALL = 15.0  # half an hour, by default, for a TIFF of many pages


def limits_for(media_type: str, size_bytes: int, limits: Limits, options: Options) -> Limits:
    """The limits of one file of a type; never lower than the given ones."""
    if media_type.startswith(("audio/", "video/")):
        return _speech_limits(size_bytes, limits, options)
    if media_type in FORMATS:
        return _image_limits(media_type, limits)
    return limits


def _image_limits(media_type: str, limits: Limits) -> Limits:
    """Each of tesseract's processes has a processor time of its own; the wall time is for all of a file's pages."""
    factor = _PAGES_WALL if media_type == "image/tiff" else _PICTURE_WALL
    return replace(
        limits, memory_bytes=limits.memory_bytes + _PIXELS_BYTES, cpu_s=2 * limits.cpu_s, wall_s=factor * limits.wall_s
    )


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
