"""Outlook's compressed RTF to RTF (MS-OXRTFCP): LZ77 over a window of 4,096 bytes that begins with common RTF words."""

from __future__ import annotations

from gawah.errors import ExtractionError

_PRELOADED = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbol"
    rb"ArialTimes New RomanCourier{\colortbl\red0\green0\blue0" + b"\r\n" + rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_WINDOW = 4096
_HEADER_BYTES = 16
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
_MOST_BYTES = 64 << 20


def unpacked_rtf(data: bytes) -> bytes:
    """Raises ExtractionError `damaged`. What is cut short gives what it holds."""
    kind = data[8:12]
    if kind == _PLAIN:
        return data[_HEADER_BYTES:]
    if kind != _COMPRESSED:
        raise ExtractionError("damaged", "the message's formatted body is in no known packing")
    window = bytearray(_PRELOADED.ljust(_WINDOW, b"\x00"))
    write = len(_PRELOADED)
    output = bytearray()
    at, flags, n_flags = _HEADER_BYTES, 0, 0
    while at < len(data) and len(output) < _MOST_BYTES:
        if not n_flags:
            flags, n_flags, at = data[at], 8, at + 1
            continue
        is_reference, flags, n_flags = flags & 1, flags >> 1, n_flags - 1
        if is_reference:
            pair = int.from_bytes(data[at : at + 2].ljust(2, b"\x00"), "big")
            at += 2
            offset, length = pair >> 4, (pair & 15) + 2
            if offset == write % _WINDOW:  # a reference to where writing goes on is the end
                break
        else:
            window[write % _WINDOW] = data[at]
            offset, length, at = write, 1, at + 1
        for step in range(length):  # byte by byte: a reference may reach into what it writes
            byte = window[(offset + step) % _WINDOW]
            window[(write + step) % _WINDOW] = byte
            output.append(byte)
        write += length
    return bytes(output)
