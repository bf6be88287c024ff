"""The command line: parse, call, print. Data goes to stdout, progress and errors to stderr.

Exit codes: 0 ok, 1 failure, 2 usage, 3 refused, 4 partial, 5 configuration, 6 verification failed, 7 unreachable;
130 interrupted, 141 the reader of the output has left.
"""

import os
import sys

from gawah.cli.interrupts import INTERRUPTED, leave_at_once

__all__ = ["main"]


def main() -> None:
    """Runs the command line and exits. The commands are loaded under a handler: an interrupt may come at any moment.

    An interrupted one does not wait for threads that are still at work: a local model ends its step first.
    """
    leave_at_once()
    from gawah.cli.entry import run

    code = run()
    if code == INTERRUPTED:
        os._exit(code)
    sys.exit(code)
