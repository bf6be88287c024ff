"""Resolved text as it comes, held back to whole sentences: a sentence goes out when no marker can join it any more."""

from __future__ import annotations

import re

from gawah.text import sentences
from gawah.types import Span

_MARKER = re.compile(r"\[\d{1,4}\]")


class SentenceHold:
    """`push` pieces, get whole sentences; `flush` gives the rest. What comes out, joined, is what went in."""

    def __init__(self) -> None:
        self._held = ""

    def push(self, piece: str) -> str:
        """All sentences but the last that is there: markers behind a full stop belong to the sentence before them."""
        self._held += piece
        words = _MARKER.sub(lambda match: " " * len(match.group()), self._held)
        begun = [span for span in sentences(words, Span(0, len(words))) if span.slice(words).strip()]
        if len(begun) < 2:
            return ""
        cut = begun[-1].start
        whole, self._held = self._held[:cut], self._held[cut:]
        return whole

    def flush(self) -> str:
        rest, self._held = self._held, ""
        return rest
