"""Claims to verdicts: supported, weak, unsupported or uncited, each with its score, what is missing, and where it stands.

A claim that was copied letter for letter is supported without more ado. Any other is unsupported when a number, an
identifier or a name of it is in none of the quotes it cites, when it denies what they say, or when its words meet too few
of theirs; it is weak when its parts stand in different places, when the denial is in doubt, or when the words meet half-way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import regex

from gawah.fragment import label
from gawah.support.demands import Said, missing_of, missing_of_statements, said_in
from gawah.support.foreign import NUMBERED, Known, references
from gawah.support.likeness import Likeness, Matches
from gawah.support.quotes import Quote, Statement, quotes_of
from gawah.support.verbatim import Copied, copied
from gawah.text import Denial, denial, is_negated
from gawah.types import Citation, Claim, ClaimStatus, Highlight, Missing, NumberedSource, Span

# Chosen on one half of the labelled claims (docs/claims.md), reported on the other.
SUPPORTED_FROM = 0.74
WEAK_FROM = 0.66

_MOST_CARRIERS = 3
_WORTH_ADDING = 0.04  # a further statement must raise the score by so much
_SEVERAL_CLAUSES = regex.compile(
    r"[,;:()،؛](?!\d)|\b(?:and|but|while|because|since|after|or|और|اور)\b", regex.IGNORECASE
)
_SO, _NOT_SO = "says it is so", "says it is not so"
_SCORE_DIGITS = 3  # float sums differ from machine to machine beyond the sixth


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check of one claim came to."""

    status: ClaimStatus
    score: float
    missing: tuple[Missing, ...] = ()
    highlights: tuple[Highlight, ...] = ()


def check_claims(
    words: str,
    claims: Sequence[Claim],
    citations: Sequence[Citation],
    sources: Sequence[NumberedSource],
    likeness: Likeness,
) -> tuple[Claim, ...]:
    """The claims with their verdicts. `words` is the answer's text with blanks for its markers.

    `sources` are all that the generator was given: what is in none of them is foreign.
    """
    quotes = quotes_of(citations, sources)
    known = Known(lambda: [_said_by(source) for source in sources])
    verdicts: dict[tuple[str, tuple[int, ...]], Verdict] = {}
    checked = []
    for claim in claims:
        text = claim.span.slice(words)
        pointers = references(text)
        foreign = [one for one in pointers if not known.holds(one)]
        if not claim.markers:
            verdict = Verdict("uncited", 0.0)
        else:
            key = (text, claim.markers)
            if key not in verdicts:
                cited = [quotes[marker] for marker in claim.markers]
                judged = [one.span for one in pointers if one in foreign or one.kind in NUMBERED]
                # With blanks for "pages 3" the words would not be those of the quote any more.
                held = text if copied(text, cited) is not None else _without(judged, text)
                verdicts[key] = verdict_of(held, cited, likeness)
            verdict = verdicts[key]
        status: ClaimStatus = "weak" if foreign and verdict.status == "supported" else verdict.status
        checked.append(
            replace(
                claim,
                status=status,
                score=verdict.score,
                missing=verdict.missing,
                foreign=tuple(dict.fromkeys(one.text for one in foreign)),
                highlights=verdict.highlights,
            )
        )
    return tuple(checked)


def verdict_of(claim: str, quotes: Sequence[Quote], likeness: Likeness) -> Verdict:
    """One claim against the quotes it cites. No encoder runs for what was copied, or when nothing is quoted."""
    found = copied(claim, quotes)
    if found is not None and found.whole:
        return Verdict("supported", 1.0, highlights=_highlights(found.statements))
    said = said_in(claim)
    if found is not None:
        return _of_copied(claim, said, found)
    missing = missing_of(said, quotes)
    matches = likeness.matches(claim, [one for quote in quotes for one in quote.statements])
    chosen = _carriers(matches, said)
    carriers = [matches.statements[at] for at in chosen]
    score = round(matches.score(chosen), _SCORE_DIGITS)
    denied = denial(claim, " ; ".join(one.text for one in carriers))
    if denied is Denial.CLEAR:
        missing = (*missing, Missing("negation", _NOT_SO if is_negated(claim) else _SO))
    status = _status(score, missing, denied, scattered=_is_scattered(claim, said, carriers))
    return Verdict(status, score, missing, _highlights(carriers))


def _of_copied(claim: str, said: Said, found: Copied) -> Verdict:
    """Of words copied from within a sentence: the rest of it may turn them round."""
    denied = denial(claim, " ; ".join(one.text for one in found.statements))
    status: ClaimStatus = "supported"
    if denied is not Denial.NONE or missing_of_statements(said, found.statements):
        status = "weak"
    return Verdict(status, 1.0, highlights=_highlights(found.statements))


def _is_scattered(claim: str, said: Said, carriers: Sequence[Statement]) -> bool:
    """Whether a claim joins what its quotes do not join: it takes from several rows of a table, or what it says exactly
    does not stand together, in one statement where the claim is of one clause.
    """
    rows = [one for one in carriers if one.is_row]
    if len(rows) > 1 and len({one.quote.marker for one in rows}) < len(rows):
        return True
    together = carriers if _SEVERAL_CLAUSES.search(claim) else carriers[:1]
    return bool(missing_of_statements(said, together))


def _status(score: float, missing: Sequence[Missing], denied: Denial, *, scattered: bool) -> ClaimStatus:
    if missing or score < WEAK_FROM:
        return "unsupported"
    if score < SUPPORTED_FROM or scattered or denied is Denial.DOUBT:
        return "weak"
    return "supported"


def _carriers(matches: Matches, said: Said) -> list[int]:
    """The statement that meets the claim best; with it such as add enough, unless it carries the claim by itself."""
    chosen: list[int] = []
    score = 0.0
    while len(chosen) < min(_MOST_CARRIERS, len(matches.statements)):
        rest = [(matches.score([*chosen, at]), -at) for at in range(len(matches.statements)) if at not in chosen]
        best, negative = max(rest)
        if chosen and best - score < _WORTH_ADDING:
            break
        chosen.append(-negative)
        score = best
        if (
            len(chosen) == 1
            and score >= SUPPORTED_FROM
            and not missing_of_statements(said, [matches.statements[-negative]])
        ):
            break
    return chosen


def _highlights(statements: Sequence[Statement]) -> tuple[Highlight, ...]:
    return tuple(
        Highlight(one.quote.marker, Span(one.quote.start + one.span.start, one.quote.start + one.span.end))
        for one in statements
    )


def _said_by(source: NumberedSource) -> str:
    passage = source.passage
    return f"{passage.document_name}\n{source.label}\n{label(passage.locator)}\n{passage.chunk.text}"


def _without(spans: Sequence[Span], text: str) -> str:
    """The text with blanks for the spans."""
    for span in spans:
        text = text[: span.start] + " " * len(span) + text[span.end :]
    return text
