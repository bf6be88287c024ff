"""A draft, piece by piece, to text whose markers are resolved: what comes out is safe to show at once.

Markers become `[n]`, unknown numbers go, everything else stays as it was written. The result does not depend on how the
draft was cut into pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from gawah.cite import grammar
from gawah.cite.copied import SourceWords
from gawah.cite.marks import Beside, Gap, Mark
from gawah.types import DraftPart, NumberedSource, Span

_AFTER_VERBATIM = "\ufffc"  # stands to the left of words that follow copied ones: no letter, no line break


class MarkerStream:
    """Resolves markers as a draft arrives. `push` every part, then `flush`; then the lists are complete.

    marks: every marker that stays, by place; unknown: numbers that were taken out, in order, repeats included;
    copied: spans of the result that were verbatim parts; n_links: link targets that hung on markers and were taken out.
    """

    def __init__(self, sources: Sequence[NumberedSource]) -> None:
        self.marks: list[Mark] = []
        self.unknown: list[int] = []
        self.copied: list[Span] = []
        self.n_links = 0
        self._known = frozenset(source.number for source in sources)
        if len(self._known) != len(sources):
            raise ValueError("two sources have one number")
        self._words = SourceWords([source.passage.chunk.content for source in sources])
        self._buffer = ""  # written, not yet decided
        self._left = "\n"  # the draft before the buffer, as written
        self._blanks = ""
        self._gap = Gap.TEXT
        self._fence = ""  # the characters that opened the code block we are in
        self._long_line = False  # inside a line of code too long to end its block
        self._beside = Beside.WORDS  # what the next bracket would be glued to
        self._n_out = 0
        self._line_start = True
        self._out: list[str] = []

    def push(self, part: DraftPart) -> str:
        """The text that is certain now; it may be empty, or more than the part."""
        if not part.text:
            return ""
        if not part.verbatim:
            self._buffer += part.text
            self._drain(final=False)
            return self._taken()
        self._end_of_words()
        start = self._n_out
        self._emit(part.text)
        if self.copied and self.copied[-1].end == start and self._left in (_AFTER_VERBATIM, "\n"):
            start = self.copied.pop().start
        self.copied.append(Span(start, self._n_out))
        self._left = "\n" if part.text.endswith("\n") else _AFTER_VERBATIM
        return self._taken()

    def flush(self) -> str:
        """The rest; the draft is over."""
        self._drain(final=True)
        if self._gap is Gap.TEXT:
            self._emit_blanks()
        return self._taken()

    def _end_of_words(self) -> None:
        """Copied words follow: nothing that stands before them can go on in them."""
        self._drain(final=True)
        self._emit_blanks()
        self._fence, self._long_line, self._beside = "", False, Beside.WORDS

    def _taken(self) -> str:
        text, self._out = "".join(self._out), []
        return text

    # --- output

    def _emit(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._n_out += len(text)
            self._line_start = text.endswith("\n")

    def _emit_blanks(self) -> None:
        self._emit(self._blanks)
        self._blanks, self._gap = "", Gap.TEXT

    def _emit_words(self, text: str) -> None:
        """Words, punctuation or code; the blank before a marker that was taken out goes when a full stop follows it."""
        if self._gap in (Gap.ERASED, Gap.AFTER_ERASED) and text[0] in grammar.CLOSING_PUNCTUATION:
            self._blanks = ""
        self._emit_blanks()
        self._emit(text)
        self._beside = Beside.WORDS

    # --- deciding

    def _drain(self, *, final: bool) -> None:
        """Decides as much of the buffer as can be decided."""
        at = 0
        while at < len(self._buffer):
            step = self._step(at, final=final)
            if step is None:
                break
            at = step
        self._left = self._left_of(at)
        self._buffer = self._buffer[at:]

    def _left_of(self, at: int) -> str:
        before = self._buffer[max(0, at - grammar.LEFT_CHARS) : at]
        return before if len(before) >= grammar.LEFT_CHARS else (self._left + before)[-grammar.LEFT_CHARS :]

    def _step(self, at: int, *, final: bool) -> int | None:
        """Handles what stands at `at` and returns where the next begins; None when more text must come first."""
        if self._fence:
            return self._code_line(at, final=final)
        character = self._buffer[at]
        if character in grammar.BLANKS:
            self._blank(character)
            return at + 1
        if character == "\n":
            self._emit("" if self._gap in (Gap.ERASED, Gap.AFTER_ERASED) else self._blanks)
            self._blanks, self._gap, self._beside = "", Gap.TEXT, Beside.WORDS
            self._emit("\n")
            return at + 1
        if character in grammar.PAIRS:
            return self._bracket(at, final=final)
        if character == grammar.SHOWN_OPEN:
            return self._shown_bracket(at, final=final)
        if character in "`~":
            return self._fence_line(at, final=final)
        end = int(grammar.PLAIN.match(self._buffer, at).end())
        self._emit_words(self._buffer[at:end])
        return end

    def _blank(self, character: str) -> None:
        self._beside = Beside.WORDS
        if self._gap is Gap.AT_LINE_START:
            return
        if self._gap is Gap.ERASED:
            self._blanks, self._gap = "", Gap.AFTER_ERASED
        self._blanks += character

    # --- brackets

    def _bracket(self, at: int, *, final: bool) -> int | None:
        group = grammar.GROUP.match(self._buffer, at, partial=not final)
        if group is None or (not group.partial and group.group()[-1] != grammar.PAIRS[group.group()[0]]):
            self._emit_words(self._buffer[at])
            return at + 1
        if group.partial:
            return None
        left = self._left_of(at)
        literal = self._is_literal(left, group)
        end = group.end()
        if not literal:
            followed = self._followed(left, end, final=final)
            if followed is None:
                return None
            literal = followed
        if literal:
            self._emit_words(group.group())
            self._beside = Beside.INDEX if grammar.indexed(left) is not None else Beside.WORDS
            return int(end)
        target = grammar.LINK_TARGET.match(self._buffer, end, partial=not final)
        if target is not None and target.partial:
            return None
        self._marker(group.group(1))
        if target is not None:
            self.n_links += 1
            end = target.end()
        return int(end)

    def _is_literal(self, left: str, group: regex.Match[str]) -> bool:
        """Whether what stands before the group shows that it is no marker: an index, an escape, words of a source."""
        if self._beside is Beside.INDEX or left[-1:] == "\\" or grammar.has_zero(group.group(1)):
            return True
        return self._beside is not Beside.MARKER and self._words.hold_bracket(left, group.group())

    def _followed(self, left: str, end: int, *, final: bool) -> bool | None:
        """Whether what follows a group shows that it is no marker; None when it is not there yet."""
        if grammar.begins_line(left):
            definition = grammar.DEFINITION.match(self._buffer, end, partial=not final)
            if definition is not None:
                return None if definition.partial else True
        if self._beside is not Beside.MARKER and grammar.indexed(left) is not None:
            code = grammar.CODE_FOLLOWS.match(self._buffer, end, partial=not final)
            if code is not None:
                return None if code.partial else True
        return False

    def _marker(self, body: str) -> None:
        numbers = grammar.numbers_of(body, self._known)
        self.unknown.extend(number for number in numbers if number not in self._known)
        kept = [number for number in numbers if number in self._known]
        self._beside = Beside.MARKER
        if not kept:
            if self._line_start:
                self._gap = Gap.AT_LINE_START
            elif self._gap is not Gap.AT_LINE_START:
                self._gap = Gap.ERASED
            return
        self._emit_blanks()
        for number in kept:
            written = f"[{number}]"
            self.marks.append(Mark(Span(self._n_out, self._n_out + len(written)), number))
            self._emit(written)

    def _shown_bracket(self, at: int, *, final: bool) -> int | None:
        """A source's own bracket as the prompt showed it: written back as the source has it."""
        group = grammar.SHOWN_GROUP.match(self._buffer, at, partial=not final)
        if group is None:
            self._emit_words(self._buffer[at])
            return at + 1
        if group.partial:
            return None
        self._emit_words(self._words.restore(group.group()))
        return int(group.end())

    # --- code

    def _fence_line(self, at: int, *, final: bool) -> int | None:
        """The line that opens a code block; else code inside a line."""
        if grammar.begins_line(self._left_of(at)):
            line = grammar.FENCE_LINE.match(self._buffer, at, partial=not final)
            if line is not None and line.partial:
                return None
            if line is not None:
                self._fence = line.group(1)
                self._emit_words(line.group())
                return int(line.end())
        if self._buffer[at] == "~":
            self._emit_words("~")
            return at + 1
        return self._code_span(at, final=final)

    def _code_span(self, at: int, *, final: bool) -> int | None:
        buffer = self._buffer
        opened = grammar.run_end(buffer, at)
        if opened - at > grammar.TICKS:
            self._emit_words(buffer[at : at + grammar.TICKS])
            return at + grammar.TICKS
        if opened == len(buffer) and not final:
            return None
        last = opened + grammar.CODE_SPAN_CHARS
        line_end = buffer.find("\n", opened, last)
        limit = line_end if line_end >= 0 else min(last, len(buffer))
        decided = final or line_end >= 0 or len(buffer) > last
        tick = buffer.find("`", opened, limit)
        while tick >= 0:
            closed = grammar.run_end(buffer, tick)
            if closed == len(buffer) and not final and closed - tick <= grammar.TICKS:
                return None
            if closed - tick == opened - at:
                self._emit_words(self._words.restore(buffer[at:closed]))
                return closed
            tick = buffer.find("`", closed, limit)
        if not decided:
            return None
        self._emit_words(buffer[at:opened])
        return opened

    def _code_line(self, at: int, *, final: bool) -> int | None:
        """One line of a code block, or a piece of a long one."""
        end = self._buffer.find("\n", at, at + grammar.CODE_LINE_CHARS) + 1
        if end == 0:
            end = at + grammar.CODE_LINE_CHARS
            if end > len(self._buffer):
                if not final:
                    return None
                end = len(self._buffer)
        line = self._buffer[at:end]
        closing = None if self._long_line else grammar.FENCE_END.fullmatch(line)
        if closing is not None and closing.group(1).startswith(self._fence) and len(set(closing.group(1))) == 1:
            self._fence = ""
        self._long_line = not line.endswith("\n")
        self._emit(self._words.restore(line))
        return end
