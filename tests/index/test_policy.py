"""Segments grow like a ladder: few of them, each chunk written a few times, the large ones left alone."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from gawah.index.policy import due_run, should_seal


def test_worked_example() -> None:
    assert [should_seal(n) for n in (0, 255, 256)] == [False, False, True]
    assert due_run([]) is None
    assert due_run([(4096, 0)] * 7) is None
    assert due_run([(300_000, 0), *[(4096, 0)] * 8]) == range(1, 9)
    assert due_run([(300_000, 0), *[(30_000, 0)] * 7, (4096, 0)]) is None
    assert due_run([(300_000, 0), *[(30_000, 0)] * 4, (4096, 0), *[(30_000, 0)] * 4]) == range(1, 10)
    assert due_run([(90, 10)]) is None
    assert due_run([(90, 10), (70, 30)]) == range(1, 2)
    assert due_run([(0, 1)]) == range(1)


def grown(seals: list[int]) -> tuple[list[int], int]:
    """Segments after sealing so many chunks one after the other, and how many rows were written in all."""
    segments: list[int] = []
    n_written = 0
    for seal in seals:
        segments.append(seal)
        n_written += seal
        while run := due_run([(n, 0) for n in segments]):
            merged = sum(segments[run.start : run.stop])
            assert merged <= 1 << 21
            assert len(run) > 1
            segments[run.start : run.stop] = [merged]
            n_written += merged
    return segments, n_written


def test_a_million_chunks_are_few_segments_and_were_written_three_or_four_times() -> None:
    segments, n_written = grown([4096] * 244)
    assert len(segments) <= 20
    assert n_written <= 4 * sum(segments)


def test_a_ladder_of_ten_million_has_no_segment_over_two_million() -> None:
    segments, n_written = grown([4096] * 2440)
    assert len(segments) <= 40
    assert max(segments) <= 1 << 21
    assert n_written <= 5 * sum(segments)


@given(st.lists(st.integers(1000, 40_000), max_size=200))
def test_nothing_is_lost_and_the_ladder_ends(seals: list[int]) -> None:
    segments, _ = grown(seals)
    assert sum(segments) == sum(seals)
    assert len(segments) <= 100
