"""Parts of a file in reading order to one canonical text with blocks, places and books.

For formats whose text is put together: paragraphs, headings, items and table rows, each with its place in the original.
What stands between them (line breaks, pipes) is counted as added and has no place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from gawah.extract.canonical import canonicalise, language_of, require_visible
from gawah.extract.raised import MARKS, SIGN, with_signs
from gawah.fingerprint import document_id
from gawah.types import Block, BlockKind, CharRange, Conservation, Document, Locator, Place, Removal, SourceFile, Span

Where = Callable[[Span], Locator]
"""The place in the original of a range of the canonical text."""

_DEEPEST_LEVEL = 6
_LONGEST_REMOVAL_CHARS = 2000  # enough to see what it was; all of it is in the books
_LONGEST_TITLE_CHARS = 300
_SOFT_HYPHEN = "\u00ad"
# What programs write into a new document's title field, and what converters leave there.
_NO_TITLE = re.compile(
    r"(?:untitled|unbenannt|document|presentation|powerpoint[ -]?pr\w+|slide|book|sheet|workbook|title|titel)? ?\d*"
    r"|microsoft (?:word|powerpoint|excel)\b.*|.*\.(?:docx?|pptx?|xlsx?|od[tsp]|rtf|pdf|html?|tmp|indd|qxd)",
    re.IGNORECASE,
)


def by_chars(span: Span) -> Locator:
    """For formats that have no finer address than the extracted text."""
    return CharRange(span.start, span.end)


def fixed(locator: Locator) -> Where:
    """One address for a whole part, a slide or a cell."""
    return lambda _: locator


class Assembly:
    """A document in the making. Text goes in through `take` (which counts it) and then through `put`, `row` or `table`."""

    def __init__(self) -> None:
        self.n_read = 0
        self.length = 0
        self.blocks: list[Block] = []
        self.places: list[Place] = []
        self.warnings: list[str] = []
        self.removed: list[Removal] = []
        self.dropped: Counter[str] = Counter()
        self.added: Counter[str] = Counter()
        self.quality: Counter[str] = Counter()
        self._pieces: list[str] = []

    def take(self, raw: str) -> str:
        """Characters of the file in canonical form, counted as read. They must be put or dropped by the caller."""
        self.n_read += len(raw)
        text, dropped = canonicalise(raw)
        if dropped:
            self.dropped.update(dropped)
        if _SOFT_HYPHEN in text:  # shown nowhere but at a line's end; it would tear words apart for search
            self.dropped["soft hyphen"] += text.count(_SOFT_HYPHEN)
            text = text.replace(_SOFT_HYPHEN, "")
        return text

    def make(self, text: str, reason: str) -> str:
        """Characters that the file expresses by something else (a break, a date's number), counted as added."""
        self.added[reason] += len(text)
        return text

    def sign(self, text: str) -> str:
        """Taken text whose superscripts and fractions are marked, with signs for the marks."""
        signed, n_added = with_signs(text)
        if n_added:
            self.added[SIGN] += n_added
        return signed

    def take_lines(self, lines: Sequence[str]) -> str:
        """Raw lines of one paragraph, taken, with made line breaks between them."""
        text = self.take(lines[0]) if lines else ""
        for line in lines[1:]:
            text += self.make("\n", "line break") + self.take(line)
        return text

    def take_marked(self, lines: Sequence[str]) -> str:
        """The same of lines of XML, which can hold no marks of its own, with signs for the marks that were put in."""
        marked = [MARKS.split(line) for line in lines]
        taken = [
            "".join(self.take(piece) if at % 2 == 0 else piece for at, piece in enumerate(line)) for line in marked
        ]
        self.make("\n" * (len(lines) - 1), "line break")
        return self.sign("\n".join(taken))

    def drop(self, text: str, reason: str) -> None:
        """Counts characters that were taken and will not be put."""
        if text:
            self.dropped[reason] += len(text)

    def remove(self, reason: str, raw: str) -> None:
        """Takes characters and keeps them out of the text, on purpose; neighbours of one reason become one removal."""
        text = self.take(raw)
        self.drop(text, reason)
        words = " ".join(text.split())
        if not words:
            return
        last = self.removed[-1] if self.removed else None
        if last is not None and last.reason == reason and len(last.text) + len(words) < _LONGEST_REMOVAL_CHARS:
            self.removed[-1] = Removal(reason, f"{last.text} {words}")
        else:
            self.removed.append(Removal(reason, words[:_LONGEST_REMOVAL_CHARS]))

    def put(self, kind: BlockKind, text: str, where: Where = by_chars, level: int = 0) -> None:
        """One block of taken text; blank text leaves only its books. A heading's text becomes one line."""
        bare = self._one_line(text) if kind is BlockKind.HEADING else self._bare(text)
        if not bare:
            return
        both_items = kind is BlockKind.ITEM and bool(self.blocks) and self.blocks[-1].kind is BlockKind.ITEM
        self._separate("\n" if both_items else "\n\n")
        span = self._write(bare, where)
        is_heading = kind is BlockKind.HEADING
        title = " ".join(bare.split()) if is_heading else ""
        self.blocks.append(Block(kind, span, min(max(level, 1), _DEEPEST_LEVEL) if is_heading else 0, title))

    def name(self, title: str, level: int) -> None:
        """A heading that is not in the text: the name of a sheet, a slide or a part. It stands in chunk headers only."""
        line = " ".join(canonicalise(title)[0].split())
        if line:
            self.blocks.append(
                Block(BlockKind.HEADING, Span(self.length, self.length), min(level, _DEEPEST_LEVEL), line)
            )

    def table(self, rows: Iterable[Sequence[Sequence[str]]], where: Where = by_chars) -> None:
        """Rows of cells of pieces of taken text as one block, a line a row; rows without words are left out."""
        start = -1
        for cells in rows:
            bare = [[line for piece in cell if (line := self._one_line(piece))] for cell in cells]
            if not any(bare):
                continue
            if start < 0:
                self._separate("\n\n")
                start = self.length
            else:
                self._add("\n", "between rows")
            pending, row_start = "", self.length
            for number, pieces in enumerate(bare):
                if number:
                    pending = f"{pending.rstrip()} | " if pending or self.length > row_start else "| "
                for piece in pieces:
                    self._add(pending, "between cells")
                    self._write(piece, where)
                    pending = " "
                pending = "" if pieces else pending
        if start >= 0:
            self.blocks.append(Block(BlockKind.TABLE, Span(start, self.length)))

    def row(self, cells: Sequence[tuple[int, str]], places: Sequence[Locator] | Locator) -> Span:
        """A line of a sheet: (empty cells before it, taken text on one line) with one place a cell, or one for all.

        The block is the caller's to add. There must be cells, and none blank.
        """
        follows_row = bool(self.blocks) and self.blocks[-1].kind is BlockKind.TABLE
        self._separate("\n" if follows_row else "\n\n")
        start = self.length
        for number, (n_empty, text) in enumerate(cells):
            joint = " |" * n_empty + (" | " if number else " ")
            self._add(joint.lstrip() if not number else joint, "between cells")
            begin = self.length
            self._append(text)
            if isinstance(places, Sequence):
                self.places.append(Place(Span(begin, self.length), places[number]))
        span = Span(start, self.length)
        if not isinstance(places, Sequence):
            self.places.append(Place(span, places))
        return span

    def include(self, part: Document, where: Where, *, deeper: int = 0, name: str = "") -> None:
        """A document that was read from a part of this file, with its blocks and books; `where` replaces its places."""
        if part.blocks or part.text:
            self._separate("\n\n")
        at = self.length
        self._append(part.text)
        for block in part.blocks:
            level = min(block.level + deeper, _DEEPEST_LEVEL) if block.kind is BlockKind.HEADING else 0
            self.blocks.append(replace(block, span=Span(block.span.start + at, block.span.end + at), level=level))
        own = [place.span for place in part.places] or [Span(0, len(part.text))]
        for span in own:
            moved = Span(span.start + at, span.end + at)
            self.places.append(Place(moved, where(moved)))
        self.n_read += part.conservation.read
        self.dropped.update(part.conservation.dropped)
        self.added.update(part.conservation.added)
        self.removed.extend(part.removed)
        self.quality.update({name: n for name, n in part.quality.items() if name != "columns"})
        self.warnings.extend(f"{name}: {line}" if name else line for line in part.warnings)

    def document(
        self, source: SourceFile, extractor: str, *, title: str, language: str = "", warnings: Sequence[str] = ()
    ) -> Document:
        """The document; raises ExtractionError `empty` when nothing in it shows."""
        text = "".join(self._pieces)
        require_visible(text)
        dropped = {reason: n for reason, n in self.dropped.items() if n}
        added = {reason: n for reason, n in self.added.items() if n}
        return Document(
            id=document_id(source.collection, source.name),
            source=source,
            title=title,
            language=language_of(text, language),
            text=text,
            blocks=tuple(self.blocks),
            places=tuple(sorted(self.places, key=lambda place: place.span.start)),
            extractor=extractor,
            conservation=Conservation(self.n_read, len(text), dropped, added),
            warnings=(*warnings, *self.warnings),
            removed=tuple(self.removed),
            quality=dict(self.quality),
        )

    def _separate(self, joint: str) -> None:
        if self.length:
            self._add(joint, "between rows" if joint == "\n" else "between blocks")

    def _add(self, text: str, reason: str) -> None:
        if text:
            self.added[reason] += len(text)
            self._append(text)

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)

    def _write(self, text: str, where: Where) -> Span:
        start = self.length
        self._append(text)
        span = Span(start, self.length)
        self.places.append(Place(span, where(span)))
        return span

    def _one_line(self, text: str) -> str:
        line = " ".join(text.split())
        if len(line) != len(text):
            self.dropped["white space"] += len(text) - len(line)
        return line

    def _bare(self, text: str) -> str:
        """Without blanks at the edges and at line ends."""
        if "\n" not in text:
            bare = text.strip()
        else:
            bare = "\n".join(line.rstrip() for line in text.strip().split("\n"))
        if len(bare) != len(text):
            self.dropped["white space"] += len(text) - len(bare)
        return bare

    @property
    def first_heading(self) -> str:
        """The title of the first heading that stands in the text."""
        return next((block.title for block in self.blocks if block.kind is BlockKind.HEADING and len(block.span)), "")


def sane_title(*candidates: str) -> str:
    """The first title that a person may have written; the last candidate when there is none."""
    for candidate in candidates[:-1]:
        line = " ".join(canonicalise(candidate)[0].split())
        if line and len(line) <= _LONGEST_TITLE_CHARS and not _NO_TITLE.fullmatch(line):
            return line
    return candidates[-1]
