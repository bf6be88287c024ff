"""Decoder for Chakor frames, version 3, as run on every Shikra gateway.

A frame is what a logger sends over the air: a short header, a few records of
five bytes, and a checksum.  This module turns the bytes into plain Python
objects, applies the unit of every channel, and marks steps in the stage.

Run it on a hexadecimal dump to see what a logger said::

    python3 decode_frame.py c49a03000d66bbcba8100100001dce050000339a2770

The module uses nothing outside the standard library, because a gateway on a
mountain is not a good place for installing things.
"""

import struct
import sys
from dataclasses import dataclass, field
from datetime import datetime, timezone

SYNC = b"\xc4\x9a"
VERSION = 3
HEADER_LENGTH = 10
RECORD_LENGTH = 5
MAX_RECORDS = 24

FLAG_BATTERY_LOW = 0x01
FLAG_CLOCK_UNSYNCED = 0x02
FLAG_STEP_MARKED = 0x04
FLAG_TEST_MODE = 0x08
FLAG_REPLAYED = 0x10

# channel number -> (name, unit, divisor applied to the raw integer)
CHANNELS = {
    0x01: ("stage", "m", 1000.0),
    0x02: ("rain", "mm", 5.0),
    0x03: ("air_temperature", "degC", 100.0),
    0x04: ("humidity", "percent", 10.0),
    0x05: ("battery", "V", 1000.0),
    0x06: ("pressure", "hPa", 10.0),
    0x07: ("water_temperature", "degC", 100.0),
    0x08: ("wind_speed", "m/s", 10.0),
}


class FrameError(ValueError):
    """A frame that cannot be trusted; the text says which test it failed."""


@dataclass
class Record:
    """One measured value, already in the unit of its channel."""

    channel: str
    value: float
    unit: str
    quality: str = "G"


@dataclass
class Frame:
    """A decoded frame with its header and its records."""

    station: int
    time: datetime
    flags: int
    records: list = field(default_factory=list)

    @property
    def is_test(self):
        """True when the logger was in test mode; such frames are never published."""
        return bool(self.flags & FLAG_TEST_MODE)


def crc16(data, crc=0xFFFF):
    """Return the CRC-16/CCITT-FALSE checksum: polynomial 0x1021, start 0xFFFF."""
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


class FrameDecoder:
    """Splits a byte string into frames and refuses everything doubtful.

    ``strict`` decides what happens with a channel that is not in the table:
    a strict decoder raises, a lenient one skips the record.  The gateways run
    lenient, since a new logger must not silence an old gateway.
    """

    def __init__(self, strict=False):
        self.strict = strict
        self.refused = 0

    def decode(self, frame):
        """Decode one complete frame and return a :class:`Frame`."""
        if len(frame) < HEADER_LENGTH + 2:
            raise FrameError("shorter than a header and a checksum")
        if frame[:2] != SYNC:
            raise FrameError("does not start with the sync bytes c4 9a")
        if frame[2] != VERSION:
            raise FrameError(f"version {frame[2]}, only {VERSION} is understood")
        if crc16(frame[:-2]) != struct.unpack(">H", frame[-2:])[0]:
            self.refused += 1
            raise FrameError("checksum is wrong")
        station, seconds, flags = struct.unpack(">HIB", frame[3:HEADER_LENGTH])
        body = frame[HEADER_LENGTH:-2]
        if len(body) % RECORD_LENGTH or len(body) > MAX_RECORDS * RECORD_LENGTH:
            raise FrameError(f"body of {len(body)} bytes is not a whole number of records")
        result = Frame(station, datetime.fromtimestamp(seconds, timezone.utc), flags)
        for start in range(0, len(body), RECORD_LENGTH):
            record = self._record(body[start:start + RECORD_LENGTH], flags)
            if record is not None:
                result.records.append(record)
        return result

    def _record(self, raw, flags):
        """Decode five bytes: a channel number and a signed 32-bit integer."""
        channel, number = struct.unpack(">Bi", raw)
        if channel not in CHANNELS:
            if self.strict:
                raise FrameError(f"unknown channel 0x{channel:02x}")
            return None
        name, unit, divisor = CHANNELS[channel]
        return Record(name, number / divisor, unit, quality_letter(flags))


def quality_letter(flags):
    """Choose the quality letter of a record from the flags of its frame.

    Replayed wins over suspect: the forecast desk must first know that a number
    is old, and only then whether it is doubtful.
    """
    if flags & FLAG_REPLAYED:
        return "R"
    if flags & (FLAG_STEP_MARKED | FLAG_CLOCK_UNSYNCED):
        return "S"
    return "G"


def station_code(number):
    """Return the public code of a station number: 13 is TML-13, 2106 is TMR-06."""
    return f"TMR-{number - 2100:02d}" if number > 2100 else f"TML-{number:02d}"


class StepMarker:
    """Marks, and never removes, implausible steps in a series of stages."""

    def __init__(self, limit_m=0.75, interval_s=300):
        self.limit_m = limit_m
        self.interval_s = interval_s
        self._last = None

    def check(self, time_s, stage_m):
        """Return True when the step since the last sample deserves LVL-E30."""
        previous, self._last = self._last, (time_s, stage_m)
        if previous is None or time_s - previous[0] > self.interval_s:
            return False
        return abs(stage_m - previous[1]) > self.limit_m


def confirm_burst(stages, tolerance_m=0.10, needed=3):
    """Return True when the last ``needed`` burst samples agree.

    This is the test that turns an amber LVL-E30 into a red one.  It looks at
    the newest samples only: in July 2023 the first one was still on the way up.
    """
    tail = stages[-needed:]
    return len(tail) == needed and max(tail) - min(tail) <= tolerance_m


def first_battery_byte(frame):
    """Return the byte that old log viewers show in the column ``frame[12]``.

    It is kept for the paper forms of 2016, which have a box for it.
    """
    return frame[12] if len(frame) > 12 else None


def main(arguments):
    """Decode every hexadecimal argument and print one line for each record."""
    decoder = FrameDecoder(strict="--strict" in arguments)
    for text in arguments:
        if text.startswith("--"):
            continue
        try:
            frame = decoder.decode(bytes.fromhex(text))
        except (FrameError, ValueError) as error:
            print(f"refused: {error}", file=sys.stderr)
            continue
        for record in frame.records:
            print(f"{frame.time:%Y-%m-%dT%H:%M:%SZ},{station_code(frame.station)},"
                  f"{record.channel},{record.value:g},{record.unit},{record.quality}")
    return 1 if decoder.refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
