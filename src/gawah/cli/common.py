"""What every command shares: its options, its settings, and how values are printed."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gawah.cli.terminal import say, visible, visible_line

if TYPE_CHECKING:
    from gawah.app import Application
    from gawah.config import Loaded
    from gawah.types import Filter

F = TypeVar("F", bound=Callable[..., Any])


class _PathType(click.ParamType):  # type: ignore[type-arg]  # generic in new versions of click only
    """A path; never the empty one, which would silently mean the current folder."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not str(value).strip():
            self.fail("a path is empty; name a file or folder, '.' for this one", param, ctx)
        return Path(value)


class _NameType(click.ParamType):  # type: ignore[type-arg]
    r"""A document's name, a collection: valid Unicode. Bytes that are no UTF-8 are written \xNN, as in the store."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        return os.fsencode(str(value)).decode("utf-8", "backslashreplace")


PATH = _PathType()
NAME = _NameType()


def common_options(command: F) -> F:
    """`--store`, `--set` and `--json` on a command."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a setting."),
        click.option("--store", type=PATH, help="Folder of the store (or GAWAH_STORE)."),
    ):
        command = option(command)
    return command


def filter_options(command: F) -> F:
    """`--collection`, `--document` and `--media-type`, each repeatable."""
    for option in (
        click.option(
            "--media-type", "media_types", type=NAME, multiple=True, help="Only documents of this media type."
        ),
        click.option("--document", "documents", type=NAME, multiple=True, help="Only this document (name or id)."),
        click.option("--collection", "collections", type=NAME, multiple=True, help="Only this collection."),
    ):
        command = option(command)
    return command


def make_filter(collections: Sequence[str], documents: Sequence[str], media_types: Sequence[str]) -> Filter | None:
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


def counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def pages_line(quality: Mapping[str, int]) -> str:
    """What became of a document's pages: "9: 8 read, 2 looked at by OCR, 1 unread"; empty for one without pages."""
    if "pages" not in quality:
        return ""
    parts = [f"{quality['pages']:,}: {quality.get('pages_read', 0):,} read"]
    for name, words in (
        ("pages_ocr", "looked at by OCR"),
        ("pages_unread", "unread"),
        ("pages_low_confidence", "hardly legible"),
        ("pages_invisible_text", "with invisible text"),
    ):
        if quality.get(name):
            parts.append(f"{quality[name]:,} {words}")
    return ", ".join(parts)


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Rows in aligned columns; the last column is as long as it is, nothing is cut."""
    if not rows:
        return
    rows = [[visible_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        say("  ".join([*cells, row[-1]]).rstrip())


def indented(text: str, margin: str = "    ") -> str:
    """A quote for people: line breaks stay, long lines are wrapped to the terminal, control characters are shown."""
    width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))
    lines: list[str] = []
    for line in visible(text).splitlines():
        lines += textwrap.wrap(line, width - len(margin), break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(margin + line for line in lines)
