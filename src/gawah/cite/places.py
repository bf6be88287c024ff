"""Claims whose quotes are whole passages to claims whose highlights say where just their words are in the original."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gawah.fragment import build, label
from gawah.types import Citation, Claim, Highlight, Locator, Span

Locate = Callable[[str, str, Sequence[Span]], list[Locator] | None]
"""(document id, hash of its canonical text, spans) to a locator each; None when the document has another text by now."""


def placed(claims: Sequence[Claim], citations: Sequence[Citation], locate: Locate) -> tuple[Claim, ...]:
    """The claims, each highlight with its own place: the row of a table, the lines of a page, the seconds of a sentence.

    It has that of its whole quote where the document has changed since it was read.
    """
    spans: dict[int, dict[Span, None]] = {}
    for one in (highlight for claim in claims for highlight in claim.highlights):
        spans.setdefault(one.marker, {})[one.span] = None
    places: dict[tuple[int, Span], tuple[str, str]] = {}
    for citation in citations:
        wanted = list(spans.get(citation.marker, ()))
        found = locate(citation.document_id, citation.text_sha256, wanted) if wanted else []
        whole = citation.locator_label, citation.fragment
        for at, span in enumerate(wanted):
            places[citation.marker, span] = whole if found is None else (label(found[at]), build(found[at]))

    def at_its_place(one: Highlight) -> Highlight:
        locator_label, fragment = places[one.marker, one.span]
        return replace(one, locator_label=locator_label, fragment=fragment)

    return tuple(replace(claim, highlights=tuple(map(at_its_place, claim.highlights))) for claim in claims)
