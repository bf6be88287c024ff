"""RTF to a document: headings by outline level or style, items, tables, notes; hidden and deleted text kept aside.

An own reader of the control words (Rich Text Format 1.9.1): a library that only strips them loses all structure, and
cannot say what it left out. It does not recurse.
"""

from __future__ import annotations

import copy
import re

from gawah.extract.assembly import Assembly, sane_title
from gawah.extract.canonical import stem
from gawah.extract.raised import Height
from gawah.extract.rtf_flow import State, Style, Writing
from gawah.extract.rtf_words import (
    CODECS,
    DEFAULT_CODEC,
    ENTERED,
    LEFT_OUT,
    REMOVED,
    SIGNS,
    SYMBOL_CHARSET,
)
from gawah.types import Document, SourceFile

_TOKEN = re.compile(
    rb"\\(?:([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|'([0-9a-fA-F]{2})|([^a-zA-Z]))|([{}])|([^\\{}\r\n]+)|[\r\n]+", re.DOTALL
)
_PARAGRAPH_ENDS = frozenset({"par", "sect", "page"})
_UNKNOWN_CODEC = "symbol"
# \up and \dn move letters by half-points, 6 when no number is given.
_STRIKING = ("strike", "striked")
_HEIGHTS: dict[str, Height] = {"super": "raised", "up": "raised", "sub": "sunk", "dn": "sunk", "nosupersub": ""}


class RtfExtractor:
    """application/rtf."""

    name = "rtf"
    version = 3

    def extract(self, source: SourceFile, data: bytes) -> Document:
        """The title is the property's, else that of the paragraph set as title, else the first heading, else the name.

        Raises ExtractionError `empty`.
        """
        reader = _Reader()
        reader.read(data)
        assembly = reader.assembly
        title = sane_title(reader.title, reader.writing.set_title, assembly.first_heading, stem(source.name))
        return assembly.document(source, f"{self.name}/{self.version}", title=title)


class _Reader:
    def __init__(self) -> None:
        self.assembly = Assembly()
        self.title = ""
        self._state = State()
        self._stack: list[State] = []
        self.writing = Writing(self.assembly)
        self._bytes = bytearray()
        self._units: list[int] = []  # UTF-16, for characters given by number
        self._n_to_skip = 0
        self._default_codec = DEFAULT_CODEC
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._style = Style()

    def read(self, data: bytes) -> None:
        position = 0
        while (match := _TOKEN.match(data, position)) is not None:
            position = match.end()
            word, number, code, symbol, brace, raw = match.groups()
            if raw is not None:
                self._characters(raw)
            elif code is not None:
                self._characters(bytes((int(code, 16),)))
            elif brace is not None:
                self._flush()
                self._open() if brace == b"{" else self._close()
            elif word == b"bin":
                position += max(0, int(number or 0))
            elif word is not None:
                self._word(word.decode("ascii"), int(number) if number is not None else None)
            elif symbol is not None:
                self._symbol(symbol.decode("latin-1"))
        while self._stack:
            self._flush()
            self._close()
        self._flush()
        self.writing.finish(self._state)

    def _open(self) -> None:
        self._stack.append(self._state)
        self._state = copy.copy(self._state)
        self._state.begins, self._state.is_optional = True, False
        self._n_to_skip = 0

    def _close(self) -> None:
        if self._state.target == "style" and self._style.name:
            self.writing.styles[self._style.number] = self._style
            self._style = Style()
        if not self._stack:
            return
        self._state = self._stack.pop()
        self._n_to_skip = 0
        self.writing.close_note(len(self._stack), self._state)

    # --- characters

    def _characters(self, raw: bytes) -> None:
        if self._n_to_skip:
            n = min(self._n_to_skip, len(raw))
            self._n_to_skip -= n
            raw = raw[n:]
        if raw and self._state.target != "skip":
            self._state.begins = False
            if self._units:
                self._flush()
            self._bytes += raw

    def _flush(self) -> None:
        """What has been collected goes where the state says, before the state changes."""
        text = ""
        if self._units:
            text = b"".join(unit.to_bytes(2, "little") for unit in self._units).decode("utf-16-le", "replace")
            self._units.clear()
        elif self._bytes:
            codec = self._state.codec
            if codec == _UNKNOWN_CODEC:
                self.assembly.drop(self.assembly.take(self._bytes.decode("latin-1")), "symbol font")
            else:
                text = self._bytes.decode(codec, "replace")
            self._bytes.clear()
        if text:
            self._put(text)

    def _put(self, text: str) -> None:
        state = self._state
        if state.target == "body":
            if state.is_deleted or state.is_struck or state.is_hidden:
                self.assembly.remove("deleted" if state.is_deleted or state.is_struck else "hidden", text)
            else:
                self.writing.write(self.assembly.take(text), height=state.height)
        elif state.target == "remove":
            self.assembly.remove(state.reason, text)
        elif state.target == "title":
            self.title += text
        elif state.target == "style":
            self._style.name += text.replace(";", "")

    # --- control words

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._state.is_optional = True
        elif symbol in SIGNS:
            self._sign(SIGNS[symbol])
        elif symbol in "\r\n":
            self._word("par", None)

    def _sign(self, sign: str) -> None:
        if self._n_to_skip:
            self._n_to_skip -= 1
            return
        self._flush()
        if self._state.target != "skip" and sign:
            self._put(sign)

    def _word(self, word: str, number: int | None) -> None:
        if word == "u":
            self._unicode(number or 0)
            return
        self._flush()
        self._n_to_skip = 0
        state = self._state
        begins, state.begins = state.begins, False
        if begins and self._destination(word):
            return
        if word == "uc":
            state.n_fallback = max(0, number if number is not None else 1)
        elif state.target == "fonts":
            self._font_word(word, number)
        elif state.target == "style":
            self._style_word(word, number)
        elif word in SIGNS:
            self._sign(SIGNS[word])
        elif state.target == "body":
            self._body_word(word, number)
        elif word == "ansicpg" and number:
            self._default_codec = _known_codec(f"cp{number}", DEFAULT_CODEC)

    def _unicode(self, number: int) -> None:
        if self._bytes:
            self._flush()
        self._state.begins = False
        if self._state.target != "skip":
            self._units.append(number & 0xFFFF)
        self._n_to_skip = self._state.n_fallback

    def _destination(self, word: str) -> bool:
        """Whether a group's first word says where its text goes."""
        state = self._state
        if word == "fonttbl":
            state.target = "fonts"
        elif word == "stylesheet":
            state.target = "style"
        elif word == "info" and state.target == "body":
            state.target = "info"
        elif word == "title" and state.target == "info":
            state.target = "title"
        elif state.target in ("skip", "info"):
            state.target = "skip"
        elif word in REMOVED:
            state.target, state.reason = "remove", REMOVED[word]
        elif word in ("listtext", "pntext"):
            state.target, state.reason = "remove", "list mark"
            self._stack[-1].is_item = True
        elif word in ("footnote", "shptxt") and state.target == "body":
            self.writing.open_note(len(self._stack))
            state.is_item, state.style, state.level, state.in_table, state.height = False, 0, -1, False, ""
        elif word in LEFT_OUT or (state.is_optional and word not in ENTERED and word not in ("cs", "s")):
            state.target = "skip"
        else:
            return False
        return True

    def _font_word(self, word: str, number: int | None) -> None:
        if word == "f" and number is not None:
            self._font = number
        elif word == "fcharset" and number is not None:
            codec = _UNKNOWN_CODEC if number == SYMBOL_CHARSET else CODECS.get(number, "")
            self._fonts[self._font] = codec

    def _style_word(self, word: str, number: int | None) -> None:
        if word == "s" and number is not None:
            self._style.number = number
        elif word == "outlinelevel" and number is not None:
            self._style.level = number

    def _body_word(self, word: str, number: int | None) -> None:
        if word in _PARAGRAPH_ENDS:
            self.writing.end_paragraph(self._state)
        elif word in ("cell", "nestcell"):
            self.writing.end_piece(ends_cell=word == "cell")
        elif word in ("row", "nestrow"):
            self.writing.end_row(word)
        elif word in ("tab", "line", "lbr"):
            made = ("\t", "tab") if word == "tab" else ("\n", "line break")
            self.writing.write(self.assembly.make(*made))
        elif word in ("v", "deleted", *_STRIKING, "f", "plain", "ansicpg") or word in _HEIGHTS:
            self._letter_word(word, number)
        else:
            self._paragraph_word(word, number)

    def _letter_word(self, word: str, number: int | None) -> None:
        """What letters look like: hidden, deleted, in which character set."""
        state = self._state
        if word == "v":
            state.is_hidden = number != 0
        elif word == "deleted":
            state.is_deleted = number != 0
        elif word in _STRIKING:
            state.is_struck = number != 0
        elif word in _HEIGHTS:
            state.height = "" if number == 0 else _HEIGHTS[word]
        elif word == "f":
            state.codec = self._fonts.get(number or 0, "") or self._default_codec
        elif word == "plain":
            state.is_hidden, state.is_deleted, state.is_struck, state.height = False, False, False, ""
            state.codec = self._default_codec
        elif number:
            self._default_codec = state.codec = _known_codec(f"cp{number}", DEFAULT_CODEC)

    def _paragraph_word(self, word: str, number: int | None) -> None:
        """What a paragraph is."""
        state = self._state
        if word == "pard":
            state.style, state.level, state.is_item, state.in_table = 0, -1, False, False
        elif word == "s":
            state.style = number or 0
        elif word == "outlinelevel":
            state.level = number if number is not None else -1
        elif word == "intbl":
            state.in_table = True
        elif word == "ls":
            state.is_item = bool(number)


def _known_codec(name: str, otherwise: str) -> str:
    try:
        b"".decode(name)
    except LookupError:
        return otherwise
    return name
