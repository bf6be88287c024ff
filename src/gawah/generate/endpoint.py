"""A request to the bytes of a response, from an OpenAI-compatible endpoint: connecting, waiting out a busy server, limits.

One deadline holds for a request with all its tries. The key goes into one header and into no message, log or
representation. What the bytes mean is `sse`'s to say.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from gawah.errors import ConfigurationError, DeadlineError, GeneratorError, UnreachableError
from gawah.generate.sse import error_text, parse_object

if TYPE_CHECKING:
    import httpx

_BUSY = (429, 503)
_FIRST_PAUSE_S = 1.0  # doubles, where the server does not say how long to wait
_EVENT_BYTES_PER_CHAR = 512  # a streamed token of one character is an event of some 300 bytes
_SPARE_BYTES = 1 << 20
_LEAST_TIMEOUT_S = 0.001  # 0 would mean: without waiting at all
_ERROR_BYTES = 1 << 16  # of an error's body
_MESSAGE_CHARS = 300
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a generation may take and how much it may bring. `read_s` is the longest silence of the server."""

    connect_s: float = 10.0
    read_s: float = 60.0
    deadline_s: float = 120.0
    tries: int = 4
    max_answer_chars: int = 20_000


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, so that tests need not wait: seconds that only grow, seconds since 1970, and waiting."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


DEFAULT_LIMITS = Limits()
REAL_CLOCK = Clock()


@dataclass(frozen=True)
class Endpoint:
    """Where completions are asked for. `named` is what its URL was given as, for messages.

    Raises ConfigurationError for a URL or a key that cannot be used.
    """

    base_url: str
    api_key: str = field(default="", repr=False)
    limits: Limits = DEFAULT_LIMITS
    clock: Clock = REAL_CLOCK
    named: str = "openai_url"

    def __post_init__(self) -> None:
        import httpx

        if not self.api_key.isascii() or not self.api_key.isprintable() or self.api_key != self.api_key.strip():
            raise ConfigurationError(
                "the key of the generator's endpoint has characters that no key has; set openai_key again"
            )
        try:
            url = httpx.URL(self.base_url)
        except (httpx.InvalidURL, ValueError) as error:
            raise ConfigurationError(
                f"{self.named} is no URL: {error}; set it to one like http://127.0.0.1:11434/v1"
            ) from error
        if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
            raise ConfigurationError(
                f"{self.named} must be http://HOST or https://HOST with a port and a path at most; a key belongs in openai_key"
            )

    @property
    def server(self) -> str:
        """The endpoint, for messages."""
        return self.base_url.rstrip("/")

    def received(self, request: Mapping[str, object], deadline_s: float) -> Generator[bytes, None, None]:
        """The bytes of a response with status 200, as they arrive; close it when it is not read to its end.

        Raises DeadlineError when that takes too long, UnreachableError when the server cannot be reached or is busy to
        the last try, GeneratorError for another status, a broken connection, or more bytes than an answer has, and
        ConfigurationError when the environment's proxy or certificates cannot be used.
        """
        import httpx

        deadline = self.clock.monotonic() + deadline_s
        try:
            with self._client() as client, self._answered(client, request, deadline) as response:
                yield from self._pieces(response, deadline)
        except httpx.TimeoutException as error:
            raise DeadlineError(
                f"{self.server} did not answer in time ({_kind(error)}); try again or raise the timeout"
            ) from error
        except httpx.ConnectError as error:
            raise UnreachableError(f"cannot reach {self.server}: {self._clean(str(error))}; is it running?") from error
        except httpx.TransportError as error:
            raise GeneratorError(
                f"the connection to {self.server} broke: {self._clean(str(error))}; ask again"
            ) from error

    def _client(self) -> httpx.Client:
        import httpx

        headers = {"Accept": "text/event-stream, application/json", "Accept-Encoding": "identity"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        is_local = httpx.URL(self.base_url).host in _LOOPBACK
        try:
            return httpx.Client(
                headers=headers,
                # A busy server may close its end while we wait: the next try on that connection would break for no reason.
                limits=httpx.Limits(max_keepalive_connections=0),
                trust_env=not is_local,  # no proxy can reach this machine's own loopback
            )
        except (ImportError, ValueError, OSError) as error:  # it reads proxies and certificates at once
            raise ConfigurationError(
                f"the environment's proxy or certificates cannot be used ({self._clean(str(error))}); "
                "check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE"
            ) from error

    @contextlib.contextmanager
    def _answered(
        self, client: httpx.Client, request: Mapping[str, object], deadline: float
    ) -> Iterator[httpx.Response]:
        """A response with status 200; waits out a busy server as long as tries and deadline allow."""
        for tried in range(1, self.limits.tries + 1):
            url, timeout = f"{self.server}/chat/completions", self._timeout(deadline)
            with client.stream("POST", url, json=request, timeout=timeout) as response:
                if response.status_code == 200:
                    yield response
                    return
                said = self._error_of(response, deadline)
                if response.status_code not in _BUSY:
                    raise GeneratorError(said)
                pause = self._pause(response, tried)
            if tried == self.limits.tries or self.clock.monotonic() + pause >= deadline:
                raise UnreachableError(f"{said} ({tried} tries, the next in {pause:g} s)")
            self.clock.sleep(pause)
        raise UnreachableError(f"{self.server} was not tried; set at least one try")

    def _timeout(self, deadline: float) -> httpx.Timeout:
        """No silence may be longer than what is left: a server that says nothing is given up at the deadline."""
        import httpx

        left = max(_LEAST_TIMEOUT_S, deadline - self.clock.monotonic())
        return httpx.Timeout(min(self.limits.read_s, left), connect=min(self.limits.connect_s, left))

    def _pause(self, response: httpx.Response, tried: int) -> float:
        """Seconds until the next try: what Retry-After says (RFC 9110, a number or a date), else a growing pause."""
        said = response.headers.get("Retry-After", "").strip()
        if said.isascii() and said.isdecimal():
            return float(said[:9])
        try:
            when = parsedate_to_datetime(said)
        except ValueError:
            return float(_FIRST_PAUSE_S * 2 ** (tried - 1))
        aware = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, aware.timestamp() - self.clock.now())

    def _pieces(self, response: httpx.Response, deadline: float) -> Iterator[bytes]:
        """The body's bytes while deadline and size allow."""
        most = self.limits.max_answer_chars * _EVENT_BYTES_PER_CHAR + _SPARE_BYTES
        n_bytes = 0
        for piece in response.iter_bytes():
            n_bytes += len(piece)
            if n_bytes > most:
                raise GeneratorError(f"{self.server} sent more than {most} bytes; the model does not stop, try another")
            if self.clock.monotonic() > deadline:
                raise DeadlineError(
                    f"the answer of {self.server} took too long; raise generator_timeout_s or try another model"
                )
            yield piece

    def _error_of(self, response: httpx.Response, deadline: float) -> str:
        """One line about a response that is no answer, with the server's own words."""
        body = b""
        for piece in self._pieces(response, deadline):
            body += piece
            if len(body) > _ERROR_BYTES:
                break
        text = body[:_ERROR_BYTES].decode("utf-8", errors="replace")
        found = parse_object(text)
        said = (error_text(found) if found is not None else None) or text
        hint = {401: "; check openai_key", 403: "; check openai_key", 404: f"; check {self.named} and generator_model"}
        return f"{self.server} answered {response.status_code}: {self._clean(said)}{hint.get(response.status_code, '')}"

    def _clean(self, said: str) -> str:
        """One line, not long, and never with the key: some servers repeat it."""
        if self.api_key:
            said = said.replace(self.api_key, "***")
        line = " ".join("".join(c if c.isprintable() else " " for c in said).split())
        return (line[:_MESSAGE_CHARS] + "…" if len(line) > _MESSAGE_CHARS else line) or "nothing"


def _kind(error: Exception) -> str:
    return {"ConnectTimeout": "connecting", "ReadTimeout": "waiting for it", "WriteTimeout": "sending"}.get(
        type(error).__name__, "waiting"
    )
