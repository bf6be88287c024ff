"""Commands that change or list documents: ingest, ls, status, rm, retry."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gawah.cli.common import (
    NAME,
    PATH,
    common_options,
    counted,
    filter_options,
    load,
    make_filter,
    open_application,
    print_columns,
)
from gawah.cli.ingested import print_plan, print_summary, print_warned
from gawah.cli.migration import generation_json, print_stamps
from gawah.cli.progress import shown
from gawah.cli.terminal import print_json, say

if TYPE_CHECKING:
    from gawah.ingest import Plan
    from gawah.types import DocumentRecord

PARTIAL = 4
_NAMES_SHOWN = 5  # of stale and of failed documents, by `status`
_PAGE_COUNTS = ("pages", "pages_ocr", "pages_unread", "pages_low_confidence")


@click.command(short_help="Read a folder or one file into the store.")
@click.argument("folder", type=PATH)
@click.option("--collection", type=NAME, help="Collection to put the documents in.")
@click.option(
    "--exclude", type=NAME, multiple=True, metavar="PATTERN", help="Leave out files of such names, like '*.png'."
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@common_options
@click.pass_context
def ingest(
    context: click.Context,
    folder: Path,
    collection: str | None,
    exclude: tuple[str, ...],
    dry_run: bool,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> int:
    """Read a folder (or one file) into the store; unchanged files are skipped by their hash."""
    from gawah.errors import NotFoundError

    try:
        folder.stat()  # before a store is made
    except FileNotFoundError as error:
        raise NotFoundError(f"no such file or folder: {str(folder)!r}; check the path") from error
    except OSError as error:
        raise NotFoundError(f"{str(folder)!r} cannot be read: {error.strerror}; check the path") from error
    with contextlib.ExitStack() as stack:
        if dry_run:
            store, assignments = _store_to_look_at(context, store, assignments, stack)
        app = stack.enter_context(open_application(context, store, assignments, create=True, collection=collection))
        plan = app.plan(folder, exclude=exclude)
        if not (plan.work or plan.unchanged or plan.failing or plan.refused or plan.vanished):
            raise NotFoundError(f"nothing to ingest: {str(folder)!r} holds no files{_hidden(plan)}")
        if dry_run:
            print_plan(plan, as_json=as_json)
            return 0
        ended = list(shown(app.ingest(plan), len(plan.work), as_json=as_json))
        print_summary(app, plan, ended, as_json=as_json)
        return _exit_code(plan, ended)


def _store_to_look_at(
    context: click.Context, store: Path | None, assignments: tuple[str, ...], stack: contextlib.ExitStack
) -> tuple[Path, tuple[str, ...]]:
    """The store and its settings, or an empty one that is thrown away where there is none yet: a dry run makes nothing."""
    from gawah.app import open_catalog
    from gawah.errors import NotFoundError

    settings = load(context, store, assignments).settings
    if settings.store.exists() or settings.catalog.get_secret_value():
        with contextlib.suppress(NotFoundError):
            open_catalog(settings).close()
            return settings.store, assignments
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gawah-"))), (*assignments, "catalog=")


def _exit_code(plan: Plan, ended: list[DocumentRecord]) -> int:
    n_failed = sum(record.failure is not None for record in ended) + len(plan.failing)
    n_failed += sum(item.code not in ("symlink", "special_file") for item in plan.refused)
    n_good = sum(record.failure is None for record in ended) + len(plan.unchanged)
    return 0 if not n_failed else PARTIAL if n_good else 1


def _hidden(plan: Plan) -> str:
    return f" but {plan.n_hidden} hidden" if plan.n_hidden else ""


@click.command(short_help="List documents: state, chunks, collection, name, remarks.")
@filter_options
@common_options
@click.pass_context
def ls(
    context: click.Context,
    collections: tuple[str, ...],
    documents: tuple[str, ...],
    media_types: tuple[str, ...],
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """List documents with state, chunks, and what is wrong with them."""
    with open_application(context, store, assignments) as app:
        records = app.documents(make_filter(collections, documents, media_types))
        stale = {record.no: app.stale(record) for record in records}
    if as_json:
        from gawah.envelope import document_json

        print_json({"documents": [document_json(record, stale[record.no]) for record in records]})
        return
    print_columns(
        [
            (
                record.state.value,
                counted(record.counters.n_chunks, "chunk"),
                record.collection,
                record.name + _remark(record, stale),
            )
            for record in records
        ]
    )


def _remark(record: DocumentRecord, stale: dict[int, tuple[str, ...]]) -> str:
    remarks = [] if _is_there(record) else ["its file is gone"]
    if record.quality.get("pages_unread"):
        remarks.append(f"{record.quality['pages_unread']} of {record.quality['pages']} pages unread")
    if record.warnings:
        remarks.append(counted(len(record.warnings), "warning"))
    if record.failure:
        remarks.append(f"{record.failure.code}: {record.failure.reason}")
        if record.counters.n_chunks:
            remarks.append("an earlier version is still searchable")
    if stale[record.no]:
        remarks.append(f"stale: {', '.join(stale[record.no])}")
    return f"  ({'; '.join(remarks)})" if remarks else ""


def _is_there(record: DocumentRecord) -> bool:
    from gawah.sources import is_gone

    return not is_gone(record.uri)


@click.command(short_help="Count documents by state, chunks, stale and failed ones.")
@click.option("--stamps", is_flag=True, help="List what built the documents: every distinct stamp, current or stale.")
@common_options
@click.pass_context
def status(
    context: click.Context, stamps: bool, store: Path | None, assignments: tuple[str, ...], as_json: bool
) -> None:
    """Counts of the store: documents by state, chunks, stale and failed documents, the model they stand under."""
    from gawah.upgrade import generations_of

    with open_application(context, store, assignments) as app:
        if stamps:
            print_stamps(app, as_json=as_json)
            return
        records = app.documents()
        generations = generations_of(app)
        stale = [record for record in records if app.stale(record)]
        with app.catalog.snapshot() as snapshot:
            facts: dict[str, Any] = {
                "store": str(app.settings.store),
                "catalog": app.catalog.shown,
                "documents": snapshot.n_documents(),
                "chunks": sum(snapshot.n_chunks_by_document().values()),
                "counted_chunks": sum(record.counters.n_chunks for record in records),
                "tokens": sum(record.counters.n_tokens for record in records),
                "truncated": sum(record.counters.n_truncated for record in records),
                **{name: sum(record.quality.get(name, 0) for record in records) for name in _PAGE_COUNTS},
                "stale": [record.name for record in stale],
                "failed": [record.name for record in records if record.failure],
                "with_warnings": sum(bool(record.warnings) for record in records),
                "generation": snapshot.generation,
                "generations": [generation_json(*one) for one in generations],
                "epoch": snapshot.epoch,
                "index": app.settings.index,
                "segments": len(snapshot.segments()),
                "model": snapshot.model.name if snapshot.model else None,
                "model_sha256": snapshot.model.sha256 if snapshot.model else None,
                "dimensions": snapshot.model.dimensions if snapshot.model else None,
            }
    if as_json:
        print_json(facts)
        return
    facts["generations"] = [f"{one['generation']} {one['state']} {one['model']}" for one in facts["generations"]]
    for key in ("stale", "failed"):
        facts[key] = _some(facts[key])
    for key, value in facts.items():
        shown = ", ".join(f"{n} {state}" for state, n in value.items()) if isinstance(value, dict) else value
        shown = ", ".join(shown) if isinstance(shown, list) else shown
        say(f"{key:20} {shown if shown not in ('', None) else '-'}")


def _some(names: list[str]) -> str:
    """The names in a row; where they are many the first of them, and how many there are."""
    if len(names) <= _NAMES_SHOWN:
        return ", ".join(names)
    return f"{len(names)}: {', '.join(names[:_NAMES_SHOWN])}, … (gawah ls shows all)"


@click.command(short_help="Remove documents and all that was made of them.")
@click.argument("names", type=NAME, nargs=-1)
@click.option("--vanished", is_flag=True, help="Every document whose file is gone.")
@click.option("--purge", is_flag=True, help="Leave no word of them in any file of the store, answers included.")
@common_options
@click.pass_context
def rm(
    context: click.Context,
    names: tuple[str, ...],
    vanished: bool,
    purge: bool,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Remove documents, by name or id, and all that was made of them."""
    from gawah.sources import is_gone

    if not names and not vanished and not purge:
        raise click.UsageError("name a document, or give --vanished")
    with open_application(context, store, assignments) as app:
        records = {record.id: record for record in (app.find_document(name) for name in names)}
        if vanished:
            records |= {record.id: record for record in app.documents() if is_gone(record.uri)}
        gone = (app.purge if purge else app.remove)(list(records.values()))
    removed = [record.name for record in records.values()]
    if as_json:
        print_json({"removed": removed, "chunks": gone.n_chunks, "purged": purge, "emptied_answers": gone.n_answers})
    else:
        emptied = f", purged; {counted(gone.n_answers, 'recorded answer')} emptied" if purge else ""
        say(f"{counted(len(removed), 'document')} removed ({counted(gone.n_chunks, 'chunk')}){emptied}")


@click.command(short_help="Try failed documents again.")
@click.argument("names", type=NAME, nargs=-1)
@common_options
@click.pass_context
def retry(
    context: click.Context, names: tuple[str, ...], store: Path | None, assignments: tuple[str, ...], as_json: bool
) -> int:
    """Try failed documents again: those named, or all, and what an interrupted run left undone."""
    from gawah.envelope import document_json
    from gawah.types import DocumentState

    with open_application(context, store, assignments) as app:
        if names:
            records = [app.find_document(name) for name in names]
        else:
            records = [record for record in app.documents() if record.state is DocumentState.FAILED]
        ended = list(shown(app.resume(records), len(records), as_json=as_json))
    failed = [record for record in ended if record.failure]
    if as_json:
        print_json({"documents": [document_json(record, ()) for record in ended]})
    else:
        for record in failed:
            assert record.failure is not None
            say(f"failed  {record.name}: {record.failure.code}: {record.failure.reason}", err=True)
        print_warned([record for record in ended if not record.failure])
        say(f"{counted(len(ended) - len(failed), 'document')} ready, {len(failed)} failed")
    return 0 if not failed else PARTIAL if len(ended) > len(failed) else 1
