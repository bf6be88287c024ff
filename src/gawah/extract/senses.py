"""Which programs and models outside of gawah a document was read with: what makes it stale when they change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from gawah.errors import ExtractionError
from gawah.extract.ocr.tesseract import open_eyes
from gawah.extract.options import Options
from gawah.extract.speech.model import find_model
from gawah.media_types import IMAGE_FORMATS


class Senses:
    """The eyes and ears that the options name, as they are on this machine; each is looked for once."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def __call__(self, media_type: str, quality: Mapping[str, int]) -> str | None:
        """What a document's words depend on besides its extractor, "tesseract eng+hin"; "" when on nothing, None when it is
        not there at present. `quality` is the document's: pages that were read by eye, or could not be.
        """
        if media_type.startswith(("audio/", "video/")):
            return self._ears
        is_seen = media_type in IMAGE_FORMATS or quality.get("pages_ocr", 0) > 0 or quality.get("pages_unread", 0) > 0
        return self._eyes if is_seen else ""

    @cached_property
    def blindness(self) -> str:
        """Why pages cannot be read by eye, and what to do; empty when they can."""
        try:
            open_eyes(self._options.ocr_languages)
        except ExtractionError as error:
            return str(error)
        return ""

    @cached_property
    def _eyes(self) -> str | None:
        return None if self.blindness else f"tesseract {'+'.join(open_eyes(self._options.ocr_languages).languages)}"

    @cached_property
    def _ears(self) -> str | None:
        model = self._options.speech_model
        return None if find_model(model) is None else f"whisper {model or 'package'}"
