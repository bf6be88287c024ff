"""What a question names exactly, and whether passages hold it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.text import Demands, demands_of, unmet


@pytest.mark.parametrize(
    ("question", "identifiers", "numbers", "names"),
    [
        ("What does the error code GSM-E19 mean?", ("GSM-E19",), (), ()),
        ("How do I make tests run one after another with --test-threads=1?", ("--test-threads=1",), (), ()),
        ("How do I break a cycle with Weak and Rc::downgrade?", ("Rc::downgrade",), (), ("Weak",)),
        ("How do I wait for it with its JoinHandle?", ("JoinHandle",), (), ()),
        ("Where is Cargo.toml, and what is zoo.cfg?", ("Cargo.toml", "zoo.cfg"), (), ()),
        ("How do I upgrade from 3.3 to v3.4.1?", (), ("3.3", "3.4.1"), ()),
        ("Who won in 1998, and what weighs 20 kg or 20kg?", (), ("1998", "20"), ()),
        ("How does ZooKeeper differ from Consul?", ("ZooKeeper",), (), ("Consul",)),
        ("Is GPS needed? The manual says so. Ask Meera!", (), (), ("GPS", "Meera")),
        ("फालेंदा में २०२० में क्या हुआ?", (), ("2020",), ()),
    ],
)
def test_what_is_demanded(question, identifiers, numbers, names):
    assert demands_of(question) == Demands(identifiers, numbers, names)


@pytest.mark.parametrize(
    "question",
    [
        "What is the trade-off of a constant-time and/or step-by-step approach, e.g. the 3rd?",
        "is it ok to run 9 or 11 nodes in one cluster",
        "it crashed.why does it do that",
        "What should I do when I see it? Then what? (And how?)",
        "HOW DO I TURN IT OFF",
        "How To Turn It Off Without Any Tools",
        "",
        "?!",
        "x" * 300 + "-9",
    ],
)
def test_what_is_plain_is_not_demanded(question):
    assert demands_of(question).words == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("set --max-txn-ops", "the option max_txn_ops (maxTxnOps)"),
        ("what is BorrowMutError", "a borrow mut error"),
        ("what is ERR_CONN-17", "see err_conn-17."),
        ("since 1,000 or 2019", "it was 1000 in 2019."),
        ("which URL is it", "the listen URLs"),
        ("what do the Normans eat", "a Norman dish"),
        ("run it with --test-threads=4", "pass --test-threads=1"),
        ("is v3.6 out", "release 3.6 is out"),
    ],
)
def test_spellings_that_are_met(question, text):
    assert unmet(demands_of(question), [text]).words == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is E1", "see E18 and the1"),
        ("is it Go", "go on, ergo Gopher".replace("Gopher", "gopher")),
        ("is it 3.4", "it is 3.45 or 13.4 or 3.4.1"),
        ("in 2019", "in 12019 or 20190"),
        ("what is A-1301", "a 131301"),
        ("is it JoinHandle", "join\nhandle"),
    ],
)
def test_what_only_looks_alike_is_not_met(question, text):
    wanted = demands_of(question)
    assert wanted.words
    assert unmet(wanted, [text]) == wanted
    assert unmet(wanted, []) == wanted


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_the_unmet_are_some_of_the_demanded_and_a_text_of_all_meets_them(question, texts):
    wanted = demands_of(question)
    left = unmet(wanted, texts)
    assert set(left.words) <= set(wanted.words)
    assert unmet(wanted, [*texts, question]).identifiers == () or not question.isascii()


@pytest.mark.parametrize(
    "question", ["a" * 200_000, "a-" * 100_000, "Ab1" * 60_000, "1." * 100_000, "A b " * 50_000, "--" * 90_000]
)
def test_a_hostile_question_takes_linear_time(question):
    start = time.process_time()
    unmet(demands_of(question), [question[:2000]])
    assert time.process_time() - start < 5
