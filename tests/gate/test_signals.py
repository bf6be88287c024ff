"""Every signal against plain loops over tokens, terms and words."""

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.gate.made import make_evidence

from gawah.gate import DIRECTIONS, signals_of
from gawah.gate.signals import CHANCE, CHANCE_BEST, PIECE_TOKENS, pieces_of
from gawah.text import analyze

VECTOR_ONLY = {"maxsim_best", "maxsim_pieces", "margin", "gain", "above_background"}


def match(vector, signs, scale):
    return sum(float(q) * (1 if bit else -1) for q, bit in zip(vector, np.unpackbits(signs), strict=True)) * float(
        scale
    )


def best_of(vector, codes, start=0, end=None):
    pairs = list(zip(codes.signs, codes.scales, strict=True))[start:end]
    return max((match(vector, signs, scale) for signs, scale in pairs), default=0.0)


def plain_loops(evidence):
    """The five signals of token matches, as their definitions say them."""
    vectors, total = evidence.query.token_vectors, sum(evidence.weights)
    shares = [weight / total if total else 0.0 for weight in evidence.weights]
    compared, four = evidence.tokens[:8], evidence.tokens[:4]

    def weighted(values):
        return sum(share * value for share, value in zip(shares, values, strict=True))

    scores = [weighted([best_of(q, codes) for q in vectors]) for codes in compared]
    pieces = []
    for codes in four:
        n = len(codes.scales)
        starts = [0] + [start for start in range(16, n, 16) if start < n - 16]
        pieces += [weighted([best_of(q, codes, start, start + 32) for q in vectors]) for start in starts]
    foremost = [max([0.0, *(best_of(q, codes) for codes in four)]) for q in vectors]
    chance, at_best = [], []
    for q in vectors:
        others = [best_of(q, codes) for codes in evidence.background]
        short = 48 - len(others)
        chance.append(median(others + [CHANCE] * short))
        at_best.append(max(others + ([CHANCE_BEST] if short else [])))
    return {
        "maxsim_best": max([0.0, *scores[:4]]),
        "maxsim_pieces": max([0.0, *pieces]),
        "margin": scores[0] - sum(scores[1:]) / len(scores[1:]) if len(scores) > 1 else 0.0,
        "gain": weighted([f - c for f, c in zip(foremost, chance, strict=True)]),
        "above_background": (
            sum(f > b for f, b, w in zip(foremost, at_best, evidence.weights, strict=True) if w)
            / sum(w > 0 for w in evidence.weights)
            if any(evidence.weights)
            else 0.0
        ),
    }


words = st.lists(
    st.sampled_from(
        ["the", "backup", "of", "a", "cat", "database", "sleeps", "on", "warm", "windows", "12", "ERR-17", "!"]
    ),
    max_size=90,
)
sentences = words.map(" ".join)


@settings(max_examples=25, deadline=None)
@given(sentences, st.lists(sentences, max_size=9), st.lists(sentences, max_size=5), st.randoms(use_true_random=False))
def test_token_signals_equal_plain_loops(question, texts, background, random):
    question = " ".join(question.split()[:8])
    n_tokens = len(make_evidence(question).query.words)
    weights = [random.choice([0.0, 0.5, 3.0]) for _ in range(n_tokens)]
    evidence = make_evidence(question, texts=texts, background=background, weights=weights)
    found = signals_of(evidence)
    for name, value in plain_loops(evidence).items():
        assert found[name] == pytest.approx(value, abs=2e-4), name


def test_a_full_background_needs_no_stand_ins():
    evidence = make_evidence("warm cat", texts=["a warm cat"], background=["cold dog sleeps"] * 48)
    found = signals_of(evidence)
    expected = plain_loops(evidence)
    assert found["gain"] == pytest.approx(expected["gain"], abs=1e-4)
    assert found["above_background"] == 1.0


def test_lexical_signals_by_hand():
    evidence = make_evidence(
        "backup cat zebra", texts=["the backup", "a cat and a dog", "x", "y", "zebra comes fifth"],
        term_weights={"backup": 3.0, "cat": 1.0, "zebra": 4.0}, bm25_best=2.0, bm25_attainable=8.0,
    )  # fmt: skip
    found = signals_of(evidence)
    assert (found["coverage"], found["coverage_best"], found["bm25_share"]) == (0.5, 0.375, 0.25)
    assert analyze("zebra") == ["zebra"]


def test_missing_things_are_counted_by_kind_and_at_most_three_in_sum():
    evidence = make_evidence("Does Meera set --fast, --slow and GSM-E19 in 2018?", texts=["nothing of it"])
    found = signals_of(evidence)
    assert (found["missing_identifiers"], found["missing_numbers"], found["missing_names"]) == (3, 1, 1)
    assert found["missing"] == 3


def test_a_question_the_encoder_cannot_read_has_no_token_signals():
    found = signals_of(make_evidence("क्या", texts=["क्या"], readable=False))
    assert set(found) == set(DIRECTIONS) - VECTOR_ONLY


@pytest.mark.parametrize("question", ["", "?!", "backup"])
def test_nothing_found_is_no_error(question):
    found = signals_of(make_evidence(question))
    assert set(found) == set(DIRECTIONS)
    assert all(map(math.isfinite, found.values()))
    assert found["cosine_best"] == -1


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 48, 49, 100])
def test_pieces_cover_every_token_and_none_is_inside_another(n):
    codes = make_evidence("q", texts=["word " * n]).tokens[0]
    pieces = pieces_of(codes)
    assert all(len(piece.scales) <= PIECE_TOKENS for piece in pieces)
    starts = [16 * number for number in range(len(pieces))]
    assert starts[-1] + len(pieces[-1].scales) == len(codes.scales)
    assert len(pieces) == 1 or len(pieces[-1].scales) > 16


def test_signals_are_the_same_to_the_bit_each_time():
    one, two = (
        signals_of(make_evidence("a warm cat", texts=["cat", "warm windows"], background=["dog"])) for _ in "12"
    )
    assert one == two


def test_no_signal_grows_with_a_question_that_is_said_twice():
    question, text = "warm cat on windows", "a warm cat sleeps"
    once = signals_of(make_evidence(question, texts=[text, "dog"], background=["cold"]))
    twice = signals_of(make_evidence(f"{question} {question}", texts=[text, "dog"], background=["cold"]))
    assert {name: value for name, value in twice.items() if name != "cosine_best"} == pytest.approx(
        {name: value for name, value in once.items() if name != "cosine_best"}, abs=1e-6
    )
