"""How many connections there are, and of each address, so that none takes those of all others."""

from __future__ import annotations

from collections import Counter


class Crowds:
    """Counts connections by address; used by the server's one event loop."""

    def __init__(self, each: int, most: int) -> None:
        self._each, self._most, self._open = each, most, Counter[str]()

    def enter(self, address: str) -> bool:
        """Whether there is room for one more, which then counts."""
        if self._open[address] >= self._each or self._open.total() >= self._most:
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        """One that was let in is gone; addresses without any are forgotten."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]
