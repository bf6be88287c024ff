"""Commands that serve: serve, mcp, worker, keys. The server's own libraries are loaded late, and may not be there."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from gawah.api.logs import log, set_up
from gawah.cli.common import NAME, PATH, common_options, load, open_application, print_columns
from gawah.cli.terminal import print_json, say

if TYPE_CHECKING:
    from gawah.app import Application
    from gawah.errors import StoreError
    from gawah.types import ApiKey, DocumentRecord

SCOPES = ("read", "ask", "ingest", "admin")
_DAY_S = 86_400.0
_ATTACHED_NICE = 5  # questions go first


@click.command(short_help="Serve the store over HTTP.")
@click.option("--host", help="Address to listen at (setting host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen at (setting port); 0 takes a free one.")
@click.option("--workers", type=click.IntRange(0, 64), default=1, show_default=True, help="Ingest processes to start.")
@click.option(
    "--watch", "folders", type=PATH, multiple=True, metavar="FOLDER", help="Ingest what changes in this folder."
)
@click.option("--collection", type=NAME, help="Collection of watched folders and of uploads that name none.")
@click.option(
    "--mcp-write", is_flag=True, help="Let MCP tools at /mcp add and remove documents, for keys with the scope ingest."
)
@common_options
@click.pass_context
def serve(
    context: click.Context,
    host: str | None,
    port: int | None,
    workers: int,
    folders: tuple[Path, ...],
    collection: str | None,
    mcp_write: bool,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,  # noqa: ARG001 — its log is JSON anyway
) -> None:
    """Serve the store over HTTP, with ingest processes beside it, until it is told to stop (SIGTERM, Ctrl-C)."""
    started_at = time.monotonic()
    _require_extra()
    from gawah.api.server import Beside, serve
    from gawah.work import watched_folder

    options = {"host": host, "port": port, "collection": collection}
    with open_application(context, store, assignments, create=True, **options) as app:
        watched = [watched_folder(app, folder, collection) for folder in folders]
        words = ("worker", *_repeated(app, assignments, collection))
        config = context.obj["config_file"]
        beside = Beside([*(("--config", str(config)) if config else ()), *words], watched, workers, mcp_write)
        serve(app, beside, started_at=started_at)


def _repeated(app: Application, assignments: Sequence[str], collection: str | None) -> list[str]:
    """The words that give a worker the settings of this process. Its store is the absolute one."""
    words = ["--store", str(app.settings.store.absolute())]
    for assignment in assignments:
        words += ["--set", assignment]
    return [*words, *(("--set", f"collection={collection}") if collection else ())]


def _require_extra() -> None:
    """ConfigurationError, one line, when the server's libraries are not installed."""
    from importlib.util import find_spec

    from gawah.errors import ConfigurationError

    if missing := [name for name in ("fastapi", "uvicorn", "python_multipart") if find_spec(name) is None]:
        raise ConfigurationError(f"serving needs {', '.join(missing)}; install it with: pip install 'gawah[server]'")


@click.command(short_help="Serve the store as tools of a language model (MCP).")
@click.option("--write", "may_write", is_flag=True, help="Offer the tools that add and remove documents too.")
@common_options
@click.pass_context
def mcp(
    context: click.Context,
    may_write: bool,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,  # noqa: ARG001 — what it writes is JSON anyway
) -> None:
    """Serve the store as tools of a language model (Model Context Protocol) on standard input and output."""
    from gawah.errors import ConfigurationError

    try:
        from gawah.mcp.stdio import serve_streams
    except ImportError as error:
        raise ConfigurationError(
            f"this needs the package mcp: {error}; install it with: pip install 'gawah[mcp]'"
        ) from error
    with open_application(context, store, assignments, create=may_write) as app:
        set_up()
        # A thread that reads standard input cannot be interrupted; the store survives an end at any moment.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        serve_streams(app, may_write=may_write)


@click.command(short_help="Ingest what is queued, beside a server.")
@click.option("--attached", is_flag=True, hidden=True, help="End when standard input ends.")
@click.option(
    "--ray", "ray_address", metavar="ADDRESS", help="Extract and embed on the Ray cluster there; local: one made here."
)
@common_options
@click.pass_context
def worker(
    context: click.Context,
    attached: bool,
    ray_address: str | None,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Ingest what is queued, for ever, beside other workers and a server; on SIGTERM what it holds is handed back."""
    from gawah.work import work_off

    tell = _logged if attached else _printed_as_json if as_json else _printed

    def trouble(error: StoreError) -> None:
        if attached:
            log("warning", error=str(error))
        else:
            say(f"gawah: {error}; trying again", err=True)

    stopping = threading.Event()
    with contextlib.ExitStack() as resources:
        app, stop_reading = _working(context, store, assignments, ray_address, resources)
        resources.enter_context(contextlib.suppress(_StoppedError))
        _stop_on_signals(stop_reading, stopping)
        if attached:
            set_up()
            _end_with_input()
            os.nice(_ATTACHED_NICE)
        with contextlib.closing(work_off(app, stopping.wait, trouble)) as ended:
            for record in ended:
                tell(record)


def _working(
    context: click.Context,
    store: Path | None,
    assignments: tuple[str, ...],
    ray_address: str | None,
    resources: contextlib.ExitStack,
) -> tuple[Application, Callable[[], None]]:
    """The application of a worker, and what ends the extractions that run."""
    if ray_address is None:
        app = resources.enter_context(open_application(context, store, assignments, create=True))
        return app, app.sandbox.close
    from gawah.app import Application
    from gawah.cluster import Cluster

    settings = load(context, store, assignments).settings
    cluster = resources.enter_context(Cluster(settings, ray_address))
    made = Application(settings, create=True, load_model=cluster.load_model, extract=cluster.extract)
    return resources.enter_context(made), cluster.close


def _logged(record: DocumentRecord) -> None:
    """As a line of the server's own log, which a worker beside it shares."""
    failure = record.failure.code if record.failure else ""
    counted = {"state": record.state.value, "failure": failure, "chunks": record.counters.n_chunks}
    log("ingested", document_id=record.id, collection=record.collection, name=record.name, **counted)


def _printed_as_json(record: DocumentRecord) -> None:
    from gawah.envelope import document_json

    print_json(document_json(record, ()))


def _printed(record: DocumentRecord) -> None:
    failed = f": {record.failure.code}: {record.failure.reason}" if record.failure else ""
    say(f"{record.state.value:8} {record.collection}  {record.name}{failed}", err=True)


class _StoppedError(BaseException):
    """Told to stop: not an error of any document, so nothing that catches those catches it."""


def _stop_on_signals(stop_reading: Callable[[], None], stopping: threading.Event) -> None:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        if stopping.is_set():
            return  # it is ending: what it holds is handed back
        stopping.set()
        # An extraction may run for minutes; nobody waits for its result any more. Not here: the lock may be this thread's.
        threading.Thread(target=stop_reading, daemon=True).start()
        raise _StoppedError

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def _end_with_input() -> None:
    """When the server that started this process is gone, however it went, its end of the pipe is closed."""

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


# --- keys


@click.group()
def keys() -> None:
    """API keys of the store: who may do what over HTTP."""


@keys.command("create")
@click.argument("name", type=NAME)
@click.option(
    "--scope", "scopes", type=click.Choice(SCOPES), multiple=True, help="What it may do; default: read and ask."
)
@click.option("--collection", "collections", type=NAME, multiple=True, help="Only this collection; default: all.")
@click.option(
    "--days", type=click.FloatRange(min=0, min_open=True), help="How long it works; default: until it is revoked."
)
@common_options
@click.pass_context
def keys_create(
    context: click.Context,
    name: str,
    scopes: tuple[str, ...],
    collections: tuple[str, ...],
    days: float | None,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a key and print it: it is shown this once, the store keeps its hash only."""
    lifetime_s = None if days is None else days * _DAY_S
    with open_application(context, store, assignments, create=True) as app:
        key, token = app.keys.create(
            name, scopes=scopes or ("read", "ask"), collections=collections, lifetime_s=lifetime_s
        )
    if as_json:
        print_json({**_key_json(key), "key": token})
    else:
        say(token)


@keys.command("ls")
@common_options
@click.pass_context
def keys_ls(context: click.Context, store: Path | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """List keys, those that were revoked or have expired too."""
    with open_application(context, store, assignments) as app:
        found = [(key, app.keys.works(key)) for key in app.keys.all()]
    if as_json:
        print_json({"keys": [{**_key_json(key), "works": works} for key, works in found]})
        return
    rows = []
    for key, works in found:
        state = "works" if works else "revoked" if key.revoked_at else "expired"
        until = f"until {_day(key.expires_at)}" if key.expires_at else "no end"
        rows.append(
            (key.id, state, ",".join(key.scopes), ",".join(key.collections) or "all collections", until, key.name)
        )
    print_columns(rows)


@keys.command("revoke")
@click.argument("key", type=NAME)
@common_options
@click.pass_context
def keys_revoke(
    context: click.Context, key: str, store: Path | None, assignments: tuple[str, ...], as_json: bool
) -> None:
    """Revoke a key, by its id or name; a running server knows at once."""
    with open_application(context, store, assignments) as app:
        revoked = app.keys.revoke(key)
    if as_json:
        print_json({"revoked": revoked.id})
    else:
        say(f"revoked  {revoked.id}  {revoked.name}")


def _key_json(key: ApiKey) -> dict[str, Any]:
    from gawah.wire import to_json

    body: dict[str, Any] = to_json(key)
    return body


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
