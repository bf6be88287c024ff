"""Where the text of the growth benchmark comes from: real passages, real sentences, real questions.

The evaluation sets beside the repository first, then what a Debian system says about itself (/usr/share/doc, the manual
pages); of a machine that has neither, the handbook of the examples. What was there is said in the results.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from bench.corpora import HANDBOOK, SHARED

PASSAGE_CHARS = 700
_SHORTEST_CHARS = 80
_PROSE = {".md", ".txt", ".rst"}
_ROFF_WORD = re.compile(r"\\f(?:\(..|.)|\\\(..|\\[&|^/,]|\\s[-+]?\d")
_MACROS_WITH_WORDS = {"B", "I", "BR", "IR", "RB", "RI", "SS", "SH"}
_SENTENCE_END = re.compile(r"(?<=[.!?।۔])\s+")
_SET_TEXT = re.compile(r"\.(md|txt)$")


def passages() -> Iterator[tuple[str, str]]:
    """(where from, text of some 700 characters): every passage of the sets, then of the system's documentation."""
    for root in (SHARED, HANDBOOK):
        files = sorted(file for file in root.rglob("*") if file.is_file() and _SET_TEXT.search(file.name))
        for file in files:
            if "corpus" in file.parts or root == HANDBOOK:
                yield from _passages_of(f"{root.name}/{file.relative_to(root)}", file.read_text("utf-8", "replace"))
    for file in sorted(Path("/usr/share/doc").rglob("*")):
        if file.suffix in _PROSE and file.is_file():
            yield from _passages_of(str(file), file.read_text("utf-8", "replace"))
    for file in sorted(Path("/usr/share/man").glob("man*/*.gz")):
        yield from _passages_of(str(file), _roff(file))


def sentences_of(passage: str) -> list[str]:
    """A passage's sentences; what has fewer than three words is joined to the next."""
    found: list[str] = []
    held = ""
    for sentence in _SENTENCE_END.split(passage):
        held = f"{held} {sentence}".strip()
        if len(held.split()) > 2:
            found.append(held)
            held = ""
    return [*found, held] if held else found


def questions() -> list[str]:
    """The questions of the sets, both phrasings; of every kind as many as there are, up to 120 a set."""
    found: list[str] = []
    for file in sorted(SHARED.rglob("queries*.jsonl")):
        if "crosslingual" in file.name:
            continue
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        asked = [
            row[name]
            for row in rows
            for name in ("query", "question", "ticket", "own")
            if isinstance(row.get(name), str)
        ]
        found += asked[:: max(1, len(asked) // 120)][:120]
    return list(dict.fromkeys(found)) or [
        "how do I restore a backup?",
        "what does the error ERR_CONN-17 mean?",
        "who may delete a document?",
    ]


def _passages_of(name: str, text: str) -> Iterator[tuple[str, str]]:
    held = ""
    for paragraph in re.split(r"\n\s*\n", text):
        for piece in _cut(" ".join(paragraph.split())):
            if held and len(held) + len(piece) > PASSAGE_CHARS:
                if len(held) >= _SHORTEST_CHARS:
                    yield name, held
                held = ""
            held = f"{held}\n{piece}".strip()
    if len(held) >= _SHORTEST_CHARS:
        yield name, held


def _cut(paragraph: str) -> Iterator[str]:
    """A paragraph in pieces that fit a passage, cut between words."""
    while len(paragraph) > PASSAGE_CHARS:
        at = paragraph.rfind(" ", 0, PASSAGE_CHARS)
        at = at if at > 0 else PASSAGE_CHARS
        yield paragraph[:at]
        paragraph = paragraph[at:].strip()
    if paragraph:
        yield paragraph


def _roff(file: Path) -> str:
    """The words of a manual page: macros with an argument keep it, escapes go."""
    lines = []
    for line in gzip.decompress(file.read_bytes()).decode("utf-8", "replace").splitlines(keepends=True):
        words = line
        if line.startswith((".", "'")):
            macro, _, argument = line[1:].partition(" ")
            words = argument if macro in _MACROS_WITH_WORDS else "\n" if macro.strip() else ""
        lines.append(_ROFF_WORD.sub("", words).replace("\\-", "-").replace('"', "").replace("\\e", "\\"))
    return "".join(lines)
