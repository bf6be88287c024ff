"""Places in a text that no cut may ignore (grapheme clusters, lines), blanks, and the script a text is written in.

Offsets are code points of the text as given.
"""

from __future__ import annotations

from collections import Counter

import regex

from gawah.types import Span

_CLUSTER = regex.compile(r"\X")

# Before one of these characters a grapheme cluster always ends, whatever came earlier (UAX 29, GB4 to GB13), unless a
# prepended mark stands before it: a safe place to start counting clusters from.
_SAFE_CHARACTER = (
    r"(?<!\p{GCB=Prepend})[[\p{GCB=Other}&&[\p{Z}\p{P}\p{N}\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}"
    r"\p{Han}\p{Hiragana}\p{Katakana}]--\p{Extended_Pictographic}]\p{GCB=Control}\p{GCB=CR}]"
)
_SAFE = regex.compile(r"(?V1)" + _SAFE_CHARACTER)
_LAST_SAFE = regex.compile(r"(?rV1)" + _SAFE_CHARACTER)
_LOOK_BACK_CHARS = (32, 256, 4096)  # a cluster beyond the last is hostile; it is counted from there

_SCRIPTS = {
    "Latn": "Latin", "Deva": "Devanagari", "Arab": "Arabic", "Hani": "Han", "Cyrl": "Cyrillic", "Grek": "Greek",
    "Hebr": "Hebrew", "Thai": "Thai", "Hang": "Hangul", "Beng": "Bengali", "Taml": "Tamil", "Telu": "Telugu",
    "Gujr": "Gujarati", "Guru": "Gurmukhi", "Knda": "Kannada", "Mlym": "Malayalam", "Orya": "Oriya", "Sinh": "Sinhala",
    "Armn": "Armenian", "Geor": "Georgian", "Ethi": "Ethiopic", "Khmr": "Khmer", "Laoo": "Lao", "Mymr": "Myanmar",
    "Tibt": "Tibetan",
}  # fmt: skip
_LETTERS_BY_SCRIPT = regex.compile(
    r"(?V1)(?P<Kana>[\p{Hiragana}\p{Katakana}]++)|"
    + "|".join(rf"(?P<{code}>[\p{{{name}}}&&\p{{L}}]++)" for code, name in _SCRIPTS.items())
    + r"|(?P<Zzzz>[\p{L}--\p{Common}--\p{Inherited}]++)"
)
_SAMPLE_CHARS = 4096
_N_SAMPLES = 16
_KANA_SHARE = 0.05  # running Japanese has about half its letters in kana; a Chinese text quoting a name has far fewer


def grapheme_floor(text: str, position: int) -> int:
    """The largest grapheme-cluster boundary that is not after `position`.

    Looks at a local window only, so that it costs the same in a text of any length. A cluster of more than 4,096
    characters (a flood of combining marks) may be cut inside.
    """
    if position <= 0:
        return 0
    if position >= len(text):
        return len(text)
    before, after = text[position - 1], text[position]
    if before.isascii() and after.isascii():
        return position - 1 if before == "\r" and after == "\n" else position
    if _SAFE.match(text, position):
        return position
    for match in _CLUSTER.finditer(text, _safe_start(text, position)):
        if match.end() >= position:
            return position if match.end() == position else int(match.start())
    raise AssertionError("clusters cover the text")


def _safe_start(text: str, position: int) -> int:
    for look_back in _LOOK_BACK_CHARS:
        low = max(0, position - look_back)
        if low == 0:
            return 0
        found = _LAST_SAFE.search(text, low, position)
        if found is not None:
            return int(found.start())
    return low


def trim(text: str, start: int, end: int) -> Span | None:
    """The range without the blanks around it, widened inside the range where that would cut a grapheme cluster.

    None when the range is blank.
    """
    raw = text[start:end]
    bare = raw.lstrip()
    if not bare:
        return None
    first = start + len(raw) - len(bare)
    last = first + len(bare.rstrip())
    first = max(start, grapheme_floor(text, first))
    while last < end and grapheme_floor(text, last) != last:
        last += 1
    return Span(first, last)


def lines_of(text: str, span: Span) -> tuple[int, int]:
    """First and last line (1-based, inclusive) that the span touches; lines end at LF, which belongs to its line."""
    first = text.count("\n", 0, span.start) + 1
    return first, first + text.count("\n", span.start, max(span.start, span.end - 1))


def collapse_space(text: str) -> str:
    """Every run of white space as one blank, none at the ends."""
    return " ".join(text.split())


def dominant_script(text: str) -> str:
    """ISO 15924 code of the script most letters are in: "Latn", "Deva", "Arab", "Hani", …

    "Jpan" for Han with kana, "Zzzz" for letters of any other script, "Zyyy" when there are no letters. Long texts are
    sampled evenly; ties go to the smaller code.
    """
    counts: Counter[str] = Counter()
    for sample in _samples(text):
        for match in _LETTERS_BY_SCRIPT.finditer(sample):
            counts[str(match.lastgroup)] += match.end() - match.start()
    kana = counts.pop("Kana", 0)
    if kana and kana >= _KANA_SHARE * (kana + counts["Hani"]):
        counts["Jpan"] = kana + counts.pop("Hani", 0)
    present = {code: n for code, n in counts.items() if n}
    return min(present, key=lambda code: (-present[code], code)) if present else "Zyyy"


def _samples(text: str) -> list[str]:
    if len(text) <= _SAMPLE_CHARS * _N_SAMPLES:
        return [text]
    step = len(text) // _N_SAMPLES
    return [text[at * step : at * step + _SAMPLE_CHARS] for at in range(_N_SAMPLES)]
