"""What in a draft was copied from its sources: brackets in copied words belong to the source and are no markers."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from gawah.cite import grammar
from gawah.text import collapse_space


class SourceWords:
    """The contents of a draft's sources, to be asked whether something was copied from them."""

    def __init__(self, contents: Sequence[str]) -> None:
        self._contents = tuple(contents)
        self._collapsed = tuple(collapse_space(content) for content in contents)

    def hold_bracket(self, left: str, bracket: str) -> bool:
        """Whether a bracket, with what stands before it in the draft, is a source's own.

        That is so for an index (`arr[1]`) that a source has letter for letter, and inside quotation marks for a bracket
        that a source has behind the same words. Without quotation marks the same words may carry a marker.
        """
        indexed = grammar.indexed(left)
        if indexed is not None and any(indexed + bracket in content for content in self._contents):
            return True
        quoted = grammar.open_quotation(left)
        if quoted is None:
            return False
        words = collapse_space(quoted + bracket)
        return any(words in content for content in self._collapsed)

    def restore(self, text: str) -> str:
        """The text with ⟦12⟧, as the prompt shows a source's brackets, written back as the source has it."""
        return str(grammar.SHOWN_GROUP.sub(self._as_in_source, text))

    def _as_in_source(self, group: regex.Match[str]) -> str:
        shown = str(group.group())
        if any(shown in content for content in self._contents):
            return shown
        for opening, closing in grammar.PAIRS.items():
            written = f"{opening}{group.group(1)}{closing}"
            if any(written in content for content in self._contents):
                return written
        return shown
