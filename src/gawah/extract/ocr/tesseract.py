"""The program tesseract: which languages it has, and a picture to its words. It is started anew for every picture.

Nothing is linked: it is a separate program, given the picture on its standard input, limited like the process that
starts it, on one thread, with a deadline of its own.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gawah.errors import ExtractionError
from gawah.extract.confine import die_with_parent
from gawah.extract.ocr.words import OcrLine, OcrWord

if TYPE_CHECKING:
    from PIL.Image import Image

PACKAGE = "tesseract-ocr"
_PROGRAM = "tesseract"
_TIMEOUT_S = 60.0
_LANGUAGE = re.compile(r"[A-Za-z][\w/-]{1,40}")
_WORD_LEVEL = "5"
_COLUMNS = 12
# Not letters: tesseract marks right-to-left text with them. The joiners, which are spelling, stay.
_INVISIBLE = dict.fromkeys(
    map(ord, "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad")
)
_LEAST_SURENESS = 1.0


# Languages by the script that tesseract's finder of scripts names; all others are written in Latin letters.
_LANGUAGES_OF: dict[str, frozenset[str]] = {
    script: frozenset(languages.split())
    for script, languages in {
        "Arabic": "ara fas kur pus snd uig urd",
        "Bengali": "asm ben",
        "Cyrillic": "bel bul kaz kir mkd mon rus srp tgk ukr",
        "Devanagari": "hin mar nep san",
        "Ethiopic": "amh tir",
        "Greek": "ell grc",
        "Gujarati": "guj",
        "Gurmukhi": "pan",
        "Han": "chi",
        "Hangul": "kor",
        "Hebrew": "heb yid",
        "Japanese": "jpn",
        "Kannada": "kan",
        "Malayalam": "mal",
        "Oriya": "ori",
        "Sinhala": "sin",
        "Tamil": "tam",
        "Telugu": "tel",
        "Thai": "tha",
    }.items()
}
NOT_LATIN: frozenset[str] = frozenset().union(*_LANGUAGES_OF.values())


@dataclass(frozen=True, slots=True)
class Orientation:
    """By how many quarter turns, clockwise, a picture is to be turned to stand upright, and the script of most of it."""

    quarter_turns: int
    script: str


@dataclass(frozen=True, slots=True)
class Eyes:
    """The program and the languages it reads: those that were asked for and are installed; `missing` are not."""

    program: str
    languages: tuple[str, ...]
    missing: tuple[str, ...]
    finds_orientation: bool

    def for_script(self, script: str) -> Eyes:
        """The same with the languages of one script only; itself when there are none, or no others."""
        codes = [(name, name.split("_")[0]) for name in self.languages]
        if script == "Latin":
            languages = tuple(name for name, code in codes if code not in NOT_LATIN)
        else:
            languages = tuple(name for name, code in codes if code in _LANGUAGES_OF.get(script, ()))
        return replace(self, languages=languages) if languages else self

    def reads_script(self, script: str) -> bool:
        """Whether a language of the script that the finder names is among them; also where no language is known of it."""
        codes = {name.split("_")[0] for name in self.languages}
        if script == "Latin":
            return not codes <= NOT_LATIN
        return script not in _LANGUAGES_OF or not codes.isdisjoint(_LANGUAGES_OF[script])

    def warnings(self) -> tuple[str, ...]:
        """A line for languages that were asked for and are not there."""
        if not self.missing:
            return ()
        packages = " ".join(f"{PACKAGE}-{name.replace('_', '-')}" for name in self.missing)
        return (f"read without {', '.join(self.missing)}: apt-get install {packages}, or change `ocr_languages`",)


def open_eyes(languages: str) -> Eyes:
    """`languages` as in the settings, "eng+hin". Raises ExtractionError `ocr_unavailable`, which names the package."""
    program = shutil.which(_PROGRAM)
    if program is None:
        raise _unavailable(f"reading pictures of text needs tesseract: apt-get install {PACKAGE}")
    wanted = list(dict.fromkeys(name for name in re.split(r"[+,\s]+", languages) if name))
    there = _installed(program)
    found = tuple(name for name in wanted if name in there)
    missing = tuple(name for name in wanted if name not in there)
    if not found:
        named = ", ".join(wanted) or "no language"
        raise _unavailable(
            f"tesseract has none of `ocr_languages` ({named}); it has {', '.join(sorted(there)) or 'none'}"
        )
    return Eyes(program, found, tuple(name for name in missing if _LANGUAGE.fullmatch(name)), "osd" in there)


def _unavailable(reason: str) -> ExtractionError:
    return ExtractionError("ocr_unavailable", reason, retryable=True)


def _installed(program: str) -> set[str]:
    lines = _run([program, "--list-langs"], b"", follow=None).splitlines()
    return {line.strip() for line in lines[1:] if _LANGUAGE.fullmatch(line.strip())}


def read(eyes: Eyes, picture: Image, dpi: int) -> list[OcrLine]:
    """The lines of a grey picture that stands upright, in reading order; boxes in its pixels.

    Raises ExtractionError `ocr_failed`.
    """
    command = [eyes.program, "-", "-", "-l", "+".join(eyes.languages), "--dpi", str(dpi), "--psm", "3", "tsv"]
    return parse_tsv(_run(command, _portable(picture)))


def find_orientation(eyes: Eyes, picture: Image, dpi: int) -> Orientation | None:
    """How a grey picture lies and which script it is in; None when tesseract cannot tell, as with few letters."""
    if not eyes.finds_orientation:
        return None
    try:
        found = _run([eyes.program, "-", "-", "-l", "osd", "--dpi", str(dpi), "--psm", "0"], _portable(picture))
    except ExtractionError:  # so it ends where there are too few letters
        return None
    values = dict(line.partition(": ")[::2] for line in found.splitlines())
    try:
        turns, sureness = int(values["Rotate"]) // 90 % 4, float(values["Orientation confidence"])
    except (KeyError, ValueError):
        return None
    return Orientation(turns, values.get("Script", "")) if sureness >= _LEAST_SURENESS else None


def parse_tsv(table: str) -> list[OcrLine]:
    """The words of tesseract's table (https://tesseract-ocr.github.io/tessdoc/Command-Line-Usage.html), by their lines.

    Rows that are no words, or words without a letter that shows, are passed over.
    """
    lines: dict[tuple[int, int, int], list[OcrWord]] = {}
    for row in table.splitlines():
        cells = row.split("\t", _COLUMNS - 1)
        if len(cells) != _COLUMNS or cells[0] != _WORD_LEVEL:
            continue
        text = "".join(cells[11].translate(_INVISIBLE).split())
        if not text:
            continue
        left, top, width, height = (int(cell) for cell in cells[6:10])
        confidence = min(100.0, max(0.0, float(cells[10])))
        word = OcrWord(text, left, top, left + width, top + height, confidence)
        lines.setdefault((int(cells[2]), int(cells[3]), int(cells[4])), []).append(word)
    return [OcrLine(tuple(words), block, paragraph) for (block, paragraph, _), words in lines.items()]


def _portable(picture: Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PPM")
    return buffer.getvalue()


def _follow() -> None:
    """In the new process: it must not outlive this one."""
    die_with_parent(os.getppid())


def _run(command: Sequence[str], data: bytes, follow: Callable[[], None] | None = _follow) -> str:
    """What a program prints. `follow` runs in the new process, which only one of a single thread may ask for."""
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=_TIMEOUT_S, check=True, env=environment, preexec_fn=follow
        )
    except subprocess.TimeoutExpired as error:
        raise ExtractionError("ocr_failed", f"tesseract took more than {_TIMEOUT_S:.0f} s for one picture") from error
    except subprocess.CalledProcessError as error:
        complaint = " ".join(error.stderr.decode("utf-8", "replace").split()[-20:]) or f"code {error.returncode}"
        raise ExtractionError("ocr_failed", f"tesseract failed: {complaint}") from error
    except OSError as error:
        raise _unavailable(f"tesseract cannot be started: {error.strerror}") from error
    return done.stdout.decode("utf-8", "replace")
