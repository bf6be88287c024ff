"""Questions to replies, several at a time: one that fails or hangs is its own loss, and no deadline is overrun.

A deadline is kept from outside: who hangs, in whatever, is left behind, and another takes the place. Threads are
daemons, so that nobody who was left behind keeps a process from its end.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from gawah.errors import ConfigurationError, DeadlineError, GawahError
from gawah.eval.answers import Reply

NOT_IN_TIME = "no answer in time"

Answerer = Callable[[str], Reply]


def ask_each(
    questions: Sequence[str],
    answerer: Answerer,
    *,
    concurrency: int,
    deadline_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[int, Reply]]:
    """Each question's place in the order given, and its reply, as they come.

    A question whose answerer raises is `failed`, or `timed_out` for a DeadlineError; its seconds begin when it is put.
    Raises ConfigurationError, which every question would meet, and what no answerer should raise; ValueError for a
    concurrency under 1 or a deadline that is not positive.
    """
    if concurrency < 1 or not deadline_s > 0:
        raise ValueError(f"{concurrency} at a time within {deadline_s} s cannot be asked")
    waiting = deque(enumerate(questions))
    done: queue.SimpleQueue[_Done] = queue.SimpleQueue()
    busy: dict[_Worker, tuple[int, float]] = {}
    idle: list[_Worker] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < concurrency:
                worker = idle.pop() if idle else _Worker(answerer, done, clock)
                number, question = waiting.popleft()
                busy[worker] = (number, clock() + deadline_s)
                worker.give(question)
            try:
                worker, outcome = done.get(timeout=max(0.0, min(until for _, until in busy.values()) - clock()))
            except queue.Empty:
                now = clock()
                for worker in [worker for worker, (_, until) in busy.items() if until <= now]:
                    worker.dismiss()
                    yield busy.pop(worker)[0], _late(deadline_s)
                continue
            if worker not in busy:
                continue  # it was left behind, and has come back
            number, _ = busy.pop(worker)
            idle.append(worker)
            if isinstance(outcome, BaseException):
                raise outcome
            yield number, outcome if outcome.ms <= deadline_s * 1000 else _late(deadline_s)
    finally:
        for worker in (*busy, *idle):
            worker.dismiss()


def _late(deadline_s: float) -> Reply:
    return Reply("timed_out", detail=NOT_IN_TIME, ms=round(deadline_s * 1000, 3))


class _Worker:
    """A thread that answers one question after the other until it is dismissed."""

    def __init__(self, answerer: Answerer, done: queue.SimpleQueue[_Done], clock: Callable[[], float]) -> None:
        self._answerer = answerer
        self._done = done
        self._clock = clock
        self._given: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True, name="gawah-eval").start()

    def give(self, question: str) -> None:
        self._given.put(question)

    def dismiss(self) -> None:
        """It ends when it has nothing in hand."""
        self._given.put(None)

    def _work(self) -> None:
        while (question := self._given.get()) is not None:
            self._done.put((self, self._outcome(question)))

    def _outcome(self, question: str) -> Reply | BaseException:
        start = self._clock()
        try:
            reply = self._answerer(question)
        except ConfigurationError as error:
            return error
        except DeadlineError:
            reply = Reply("timed_out", detail=NOT_IN_TIME)
        except GawahError as error:
            reply = Reply("failed", detail=str(error))
        except BaseException as error:  # noqa: BLE001 — raised again by the thread that asked
            return error
        return replace(reply, ms=round((self._clock() - start) * 1000, 3))


_Done = tuple[_Worker, Reply | BaseException]
