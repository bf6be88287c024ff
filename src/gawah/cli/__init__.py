"""The command line: parse, call, print. Data goes to stdout, progress and errors to stderr.

Exit codes: 0 ok, 1 failure, 2 usage, 3 refused, 4 partial, 5 configuration, 6 verification failed, 7 unreachable.
"""

from gawah.cli.entry import main

__all__ = ["main"]
