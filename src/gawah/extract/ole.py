"""OLE compound files (the old Office formats, Outlook's messages, encrypted OOXML): what kind one is, and its streams."""

from __future__ import annotations

import io
import struct
from typing import Any

from gawah.errors import ExtractionError

ENCRYPTED_OOXML = "application/x-ooxml-encrypted"
XLS = "application/vnd.ms-excel"
MSG = "application/vnd.ms-outlook"
OLE = "application/x-ole-storage"
_KINDS = (
    ("encryptedpackage", ENCRYPTED_OOXML),
    ("workbook", XLS),
    ("book", XLS),
    ("worddocument", "application/msword"),
    ("powerpoint document", "application/vnd.ms-powerpoint"),
    ("__properties_version1.0", MSG),
)
FAULTS = (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, struct.error)


def open_ole(data: bytes) -> Any:
    """An olefile.OleFileIO; raises ExtractionError `damaged`."""
    import olefile

    try:
        return olefile.OleFileIO(io.BytesIO(data))
    except (*FAULTS, RecursionError) as error:
        raise ExtractionError(
            "damaged", f"the compound file is cut short or damaged ({error}); save it again"
        ) from error


def ole_kind(data: bytes) -> str:
    """The media type by the names at the top of the file; OLE's own when they tell nothing or cannot be read."""
    try:
        with open_ole(data) as ole:
            names = {entry[0].casefold() for entry in ole.listdir(streams=True, storages=True) if len(entry) == 1}
    except ExtractionError:
        return OLE
    return next((media_type for name, media_type in _KINDS if name in names), OLE)
