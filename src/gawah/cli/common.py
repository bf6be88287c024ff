"""What every command shares: its options, its settings, and how values are printed."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from gawah.app import Application
    from gawah.config import Loaded
    from gawah.types import Filter

F = TypeVar("F", bound=Callable[..., Any])


def common_options(command: F) -> F:
    """`--store`, `--set` and `--json` on a command."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a setting."),
        click.option("--store", type=click.Path(path_type=Path), help="Folder of the store (or GAWAH_STORE)."),
    ):
        command = option(command)
    return command


def filter_options(command: F) -> F:
    """`--collection`, `--document` and `--media-type`, each repeatable."""
    for option in (
        click.option("--media-type", "media_types", multiple=True, help="Only documents of this media type."),
        click.option("--document", "documents", multiple=True, help="Only this document (name or id)."),
        click.option("--collection", "collections", multiple=True, help="Only this collection."),
    ):
        command = option(command)
    return command


def make_filter(
    collections: Sequence[str], documents: Sequence[str], media_types: Sequence[str]
) -> Filter | None:
    from gawah.types import Filter

    return Filter(tuple(collections), tuple(documents), tuple(media_types)) or None


def load(context: click.Context, store: Path | None, assignments: Iterable[str], **options: Any) -> Loaded:
    """The settings of one call: command line over environment over file over defaults."""
    from gawah.config import load_settings

    given: dict[str, Any] = {"store": store or context.obj["store"], **options}
    for assignment in assignments:
        key, separator, value = assignment.partition("=")
        if not separator:
            raise click.UsageError(f"--set {assignment!r}: write KEY=VALUE")
        given[key.strip()] = value
    return load_settings(file=context.obj["config_file"], options=given)


def open_application(
    context: click.Context, store: Path | None, assignments: Iterable[str], *, create: bool = False, **options: Any
) -> Application:
    from gawah.app import Application

    return Application(load(context, store, assignments, **options).settings, create=create)


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Rows in aligned columns; the last column is as long as it is, nothing is cut."""
    if not rows:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())


def indented(text: str, margin: str = "    ") -> str:
    """A quote for people: line breaks stay, long lines are wrapped to the terminal."""
    width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))
    lines: list[str] = []
    for line in text.splitlines():
        lines += textwrap.wrap(line, width - len(margin), break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(margin + line for line in lines)
