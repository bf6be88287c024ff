"""Documents as they end to signs of life on standard error: a bar where a person looks, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gawah.cli.terminal import say, visible_line

if TYPE_CHECKING:
    from gawah.types import DocumentRecord

# A log wants to know that something goes on, not all that does: a line after 5 s, the next after 10 more, then 20 …
_FIRST_S, _LONGEST_S = 5.0, 120.0
_NAME_CHARS = 40


def shown(ended: Iterator[DocumentRecord], total: int, *, as_json: bool) -> Iterator[DocumentRecord]:
    """Passes documents on, and shows how many of `total` have ended."""
    if as_json:
        return ended
    return _in_a_bar(ended, total) if sys.stderr.isatty() else in_lines(ended, total)


def in_lines(
    ended: Iterator[DocumentRecord], total: int, clock: Callable[[], float] = time.monotonic
) -> Iterator[DocumentRecord]:
    """Passes documents on; says where they are at growing intervals, and nothing of the last, which a summary follows."""
    gap_s = _FIRST_S
    next_at = clock() + gap_s
    for n_ended, record in enumerate(ended, 1):
        if n_ended < total and (now := clock()) >= next_at:
            say(f"{n_ended:,} of {total:,} documents done; the last was {record.name}", err=True)
            gap_s = min(2 * gap_s, _LONGEST_S)
            next_at = now + gap_s
        yield record


def _in_a_bar(ended: Iterator[DocumentRecord], total: int) -> Iterator[DocumentRecord]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("ingest", total=total)
        for record in ended:
            progress.update(task, advance=1, description=escape(visible_line(record.name[-_NAME_CHARS:])))
            yield record
