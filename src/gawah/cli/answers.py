"""Commands that ask: search, ask, show, verify."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from gawah.cli.claims import claim_lines, marked_answer, narrower_places
from gawah.cli.common import (
    NAME,
    common_options,
    counted,
    filter_options,
    indented,
    make_filter,
    open_application,
)
from gawah.cli.terminal import print_json, say, say_text

FLAGS = {
    "no_citation": "nothing in this answer is backed by a source",
    "uncited_claims": "some sentence has no source",
    "unknown_markers": "the generator cited numbers that stand for nothing; they were taken out",
    "unsupported_claims": "some sentence says what its sources do not; it is marked (!)",
    "weak_claims": "some sentence is carried by its sources in part only; it is marked (?)",
    "foreign_references": "a link, a page or a section in this answer is not from the sources",
    "source_missing": "the file of a cited source is gone; its quote is from the store",
}
REFUSED = 3
VERIFICATION_FAILED = 6


@click.command(short_help="Rank passages for a question; nothing is answered.")
@click.argument("question")
@click.option("--system", type=click.Choice(["dense", "bm25", "rrf", "rerank"]), help="Who ranks; default: the best.")
@click.option("-k", "cutoff", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many hits.")
@filter_options
@common_options
@click.pass_context
def search(
    context: click.Context,
    question: str,
    system: str | None,
    cutoff: int,
    collections: tuple[str, ...],
    documents: tuple[str, ...],
    media_types: tuple[str, ...],
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Rank passages for a question; nothing is gated, nothing generated."""
    from gawah.envelope import hits_json
    from gawah.fragment import label

    with open_application(context, store, assignments) as app:
        only = make_filter(collections, documents, media_types)
        found = app.search(question, system=system or "", cutoff=cutoff, only=only)
    if as_json:
        print_json(hits_json(found.passages, found.system, question, found.generation, found.degraded, found.notes))
        return
    for line in (*(f"degraded: {line}" for line in found.degraded), *(f"note: {line}" for line in found.notes)):
        say(line, err=True)
    for passage in found.passages:
        section = f" > {passage.chunk.section}" if passage.chunk.section else ""
        place = f"{passage.hit.rank}. {passage.document_name}{section}  {label(passage.locator)}"
        say(f"{place}  score {passage.hit.score:.4f}  d={passage.cosine_distance:.3f}")
        say_text(indented(passage.chunk.content))


@click.command()
@click.argument("question")
@click.option(
    "--explain", is_flag=True, help="Print who reranked, and the gate's signals with what each adds to its score."
)
@click.option("--strict", is_flag=True, help="Refuse when a sentence of the answer says what its sources do not.")
@click.option(
    "--self-check",
    "n_samples",
    type=click.IntRange(1, 50),
    metavar="N",
    help="Ask the generator N times more; show in how many samples each sentence stands.",
)
@filter_options
@common_options
@click.pass_context
def ask(
    context: click.Context,
    question: str,
    explain: bool,
    strict: bool,
    n_samples: int | None,
    collections: tuple[str, ...],
    documents: tuple[str, ...],
    media_types: tuple[str, ...],
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> int:
    """Answer a question with citations, or refuse (exit code 3)."""
    from gawah.envelope import outcome_json

    with open_application(context, store, assignments, strict=strict or None) as app:
        only = make_filter(collections, documents, media_types)
        outcome = app.ask(question, only=only, self_check=n_samples or 0)
    body = outcome_json(outcome)
    if as_json:
        print_json(body)
    else:
        _print_outcome(body)
        if explain:
            say(f"reranked by {body['provenance']['reranker']}", err=True)
            _print_decision(body["gate"])
    return REFUSED if body["status"] == "refused" else 0


def _print_outcome(body: Mapping[str, Any]) -> None:
    provenance = body["provenance"]
    for line in (*(f"degraded: {x}" for x in provenance["degraded"]), *(f"note: {x}" for x in provenance["notes"])):
        say(line, err=True)
    if body["status"] == "refused":
        say(f"NO ANSWER: {body['refusal']['message'].split('; nearest: ')[0]}")
        for passage in body["refusal"]["nearest"]:
            section = f" > {passage['section']}" if passage["section"] else ""
            say(f"  nearest  d={passage['cosine_distance']:.3f}  {passage['document']}{section}")
    else:
        say_text(marked_answer(body))
        say()
        for citation in body["citations"]:
            places = dict.fromkeys((citation["document"], citation["label"], citation["locator"]))
            say(f"[{citation['marker']}] {' · '.join(places)} · d={citation['cosine_distance']:.3f}")
            say(f"    {citation['url']}")
            for place, url in narrower_places(body, citation):
                say(f"    → {place}  {url}")
            say_text(indented(citation["quote"], "    │ "))
        for line in claim_lines(body):
            say(line, err=True)
        for flag in body["flags"]:
            say(f"flag {flag}: {FLAGS[flag]}", err=True)
    say(f"answer {body['answer_id']}", err=True)


def _print_decision(gate: Mapping[str, Any]) -> None:
    """To stderr: the answer alone is data. A calibrated gate's score is the sum of what its signals add."""
    score = "none" if gate["score"] is None else f"{gate['score']:.3f}"
    say(f"gate {gate['gate']}: score {score}, threshold {gate['threshold']:.3f}", err=True)
    for name, value in gate["signals"].items():
        if name.startswith("+"):
            continue
        added = gate["signals"].get(f"+{name}")
        shown = "none" if value is None else f"{value:.3f}"
        say(f"  {name:20} {shown:>8}" + (f"  adds {added:+.3f}" if added is not None else ""), err=True)
    if "+intercept" in gate["signals"]:
        say(f"  {'intercept':20} {'':8}  adds {gate['signals']['+intercept']:+.3f}", err=True)


@click.command(short_help="Show a document's text, or a recorded answer.")
@click.argument("what", type=NAME)
@click.option("--chunks", is_flag=True, help="The document's chunks instead of its text.")
@common_options
@click.pass_context
def show(
    context: click.Context,
    what: str,
    chunks: bool,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show a document's canonical text (by name or id), or a recorded answer (by id)."""
    from gawah.errors import NotFoundError

    with open_application(context, store, assignments) as app:
        try:
            record = app.find_document(what)
        except NotFoundError as unknown:  # what that says is kept: two documents may have the name
            try:
                recorded = app.catalog.load_answer(what)
            except NotFoundError:
                raise NotFoundError(f"{unknown}; no answer has that id either") from unknown
            _show_answer(recorded, as_json=as_json)
            return
        with app.catalog.snapshot() as snapshot:
            document = snapshot.load_document(record.no)
            pieces = snapshot.chunks_of(record.no)
        stale = app.stale(record)
    if as_json:
        from gawah.envelope import document_json
        from gawah.wire import to_json

        print_json(
            {
                **document_json(record, stale),
                "removed": to_json(document.removed),
                "conservation": to_json(document.conservation),
                "text": document.text,
                "chunks": [to_json(piece) for piece in pieces],
            }
        )
    elif chunks:
        for piece in pieces:
            say(f"#char={piece.span.start},{piece.span.end}  {piece.section}")
            say_text(indented(piece.content))
    else:
        say_text(document.text)


def _show_answer(record: Any, *, as_json: bool) -> None:
    from gawah.errors import NotFoundError

    if record.body is None:
        raise NotFoundError(f"the words of answer {record.id} went with a purge of a document whose words it carried")
    if as_json:
        print_json(record.body)
    else:
        say(f"question: {record.body['question']}", err=True)
        _print_outcome(record.body)


@click.command(short_help="Check quotes against their sources as they are now.")
@click.argument("answer_ids", type=NAME, nargs=-1)
@common_options
@click.pass_context
def verify(
    context: click.Context,
    answer_ids: tuple[str, ...],
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> int:
    """Check every quote of the named answers, or of all, against its source as it is now (exit code 6 when one fails)."""
    with open_application(context, store, assignments) as app:
        checks = app.verify(answer_ids)
        broken, log_fault = app.broken_links(), app.log_fault()
        records = [app.catalog.load_answer(key) for key in answer_ids] or app.catalog.load_answers()
    n_answers, n_emptied = len(records), sum(record.body is None for record in records)
    failed = [check for check in checks if check.status != "ok"]
    if as_json:
        from gawah.wire import to_json

        counts_of = {"answers": n_answers, "emptied": n_emptied, "checks": [to_json(check) for check in checks]}
        print_json({**counts_of, "broken_chain": broken, "log_fault": log_fault})
    else:
        for check in checks:
            detail = f": {check.detail}" if check.detail else ""
            say(f"{check.status:8} {check.answer_id} [{check.marker}] {check.document}{detail}")
        for answer_id in broken:
            say(f"altered  {answer_id}: the log's chain of hashes does not hold here")
        if log_fault:
            say(f"cut off  {log_fault}")
        counts = [counted(n_answers, "answer"), counted(len(checks), "citation"), f"{len(failed)} not ok"]
        counts += [f"{n_emptied} emptied by a purge"] if n_emptied else []
        say(f"{', '.join(counts)}; chain {'broken' if broken or log_fault else 'holds'}")
    return VERIFICATION_FAILED if failed or broken or log_fault else 0
