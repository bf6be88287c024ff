"""What the settings say about reading files that plain text is not: whose ears and whose eyes, and how much of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`speech_model` is a folder with a Whisper model for CTranslate2, empty for the installed package's.

    `ocr_languages` are tesseract's codes with "+" between them, the most frequent first.
    """

    speech_model: str = ""
    speech_minutes: int = 180
    ocr_languages: str = "eng+hin+urd"
