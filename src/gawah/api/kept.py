"""What is dear to make and asked for again, kept while it is small enough: drawn pages, documents with their places."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """The values used last, as many as weigh no more than `most` together. Safe from any thread.

    Two threads that want the same value at once may both make it.
    """

    def __init__(self, most: int, weight: Callable[[T], int]) -> None:
        self._most = most
        self._weight = weight
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._total = 0
        self._n_cleared = 0

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made when it is not there. What `make` raises is raised, and nothing kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            n_cleared = self._n_cleared
        made = make()
        with self._lock:
            if key not in self._values and n_cleared == self._n_cleared:
                self._values[key] = made
                self._total += self._weight(made)
            while self._total > self._most and self._values:
                _, gone = self._values.popitem(last=False)
                self._total -= self._weight(gone)
        return made

    def clear(self) -> None:
        """Forgets all, also what is being made just now: what was purged stays in no memory either."""
        with self._lock:
            self._n_cleared += 1
            self._values.clear()
            self._total = 0
