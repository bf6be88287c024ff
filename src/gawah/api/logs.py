"""Events to lines of JSON on standard error: one object a line, ASCII only, so that no value can forge a line or a colour."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from typing import Any

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING}
_LOGGER = logging.getLogger("gawah.api")


class JsonLines(logging.Formatter):
    """Every record as one object: those of `log` as they are, those of libraries with their message."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", None) or {"event": "message", "message": record.getMessage()}
        line = {"time": _stamp(record.created), "level": record.levelname.lower(), "logger": record.name, **fields}
        if record.exc_info:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(line, default=str)


def set_up() -> None:
    """Sends everything at `info` and above to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("uvicorn").propagate = True
    logging.getLogger("httpx").setLevel(logging.WARNING)


def log(event: str, **fields: Any) -> None:
    """One line. An `event` of error or warning is of that level."""
    _LOGGER.log(_LEVELS.get(event, logging.INFO), event, extra={"fields": {"event": event, **fields}})


def audit(action: str, *, key: str, request_id: str, **fields: Any) -> None:
    """Who did what to what: uploads, removals, questions, and doors that stayed shut."""
    log("audit", action=action, key=key, request_id=request_id, **fields)


def _stamp(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03}Z"
