"""Segments of speech to a canonical text with a time for every part of it, and what was hardly understood said.

Whisper's own two signs of a failed decoding (Radford et al. 2022, section 4.5) tell what not to believe: words that zlib
makes more than 2.4 times smaller are a loop, which nobody spoke and which is left out; a low mean log-probability is a
guess, which stays and is marked. Speech in a language that the model has not learnt looks like either: of 15 spoken texts
that eSpeak read to the English-only tiny model, the five English ones had -0.36 to -0.54, the ten others loops or -0.9
and less. Whisper's own bound, -1, would have let one of those pass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gawah.extract.speech.model import Heard
from gawah.types import Block, BlockKind, Conservation, Place, Removal, Span, TimeRange

_LOOP_COMPRESSION = 2.4
_GUESS_CONFIDENCE = math.exp(-0.8)
_NEW_PARAGRAPH_S = 2.0  # of silence
_LONG_PARAGRAPH_CHARS = 600  # from here on the next end of a sentence ends the paragraph
_SENTENCE_END = re.compile(r"[.!?।॥۔؟…。！？][\"'”’)\]]*$")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Transcript:
    """The parts of a document that come from speech; seconds are of speech, and of what of it is not to be believed."""

    text: str
    blocks: tuple[Block, ...]
    places: tuple[Place, ...]
    removed: tuple[Removal, ...]
    conservation: Conservation
    warnings: tuple[str, ...]
    speech_s: float
    unclear_s: float


def transcript(heard: Sequence[Heard]) -> Transcript:
    """One paragraph for what is spoken without a pause, one place a segment. `heard` is in the order of time."""
    spoken = [replace(part, text=_BLANKS.sub(" ", part.text).strip()) for part in heard]
    spoken = [part for part in spoken if part.text]
    kept = [part for part in spoken if not _is_loop(part)]
    loops = [part for part in spoken if _is_loop(part)]
    guesses = [part for part in kept if _is_guess(part)]
    pieces: list[str] = []
    places: list[Place] = []
    blocks: list[Block] = []
    at = paragraph_start = 0
    for index, part in enumerate(kept):
        if index:
            is_new = _parts(kept[index - 1], part, at - paragraph_start)
            if is_new:
                blocks.append(Block(BlockKind.PARAGRAPH, Span(paragraph_start, at)))
                paragraph_start = at + 2
            separator = "\n\n" if is_new else " "
            pieces.append(separator)
            at += len(separator)
        pieces.append(part.text)
        places.append(Place(Span(at, at + len(part.text)), _time(part)))
        at += len(part.text)
    if kept:
        blocks.append(Block(BlockKind.PARAGRAPH, Span(paragraph_start, at)))
    text = "".join(pieces)
    n_spoken, n_looped = (sum(len(part.text) for part in parts) for parts in (spoken, loops))
    return Transcript(
        text=text,
        blocks=tuple(blocks),
        places=tuple(places),
        removed=tuple(Removal(f"a loop of the speech model at {_clock(part.start_s)}", part.text) for part in loops),
        conservation=Conservation(
            read=n_spoken,
            kept=len(text),
            dropped={"loop of the speech model": n_looped} if n_looped else {},
            added={"between segments": len(text) - n_spoken + n_looped} if len(kept) > 1 else {},
        ),
        warnings=_warnings(guesses, loops, len(spoken)),
        speech_s=_seconds(spoken),
        unclear_s=_seconds([*guesses, *loops]),
    )


def _seconds(parts: Sequence[Heard]) -> float:
    """Exact before it is rounded: some of the parts never sum up to more than all of them, in whatever order."""
    return math.fsum(part.end_s - part.start_s for part in parts)


def _is_loop(part: Heard) -> bool:
    return part.compression > _LOOP_COMPRESSION


def _is_guess(part: Heard) -> bool:
    return part.confidence < _GUESS_CONFIDENCE


def _parts(before: Heard, after: Heard, n_chars: int) -> bool:
    """Whether a new paragraph begins between two segments."""
    is_pause = after.start_s - before.end_s >= _NEW_PARAGRAPH_S
    return is_pause or (n_chars >= _LONG_PARAGRAPH_CHARS and _SENTENCE_END.search(before.text) is not None)


def _time(part: Heard) -> TimeRange:
    start, end = round(part.start_s, 2), round(max(part.start_s, part.end_s), 2)
    return TimeRange(start, end, round(part.confidence, 2) if _is_guess(part) else 1.0)


def _warnings(guesses: Sequence[Heard], loops: Sequence[Heard], n: int) -> tuple[str, ...]:
    found = []
    if guesses:
        times = _first_times(guesses)
        found.append(f"low_confidence: {len(guesses)} of {n} segments of speech are guesses, at {times}")
    if loops:
        times = _first_times(loops)
        found.append(
            f"low_confidence: {len(loops)} of {n} segments of speech were not understood and are left out, at {times}"
        )
    return tuple(found)


def _first_times(parts: Sequence[Heard]) -> str:
    named = ", ".join(_clock(part.start_s) for part in parts[:5])
    return named + (" and on" if len(parts) > 5 else "")


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
