"""What a scorer needs of items besides where they lie: their parts, or how spread out they are.

An item has rows of numbers: as many as it has parts, or one of log σ. Those of many items lie one
after the other in segments, files that readers map. Who adds items writes one more segment; all are
written as one when items were taken out for good, or when there are many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from jaxtyping import Bool, Int, Shaped

Kind: TypeAlias = Literal["", "locals", "log_sigma"]  # the field of `Encoded`

Rows: TypeAlias = Shaped[np.ndarray, "_rows _d"]  # several side by side, each of its own length
Counts: TypeAlias = Int[np.ndarray, " items"]
Places: TypeAlias = Int[np.ndarray, " _places"]


@dataclass(frozen=True, eq=False)
class Details:
    """Item i has `spots[i, 1]` rows from number `spots[i, 0]` on, counted through all segments.

    The first `kept` segments are files already.
    """

    kind: Kind
    spots: Int[np.ndarray, "items 2"] = field(repr=False)
    segments: tuple[Rows, ...] = field(repr=False)
    kept: int = 0

    def __len__(self) -> int:
        return len(self.spots)

    @cached_property
    def starts(self) -> Int[np.ndarray, " bounds"]:
        """The number of each segment's first row, and at the end how many rows there are."""
        return np.cumsum([0, *map(len, self.segments)])

    def take(self, places: Places | Bool[np.ndarray, " items"]) -> Details:
        """Some of the items; nothing is read."""
        return replace(self, spots=self.spots[places])

    def with_items(self, more: Details) -> Details:
        """The same with more items at the end."""
        moved = more.spots + np.array([self.starts[-1], 0])
        spots, segments = np.concatenate([self.spots, moved]), (*self.segments, *more.segments)
        return replace(self, spots=spots, segments=segments)

    def rows(self) -> list[Rows]:
        """The rows of each item."""
        return [self._run(int(start), int(count)) for start, count in self.spots]

    def runs(self) -> Iterator[Rows]:
        """Rows one after the other as items have them, long stretches at once."""
        starts, counts = self.spots[:, 0], self.spots[:, 1]
        segment = np.searchsorted(self.starts, starts, side="right")
        torn = (starts[1:] != starts[:-1] + counts[:-1]) | (segment[1:] != segment[:-1])
        first = np.flatnonzero(np.concatenate([[True], torn]))[: len(starts)]
        for start, count in zip(starts[first], np.add.reduceat(counts, first), strict=True):
            yield self._run(int(start), int(count))

    def _run(self, start: int, count: int) -> Rows:
        """Rows that lie side by side in one segment."""
        number = int(np.searchsorted(self.starts, start, side="right")) - 1
        number = min(number, len(self.segments) - 1)  # an item without rows may stand at the end
        start -= int(self.starts[number])
        return self.segments[number][start : start + count]


def one_after_another(kind: Kind, segments: list[Rows], counts: Counts) -> Details:
    """Items whose rows follow each other through segments."""
    spots = np.stack([np.cumsum(counts) - counts, counts], axis=1)
    return Details(kind, spots, tuple(segments))
