"""Names that come from others, of documents and collections: checked before anything is called by them."""

from __future__ import annotations

import re

from gawah.errors import UsageError

NAME_CHARS = 1024
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def checked_name(name: str, what: str) -> str:
    """The name without blanks at its ends; parts are separated by "/" and never lead up or out. Raises UsageError."""
    name = name.strip()
    if not name:
        raise UsageError(f"the {what} is empty")
    if _CONTROL.search(name) or "\\" in name:
        raise UsageError(f"the {what} holds a control character or a backslash")
    if len(name) > NAME_CHARS or any(len(part.encode()) > NAME_CHARS for part in name.split("/")):
        raise UsageError(f"the {what} is longer than {NAME_CHARS} characters")
    if any(part in ("", ".", "..") for part in name.split("/")):
        raise UsageError(f"the {what} is a path; write folder/file, without . and .. and / at its ends")
    return name
