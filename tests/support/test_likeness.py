"""Late interaction of a claim with statements: rare words weigh more, unread words count by their letters."""

import pytest
from tests.support.made import BlindEmbedder, CountingEmbedder, equal

from gawah.support import Likeness
from gawah.support.quotes import Quote
from gawah.testing.embedder import FakeEmbedder

QUOTE = Quote(1, "Boats moor here. The lamp burns oil. " + " ".join(f"Filler number {n} stands." for n in range(2, 40)))


def score(claim, embedder=None, weigh=equal, quote=QUOTE):
    matches = Likeness(embedder or FakeEmbedder(), weigh).matches(claim, quote.statements)
    return {one.text: matches.score([at]) for at, one in enumerate(matches.statements)}


def test_a_statement_meets_itself_whole_and_another_hardly():
    found = score("The lamp burns oil.")
    assert found["The lamp burns oil."] == pytest.approx(1.0)
    assert found.get("Boats moor here.", 0.0) < 0.5


def test_the_weights_decide_which_words_count():
    def only_oil(words):
        return [1.0 if word == "oil" else 0.0 for word in words]

    assert score("whales sing oil", weigh=only_oil)["The lamp burns oil."] == pytest.approx(1.0, abs=1e-3)
    assert score("whales sing oil")["The lamp burns oil."] < 0.6


def test_few_statements_are_read_however_long_the_quote():
    embedder = CountingEmbedder()
    score("The lamp burns oil.", embedder)
    assert embedder.n_read <= 9


def test_statements_are_read_once_an_answer():
    embedder = CountingEmbedder()
    likeness = Likeness(embedder, equal)
    for claim in ("lamp oil", "oil lamp", "burns oil lamp"):
        likeness.matches(claim, QUOTE.statements[:2])
    assert embedder.n_read == 3 + 2
    likeness.matches("lamp oil", QUOTE.statements[:2])
    assert embedder.n_read == 3 + 2


def test_an_answer_without_an_end_is_compared_by_letters_in_the_end():
    embedder = CountingEmbedder()
    likeness = Likeness(embedder, equal)
    for number in range(600):
        matches = likeness.matches(f"lamp oil {number}", QUOTE.statements[:2])
    assert embedder.n_read <= 402
    assert matches.score([1]) > matches.score([0])


def test_words_that_cannot_be_read_are_met_by_their_beginning():
    quote = Quote(1, "घंटों तक बारिश हुई। lamp oil.")
    found = score("बारिश lamp", BlindEmbedder(), quote=quote)
    assert found["घंटों तक बारिश हुई।"] == pytest.approx(0.5, abs=0.2)


def test_no_words_and_no_statements_score_nothing():
    likeness = Likeness(FakeEmbedder(), equal)
    assert likeness.matches("?!", QUOTE.statements).score([0]) == 0.0
    assert likeness.matches("lamp", ()).score([]) == 0.0
