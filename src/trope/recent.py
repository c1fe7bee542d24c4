"""What was found lately, kept up to a bound; safe to use from several threads."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Values by key, as many as `most` and as heavy as `heaviest`; the longest unused go first."""

    def __init__(
        self,
        most: int,
        heaviest: int = sys.maxsize,
        weigh: Callable[[Value], int] = lambda _: 0,
    ) -> None:
        self.most, self.heaviest, self._weigh = most, heaviest, weigh
        self.hits = self.misses = 0
        self._lock, self._weight = threading.Lock(), 0
        self._kept: OrderedDict[Key, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Value | None:
        """What is kept under a key, which is now the last to go; None if there is nothing."""
        with self._lock:
            if key not in self._kept:
                self.misses += 1
                return None
            self.hits += 1
            self._kept.move_to_end(key)
            return self._kept[key]

    def put(self, key: Key, value: Value) -> Value:
        """Keep a value; gives it back."""
        with self._lock:
            if key in self._kept:
                self._weight -= self._weigh(self._kept.pop(key))
            self._kept[key] = value
            self._weight += self._weigh(value)
            while len(self._kept) > 1 and self._full():
                self._weight -= self._weigh(self._kept.popitem(last=False)[1])
        return value

    def _full(self) -> bool:
        return len(self._kept) > self.most or self._weight > self.heaviest
