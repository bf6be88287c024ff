"""Questions to replies, several at a time: order, deadlines that are kept from outside, one loss at a time."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import ConfigurationError, DeadlineError, GeneratorError
from gawah.eval.answers import Reply
from gawah.eval.asking import NOT_IN_TIME, ask_each

LONG_S = 600.0


def echo(question):
    return Reply("answered", question)


def texts(questions, answerer, **options):
    options = {"concurrency": 2, "deadline_s": LONG_S, **options}
    replies = dict(ask_each(questions, answerer, **options))
    assert sorted(replies) == list(range(len(questions)))
    return [replies[number].text or replies[number].status for number in range(len(questions))]


@given(st.lists(st.text(), max_size=12), st.integers(1, 6))
def test_every_question_gets_its_own_reply_once(questions, concurrency):
    replies = list(ask_each(questions, echo, concurrency=concurrency, deadline_s=LONG_S))
    assert sorted((number, reply.text) for number, reply in replies) == list(enumerate(questions))


def test_so_many_questions_are_asked_at_a_time_and_no_more():
    """Each waits until three are there: with two at a time none would ever come."""
    barrier = threading.Barrier(3)
    most, inside, lock = 0, 0, threading.Lock()

    def answer(question):
        nonlocal most, inside
        with lock:
            inside += 1
            most = max(most, inside)
        barrier.wait(LONG_S)
        with lock:
            inside -= 1
        return Reply("answered", question)

    assert texts(list("abcdef"), answer, concurrency=3) == list("abcdef")
    assert most == 3


def test_a_question_that_hangs_is_timed_out_and_the_others_are_answered():
    """Only the one worker that there may be hangs; another takes its place."""
    end = threading.Event()

    def answer(question):
        if question == "hang":
            end.wait()
        return Reply("answered", question)

    replies = dict(ask_each(["hang", "b", "c"], answer, concurrency=1, deadline_s=0.5))
    end.set()
    assert [replies[n].status for n in range(3)] == ["timed_out", "answered", "answered"]
    assert replies[0].detail == NOT_IN_TIME
    assert replies[0].ms == 500.0


def test_what_comes_after_its_deadline_is_not_taken_for_an_answer():
    """By the worker's clock the answer took a minute; that of the thread which waits for it stands still."""
    times = iter([0.0, 60.0])
    main = threading.current_thread()

    def clock():
        return 0.0 if threading.current_thread() is main else next(times)

    replies = dict(ask_each(["a"], echo, concurrency=1, deadline_s=5.0, clock=clock))
    assert replies[0].status == "timed_out"


def test_a_question_that_fails_fails_alone():
    def answer(question):
        if question == "bad":
            raise GeneratorError("no words")
        if question == "late":
            raise DeadlineError("it took 3.2 s")
        return Reply("answered", question)

    replies = dict(ask_each(["a", "bad", "late", "d"], answer, concurrency=2, deadline_s=LONG_S))
    assert [replies[n].status for n in range(4)] == ["answered", "failed", "timed_out", "answered"]
    assert [replies[n].detail for n in (1, 2)] == ["no words", NOT_IN_TIME]


@pytest.mark.parametrize("error", [ConfigurationError("wrong model"), RuntimeError("a bug"), KeyboardInterrupt()])
def test_what_every_question_would_meet_and_what_nobody_foresaw_ends_the_run(error):
    def answer(question):
        raise error

    with pytest.raises(type(error)):
        list(ask_each(["a", "b"], answer, concurrency=2, deadline_s=LONG_S))


def test_workers_leave_when_the_run_is_left_half_way():
    replies = ask_each(["a"] * 5, echo, concurrency=3, deadline_s=LONG_S)
    next(replies)
    replies.close()
    for thread in threading.enumerate():
        if thread.name == "gawah-eval":
            thread.join(LONG_S)
    assert not [thread for thread in threading.enumerate() if thread.name == "gawah-eval"]


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"deadline_s": 0.0}, {"deadline_s": float("nan")}])
def test_nothing_can_be_asked_without_a_worker_or_without_time(options):
    with pytest.raises(ValueError, match="cannot be asked"):
        texts(["a"], echo, **options)
