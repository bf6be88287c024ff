"""Number formats and serial numbers of spreadsheets to ISO dates and times."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

# Built-in formats that are dates, times or both (ECMA-376 part 1, 18.8.30; 27–36 and 50–58 in East Asian locales).
_DATES = {14: "date", 15: "date", 16: "date", 17: "date", 18: "time", 19: "time", 20: "time", 21: "time", 22: "both",
          45: "time", 46: "time", 47: "time", **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "date")}  # fmt: skip
_NO_LETTERS = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|general|am/pm|a/p', re.IGNORECASE)
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 — sheets know no zones
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_FIRST_SAFE_DAY = 60  # before it, serial numbers count a 29 February 1900 that never was
_LAST_DAY = 2_958_465  # 9999-12-31
_DAY_S = 86_400


def kind_of_format(number: int, code: str) -> str:
    """What a number format shows: "date", "time", "both", or "" for a plain number. `code` wins when there is one."""
    if not code:
        return _DATES.get(number, "")
    bare = _NO_LETTERS.sub("", code.partition(";")[0]).lower()
    has_date = "d" in bare or "y" in bare or ("m" in bare and not re.search(r"[hs]", bare))
    has_time = "h" in bare or "s" in bare
    if has_date and has_time:
        return "both"
    return "date" if has_date else "time" if has_time else ""


def iso_date(serial: float, kind: str, *, from_1904: bool) -> str:
    """Like 2024-05-01, 2024-05-01 13:30, 13:30:15; empty when the number is no date (below 1, after 9999)."""
    if not 0 <= serial <= _LAST_DAY:
        return ""
    if serial < 1:  # a time without a day; day 0 is none
        if kind == "date":
            return ""
        return _clock(timedelta(seconds=round(serial * _DAY_S)))
    if kind == "time":
        hours, rest = divmod(round(serial * _DAY_S), 3600)
        return f"{hours}:{rest // 60:02}:{rest % 60:02}"
    start = _EPOCH_1904 if from_1904 else _EPOCH
    if not from_1904 and serial < _FIRST_SAFE_DAY:
        serial += 1
    moment = start + timedelta(seconds=round(serial * _DAY_S))
    day = moment.date().isoformat()
    since_midnight = timedelta(hours=moment.hour, minutes=moment.minute, seconds=moment.second)
    return day if kind == "date" or not since_midnight else f"{day} {_clock(since_midnight)}"


def _clock(since_midnight: timedelta) -> str:
    minutes, seconds = divmod(int(since_midnight.total_seconds()), 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}"
    return f"{clock}:{seconds:02}" if seconds else clock
