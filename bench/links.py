"""What a corpus says of a passage where it links to it: the words of links and those around them."""

from __future__ import annotations

import re

from bench.held import Held

_DEFINED = re.compile(r"^\[([^\]]+)\]:[ \t]*(\S+)", re.MULTILINE)
_INLINE = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)|\[([^\]]+)\]\[([^\]]*)\]")
_AROUND_CHARS = 80  # of a link's surroundings that are taken with its words


def link_texts(corpus: Held) -> list[str]:
    """Per chunk the words of links, and those around them, that lead to its section, or to its document's beginning."""
    targets: dict[tuple[str, str], list[int]] = {}
    for at, (document, section) in enumerate(corpus.places):
        stem = document.rpartition("/")[2].rpartition(".")[0]
        targets.setdefault((stem, _slug(section.rpartition(" > ")[2])), []).append(at)
        targets.setdefault((stem, ""), [at])
    found: list[list[str]] = [[] for _ in corpus.ids]
    defined = {(doc, key.lower()): url for (doc, _), text in zip(corpus.places, corpus.contents, strict=True)
               for key, url in _DEFINED.findall(text)}  # fmt: skip
    for (document, _), text in zip(corpus.places, corpus.contents, strict=True):
        own = document.rpartition("/")[2].rpartition(".")[0]
        for match in _INLINE.finditer(text):
            label = match[1] or match[3]
            url = match[2] or defined.get((document, (match[4] or match[3]).lower()), "")
            path, _, fragment = url.partition("#")
            stem = path.rstrip("/").rpartition("/")[2].partition(".")[0] or own
            around = text[max(0, match.start() - _AROUND_CHARS) : match.end() + _AROUND_CHARS]
            for at in targets.get((stem, fragment.lower()), ()) if url else ():
                found[at].append(f"{label} {around}")
    return [" ".join(said) for said in found]


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
