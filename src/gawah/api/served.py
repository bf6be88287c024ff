"""What every route works with: the application, threads to call it in, and who is asking."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar

from fastapi import Depends, Request

from gawah.api.access import LOCAL_PRINCIPAL, DoorPolicy, Principal, RateLimit, principal_of, token_of, unauthorised
from gawah.api.kept import Kept
from gawah.api.logs import audit
from gawah.api.metrics import Metrics
from gawah.api.problems import ProblemError, request_id_of
from gawah.api.tickets import PARAMETER, Tickets
from gawah.app import Application
from gawah.types import Document

if TYPE_CHECKING:
    from gawah.api.viewer import Picture

P = ParamSpec("P")
T = TypeVar("T")

ASKING_THREADS = 8
READING_THREADS = 8
LOOKING_THREADS = 3
_PICTURES_BYTES = 64_000_000
_DOCUMENTS_CHARS = 16_000_000
_PLACE_CHARS = 100  # what a place weighs beside the text
MOST_WAITING = 256  # questions in hand; more are told to come back, so that none waits for ever


@dataclass(slots=True)
class Served:
    """One served store. Three pools: a language model that is slow holds up askers, and a page that is slow to draw whoever
    looks at originals, but neither the list of documents nor the check of a key.

    The threads live as long as the server, and each has its own connection to the catalog: there are never more.
    """

    app: Application
    policy: DoorPolicy
    metrics: Metrics = field(default_factory=Metrics)
    n_workers_wanted: int = 0
    n_workers: int = 0
    is_ready: bool = False
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    under_way: set[tuple[str, str, str]] = field(default_factory=set)
    n_asking: int = 0
    tickets: Tickets = field(default_factory=Tickets)
    pictures: Kept[Picture] = field(init=False)
    documents: Kept[Document] = field(init=False)
    limit: RateLimit = field(init=False)
    asking: ThreadPoolExecutor = field(init=False)
    reading: ThreadPoolExecutor = field(init=False)
    looking: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.limit = RateLimit(self.app.settings.requests_per_minute)
        self.pictures = Kept(_PICTURES_BYTES, lambda picture: len(picture.png))
        self.documents = Kept(_DOCUMENTS_CHARS, lambda one: len(one.text) + _PLACE_CHARS * len(one.places))
        self.asking = ThreadPoolExecutor(ASKING_THREADS, thread_name_prefix="ask")
        self.reading = ThreadPoolExecutor(READING_THREADS, thread_name_prefix="read")
        self.looking = ThreadPoolExecutor(LOOKING_THREADS, thread_name_prefix="look")

    def close(self) -> None:
        for pool in (self.asking, self.reading, self.looking):
            pool.shutdown(wait=True, cancel_futures=True)

    async def read(self, call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Calls something short, most often the catalog, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self.reading, functools.partial(call, *args, **options))

    async def look(self, call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Calls what takes as long as a file wants, within its limits, in a thread of those few that do only that."""
        return await asyncio.get_running_loop().run_in_executor(self.looking, functools.partial(call, *args, **options))

    def ask(self, call: Callable[[], T]) -> asyncio.Future[T]:
        """Starts an answer in a thread. ProblemError when too many wait already."""
        if self.n_asking >= MOST_WAITING:
            raise ProblemError(503, "busy", "too many questions at once; ask again", headers={"Retry-After": "2"})
        self.n_asking += 1
        future = asyncio.get_running_loop().run_in_executor(self.asking, call)
        future.add_done_callback(self._asked)
        return future

    def _asked(self, future: asyncio.Future[T]) -> None:
        self.n_asking -= 1
        if not future.cancelled():
            future.exception()  # looked at, or asyncio complains about an answer whose asker has left


class Stop(threading.Event):
    """Set when whoever asked has left: the thread that writes their answer ends at the next sentence."""


async def served(request: Request) -> Served:
    found: Served = request.app.state.served
    return found


ServedStore = Annotated[Served, Depends(served)]


async def identify(request: Request, store: ServedStore) -> Principal:
    """Who asks, by their key or a ticket of it, or because they sit at this machine. Raises ProblemError 401 and 429."""
    token = token_of(request.headers.get("authorization"))
    if token is None and (ticket := request.query_params.get(PARAMETER)):
        token = store.tickets.token(ticket, request.method, request.scope["path"])  # not of an address made from Host
    address = request.client.host if request.client else ""
    if token is None:
        if store.policy.needs_no_key(request.headers):
            request.scope["gawah.key"] = LOCAL_PRINCIPAL.id
            return LOCAL_PRINCIPAL
        store.limit.take(f"address {address}")
        raise unauthorised("an API key is needed; `gawah keys create` makes one")
    key = await store.read(store.app.keys.recognise, token)
    if key is None:
        store.limit.take(f"address {address}")
        audit("refused_key", key="", request_id=request_id_of(request), address=address)
        raise unauthorised("this key opens nothing; it may be mistyped, expired or revoked")
    store.limit.take(key.id)
    request.scope["gawah.key"] = key.id
    request.scope["gawah.token"] = token
    return principal_of(key)


def requires(scope: str) -> Callable[..., Awaitable[Principal]]:
    """A dependency: the principal, who has the scope."""

    async def check(who: Annotated[Principal, Depends(identify)]) -> Principal:
        if not who.may(scope):
            raise ProblemError(403, "forbidden", f"this key lacks the scope {scope}")
        return who

    return check


Anyone = Annotated[Principal, Depends(identify)]
Reader = Annotated[Principal, Depends(requires("read"))]
Asker = Annotated[Principal, Depends(requires("ask"))]
Ingester = Annotated[Principal, Depends(requires("ingest"))]
Admin = Annotated[Principal, Depends(requires("admin"))]
