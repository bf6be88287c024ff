"""The claims of a recorded or fresh outcome for people: marks in the answer, and a line for each that is not supported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gawah.cli.common import counted

UNSUPPORTED, WEAK = "(!)", "(?)"
_MARKS = {"unsupported": UNSUPPORTED, "weak": WEAK}
_EXCERPT_CHARS = 60
_BEHIND_A_CLAIM = " \t.,;:!?…।۔)\"'”’»"
_FENCES = ("```", "~~~")


def marked_answer(body: Mapping[str, Any]) -> str:
    """The answer with a mark behind each claim that its sources do not carry, and a source's own [2] as ⟦2⟧.

    As it was given where it was recorded without the places of its markers.
    """
    from gawah.cite import literals_shown
    from gawah.types import Span

    text = str(body["answer"])
    if "marks" not in body:
        return text
    shown = literals_shown(text, [Span(m["from"], m["to"]) for m in body["marks"]])
    for claim in sorted(body["claims"], key=lambda claim: -int(claim["to"])):
        if mark := _MARKS.get(claim["status"]):
            at = _behind(text, claim["to"], body["marks"])
            gap = "\n" if text[:at].rstrip().endswith(_FENCES) else " "
            shown = f"{shown[:at]}{gap}{mark}{shown[at:]}"
    return shown


def _behind(text: str, end: int, marks: list[Mapping[str, Any]]) -> int:
    """Where a claim ends with the markers behind it; those of a block of code stand on the next line."""
    between = _BEHIND_A_CLAIM + ("\n" if text[:end].endswith(_FENCES) else "")
    for mark in marks:
        if mark["from"] >= end and not text[end : mark["from"]].strip(between):
            end = int(mark["to"])
    while text[end : end + 1] and text[end] in _BEHIND_A_CLAIM.strip():
        end += 1
    return end


def narrower_places(body: Mapping[str, Any], citation: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where in a quote the statements are that carry the answer, as (label, URL), where that is less than the whole of it.

    None for answers that were recorded without them.
    """
    found = [one for claim in body["claims"] for one in claim.get("highlights", ())]
    names = {
        (one["from"], one["to"]): (one["locator"], one["fragment"])
        for one in found
        if one["marker"] == citation["marker"] and one.get("fragment", citation["fragment"]) != citation["fragment"]
    }
    document = citation["url"].removesuffix(citation["fragment"])
    return [(label, document + fragment) for label, fragment in dict.fromkeys(names[span] for span in sorted(names))]


def claim_lines(body: Mapping[str, Any]) -> Iterator[str]:
    """A line of counts and one for each claim that is not as it should be; none when all are supported or uncited."""
    claims = body["claims"]
    if any(claim["status"] in _MARKS for claim in claims):
        counts = {
            name: sum(claim["status"] == name for claim in claims)
            for name in ("supported", "weak", "unsupported", "uncited")
        }
        yield "claims: " + ", ".join(f"{n} {name}" for name, n in counts.items() if n)
    check = body.get("self_check")
    if check:
        failed = f", {check['failed']} of them failed" if check["failed"] else ""
        yield f"self-check: {counted(check['samples'], 'further sample')} of the generator{failed}"
    for number, claim in enumerate(claims, start=1):
        if facts := "; ".join(_facts(claim, check)):
            yield f"  {number}. {_excerpt(body, claim)}: {facts}"


def _facts(claim: Mapping[str, Any], check: Mapping[str, Any] | None) -> Iterator[str]:
    cited = " or ".join(f"[{marker}]" for marker in claim["markers"])
    if claim["status"] in _MARKS:
        yield f"{claim['status']} {_MARKS[claim['status']]}, score {claim['score']:.2f}"
    for missing in claim.get("missing", ()):
        if missing["kind"] == "negation":
            yield f"{cited} denies what it says"
        else:
            yield f"the {missing['kind']} {missing['text']} is not in {cited}"
    for foreign in claim.get("foreign", ()):
        yield f"{foreign} is not from the sources"
    if check and claim.get("agreeing") is not None:
        yield f"in {claim['agreeing']} of {check['samples']} samples"


def _excerpt(body: Mapping[str, Any], claim: Mapping[str, Any]) -> str:
    from gawah.fragment import one_line

    return '"' + one_line(str(body["answer"])[claim["from"] : claim["to"]], _EXCERPT_CHARS) + '"'
