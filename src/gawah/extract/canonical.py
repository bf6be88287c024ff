"""Decoded characters to canonical text, with the books kept: what was read, kept, dropped and added.

Newlines become LF; the byte order mark, NUL and the other C0 controls but tab and LF go. A form feed or vertical tab
stands between two lines and becomes LF, so that the words around it are not joined. Nothing else is changed here: no
Unicode normalisation, no quotes, dashes or blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from gawah.errors import ExtractionError
from gawah.extract.decode import decode
from gawah.fingerprint import document_id
from gawah.text import dominant_script
from gawah.types import Block, Conservation, Document, Place, SourceFile

CANONICAL_VERSION = 1

# Enough to tell scripts apart, and a tenth of the time that the rest of reading a page takes.
_SCRIPT_SAMPLE_CHARS = 512
_N_SCRIPT_SAMPLES = 8

_LINE_BREAK = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_DROPPED = re.compile("[\x00-\x08\x0e-\x1f\ufeff]")
_OTHER_CONTROLS = re.compile("[\x01-\x08\x0e-\x1f]")
_ANY_OF_THEM = re.compile("[\x00-\x08\x0b-\x1f\x85\u2028\u2029\ufeff]")
# A character that shows: not a blank, not an invisible format character (zero width space, bidi mark and the like).
_VISIBLE = re.compile("[^\\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class OwnText:
    """A text file's own text in canonical form, and what decoding had to say about it."""

    text: str
    conservation: Conservation
    warnings: tuple[str, ...]

    def document(
        self,
        source: SourceFile,
        extractor: str,
        blocks: Iterable[Block],
        *,
        title: str = "",
        places: Iterable[Place] = (),
        warnings: Iterable[str] = (),
    ) -> Document:
        """The document whose canonical text is the file's own; the title is the file's name when none is given."""
        return Document(
            id=document_id(source.collection, source.name),
            source=source,
            title=title or stem(source.name),
            language=language_of(self.text),
            text=self.text,
            blocks=tuple(blocks),
            places=tuple(places),
            extractor=extractor,
            conservation=self.conservation,
            warnings=(*self.warnings, *warnings),
        )


def read_text(data: bytes, declared: str = "") -> OwnText:
    """Decodes and canonicalises; `declared` is the encoding that the file itself names.

    Raises ExtractionError `undecodable`, or `empty` when nothing in it shows.
    """
    decoded = decode(data, declared)
    text, dropped = canonicalise(decoded.text)
    require_visible(text)
    books = Conservation(read=len(decoded.text), kept=len(text), dropped=dropped)
    return OwnText(text, books, decoded.warnings)


def canonicalise(raw: str) -> tuple[str, Mapping[str, int]]:
    """The canonical text of decoded characters, and how many characters were dropped, by reason.

    The counts are taken from the input, not from the difference of the lengths: a fault in one shows in the books.
    """
    if _ANY_OF_THEM.search(raw) is None:
        return raw, {}
    text = _DROPPED.sub("", _LINE_BREAK.sub("\n", raw))
    counts = {
        "line break": raw.count("\r\n"),
        "byte order mark": raw.count("\ufeff"),
        "nul": raw.count("\x00"),
        "control": sum(1 for _ in _OTHER_CONTROLS.finditer(raw)),
    }
    return text, {reason: n for reason, n in counts.items() if n}


def require_visible(text: str) -> None:
    """Raises ExtractionError `empty` when a text has no visible character."""
    if _VISIBLE.search(text) is None:
        raise ExtractionError("empty", "there is no text in it")


def stem(name: str) -> str:
    """The file's name without folders and extension."""
    return PurePosixPath(name).stem or name


def language_of(text: str, declared: str = "") -> str:
    """The declared BCP 47 tag when it looks like one, else "und-" and the script most letters are in."""
    if re.fullmatch(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,6}", declared):
        return declared
    step = max(_SCRIPT_SAMPLE_CHARS, len(text) // _N_SCRIPT_SAMPLES)
    samples = (text[start : start + _SCRIPT_SAMPLE_CHARS] for start in range(0, len(text), step))
    script = dominant_script(" ".join(samples))
    return "und" if script == "Zyyy" else f"und-{script}"
