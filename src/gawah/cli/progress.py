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
_MINUTE_S = 60


def shown(
    ended: Iterator[DocumentRecord], total: int, *, as_json: bool, task: str = "ingest", n_chars: int = 0
) -> Iterator[DocumentRecord]:
    """Passes documents on, and shows how many of `total` have ended; `n_chars` as for `in_lines`."""
    if as_json:
        return ended
    return _in_a_bar(ended, total, task) if sys.stderr.isatty() else in_lines(ended, total, n_chars=n_chars)


def in_lines(
    ended: Iterator[DocumentRecord], total: int, clock: Callable[[], float] = time.monotonic, *, n_chars: int = 0
) -> Iterator[DocumentRecord]:
    """Passes documents on; says where they are at growing intervals, and nothing of the last, which a summary follows.

    `n_chars`: how long all their texts are together, where that is known: then it says how long the rest will take.
    """
    gap_s = _FIRST_S
    started_at = clock()
    next_at = started_at + gap_s
    n_chars_done = 0
    for n_ended, record in enumerate(ended, 1):
        n_chars_done += record.counters.n_chars if n_chars else 0
        if n_ended < total and (now := clock()) >= next_at:
            left = _time_left(now - started_at, n_chars_done, n_chars)
            say(f"{n_ended:,} of {total:,} documents done{left}; the last was {record.name}", err=True)
            gap_s = min(2 * gap_s, _LONGEST_S)
            next_at = now + gap_s
        yield record


def _time_left(spent_s: float, n_done: int, n_all: int) -> str:
    """What a progress line says of the time that is left, as a further part of it; empty when nothing can be said."""
    if not n_done or n_done >= n_all:
        return ""
    left_s = spent_s * (n_all - n_done) / n_done
    return f", about {left_s / _MINUTE_S:.0f} min left" if left_s >= _MINUTE_S else f", about {left_s:.0f} s left"


def _in_a_bar(ended: Iterator[DocumentRecord], total: int, task_name: str) -> Iterator[DocumentRecord]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(task_name, total=total)
        for record in ended:
            progress.update(task, advance=1, description=escape(visible_line(record.name[-_NAME_CHARS:])))
            yield record
