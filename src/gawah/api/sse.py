"""Server-sent events: values to the bytes of a stream, with a sign of life while nothing happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import StreamingResponse

EVENT_STREAM = "text/event-stream"
KEEP_ALIVE_S = 15.0
ALIVE = b": alive\n\n"


def event(name: str, body: Any) -> bytes:
    """One event. JSON has no line breaks of its own, so the data is one line whatever is in it."""
    written = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"event: {name}\ndata: {_one_line(written)}\n\n".encode()


def data(body: Any) -> bytes:
    """An event without a name, as OpenAI's streams have them."""
    return (
        f"data: {_one_line(json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(',', ':')))}\n\n".encode()
    )


def _one_line(written: str) -> str:
    """Some readers split lines as Python does, at more characters than the standard's."""
    return written.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


async def kept_alive(events: AsyncIterator[bytes], every_s: float = KEEP_ALIVE_S) -> AsyncIterator[bytes]:
    """The events, and a comment whenever none has come for a while: it keeps proxies awake and finds who has left."""
    following: asyncio.Future[bytes] | None = None
    try:
        while True:
            following = following or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait({following}, timeout=every_s)
            if not done:
                yield ALIVE
                continue
            try:
                yield following.result()
            except StopAsyncIteration:
                return
            following = None
    finally:
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        await events.aclose()  # type: ignore[attr-defined]


def stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(kept_alive(events), media_type=EVENT_STREAM, headers=headers)
