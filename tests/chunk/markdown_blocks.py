"""A small Markdown block splitter for the chunker's tests: enough structure, no map, no canonicalisation."""

from __future__ import annotations

import re

from gawah.fingerprint import document_id
from gawah.types import Block, BlockKind, Conservation, Document, SourceFile, Span

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


def document_of(text, *, title="", blocks=None, name="test.md"):
    source = SourceFile("tests", name, f"file:///{name}", "text/markdown", len(text), "0" * 64)
    return Document(
        id=document_id("tests", name),
        source=source,
        title=title,
        language="und",
        text=text,
        blocks=tuple(markdown_blocks(text) if blocks is None else blocks),
        places=(),
        extractor="tests/1",
        conservation=Conservation(len(text), len(text)),
    )


def markdown_document(text, name="test.md"):
    blocks = markdown_blocks(text)
    first = next((block.title for block in blocks if block.kind is BlockKind.HEADING and block.level == 1), "")
    return document_of(text, title=first or name.removesuffix(".md"), blocks=blocks, name=name)


def markdown_blocks(text):
    blocks, kind, start, end, fence, at = [], None, 0, 0, "", 0

    def close():
        nonlocal kind
        if kind is not None:
            blocks.append(Block(kind, Span(start, end)))
        kind = None

    for line in text.splitlines(keepends=True):
        line_start, at = at, at + len(line)
        mark = _FENCE.match(line)
        if fence:
            end = at
            if mark and mark.group(1).startswith(fence) and not line.strip(" `~\n"):
                fence = ""
                close()
            continue
        heading = _HEADING.match(line)
        found = _kind_of(line, mark, heading)
        goes_on = kind is found or (kind is BlockKind.ITEM and found is BlockKind.PARAGRAPH)
        if found is None or found is BlockKind.ITEM or found is BlockKind.CODE or not goes_on:
            close()
        if heading:
            title = re.sub(r"[`*]|\[(.*?)\]\(.*?\)", r"\1", heading.group(2)).strip()
            blocks.append(Block(BlockKind.HEADING, Span(line_start, at), len(heading.group(1)), title))
        elif found is not None:
            kind, start = (kind, start) if kind is not None else (found, line_start)
            end = at
            fence = mark.group(1) if mark else ""
    close()
    return blocks


def _kind_of(line, mark, heading):
    if not line.strip() or heading:
        return None
    if mark:
        return BlockKind.CODE
    if line.lstrip().startswith("|"):
        return BlockKind.TABLE
    return BlockKind.ITEM if _ITEM.match(line) else BlockKind.PARAGRAPH
