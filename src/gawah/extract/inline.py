"""The Markdown of a heading line to the words a reader sees."""

from __future__ import annotations

import html
import re

_CODE = re.compile(r"(`{1,8})(?!`)(.+?)(?<!`)\1(?!`)")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\([^()]*\)[^()\s]*)?(?:\s+[\"'(][^()]*)?\)|\[[^\[\]]*\])")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]*)>")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>|<!--.*?-->")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_STARS = re.compile(r"(?<![\\*])(\*{1,3})(?=[^\s*])(.+?)(?<=[^\s*\\])\1(?!\*)")
_UNDERSCORES = re.compile(r"(?<![\\\w])(_{1,3})(?=[^\s_])(.+?)(?<=[^\s_\\])\1(?!\w)")
_STRUCK = re.compile(r"~~(?=\S)(.+?)(?<=\S)~~")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def heading_words(raw: str) -> str:
    """The words of "The *new* `run()` [call](x.md) {#run}" without its marks: "The new run() call".

    What stands in a code span is kept as it is. `raw` holds no NUL, as no canonical text does.
    """
    spans: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        spans.append(match.group(2).strip() or match.group(2))
        return f"\x00{len(spans) - 1}\x00"

    text = _CODE.sub(set_aside, _ATTRIBUTES.sub("", raw))
    text = _without_marks(text)
    return " ".join(re.sub(r"\x00(\d+)\x00", lambda match: spans[int(match.group(1))], text).split())


def _without_marks(raw: str) -> str:
    text = _AUTOLINK.sub(r"\1", raw)
    text = _IMAGE_OR_LINK.sub(r"\1", text)
    text = _IMAGE_OR_LINK.sub(r"\1", text)  # an image inside a link
    text = _TAG.sub("", text)
    for pattern, group in ((_STARS, r"\2"), (_UNDERSCORES, r"\2"), (_STARS, r"\2"), (_STRUCK, r"\1")):
        text = pattern.sub(group, text)
    return html.unescape(_ESCAPED.sub(r"\1", text))
