"""Ctrl-C at any moment: one line and exit code 130, never a traceback. Nothing heavy is imported here.

While the program starts, while a module is loaded (a compiled one that is interrupted prints a traceback of its own) and
while it ends there is nothing to tidy up, so the process leaves at once; a store survives that as it survives `kill -9`.
Otherwise the first interrupt is a KeyboardInterrupt, so that what was claimed is given back, and a second one leaves.
It is not raised inside of the store: between the statements that open and end a transaction an exception can come from
places that no `try` covers (the first instruction of an `__exit__`), and would leave the transaction open behind it.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
MESSAGE = "interrupted; what was acknowledged is kept"
_IMPORTING = "<frozen importlib._bootstrap>"
_STORE = "gawah.store"
_BORDER = "contextlib"  # the store's transactions are entered and left through it; whatever runs inside of it may be raised in
_RETRY_S = 0.01


def leave_at_once() -> None:
    """From now on an interrupt ends the process; one that was put off is forgotten."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # started with `nohup` or in the background of a script
        signal.signal(signal.SIGINT, _leave)


def raise_once() -> None:
    """From now on an interrupt is raised where the program is; the next one ends the process."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _raise)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, f"gawah: {MESSAGE}\n".encode())
    finally:
        os._exit(INTERRUPTED)


def _raise(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, _leave)
    above, in_store = frame, _module_of(frame) == _BORDER
    while above is not None:
        if above.f_code.co_filename == _IMPORTING:
            _leave(number, frame)
        in_store = in_store or _module_of(above).startswith(_STORE)
        above = above.f_back
    if in_store:
        signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, _RETRY_S)
    else:
        raise KeyboardInterrupt


def _module_of(frame: FrameType | None) -> str:
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))
