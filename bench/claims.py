"""How well claims are told from what their sources do not say: over examples/claims.jsonl, printed and written to docs/claims.md.

`python -m bench.claims` prints the figures and writes them into the page. Thresholds and rules are chosen on one part of
the sentences and reported on the others.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gawah.app import Application, build_embedder
from gawah.cite import resolve, without_marks
from gawah.config import load_settings
from gawah.eval.stats import estimate, successes
from gawah.fingerprint import sha256_text
from gawah.ports import Embedder
from gawah.rerank import token_weights
from gawah.support import Likeness, check_claims
from gawah.testing.embedder import FakeEmbedder
from gawah.testing.generator import make_source
from gawah.text import analyze
from gawah.types import Claim, DraftPart, Estimate, NumberedSource

ROOT = Path(__file__).resolve().parents[1]
SET = ROOT / "examples" / "claims.jsonl"
HANDBOOK = ROOT / "examples" / "handbook"
PAGE = ROOT / "docs" / "claims.md"
FRESH, HELD_OUT, TUNED_ON = "fresh", "held out", "tuned on"
BEGIN, END = "<!-- measured: python -m bench.claims -->", "<!-- end of measured -->"


@dataclass(frozen=True)
class Labelled:
    """An answer sentence with the quotes it may cite, what it is (`kind`) and what it should be judged."""

    id: str
    kind: str
    label: str
    text: str
    sources: tuple[NumberedSource, ...]
    part: str


@dataclass(frozen=True)
class Judged:
    labelled: Labelled
    claim: Claim


def read_set(path: Path = SET) -> list[Labelled]:
    """`part` is "fresh" for sentences written after the rules were fixed. Of the others, within each kind, the ids in the order
    of their hashes take turns: "tuned on" and "held out".
    """
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    turn: Counter[str] = Counter()
    part = {row["id"]: FRESH for row in rows}
    for row in sorted((row for row in rows if row["part"] != FRESH), key=lambda row: sha256_text(row["id"])):
        turn[row["kind"]] += 1
        part[row["id"]] = TUNED_ON if turn[row["kind"]] % 2 else HELD_OUT
    return [
        Labelled(row["id"], row["kind"], row["label"], row["claim"], _sources(row["quotes"]), part[row["id"]])
        for row in rows
    ]


def _sources(quotes: Sequence[Mapping[str, Any]]) -> tuple[NumberedSource, ...]:
    return tuple(_source(number, quote) for number, quote in enumerate(quotes, start=1))


def _source(number: int, quote: Mapping[str, Any]) -> NumberedSource:
    """The passage a product would have shown: the chunk with its header, at its place in the document."""
    made = make_source(number, quote["quote"], name=quote["document"], before=" " * quote["from"])
    chunk = replace(made.passage.chunk, section=quote["section"], text=quote["header"] + quote["quote"])
    return NumberedSource(number, replace(made.passage, chunk=chunk), quote["section"])


@contextmanager
def likeness_over(folder: Path, embedder: Embedder) -> Iterator[Callable[[], Likeness]]:
    """Makes a Likeness for each answer. Word weights are those of the folder's chunks; they do not depend on an encoder, so none runs for them."""
    with tempfile.TemporaryDirectory() as store:
        settings = load_settings(environment={}, options={"store": store, "cache": store}).settings
        with Application(settings, create=True, embedder=FakeEmbedder()) as app:
            for _ in app.ingest(app.plan(folder)):
                pass
            with app.catalog.snapshot() as snapshot:
                view = app.index.view(snapshot)

                def weigh(words: Sequence[str]) -> list[float]:
                    return token_weights(words, view.document_frequency, view.n_chunks, analyze=analyze)

                yield lambda: Likeness(embedder, weigh)


def judge(labelled: Labelled, likeness: Likeness) -> Judged:
    resolved = resolve([DraftPart(labelled.text)], labelled.sources)
    words = without_marks(resolved.text, resolved.marks)
    checked = check_claims(words, resolved.claims, resolved.citations, labelled.sources, likeness)
    if len(checked) != 1:
        raise ValueError(f"{labelled.id} is {len(checked)} claims, not one")
    return Judged(labelled, checked[0])


def precision_and_recall(
    judged: Sequence[Judged], flagged: Sequence[str] = ("unsupported",)
) -> tuple[Estimate, Estimate]:
    """Of sentences that cite: which share of the flagged deserves it, and which share of those that deserve it is flagged."""
    cited = [one for one in judged if one.labelled.label != "uncited"]
    named = [one for one in cited if one.claim.status in flagged]
    wrong = [one for one in cited if one.labelled.label == "unsupported"]
    n_hits = sum(one.labelled.label == "unsupported" for one in named)
    return estimate(n_hits, len(named)), estimate(n_hits, len(wrong))


def counts(judged: Sequence[Judged], kind: str) -> dict[str, int]:
    """How the sentences of a kind were judged."""
    found = Counter(one.claim.status for one in judged if one.labelled.kind == kind)
    return {status: found[status] for status in ("supported", "weak", "unsupported", "uncited")}


def measured(judged: Sequence[Judged]) -> str:
    """What the page says in figures, in Markdown."""
    lines = ["| sentences | flag | precision | recall |", "|---|---|---|---|"]
    for name in (FRESH, HELD_OUT, TUNED_ON):
        part = [one for one in judged if one.labelled.part == name]
        for flagged in (("unsupported",), ("unsupported", "weak")):
            found = precision_and_recall(part, flagged)
            lines.append(f"| {name}, {len(part)} | {' or '.join(flagged)} | {' | '.join(map(_shown, found))} |")
    return "\n".join([*lines, "", "All sentences, by what was done to them:", "", kinds_table(judged), ""])


def _shown(found: Estimate) -> str:
    return f"{successes(found)} of {found.n} [{found.low:.2f}, {found.high:.2f}]"


def kinds_table(judged: Sequence[Judged]) -> str:
    lines = [
        "| kind | should be | sentences | supported | weak | unsupported | uncited |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(one.labelled.kind for one in judged):
        of_kind = [one for one in judged if one.labelled.kind == kind]
        cells = [kind, of_kind[0].labelled.label, len(of_kind), *counts(judged, kind).values()]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def page_with(figures: str, page: str) -> str:
    """The page with these figures between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{figures}\n{END}{after}"


def measure() -> list[Judged]:
    with likeness_over(HANDBOOK, build_embedder(load_settings(environment={}).settings)) as new_likeness:
        return [judge(labelled, new_likeness()) for labelled in read_set()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when the page would change")
    parser.add_argument(
        "--show", action="store_true", help="the sentences of the half to tune on that were judged otherwise"
    )
    options = parser.parse_args()
    judged = measure()
    if options.show:
        for one in sorted(judged, key=lambda one: one.claim.score or 0.0):
            if one.labelled.part == TUNED_ON and one.claim.status != one.labelled.label:
                missing = ", ".join(f"{m.kind} {m.text}" for m in one.claim.missing)
                print(f"{one.labelled.id} {one.claim.status} {one.claim.score} {missing} {one.labelled.text}")
    figures = measured(judged)
    print(figures)
    page = PAGE.read_text(encoding="utf-8")
    if options.check:
        return int(page_with(figures, page) != page)
    PAGE.write_text(page_with(figures, page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
