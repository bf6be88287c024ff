"""The window guard: no text that is embedded is longer than the encoder reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gawah.chunk.units import Group, halves
from gawah.ports import CountTokens


def guarded(
    text: str,
    groups: Sequence[Group],
    *,
    count_tokens: CountTokens,
    window_tokens: int,
    embedded: Callable[[Group], str],
) -> tuple[list[Group], list[int]]:
    """The groups, halved until the text embedded for each fits the window, and the tokens of each text.

    Tokens are counted for all new groups of a round at once. Raises ValueError when a single character with its header
    does not fit.
    """
    fitting: dict[int, tuple[Group, int]] = {}
    waiting = list(groups)
    while waiting:
        counts = count_tokens([embedded(group) for group in waiting])
        too_long: list[Group] = []
        for group, n_tokens in zip(waiting, counts, strict=True):
            if n_tokens <= window_tokens:
                fitting[group.span.start] = (group, n_tokens)
            else:
                too_long.append(group)
        waiting = [half for group in too_long for half in halves(text, group)]
    in_order = [fitting[start] for start in sorted(fitting)]
    return [group for group, _ in in_order], [n_tokens for _, n_tokens in in_order]
