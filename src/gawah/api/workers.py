"""Ingest processes beside the server: started, watched, started again; what a dead one held is queued anew at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Sequence

from gawah.api.logs import log
from gawah.api.served import Served
from gawah.errors import StoreError
from gawah.ingest import worker_name

ATTACHED = "--attached"  # the worker ends when its standard input does: it does not outlive a server that was killed
_CONFIGURATION = 5  # exit code: what no restart mends
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_STOP_S = 15.0


async def keep_workers(store: Served, arguments: Sequence[str]) -> None:
    """Keeps as many workers running as the settings say, until cancelled; then all have ended."""
    async with asyncio.TaskGroup() as group:
        for _ in range(store.n_workers_wanted):
            group.create_task(_keep_one(store, arguments))


async def _keep_one(store: Served, arguments: Sequence[str]) -> None:
    pause_s = _FIRST_PAUSE_S
    while True:
        started = asyncio.get_running_loop().time()
        code = await _run_one(store, arguments)
        log("warning", worker="ended", code=code)
        store.metrics.count("gawah_worker_restarts_total")
        if code == _CONFIGURATION:
            pause_s = _LONGEST_PAUSE_S
        elif asyncio.get_running_loop().time() - started > _LONGEST_PAUSE_S:
            pause_s = _FIRST_PAUSE_S
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


async def _run_one(store: Served, arguments: Sequence[str]) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gawah", *arguments, ATTACHED,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the terminal reaches the server, and the server ends its workers
    )  # fmt: skip
    store.n_workers += 1
    try:
        return await process.wait()
    finally:
        store.n_workers -= 1
        await _ended(process)
        try:
            await store.read(store.app.catalog.reclaim, worker_name(process.pid))
        except StoreError as error:  # a database that is away: what the worker held is free when its lease has run out
            log("warning", worker="not reclaimed", error=str(error))


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Asks a process to end, and ends it when it does not."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(_STOP_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
