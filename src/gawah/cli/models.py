"""Commands for the models' files: ls, fetch, verify."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gawah.cli.common import NAME, PATH, common_options, counted, load, print_columns
from gawah.cli.terminal import print_json, say

if TYPE_CHECKING:
    from gawah.models.shelf.survey import Shelved, Verdict

_MEGABYTE = 1_000_000
_TENTHS = 10  # a large file is told of so many times
VERIFICATION_FAILED = 6


@click.group()
def models() -> None:
    """Models: which there are, fetching them, checking their bytes."""


@models.command("ls")
@common_options
@click.pass_context
def models_ls(context: click.Context, store: Path | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """List models: what for, licence, size, where they lie, and which settings use them."""
    from gawah.config import models_in_use
    from gawah.models.shelf.survey import survey

    settings = load(context, store, assignments).settings
    found = survey(settings.cache, models_in_use(settings))
    if as_json:
        print_json([_model_json(model) for model in found])
        return
    print_columns([_row(model) for model in found])


@models.command("fetch")
@click.argument("name", type=NAME)
@click.option("--from", "source", type=PATH, help="Take the files from this folder; no network is used.")
@common_options
@click.pass_context
def models_fetch(
    context: click.Context,
    name: str,
    source: Path | None,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Fetch a model by name (see ls) or as OWNER/NAME from the hub; an interrupted fetch goes on where it ended."""
    from gawah.models.shelf.fetch import fetch
    from gawah.models.shelf.known import known_model
    from gawah.models.shelf.place import shelf_of
    from gawah.models.shelf.usable import require_usable

    cache = load(context, store, assignments).settings.cache
    model = known_model(name)
    done = fetch(
        model,
        shelf_of(cache),
        source=source,
        check=lambda folder: require_usable(model, folder, cache),
        progress=_Told(),
    )
    files = done.manifest.files
    if as_json:
        from gawah.wire import to_json

        body = {"name": model.name, "folder": str(done.folder), "was_there": done.was_there, **to_json(done.manifest)}
        print_json(body)
        return
    state = "is there already, whole" if done.was_there else "is there now"
    say(
        f"{model.repository} {state}: {counted(len(files), 'file')}, {_megabytes(done.manifest.size_bytes)}, in {done.folder}"
    )
    first_use = sorted(name for name, record in files.items() if not record.pinned)
    if first_use and not done.was_there:
        say(f"trusted on first use, their hashes are recorded: {', '.join(first_use)}", err=True)


@models.command("verify")
@click.argument("names", type=NAME, nargs=-1)
@common_options
@click.pass_context
def models_verify(
    context: click.Context, names: tuple[str, ...], store: Path | None, assignments: tuple[str, ...], as_json: bool
) -> int:
    """Read the files of the named models, or of all that are here, and compare their hashes (exit code 6 when one differs)."""
    from gawah.config import models_in_use
    from gawah.errors import NotFoundError
    from gawah.models.shelf.survey import survey, verify

    settings = load(context, store, assignments).settings
    found = survey(settings.cache, models_in_use(settings))
    chosen = [model for model in found if model.folder is not None and model.state != "missing"]
    for name in names:
        if not any(name in (model.name, model.repository) for model in chosen):
            raise NotFoundError(f"no model {name!r} is here; `gawah models ls` lists them")
    if names:
        chosen = [model for model in chosen if model.name in names or model.repository in names]
    verdicts = [verify(model) for model in chosen]
    if as_json:
        print_json([_verdict_json(verdict) for verdict in verdicts])
    else:
        for verdict in verdicts:
            _print_verdict(verdict)
    return VERIFICATION_FAILED if any(verdict.faults for verdict in verdicts) else 0


class _Told:
    """Says how far a fetch is, on stderr: each file when it is there, a large one at every tenth."""

    def __init__(self) -> None:
        self._last: tuple[str, int] = ("", -1)

    def __call__(self, name: str, n_bytes: int, total: int) -> None:
        tenth = n_bytes * _TENTHS // total if total else n_bytes // (_TENTHS * _MEGABYTE)
        is_small = total and total < _MEGABYTE
        if (name, tenth) == self._last or (is_small and n_bytes < total):
            return
        self._last = (name, tenth)
        of = f" of {_megabytes(total)}" if total and n_bytes < total else ""
        say(f"{name}  {_megabytes(n_bytes)}{of}", err=True)
        sys.stderr.flush()


def _row(model: Shelved) -> tuple[str, ...]:
    size = _megabytes(model.size_bytes) if model.size_bytes else "?"
    where = str(model.folder) if model.folder else ""
    if model.state in ("missing", "damaged"):
        where = f"{where}  get it: {model.get}".strip() if model.get else f"{where} is not there"
    uses = f"used by {', '.join(model.used_by)}" if model.used_by else ""
    about = "" if model.size_is_known or not model.size_bytes else "~"
    return model.name, model.purpose, model.licence or "?", about + size, model.state, uses, where


def _model_json(model: Shelved) -> dict[str, object]:
    from gawah.wire import to_json

    body: dict[str, object] = to_json(replace(model, folder=None))
    return {**body, "folder": str(model.folder) if model.folder else None}


def _verdict_json(verdict: Verdict) -> dict[str, object]:
    from gawah.wire import to_json

    return {
        "name": verdict.model.name,
        "folder": str(verdict.model.folder),
        "ok": not verdict.faults,
        "faults": to_json(verdict.faults),
        "held": verdict.n_held,
        "pinned": verdict.n_pinned,
        "unknown": verdict.n_unknown,
    }


def _print_verdict(verdict: Verdict) -> None:
    model = verdict.model
    counts = f"{counted(verdict.n_held, 'file')} as recorded, {verdict.n_pinned} of them pinned"
    if verdict.n_unknown:
        counts += f"; of {verdict.n_unknown} no hash is known"
    state = "CHANGED" if verdict.faults else "ok" if verdict.n_held else "unknown"
    say(f"{state:8} {model.name}: {counts}  {model.folder}")
    for fault in verdict.faults:
        say(f"         {fault.file} {fault.what}")
    if verdict.faults and model.get:
        say(f"         mend it: {model.get}", err=True)


def _megabytes(n_bytes: int) -> str:
    return (
        f"{n_bytes / _MEGABYTE:.0f} MB"
        if n_bytes >= 10 * _MEGABYTE
        else f"{n_bytes / _MEGABYTE:.1f} MB"
        if n_bytes >= _MEGABYTE // 10
        else f"{n_bytes:,} bytes"
    )
