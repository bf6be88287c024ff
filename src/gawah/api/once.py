"""Requests with an Idempotency-Key: the same key with the same request is done once, however often it is sent."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Header

from gawah.api.problems import ProblemError
from gawah.api.served import Served
from gawah.store.uploads import OnceKey

IdempotencyKey = Annotated[str | None, Header(max_length=255, description="any text of yours; remembered for a day")]
REPLAYED = {"Idempotent-Replayed": "true"}
_PRINTABLE = re.compile(r"[\x21-\x7e]{1,255}")


def once_key(who: str, route: str, idempotency: str | None, request_sha256: str) -> OnceKey | None:
    """None when the sender gave no key. ProblemError 400 for one that is no printable ASCII."""
    if idempotency is None:
        return None
    if not _PRINTABLE.fullmatch(idempotency):
        raise ProblemError(
            400, "idempotency_key", "an Idempotency-Key is 1 to 255 printable ASCII characters without blanks"
        )
    return OnceKey(who, route, idempotency, request_sha256)


@contextlib.contextmanager
def at_once(store: Served, who: str, route: str, idempotency: str | None) -> Iterator[None]:
    """While a request with a key is under way another with the same key is told so (409)."""
    if idempotency is None:
        yield
        return
    mark = (who, route, idempotency)
    if mark in store.under_way:
        raise ProblemError(409, "in_progress", "a request with this Idempotency-Key is under way; wait for it")
    store.under_way.add(mark)
    try:
        yield
    finally:
        store.under_way.discard(mark)


async def made_before(store: Served, once: OnceKey | None) -> dict[str, Any] | None:
    """What the same request made; ProblemError 422 when the key was used for another request."""
    if once is None:
        return None
    found = await store.read(store.app.uploads.done_before, once)
    if found is None:
        return None
    request_sha256, made = found
    if request_sha256 != once.request_sha256:
        raise ProblemError(
            422, "idempotency_mismatch", "this Idempotency-Key was used for another request; take a new one"
        )
    return made
