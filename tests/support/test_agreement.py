"""A claim is held against further samples of the generator."""

from tests.support.made import equal

from gawah.support import Likeness, agreeing
from gawah.testing.embedder import FakeEmbedder

SAMPLES = [
    ["The fee is 40 EUR a year.", "Members do not pay a fee."],
    ["A year costs a fee: it is 40 EUR.", ""],
    ["The fee is 45 EUR a year."],
    [],
]


def counts(*claims):
    return agreeing(claims, SAMPLES, Likeness(FakeEmbedder(), equal))


def test_a_claim_counts_the_samples_that_say_it_in_any_words():
    assert counts("The fee is 40 EUR a year.", "Members do not pay a fee.", "The moon is full.") == [2, 1, 0]


def test_another_number_and_a_denial_do_not_agree():
    assert counts("The fee is 50 EUR a year.", "Members do pay a fee.") == [0, 0]
