"""Text to a terminal, made safe: what a document, a generator or a file name brings along must not steer the screen.

Everything the command line prints goes through here. Control characters are shown instead of sent, one line stays one
line, JSON keeps its strings but escapes what a terminal would obey. What the text stands for is in `--json`, exactly.
"""

from __future__ import annotations

import json
import re
import sys

import click

_C0_PICTURES = 0x2400  # "Control Pictures": ␀ stands for U+0000, ␛ for ESC
_DEL_PICTURE = "\u2421"
# C0 but tab and line feed, DEL and C1, line and paragraph separator, bidi embeddings, overrides and isolates (Unicode
# UAX #9; the marks U+200E, U+200F and U+061C stay, Urdu and Persian are written with them), and lone surrogates: bytes
# of a command line or a file name that are no UTF-8, which no stream can encode.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # C0 is escaped already
_ESCAPED_BYTES = range(0xDC80, 0xDD00)  # PEP 383: byte b that was no UTF-8 is U+DC00 + b


def visible(text: str) -> str:
    r"""The text with every character that could steer a terminal shown: ESC as ␛, U+009B as \x9b, U+202E as \u202e.

    Tabs and line feeds stay. Applied twice it changes nothing more.
    """
    return _UNSAFE.sub(lambda match: _shown(match.group()), text)


def visible_line(text: str) -> str:
    """The same for what must be one line, like a name or a reason: tabs and line feeds are shown too."""
    return visible(text).replace("\n", "\u240a").replace("\t", "\u2409")


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_C0_PICTURES + code)
    if code == 0x7F:
        return _DEL_PICTURE
    if code in _ESCAPED_BYTES:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def say(line: str = "", *, err: bool = False) -> None:
    """Prints one line, whatever is in it."""
    click.echo(visible_line(line), err=err)


def say_text(text: str) -> None:
    """Prints text of several lines; ends in exactly one more line feed only if it has none."""
    click.echo(visible(text), nl=not text.endswith("\n"))


def print_json(value: object) -> None:
    """The value as JSON that means the same and steers nothing."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8")
    written = json.dumps(value, ensure_ascii=not is_unicode, indent=2, allow_nan=False)
    click.echo(_UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", written))
