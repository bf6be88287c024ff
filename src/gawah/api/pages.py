"""Lists by pages: a cursor says where the last page ended, so that nothing is shown twice when something new comes in."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Annotated

from fastapi import Query

from gawah.api.problems import ProblemError

Limit = Annotated[int, Query(ge=1, le=500)]
Cursor = Annotated[str, Query(max_length=4096, description="next_cursor of the page before")]
PAGE = 100


def cursor_of(*key: str | int) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def number_in(cursor: str) -> int | None:
    """The number a cursor stands for; None for none. ProblemError for what is no cursor of ours."""
    if not cursor:
        return None
    key = _key(cursor)
    if len(key) != 1 or type(key[0]) is not int or not 0 <= key[0] < 1 << 62:
        raise _foreign()
    return key[0]


def names_in(cursor: str) -> tuple[str, str]:
    """The collection and name a cursor stands for; two empty ones for none."""
    if not cursor:
        return "", ""
    key = _key(cursor)
    if len(key) != 2 or not all(isinstance(part, str) for part in key):
        raise _foreign()
    return str(key[0]), str(key[1])


def _key(cursor: str) -> list[object]:
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode("utf-8"))
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, binascii.Error, RecursionError) as error:
        raise _foreign() from error
    if not isinstance(found, list):
        raise _foreign()
    return found


def _foreign() -> ProblemError:
    return ProblemError(400, "cursor", "this is no cursor of this list; begin again without one")
