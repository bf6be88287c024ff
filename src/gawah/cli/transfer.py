"""`export` and `import`: a whole store in one file, and a store from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gawah.cli.common import PATH, common_options, counted, open_application
from gawah.cli.terminal import print_json, say, visible_line

if TYPE_CHECKING:
    from gawah.store.moving import Moved


@click.command("export", short_help="Write the whole store into one file.")
@click.argument("file", type=PATH)
@common_options
@click.pass_context
def export(context: click.Context, file: Path, store: Path | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """Write the whole store into one FILE: documents, vectors, recorded answers, keys, files that were handed over.

    Others may go on working; the file holds the store as of one moment.
    """
    with open_application(context, store, assignments) as app:
        _print(app.export(file), f"exported to {file}", as_json=as_json)


@click.command("import", short_help="Fill an empty store from such a file.")
@click.argument("file", type=PATH)
@common_options
@click.pass_context
def import_(
    context: click.Context, file: Path, store: Path | None, assignments: tuple[str, ...], as_json: bool
) -> None:
    """Fill an empty store from a FILE that `gawah export` wrote, of SQLite or PostgreSQL.

    Every row is read back and held against its hash. A file that is cut short or altered leaves the store empty.
    """
    from gawah.errors import NotFoundError

    if not file.is_file():
        raise NotFoundError(f"no such file: {str(file)!r}; check the path")
    with open_application(context, store, assignments, create=True) as app:
        _print(app.import_from(file), f"imported from {file}", as_json=as_json)


def _print(moved: Moved, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "rows": moved.n_rows,
                "originals": moved.n_originals,
                "bytes": moved.n_bytes,
                "fingerprint": moved.fingerprint,
            }
        )
        return
    rows = moved.n_rows
    parts = [
        counted(rows["documents"], "document"),
        counted(rows["chunks"], "chunk"),
        counted(rows["answers"], "recorded answer"),
        counted(moved.n_originals, "original"),
    ]
    say(f"{visible_line(done)}: {', '.join(parts)}, {moved.n_bytes / 1e6:.1f} MB; fingerprint {moved.fingerprint[:12]}")
