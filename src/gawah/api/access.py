"""Who may do what: keys to principals with scopes and collections, the checks of Host and Origin, and how often.

A browser on this machine can be made to send requests here by any page it shows. So without a key a request is only
heard when it is addressed to this machine by name (DNS rebinding) and does not come from another site (CSRF).
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from gawah.api.problems import ProblemError
from gawah.principal import LOCAL_PRINCIPAL, Principal
from gawah.types import ApiKey

__all__ = [
    "LOCAL_PRINCIPAL", "DoorPolicy", "Principal", "RateLimit", "is_loopback", "names_of", "principal_of", "token_of", "unauthorised"
]  # fmt: skip

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_FORWARDED = ("x-forwarded-for", "x-forwarded-host", "forwarded", "x-real-ip")
_SAFE = ("GET", "HEAD", "OPTIONS")
_MOST_BUCKETS = 10_000


def principal_of(key: ApiKey) -> Principal:
    return Principal(key.id, frozenset(key.scopes), key.collections)


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class DoorPolicy:
    """How the server is reached: at loopback or not, under which further names, and whether a key is always asked for."""

    loopback: bool
    allowed_hosts: tuple[str, ...] = ()
    require_key: bool = False

    def objection(self, method: str, headers: Mapping[str, str]) -> ProblemError | None:
        """Why a request is not heard at all: its Host is not one of ours, or it comes from another site."""
        host = headers.get("host", "").lower()
        if not self._is_ours(host):
            return ProblemError(421, "host", "this server is not known under that name; see the setting allowed_hosts")
        origin = headers.get("origin")
        if origin is not None and (origin == "null" or urlsplit(origin.lower()).netloc != host):
            return ProblemError(403, "origin", "requests of other sites are not heard")
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
        if site in ("cross-site", "same-site") and not (method in _SAFE and mode == "navigate"):
            return ProblemError(403, "origin", "requests of other sites are not heard")
        return None

    def needs_no_key(self, headers: Mapping[str, str]) -> bool:
        """Only for who sits at this machine: a proxy's requests come from loopback too, but they say so."""
        if self.require_key or not self.loopback or any(name in headers for name in _FORWARDED):
            return False
        return _bare(headers.get("host", "").lower()) in _LOOPBACK_NAMES

    def _is_ours(self, host: str) -> bool:
        known = {name.strip().lower() for name in self.allowed_hosts if name.strip()}
        if not self.loopback and not known:
            return True  # keys are needed there, and a page of another site has none
        return _bare(host) in _LOOPBACK_NAMES | known


def _bare(host: str) -> str:
    """The name of a Host header without its port."""
    name, separator, port = host.rpartition(":")
    return name if separator and port.isdigit() else host


class RateLimit:
    """A bucket of tokens for each caller: it holds a minute's worth and fills all the time."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> None:
        """Raises ProblemError 429, with the seconds to wait, when the caller has none left."""
        if not self._per_minute:
            return
        now, rate = self._clock(), self._per_minute / 60
        with self._lock:
            tokens, then = self._buckets.pop(caller, (float(self._per_minute), now))
            tokens = min(float(self._per_minute), tokens + (now - then) * rate)
            self._buckets[caller] = (tokens - 1 if tokens >= 1 else tokens, now)
            while len(self._buckets) > _MOST_BUCKETS:
                self._buckets.pop(next(iter(self._buckets)))  # whoever has been away longest: full again
        if tokens < 1:
            wait_s = str(max(1, round((1 - tokens) / rate)))
            raise ProblemError(
                429, "rate_limited", f"too many requests; wait {wait_s} s", headers={"Retry-After": wait_s}
            )


def token_of(authorization: str | None) -> str | None:
    """The token of an Authorization header; ProblemError for one of another kind."""
    if authorization is None:
        return None
    kind, _, token = authorization.partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise unauthorised("give the key as: Authorization: Bearer KEY")
    return token.strip()


def unauthorised(detail: str) -> ProblemError:
    return ProblemError(401, "unauthorised", detail, headers={"WWW-Authenticate": 'Bearer realm="gawah"'})


def names_of(hosts: str) -> Sequence[str]:
    """The names of the setting `allowed_hosts`."""
    return [name.strip() for name in hosts.split(",") if name.strip()]
