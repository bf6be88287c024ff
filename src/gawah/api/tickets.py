"""Tickets: what a browser loads by address alone (pictures, recordings, frames) cannot carry a key, so its address carries a
ticket instead. One opens the reading of one document, or of one run, to whoever its owner is, for an hour.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

LIFETIME_S = 3600.0
PARAMETER = "ticket"
_MOST = 10_000
_PREFIX = re.compile(r"/v1/(?:documents|runs)/[A-Za-z0-9][A-Za-z0-9._-]{0,127}/")


@dataclass(frozen=True, slots=True)
class _Ticket:
    prefix: str
    token: str
    until: float


class Tickets:
    """The tickets of one server; they end with it. Safe from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._issued: dict[str, _Ticket] = {}

    def issue(self, prefix: str, token: str) -> str:
        """A ticket for the paths that begin with `prefix`, which stands for the key `token`; ValueError for another prefix."""
        if not _PREFIX.fullmatch(prefix):
            raise ValueError("a ticket is for /v1/documents/ID/ or /v1/runs/NAME/")
        ticket, now = secrets.token_urlsafe(24), self._clock()
        with self._lock:
            self._issued[ticket] = _Ticket(prefix, token, now + LIFETIME_S)
            for old in [key for key, one in self._issued.items() if one.until <= now]:
                del self._issued[old]
            while len(self._issued) > _MOST:
                del self._issued[next(iter(self._issued))]
        return ticket

    def token(self, ticket: str, method: str, path: str) -> str | None:
        """The key that a ticket stands for at a path; None where it opens nothing. The key may have been revoked since."""
        if method not in ("GET", "HEAD"):
            return None
        with self._lock:
            found = self._issued.get(ticket)
        if found is None or found.until <= self._clock() or not path.startswith(found.prefix):
            return None
        return found.token
