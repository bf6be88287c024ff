"""A document's blocks to sections, each with the headings in force and a header that fits the encoder's window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gawah.chunk.units import Unit, ranges, units_of
from gawah.ports import CountTokens
from gawah.text import collapse_space, grapheme_floor
from gawah.types import Block, BlockKind, Document, Span

NO_HEADING = -1  # the section before the first heading
_HEADING_CHARS = 256  # what is longer is a paragraph that was set as a heading: cut in headers, kept as a unit
_SEPARATOR = " > "
_LEFT_OUT = "…"
_N_TITLE_CUTS = 6


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document, by its number: its place, its title in headers, the heading it stands under."""

    number: int
    span: Span
    level: int
    title: str
    whole: bool
    is_title: bool
    parent: int


@dataclass(frozen=True, slots=True)
class Header:
    """The line before a chunk's content, and the headings whose titles stand in it."""

    text: str
    shows: frozenset[int]


@dataclass(frozen=True, slots=True)
class Outline:
    """A document in units, each under the number of its section's heading; a header and a path for every section."""

    units: tuple[tuple[int, Unit], ...]
    headers: dict[int, str]
    paths: dict[int, str]


def outline(document: Document, *, count_tokens: CountTokens, window_tokens: int | None, target: int) -> Outline:
    """Everything in the text that is not blank becomes part of a unit, but headings that a header shows.

    A heading that stands in no header (it heads nothing, or was left out to fit the window) is a unit of the section
    above it.
    """
    blocks = list(ranges(document))
    headings = _headings(document.title, [block for block in blocks if block.kind is BlockKind.HEADING])
    placed = list(_placed_units(document.text, blocks, target))
    sections = [NO_HEADING, *range(len(headings))]
    chains = {section: _chain(headings, section) for section in sections}
    headers = _fitting_headers(collapse_space(document.title), chains, count_tokens, window_tokens)
    shown = {number for section, _ in placed for number in headers[section].shows}
    for heading in reversed(headings):
        if heading.number in shown:
            continue
        own = units_of(document.text, heading.span, BlockKind.HEADING, target)
        if own:
            placed.extend((heading.parent, unit) for unit in own)
            shown |= headers[heading.parent].shows
    return Outline(
        units=tuple(sorted(placed, key=lambda pair: pair[1].span)),
        headers={section: header.text for section, header in headers.items()},
        paths={section: _SEPARATOR.join(heading.title for heading in _named(chains[section])) for section in sections},
    )


def _headings(document_title: str, blocks: Sequence[Block]) -> list[Heading]:
    own_title = collapse_space(document_title).casefold()
    headings: list[Heading] = []
    open_headings: list[Heading] = []
    for block in blocks:
        while open_headings and open_headings[-1].level >= block.level:
            open_headings.pop()
        full = collapse_space(block.title)
        title = _cut(full, _HEADING_CHARS)
        heading = Heading(
            number=len(headings),
            span=block.span,
            level=block.level,
            title=title,
            whole=title == full and bool(full),
            is_title=bool(full) and block.level <= 1 and full.casefold() == own_title,
            parent=open_headings[-1].number if open_headings else NO_HEADING,
        )
        headings.append(heading)
        open_headings.append(heading)
    return headings


def _placed_units(text: str, blocks: Sequence[Block], target: int) -> Iterator[tuple[int, Unit]]:
    """Units of all blocks but headings, under their sections."""
    section = NO_HEADING
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            section += 1
        else:
            yield from ((section, unit) for unit in units_of(text, block.span, block.kind, target))


def _chain(headings: Sequence[Heading], section: int) -> list[Heading]:
    """The headings in force, outermost first."""
    chain: list[Heading] = []
    while section != NO_HEADING:
        chain.append(headings[section])
        section = headings[section].parent
    return chain[::-1]


def _named(chain: Sequence[Heading]) -> list[Heading]:
    """Headings with a title that is not the document's own."""
    return [heading for heading in chain if heading.title and not heading.is_title]


def _fitting_headers(
    title: str, chains: dict[int, list[Heading]], count_tokens: CountTokens, window_tokens: int | None
) -> dict[int, Header]:
    """The longest form of each section's header that takes at most half the window."""
    headers = {section: next(_forms(title, chain)) for section, chain in chains.items()}
    if window_tokens is None:
        return headers
    sections = list(headers)
    counts = count_tokens([headers[section].text for section in sections])
    too_long = [section for section, n in zip(sections, counts, strict=True) if n > window_tokens / 2]
    for section in too_long:
        forms = list(_forms(title, chains[section]))
        counts = count_tokens([form.text for form in forms])
        fitting = (form for form, n in zip(forms, counts, strict=True) if n <= window_tokens / 2)
        headers[section] = next(fitting, Header("", frozenset()))
    return headers


def _forms(title: str, chain: Sequence[Heading]) -> Iterator[Header]:
    """Ever shorter headers: headings go from the middle of the path outwards (one … in their place), the deepest last;
    then the title is halved, until nothing is left.
    """
    short_title = _cut(title, _HEADING_CHARS)
    own = frozenset(heading.number for heading in chain if heading.is_title and short_title == title)
    named = _named(chain)
    for n_outer, n_inner in _kept_counts(len(named)):
        kept = [*named[:n_outer], *named[len(named) - n_inner :]]
        mark = [] if len(kept) == len(named) else [_LEFT_OUT]
        titles = [heading.title for heading in kept]
        words = [word for word in (short_title, *titles[:n_outer], *mark, *titles[n_outer:]) if word]
        shows = frozenset(heading.number for heading in kept if heading.whole)
        yield Header(f"[{_SEPARATOR.join(words)}]\n" if words else "", own | shows)
    for halving in range(1, _N_TITLE_CUTS):
        words = [word for word in (_cut(short_title, len(short_title) >> halving), _LEFT_OUT if named else "") if word]
        yield Header(f"[{_SEPARATOR.join(words)}]\n" if words else "", frozenset())
    yield Header("", frozenset())


def _kept_counts(n: int) -> Iterator[tuple[int, int]]:
    """How many headings to keep at the outer and the inner end, from all of them down to none."""
    for kept in range(n, -1, -1):
        yield kept // 2, kept - kept // 2


def _cut(title: str, n_chars: int) -> str:
    """The title itself, or its first characters and an ellipsis."""
    if len(title) <= n_chars:
        return title
    return title[: grapheme_floor(title, n_chars)].rstrip() + _LEFT_OUT
