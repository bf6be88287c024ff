"""Findings are computed: the same sentence says that one repeats, or that it does not."""

import pytest
from bench.findings import better, counted, equal, findings

from gawah.eval import Destroyed, sign_test
from gawah.types import Comparison


def compared(wins, losses):
    return Comparison(wins, losses, 100 - wins - losses, sign_test(wins, losses))


class Made:
    """An experiment with given comparisons by (treatment, baseline, rank); others are even."""

    def __init__(self, destroyed, comparisons):
        self._destroyed, self._comparisons = destroyed, comparisons

    def destroyed(self, form):
        lost = ("needle",) * self._destroyed.get(form, 0)
        return Destroyed(32, lost, lost)

    def strategies(self, treatment, baseline, system, k):
        assert system == "dense"
        return self._pair(treatment, baseline, k)

    def whole(self, treatment, baseline, system, k):
        return self.strategies(treatment, baseline, system, k)

    def systems(self, treatment, baseline, form, k):
        assert form == "E"
        return self._pair(treatment, baseline, k)

    def _pair(self, treatment, baseline, k):
        if (treatment, baseline, k) in self._comparisons:
            return compared(*self._comparisons[treatment, baseline, k])
        wins, losses = self._comparisons.get((baseline, treatment, k), (0, 0))
        return compared(losses, wins)


def verdicts(text):
    return [line.split("**")[1] for line in text.splitlines()]


AS_PUBLISHED = {
    ("B", "A", 8): (8, 6), ("F", "E", 20): (0, 6), ("E", "A", 20): (18, 3), ("E", "C", 20): (12, 2),
    ("bm25", "dense", 1): (12, 2), ("bm25", "dense", 8): (3, 15), ("rrf", "bm25", 4): (10, 3),
    ("rrf", "dense", 4): (10, 6), ("rerank", "rrf", 1): (14, 2),
    ("B", "A", 20): (9, 7), ("product", "no header", 20): (12, 2),
}  # fmt: skip


def test_what_the_method_saw_repeats():
    assert set(verdicts(findings(Made({"A": 4}, AS_PUBLISHED)))) == {"Repeats"}


def test_the_opposite_does_not():
    turned = {pair: (losses, wins) for pair, (wins, losses) in AS_PUBLISHED.items()}
    turned |= {("rrf", "bm25", 4): (12, 0), ("rrf", "dense", 4): (0, 12), ("B", "A", 8): (20, 2)}
    assert "Repeats" not in verdicts(findings(Made({"B": 3, "C": 1}, turned)))


@pytest.mark.parametrize(
    ("wins", "losses", "verdict"),
    [
        (12, 2, "Repeats"),
        (10, 3, "Not shown"),
        (6, 8, "Does not repeat"),
        (0, 0, "Does not repeat"),
        (2, 12, "Contradicted"),
    ],
)
def test_a_claimed_gain_repeats_only_beyond_chance(wins, losses, verdict):
    assert better(compared(wins, losses)) == verdict


def test_a_claim_of_no_difference_falls_when_there_is_one_either_way():
    assert [equal(compared(*pair)) for pair in ((8, 6), (12, 2), (2, 12))] == [
        "Repeats",
        "Contradicted",
        "Contradicted",
    ]


def test_every_comparison_of_a_claim_of_no_difference_counts():
    assert equal(compared(8, 6), compared(9, 7)) == "Repeats"
    assert equal(compared(8, 6), compared(13, 2)) == "Contradicted"


def test_counts_and_p_are_written_out():
    assert counted(compared(18, 3)) == "+18/−3, p = 0.0015"
    assert counted(compared(40, 0)) == "+40/−0, p = 1.8e-12"
