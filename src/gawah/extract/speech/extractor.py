"""A recording, or the sound of a film, to a document whose text is what was said and whose places are times."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gawah.errors import ExtractionError
from gawah.extract.canonical import language_of, require_visible, stem
from gawah.extract.options import Options
from gawah.fingerprint import document_id
from gawah.types import Document, SourceFile

if TYPE_CHECKING:
    from gawah.extract.speech.model import Ears, Heard
    from gawah.extract.speech.sound import Recording
    from gawah.extract.speech.transcript import Transcript

_UNCLEAR_SHARE = 0.5  # of the speech; beyond it the document is not worth an index


class SpeechExtractor:
    """Audio and video. `load` is called once a document: the model lives as long as the process that reads it."""

    name = "speech"
    version = 1

    def __init__(self, options: Options | None = None, *, load: Callable[[str], Ears] | None = None) -> None:
        self._options = options or Options()
        self._load = load

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """Raises ExtractionError `speech_unavailable` without library or model, `damaged`, `no_audio`, `too_long`,
        `no_speech`, and where most of the speech was not understood `speech_not_english` or `speech_unclear`.
        """
        from gawah.extract.speech.model import load_ears
        from gawah.extract.speech.sound import open_recording
        from gawah.extract.speech.transcript import transcript

        ears = (self._load or load_ears)(self._options.speech_model)
        with contextlib.closing(open_recording(data, self._options.speech_minutes)) as recording:
            made = transcript(list(_hear(ears, recording, self._options.speech_minutes)))
        _require_speech(made, ears)
        warnings = [*made.warnings]
        if recording.n_broken:
            warnings.append(f"damaged: {recording.n_broken} packets of sound could not be decoded")
        if not ears.is_sure_of_language:
            warnings.append(f"the language is a guess: {ears.language}")
        return Document(
            id=document_id(source.collection, source.name),
            source=source,
            title=recording.title or stem(source.name),
            language=language_of(made.text, ears.language),
            text=made.text,
            blocks=made.blocks,
            places=made.places,
            extractor=f"{self.name}/{self.version}",
            conservation=made.conservation,
            warnings=tuple(warnings),
            removed=made.removed,
        )


def _hear(ears: Ears, recording: Recording, most_minutes: int) -> Iterator[Heard]:
    """What is heard in each piece, with times of the whole recording."""
    from dataclasses import replace

    for piece in recording.pieces(most_minutes):
        for part in ears.hear(piece.samples):
            yield replace(part, start_s=piece.start_s + part.start_s, end_s=piece.start_s + part.end_s)


def _require_speech(made: Transcript, ears: Ears) -> None:
    if made.speech_s == 0 and not made.text:
        raise ExtractionError("no_speech", "nobody speaks in it, as far as the speech model hears")
    if made.unclear_s > _UNCLEAR_SHARE * made.speech_s or not made.text:
        share = f"{made.unclear_s:.0f} s of {made.speech_s:.0f} s of speech were not understood"
        if ears.is_english_only:
            reason = f"{share}: the model reads English only; name a multilingual one with `speech_model`"
            raise ExtractionError("speech_not_english", reason)
        raise ExtractionError("speech_unclear", f"{share}: the recording is too poor, or the model too small")
    require_visible(made.text)
