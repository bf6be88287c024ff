"""What `gawah ingest` says: what it would do, and what it has done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gawah.cli.common import counted, print_columns
from gawah.cli.terminal import print_json, say

if TYPE_CHECKING:
    from gawah.app import Application
    from gawah.ingest import Plan
    from gawah.types import DocumentRecord

_MOST_WARNED = 20  # documents with a line of their own
_WARNING_CHARS = 200


def print_plan(plan: Plan, *, as_json: bool) -> None:
    """What an ingest would do."""
    if as_json:
        print_json(
            {
                "work": [{"document": item.name, "why": item.why} for item in plan.work],
                "unchanged": [record.name for record in plan.unchanged],
                "failing": [record.name for record in plan.failing],
                "vanished": [record.name for record in plan.vanished],
                "refused": [{"document": r.name, "code": r.code, "reason": r.reason} for r in plan.refused],
                "hidden": plan.n_hidden,
            }
        )
        return
    print_columns([(item.why, item.name) for item in plan.work])
    for item in plan.refused:
        say(f"refused  {item.name}: {item.reason}")
    for record in plan.vanished:
        say(f"vanished  {record.name}")
    say(f"{len(plan.work)} to do, {len(plan.unchanged)} unchanged, {len(plan.failing)} failing as before")


def print_summary(app: Application, plan: Plan, ended: list[DocumentRecord], *, as_json: bool) -> None:
    """What an ingest has done: a line for each document that is not as it should be, and the counts."""
    failed = [record for record in (*ended, *plan.failing) if record.failure]
    ready = [record for record in ended if not record.failure]
    if as_json:
        from gawah.envelope import document_json

        print_json(
            {
                "ready": [document_json(record, ()) for record in ready],
                "failed": [document_json(record, ()) for record in failed],
                "unchanged": [record.name for record in plan.unchanged],
                "unchanged_failures": [record.name for record in plan.failing],
                "vanished": [record.name for record in plan.vanished],
                "refused": [{"document": r.name, "code": r.code, "reason": r.reason} for r in plan.refused],
                "hidden": plan.n_hidden,
                "chunks": sum(record.counters.n_chunks for record in ready),
                "store": str(app.settings.store),
            }
        )
        return
    _print_failed(ended, plan.failing)
    print_warned(ready)
    for item in plan.refused:
        say(f"refused  {item.name}: {item.code}: {item.reason}", err=True)
    for record in plan.vanished:
        say(f"vanished  {record.name}: its file is gone; `gawah rm --vanished` removes it", err=True)
    n_chunks = sum(record.counters.n_chunks for record in ready)
    parts = [
        f"{counted(len(ready), 'document')} ready ({counted(n_chunks, 'chunk')})",
        f"{len(plan.unchanged)} unchanged",
    ]
    before = f" ({counted(len(plan.failing), 'unchanged failure')})" if plan.failing else ""
    parts += [f"{len(failed)} failed{before}"] if failed else []
    parts += [f"{len(plan.refused)} refused"] if plan.refused else []
    parts += [f"{plan.n_hidden} hidden skipped"] if plan.n_hidden else []
    parts += [f"{plan.n_excluded} excluded"] if plan.n_excluded else []
    say(", ".join(parts))
    _print_unread(app, ready)


def print_warned(ready: Sequence[DocumentRecord]) -> None:
    """A line for each document that something is to be said of, while they are few; the rest are counted."""
    warned = [record for record in ready if record.warnings]
    for record in warned[:_MOST_WARNED]:
        first, *others = record.warnings
        more = f" (and {len(others)} more: `gawah show NAME --json`)" if others else ""
        what = first if len(first) <= _WARNING_CHARS else first[: _WARNING_CHARS - 1] + "…"
        say(f"warning  {record.name}: {what}{more}", err=True)
    if len(warned) > _MOST_WARNED:
        say(f"warnings of {counted(len(warned) - _MOST_WARNED, 'more document')}: `gawah ls` marks them", err=True)


def _print_unread(app: Application, ready: Sequence[DocumentRecord]) -> None:
    """Pages that nobody will find, and how to have them read."""
    unread = [record.quality["pages_unread"] for record in ready if record.quality.get("pages_unread")]
    if unread:
        why = app.senses.blindness or "`gawah show NAME --json` says why"
        say(f"{counted(sum(unread), 'page')} of {counted(len(unread), 'document')} could not be read: {why}", err=True)


def _print_failed(ended: Sequence[DocumentRecord], failing: Sequence[DocumentRecord]) -> None:
    """What failed now; and what failed before and was not tried again, since neither file nor program has changed."""
    for record in ended:
        if record.failure:
            again = " (will be tried again)" if record.failure.retryable else ""
            say(f"failed  {record.name}: {record.failure.code}: {record.failure.reason}{again}", err=True)
    for record in failing:
        assert record.failure is not None
        reason = f"{record.failure.code}: {record.failure.reason}"
        say(
            f"unchanged failure  {record.name}: {reason} (not tried again; `gawah rm` or --exclude leaves it out)",
            err=True,
        )
