"""Commands of upgrade day: migrate, refresh."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gawah.cli.common import NAME, common_options, counted, open_application, print_columns
from gawah.cli.progress import shown
from gawah.cli.terminal import print_json, say

if TYPE_CHECKING:
    from gawah.app import Application
    from gawah.refresh import Refresh, StaleDocument
    from gawah.types import DocumentRecord, Generation, Holding
    from gawah.upgrade import Upgrade

PARTIAL = 4


@click.command(short_help="Build the index under another model, and switch to it.")
@click.option(
    "--model", metavar="MODEL", help="Model of the next generation: a name or folder, as in the setting model."
)
@click.option("--no-switch", is_flag=True, help="Build it, and go on answering from the old one.")
@click.option("--status", "show", is_flag=True, help="List the generations and what they hold.")
@click.option("--rollback", is_flag=True, help="Go back to the generation that was active before.")
@click.option("--drop", is_flag=True, help="Throw away all generations but the active one.")
@common_options
@click.pass_context
def migrate(
    context: click.Context, model: str | None, no_switch: bool, show: bool, rollback: bool, drop: bool,
    store: Path | None, assignments: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Build the next generation of the index under another model beside the one that answers, then switch to it at once.

    It may be interrupted at any moment: run it again, with or without --model, and it goes on.
    """
    from gawah.upgrade import generations_of, going_back, upgrading

    if sum((bool(model) or no_switch, show, rollback, drop)) > 1:
        raise click.UsageError("give one of --model, --status, --rollback and --drop")
    with open_application(context, store, assignments) as app:
        if show:
            _print_generations(generations_of(app), as_json=as_json)
        elif drop:
            _print_dropped(app, as_json=as_json)
        elif rollback:
            with going_back(app) as upgrade:
                _run(upgrade, switch=True, as_json=as_json)
        else:
            with upgrading(app, model or "", switch=not no_switch) as upgrade:
                _run(upgrade, switch=not no_switch, as_json=as_json)


def _run(upgrade: Upgrade, *, switch: bool, as_json: bool) -> None:
    from gawah.upgrade import run

    chosen, active = upgrade.generation, upgrade.active
    if chosen.id == active.id:
        if as_json:
            print_json({**_upgrade_json(upgrade), "switched": False, "documents": 0, "chunks": 0})
        else:
            place = f" (its model is looked for at {chosen.source})" if chosen.source else ""
            say(f"generation {active.id} with {active.model.name} is the active one already: nothing to do{place}")
        return
    if not as_json:
        for line in upgrade.warnings:
            say(f"warning  {line}", err=True)
    weight = sum(record.counters.n_chars for record in upgrade.pending)
    ended = list(
        shown(run(upgrade, switch=switch), len(upgrade.pending), as_json=as_json, task="migrate", n_chars=weight)
    )
    if as_json:
        print_json({**_upgrade_json(upgrade), "switched": switch, "documents": len(ended)})
        return
    named = f"generation {chosen.id} ({chosen.model.name})"
    brought = f"{counted(len(ended), 'document')} brought into {named}"
    if switch:
        head = f"{brought}; it" if ended else named
        say(f"{head} answers from now on: set model = {chosen.source or chosen.model.name}")
        say(
            "the generation before is kept: gawah migrate --rollback goes back, gawah migrate --drop removes it",
            err=True,
        )
    else:
        head = brought if ended else f"{named} is complete"
        say(f"{head}; generation {active.id} still answers: gawah migrate switches")


def _upgrade_json(upgrade: Upgrade) -> dict[str, Any]:
    return {
        "generation": upgrade.generation.id,
        "model": upgrade.generation.model.name,
        "model_sha256": upgrade.generation.model.sha256,
        "source": upgrade.generation.source,
        "before": upgrade.active.id,
        "warnings": list(upgrade.warnings),
    }


def generation_json(generation: Generation, holding: Holding) -> dict[str, Any]:
    return {
        "generation": generation.id,
        "state": _state(generation),
        "model": generation.model.name,
        "model_sha256": generation.model.sha256,
        "dimensions": generation.model.dimensions,
        "source": generation.source,
        "documents": holding.n_documents,
        "chunks": holding.n_chunks,
        "pending": holding.n_pending,
        "created_at": generation.created_at,
        "switched_at": generation.switched_at,
    }


def _state(generation: Generation) -> str:
    return generation.state if generation.dropped_at is None else "dropped"


def _print_generations(found: list[tuple[Generation, Holding]], *, as_json: bool) -> None:
    if as_json:
        print_json({"generations": [generation_json(*one) for one in found]})
        return
    rows = []
    for generation, holding in found:
        n_all = holding.n_documents + holding.n_pending
        held = f"{holding.n_documents:,} of {counted(n_all, 'document')}"
        when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(generation.switched_at or generation.created_at))
        chunks = counted(holding.n_chunks, "chunk")
        rows.append((str(generation.id), _state(generation), held, chunks, f"since {when}", generation.model.name))
    print_columns(rows)


def _print_dropped(app: Application, *, as_json: bool) -> None:
    from gawah.upgrade import drop

    gone = drop(app)
    if as_json:
        print_json(
            {
                "dropped": [
                    {
                        "generation": one.id,
                        "chunks": one.n_chunks,
                        "embeddings": one.n_embeddings,
                        "segments": one.n_segments,
                    }
                    for one in gone
                ]
            }
        )
        return
    for one in gone:
        say(
            f"generation {one.id} dropped: {counted(one.n_chunks, 'chunk')}, "
            f"{counted(one.n_embeddings, 'embedding')}, {counted(one.n_segments, 'segment')}"
        )
    if not gone:
        say("there is no generation but the active one: nothing to drop")


def print_stamps(app: Application, *, as_json: bool) -> None:
    """What built the documents: every distinct stamp, of how many, and by which part it is older than the code."""
    from gawah.refresh import stamps_of
    from gawah.wire import to_json

    groups = stamps_of(app)
    if as_json:
        found = [
            {"documents": one.n_documents, "stale": list(one.stale), "stamp": to_json(one.stamp)} for one in groups
        ]
        print_json({"stamps": found})
        return
    rows = []
    for one in groups:
        state = f"stale: {', '.join(one.stale)}" if one.stale else "current"
        model = f"{one.stamp.model.name} {one.stamp.model.sha256[:12]}"
        rows.append(
            (
                counted(one.n_documents, "document"),
                state,
                one.stamp.extractor,
                one.stamp.chunker,
                one.stamp.pipeline,
                model,
            )
        )
    print_columns(rows)
    if any(one.stale for one in groups):
        say("gawah refresh makes stale documents anew; of another model: gawah migrate", err=True)


@click.command(short_help="Make anew what older code made: exactly the stale documents.")
@click.argument("names", type=NAME, nargs=-1, metavar="[DOCUMENT]...")
@click.option("--collection", type=NAME, help="Only documents of this collection.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@common_options
@click.pass_context
def refresh(
    context: click.Context,
    names: tuple[str, ...],
    collection: str | None,
    dry_run: bool,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> int:
    """Make stale documents anew, named ones or all: from their originals, or from the stored text where that is enough."""
    from gawah.refresh import plan_refresh
    from gawah.refresh import refresh as refreshed

    with open_application(context, store, assignments) as app:
        planned = plan_refresh(app, names, collection)
        n_planned = len(planned.from_original) + len(planned.from_text)
        if dry_run:
            _print_plan(planned, as_json=as_json)
            return 0
        ended = list(shown(refreshed(app, planned), n_planned, as_json=as_json, task="refresh"))
    return _print_refreshed(planned, ended, as_json=as_json)


def _print_plan(planned: Refresh, *, as_json: bool) -> None:
    groups = _groups(planned)
    if as_json:
        print_json(groups)
        return
    print_columns([(name.replace("_", " "), *one.values()) for name, found in groups.items() for one in _lines(found)])
    say(", ".join(f"{len(found)} {name.replace('_', ' ')}" for name, found in groups.items()))


def _groups(planned: Refresh) -> dict[str, list[dict[str, Any]]]:
    def listed(found: tuple[StaleDocument, ...]) -> list[dict[str, Any]]:
        return [{"document": one.record.name, "stale": list(one.parts)} for one in found]

    return {
        "from_original": listed(planned.from_original),
        "from_text": listed(planned.from_text),
        "original_gone": listed(planned.gone),
        "other_model": listed(planned.other_model),
    }


def _lines(found: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"stale": ", ".join(one["stale"]), "document": one["document"]} for one in found]


def _print_refreshed(planned: Refresh, ended: list[DocumentRecord], *, as_json: bool) -> int:
    from gawah.envelope import document_json

    failed = [record for record in ended if record.failure]
    if as_json:
        groups = _groups(planned)
        left = {name: groups[name] for name in ("original_gone", "other_model")}
        print_json({"documents": [document_json(record, ()) for record in ended], **left})
    else:
        for record in failed:
            assert record.failure is not None
            say(f"failed  {record.name}: {record.failure.code}: {record.failure.reason}", err=True)
        for one in planned.gone:
            say(f"kept  {one.record.name}: its original is gone, its older version stays searchable", err=True)
        if planned.other_model:
            n = counted(len(planned.other_model), "document")
            say(
                f"kept  {n} of another model: gawah migrate --model builds the index under the one that is set",
                err=True,
            )
        say(f"{counted(len(ended) - len(failed), 'document')} made anew, {len(failed)} failed")
    n_undone = len(failed) + len(planned.gone) + len(planned.other_model)
    return 0 if not n_undone else PARTIAL if len(ended) > len(failed) or not failed else 1
